// Streams: those that run, with their health, and a form for another.

import { AddForm } from "./addform.js";
import { patch, post, remove } from "./api.js";
import { attempt, make, toast } from "./dom.js";
import { planText } from "./plan.js";
import { fromMetric, metric, seconds } from "./units.js";

const TUNED = /^(soapy|rtltcp):/;

export class Streams {
  constructor(place, page) {
    this.page = page;
    this.cards = new Map(); // by stream id; kept, so that what is typed in them stays
    this.list = make("ul", { class: "cards", "aria-label": "Streams" });
    this.form = new AddForm(async (body) => {
      const stream = await post("v1/streams", body);
      await page.refresh();
      await page.show(stream);
    });
    place.append(this.list, this.form.element);
  }

  async refresh() {
    this.draw();
    if (!this.form.loaded) await this.form.load();
  }

  // Opens the form for one kind of source; for a sweep with the first radio, or one by rtl_tcp.
  async ask(kind) {
    this.page.tabs.open("streams");
    if (!this.form.loaded) await this.form.load();
    if (kind === "sweep") this.form.sweep();
    else this.form.choose(kind);
  }

  draw() {
    const { streams } = this.page;
    for (const id of this.cards.keys()) {
      if (!streams.some((stream) => stream.id === id)) {
        this.cards.get(id).element.remove();
        this.cards.delete(id);
      }
    }
    for (const stream of streams) {
      if (!this.cards.has(stream.id)) {
        this.cards.set(stream.id, new Card(stream, this.page));
        this.list.append(this.cards.get(stream.id).element);
      }
      this.cards.get(stream.id).draw(stream, this.page.air?.stream.id === stream.id);
    }
  }
}

class Card {
  constructor(stream, page) {
    this.page = page;
    this.path = `v1/streams/${stream.id}`;
    const act = (text, run) =>
      make(
        "button",
        {
          onclick: (event) =>
            attempt(event.currentTarget, async () => {
              await run();
              await page.refresh();
            }),
        },
        text,
      );
    this.facts = make("dl", { class: "facts" });
    this.problem = make("p", { class: "bad" });
    this.shown = act("Show", () => page.show(this.stream));
    this.toggle = act("Stop", () =>
      patch(this.path, { state: this.stream.state === "running" ? "paused" : "running" }),
    );
    const tune = TUNED.test(stream.source) && !stream.plan ? this.tuning() : null;
    this.element = make(
      "li",
      {},
      make("h2", {}, stream.name),
      make("p", { class: "note source" }, stream.source),
      this.problem,
      this.facts,
      tune,
      make(
        "div",
        { class: "actions" },
        this.shown,
        this.toggle,
        act("Delete", () => this.remove()),
      ),
    );
  }

  async remove() {
    if (this.page.air?.stream.id === this.stream.id) this.page.air.close(); // or it would look for it once more
    await remove(this.path);
  }

  tuning() {
    this.freq = make("input", { "aria-label": "Frequency", placeholder: "433.92M", size: 9 });
    this.gain = make("input", { "aria-label": "Gain in dB, or auto", placeholder: "gain, dB", size: 7 });
    const form = make("form", { class: "actions" }, this.freq, this.gain, make("button", {}, "Retune"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(event.submitter, () => this.retune());
    });
    return form;
  }

  async retune() {
    const change = {},
      freq = this.freq.value.trim(),
      gain = this.gain.value.trim();
    if (freq) change.freq_hz = fromMetric(freq);
    if (gain) change.gain = gain === "auto" ? gain : Number(gain);
    if ([change.freq_hz, change.gain].some(Number.isNaN))
      throw Object.assign(new Error("expected a number such as 433.92M"), { status: 422 });
    await patch(this.path, change);
    toast("Retuned");
    await this.page.refresh();
  }

  draw(stream, shown) {
    this.stream = stream;
    this.element.classList.toggle("shown", shown);
    this.shown.disabled = shown;
    this.toggle.textContent = stream.state === "running" ? "Stop" : "Start";
    this.problem.textContent = stream.error;
    const facts = health(stream).concat([
      ["rate", `${metric(stream.rate_hz, 4)}S/s`],
      ...(stream.freq_hz == null ? [] : [["at", `${metric(stream.freq_hz, 7)}Hz`]]),
      ...(stream.plan ? [["sweeps", planText(stream.plan)]] : []),
      ...(stream.latest ? [["hears", stream.latest.label]] : []),
    ]);
    this.facts.replaceChildren(
      ...facts.map(([name, value, bad]) =>
        make("div", { class: bad ? "bad" : null }, make("dt", {}, name), make("dd", {}, value)),
      ),
    );
  }
}

const total = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);

// Name, value, and whether it is bad.
export function health({ state, real_time_factor: factor, lag_ms, samples }) {
  const dropped = total(samples.dropped),
    lost = total(samples.lost) + total(samples.lost_estimated);
  return [
    ["state", state, state === "failed"],
    ["real time", `× ${factor.toFixed(1)}`, factor < 1 && state === "running"],
    ["lag", seconds(lag_ms / 1000), lag_ms > 500],
    ["dropped", metric(dropped, 3), dropped > 0],
    ["lost", metric(lost, 3), lost > 0],
    ["gaps", String(samples.gaps), samples.gaps > 0],
  ];
}
