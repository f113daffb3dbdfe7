// What can be done with a chosen stretch: name it, play it again, download it, ask about it.

import { ApiError, call, get, getBytes, post, remove } from "./api.js";
import { attempt, make, toast } from "./dom.js";
import { clock, seconds, sureness } from "./units.js";

const AGAIN = "played again: ";

export class Selection {
  // `taught()` is called when a stretch was named, `played(stream)` with the stream that plays one.
  constructor(form, page, { taught, played }) {
    this.form = form;
    this.page = page;
    this.taught = taught;
    this.played = played;
    this.about = make("p", { class: "number" });
    this.name = make("input", {
      list: "classes",
      maxlength: 20,
      placeholder: "what is it?",
      "aria-label": "Label of this stretch",
      autocomplete: "off",
    });
    this.classes = make("datalist", { id: "classes" });
    this.said = make("output");
    const action = (text, title, run) =>
      make(
        "button",
        { type: "button", title, onclick: (event) => attempt(event.currentTarget, () => run()) },
        text,
      );
    form.append(
      this.about,
      this.name,
      this.classes,
      make("button", { class: "main", title: "Teach it (enter)" }, "Label it"),
      action("Play again", "As a stream of its own, over and over", () => this.play()),
      action("Download", "I/Q and answers as SigMF", () => this.download()),
      action("Predict", "Ask the model about this stretch alone", () => this.predict()),
      action("Let go", "Choose nothing (escape)", () => page.view.choose(null)),
      this.said,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(event.submitter, () => this.label());
    });
    page.view.addEventListener("choose", () => this.draw());
  }

  draw() {
    const { air, view } = this.page;
    this.form.hidden = !view.chosen || !air;
    if (this.form.hidden) return;
    const [from, to] = view.chosen,
      middle = air.runAt((from + to) / 2);
    const times = [from, to].map((second) => clock(air.toClock(second), 3)).join(" to ");
    this.about.textContent = `${times}, ${seconds(to - from)}${middle ? `, answered ${middle.label}` : ""}`;
    this.said.textContent = "";
    const known = [...new Set([...air.classes, ...this.page.labelNames])];
    this.classes.replaceChildren(...known.map((value) => make("option", { value })));
  }

  get span() {
    const { air, view } = this.page;
    if (view.chosen[1] <= 0) throw new ApiError(404, "this stretch is no longer kept"); // from before the service started
    return {
      start: Math.max(0, Math.floor(view.chosen[0] * air.rate)),
      end: Math.ceil(view.chosen[1] * air.rate),
    };
  }

  async label() {
    const label = this.name.value.trim();
    if (!label) return this.name.focus();
    await post("v1/labels", { stream: this.page.air.stream.id, label, ...this.span });
    toast(`Kept as ${label}`);
    if (this.name.value.trim() === label) this.name.value = ""; // unless the next is being typed already
    await this.taught();
  }

  // The stretch as a recording of the service.
  async record() {
    return (await post(`v1/streams/${this.page.air.stream.id}/recordings`, this.span)).id;
  }

  async play() {
    const id = await this.record();
    for (const stream of this.page.streams.filter(({ name }) => name.startsWith(AGAIN)))
      await remove(`v1/streams/${stream.id}`);
    const { source } = (await get("v1/recordings")).find((recording) => recording.id === id);
    const name = AGAIN + clock(this.page.air.toClock(this.page.view.chosen[0]));
    this.played(await post("v1/streams", { source: `${source}&loop=1`, name }));
  }

  async download() {
    const id = await this.record();
    make("a", { href: `v1/recordings/${id}`, download: `${id}.sigmf` }).click();
  }

  async predict() {
    this.said.textContent = "Asking…";
    try {
      await this.ask(await this.record());
    } catch (error) {
      this.said.textContent = "";
      throw error;
    }
  }

  async ask(id) {
    try {
      const samples = await getBytes(`v1/recordings/${id}/sigmf-data`);
      const answer = await call("POST", `v1/predict?datatype=cf32_le&rate_hz=${this.page.air.rate}`, samples);
      const { whole, windows } = await answer.json();
      const sure = sureness(whole),
        snr = !sure || whole.snr_db == null ? "" : `, SNR ${whole.snr_db} dB`;
      this.said.textContent = `${whole.label}${sure && `, ${sure} sure`} over ${windows.length} windows${snr}`;
    } finally {
      await remove(`v1/recordings/${id}`);
    }
  }
}
