// One emission: what it looks like in its own channel, what was answered, and what can be done with it.

import { get, getBytes, ifAnswered, post } from "./api.js";
import { ChannelSpectrum } from "./channel.js";
import { Constellation } from "./constellation.js";
import { attempt, make, toast } from "./dom.js";
import { Eye } from "./eye.js";
import { places } from "./emissions.js";
import { readFrame } from "./frame.js";
import { keepAs } from "./labels.js";
import { Listen } from "./listen.js";
import { Symbols } from "./symbols.js";
import { swatch } from "./swatch.js";
import { ago, clock, metric, percent, seconds } from "./units.js";
import { frequencyText } from "./spectrum.js";
import { sure } from "./words.js";

const ANSWERS = 8,
  ALIKE = 10;
const AROUND = 1.3; // times its bandwidth that its symbols are taken from
const WHILES = { "for an hour": 3600, "for a day": 86_400, "for ever": null };

export class EmissionView {
  constructor(page, close) {
    this.page = page;
    this.emission = null;
    this.heading = make("h2", { tabindex: -1 });
    this.facts = make("dl", { class: "facts" });
    this.constellation = new Constellation(make("canvas", { role: "img", "aria-label": "Its constellation" }));
    this.eye = new Eye(make("canvas", { role: "img", "aria-label": "Its eye diagram" }));
    this.spectrum = new ChannelSpectrum(make("canvas", { role: "img", "aria-label": "Its spectrum" }));
    this.note = make("p", { class: "note" });
    this.clockNote = make("span");
    this.answers = make("ol", { class: "rows", "aria-label": "Its answers, newest first" });
    this.alike = make("ol", { class: "rows", "aria-label": "Others like it, the most alike first" });
    this.element = make(
      "div",
      { class: "emission", hidden: true },
      make("button", { class: "quiet", title: "Back to all emissions", onclick: close }, "‹ All emissions"),
      this.heading,
      this.facts,
      this.teaching(),
      make(
        "div",
        { class: "pictures" },
        picture(this.constellation, "Constellation"),
        picture(this.eye, "Eye ", this.clockNote),
        picture(this.spectrum, "Spectrum of its channel"),
      ),
      this.note,
      this.actions(),
      this.alike,
      make("h3", {}, "Answers"),
      this.answers,
    );
  }

  teaching() {
    this.name = make("input", {
      list: "emission-names",
      maxlength: 20,
      placeholder: "what is it?",
      "aria-label": "Name of this emission",
      autocomplete: "off",
    });
    this.names = make("datalist", { id: "emission-names" });
    const form = make(
      "form",
      { class: "actions", "aria-label": "Name this emission" },
      this.name,
      this.names,
      make("button", { class: "main", title: "Kept with its I/Q, in its own channel" }, "Name it"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(event.submitter, () => this.teach());
    });
    return form;
  }

  actions() {
    const action = (text, title, run) =>
      make("button", { title, onclick: (event) => attempt(event.currentTarget, () => run()) }, text);
    this.listen = new Listen(() => `v1/streams/${this.page.air.stream.id}/emissions/${this.id}/audio`);
    this.what = make("select", { "aria-label": "What to ignore" });
    this.long = make(
      "select",
      { "aria-label": "For how long" },
      Object.keys(WHILES).map((text) => make("option", {}, text)),
    );
    return make(
      "div",
      { class: "actions" },
      action("Zoom to it", "Its part of the band and its time", () => this.zoom()),
      action("Watch", "Be told of it: when it falls silent, when one like it comes", () => this.page.panels.alerts.watch(this.emission)),
      action("Find alike", "Others in the history that look like it", () => this.findAlike()),
      action("Download", "Its I/Q as SigMF, moved to zero and decimated", () => this.download()),
      this.listen.element,
      make("span", { class: "group" }, this.what, this.long, action("Ignore", "No events of it", () => this.ignore())),
    );
  }

  async open(id) {
    const { air } = this.page;
    this.listen.stop();
    this.id = id;
    this.seen = null; // the sample that its pictures end with
    this.constellation.clear();
    this.alike.replaceChildren();
    this.symbols = new Symbols();
    if (!air.emissions.get(id)) air.emissions.take(await get(`v1/streams/${air.stream.id}/emissions/${id}`));
    if (this.id !== id) return;
    this.element.hidden = false;
    this.draw();
    const { emission } = this;
    this.listen.suit(emission);
    this.what.replaceChildren(
      make("option", { value: "emission" }, "this emission"),
      make("option", { value: "frequency" }, `around ${frequencyText(air, emission.centre_hz)}`),
      make("option", { value: "label" }, `all ${emission.label}`),
    );
    const known = [...new Set([...air.classes, ...this.page.labelNames])];
    this.names.replaceChildren(...known.map((value) => make("option", { value })));
    this.name.value = "";
    this.name.focus({ preventScroll: true });
    await this.refresh();
  }

  close() {
    this.listen.stop();
    this.id = this.emission = null;
    this.element.hidden = true;
  }

