// Streams: those that run, with their health, and a form for another that knows the radios of this machine.

import { get, patch, post, remove } from "./api.js";
import { attempt, make, toast } from "./dom.js";
import { fromMetric, metric, seconds } from "./units.js";

const KINDS = {
  zmq: "GNU Radio, by ZMQ",
  rtltcp: "A radio, by rtl_tcp",
  file: "A recording kept here",
  tone: "A test tone",
  any: "Any source address",
};
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

  // Opens the form for one kind of source.
  async ask(kind) {
    this.page.tabs.open("streams");
    if (!this.form.loaded) await this.form.load();
    this.form.choose(kind);
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
    const tune = TUNED.test(stream.source) ? this.tuning() : null;
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

class AddForm {
  constructor(add) {
    const choose = () => {
      this.chosen = true;
      this.draw();
    };
    this.kind = make("select", { "aria-label": "Kind of source", onchange: choose });
    this.fields = make("div", { class: "fields" });
    this.note = make("p", { class: "note" });
    this.name = make("input", { placeholder: "name (optional)", "aria-label": "Name", maxlength: 100 });
    this.element = make(
      "form",
      { class: "add", "aria-label": "Add a stream" },
      make("h3", {}, "Add a stream"),
      this.kind,
      this.fields,
      this.note,
      this.name,
      make("button", { class: "main" }, "Listen"),
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(event.submitter, () => add({ source: this.source(), name: this.name.value.trim() }));
    });
    this.radios = this.recordings = [];
  }

  async load() {
    this.loaded = true;
    this.kind.replaceChildren(
      ...Object.entries(KINDS).map(([value, text]) => make("option", { value }, text)),
    );
    this.draw();
    this.recordings = await get("v1/recordings");
    const { devices, problem } = await get("v1/devices");
    this.radios = devices;
    this.kind.prepend(...devices.map(({ label }, i) => make("option", { value: `radio ${i}` }, label)));
    this.problem = problem || (devices.length ? "" : "No radio was found on this machine.");
    if (this.chosen) {
      this.note.textContent = this.problem; // what somebody is typing stays
      return;
    }
    this.kind.selectedIndex = 0;
    this.draw();
  }

  choose(kind) {
    this.kind.value = kind;
    this.chosen = true;
    this.draw();
    this.fields.querySelector("input")?.focus();
  }

  get radio() {
    const match = /^radio (\d+)$/.exec(this.kind.value);
    return match && this.radios[match[1]];
  }

  field(name, label, value, more = {}) {
    return make("label", {}, label, make("input", { name, value, required: true, ...more }));
  }

  draw() {
    const rate = (value) => this.field("rate", "Rate", value),
      freq = this.field("freq", "Frequency", "433.92M");
    const can = this.radio?.abilities,
      gain = this.field("gain", "Gain, dB or auto", can?.auto_gain === false ? "20" : "auto");
    const fields = {
      zmq: [this.field("address", "Address", "tcp://127.0.0.1:5555"), rate("250k")],
      rtltcp: [this.field("address", "Host and port", "127.0.0.1:1234"), freq, rate("1.024M"), gain],
      file: [
        make(
          "label",
          {},
          "Recording",
          make(
            "select",
            { name: "address" },
            this.recordings.map(({ source, description, time }) =>
              make("option", { value: source }, `${time ?? ""} ${description}`),
            ),
          ),
        ),
      ],
      tone: [this.field("offset", "Offset", "10k"), rate("48k")],
      any: [
        this.field("address", "Source address", "", { placeholder: "zmq:tcp://127.0.0.1:5555?rate=250k" }),
      ],
    };
    this.fields.replaceChildren(
      ...(this.radio ? [freq, rate(metric(usual(can)).replace(" ", "")), gain] : fields[this.kind.value]),
    );
    this.note.textContent =
      this.radio?.error ?? (can ? abilities(can) : (this.problem ?? "Looking for radios…"));
  }

  source() {
    const value = Object.fromEntries(new FormData(this.element));
    const tuned = `freq=${value.freq}&rate=${value.rate}&gain=${value.gain}`;
    if (this.radio) return `${this.radio.address}?${tuned}`;
    return {
      zmq: `zmq:${value.address}?rate=${value.rate}`,
      rtltcp: `rtltcp:${value.address}?${tuned}`,
      file: `${value.address}&loop=1`,
      tone: `tone:?offset=${value.offset}&rate=${value.rate}`,
      any: value.address,
    }[this.kind.value];
  }
}

// The lowest rate of the radio: the encoder's work grows with it.
const usual = (can) => (can ? Math.max(can.rates_hz[0][0], Math.min(can.rates_hz[0][1], 250e3)) : 250e3);

function abilities({ freqs_hz, rates_hz, gain_db }) {
  const spans = (ranges) =>
    ranges
      .map(([low, high]) => (low === high ? metric(low) : `${metric(low)} to ${metric(high)}`))
      .join(", ");
  return `It tunes ${spans(freqs_hz)}Hz, at ${spans(rates_hz)}S/s, gain ${gain_db[0]} to ${gain_db[1]} dB.`;
}