  draw() {
    const { air } = this.page;
    this.emission = air.emissions.get(this.id) ?? this.emission;
    const { emission } = this,
      [from, to] = emission.heard;
    this.heading.replaceChildren(swatch(emission.label, emission.family), ` ${emission.label}`);
    const facts = [
      ["sure", sure(emission)],
      ["family", emission.family !== emission.label && emission.family],
      ["nearest", nearest(emission)],
      ["SNR", `${emission.snr_db} dB`],
      ["centre", frequencyText(air, emission.centre_hz)],
      ["bandwidth", `${metric(emission.bandwidth_hz, 3)}Hz`],
      [emission.state === "end" ? "heard" : "on the air", `${clock(from)}, ${seconds((to - from) / 1000)}`],
      ["bursts", String(emission.bursts)],
      ["duty cycle", percent(emission.duty)],
    ];
    this.facts.replaceChildren(
      ...facts
        .filter(([, value]) => value)
        .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    );
  }

  // New pictures while it is on the air, and its newest answers.
  async refresh() {
    if (!this.id) return;
    this.draw();
    const { air } = this.page,
      { id, emission } = this,
      path = `v1/streams/${air.stream.id}`;
    const from = new Date(emission.heard[0]).toISOString();
    const query = `emission=${encodeURIComponent(id)}&from=${from}&limit=${ANSWERS}`;
    const { predictions } = await get(`${path}/predictions?${query}`);
    if (this.id !== id) return;
    this.answers.replaceChildren(...predictions.map(answer));
    if (this.seen === emission.end_sample) return; // nothing of it since
    const bytes = await ifAnswered(getBytes(`${path}/emissions/${id}/spectrum?points=2048`));
    if (this.id !== id) return;
    this.seen = emission.end_sample;
    this.note.textContent = bytes ? "" : "Its samples are no longer kept: no pictures.";
    if (bytes) this.look(readFrame(bytes));
  }

  look(frame) {
    const found = this.symbols.push(frame.points, Math.min(1, (AROUND * this.emission.bandwidth_hz) / frame.rate));
    this.constellation.draw(found.symbols);
    this.eye.clear();
    this.eye.draw(found);
    this.spectrum.draw(this.page.air, frame, this.emission);
    this.clockNote.textContent = found.clock.found
      ? `${metric(found.clock.rate * frame.rate, 4)}Bd`
      : "no symbol clock seen";
  }

  theme(name) {
    this.constellation.theme(name);
    this.eye.clear();
    this.seen = null;
  }

  // The newest of it, in its own channel.
  async teach() {
    const label = this.name.value.trim();
    if (!label) return this.name.focus();
    await keepAs(this.page.air, this.emission, label);
    toast(`Kept as ${label}, in its own channel`);
    if (this.name.value.trim() === label) this.name.value = "";
    await this.page.panels.teach.taught();
  }

  zoom() {
    const { air, view } = this.page,
      { t0, t1, state } = this.emission;
    view.showBand(...places(air, this.emission));
    if (state === "end") view.goTo((t0 + t1) / 2);
  }

  // The others in the history that look most like it.
  async findAlike() {
    const { air } = this.page,
      { id } = this;
    const { alike } = await get(`v1/streams/${air.stream.id}/emissions/${id}/alike?limit=${ALIKE}`);
    if (this.id !== id) return;
    if (!alike.length) toast("There are no others yet");
    this.alike.replaceChildren(
      ...alike.map(({ emission, likeness }) =>
        make(
          "li",
          {},
          swatch(emission.label, emission.family),
          make("span", {}, `${emission.label}, ${percent(likeness)} alike`),
          make("small", {}, `${frequencyText(air, emission.centre_hz)}, ${ago(emission.to)}`),
          make("button", { onclick: () => this.page.open(emission.emission) }, "Open"),
        ),
      ),
    );
  }

  async download() {
    const { id } = await post(`v1/streams/${this.page.air.stream.id}/recordings`, { emission: this.id });
    make("a", { href: `v1/recordings/${id}`, download: `${id}.sigmf` }).click();
  }

  async ignore() {
    const { lower_hz, upper_hz, label } = this.emission;
    const rule = {
      emission: { emission: this.id },
      frequency: { f_low: lower_hz, f_high: upper_hz },
      label: { label },
    }[this.what.value];
    await this.page.ignored.add({ ...rule, seconds: WHILES[this.long.value] });
    toast(`Ignored ${this.long.value}`);
  }
}

const picture = ({ canvas }, ...caption) => make("figure", {}, canvas, make("figcaption", {}, ...caption));

const nearest = (emission) =>
  Object.entries(emission.nearest)
    .map(([name, share]) => `${name} ${percent(share)}`)
    .join(", ");

function answer(run) {
  const long = seconds((run.end - run.start) / run.rate_hz);
  return make(
    "li",
    {},
    swatch(run.label, run.family),
    make("span", {}, run.label),
    make("small", {}, sure(run)),
    make("small", {}, `${clock(Date.parse(run.from))}, ${long}`),
  );
}
