// A recording that was dropped onto the page: its spectrogram with a box for each emission. No stream is made.

import { call } from "./api.js";
import { styleOf } from "./colours.js";
import { attempt, fit, make } from "./dom.js";
import { swatch } from "./swatch.js";
import { fromMetric, metric, seconds } from "./units.js";
import { sure, title } from "./words.js";

const TYPES = ["cf32", "cs16", "cs8", "cu8"];

export class DroppedRecording {
  constructor(dialog) {
    this.dialog = dialog;
    this.heading = make("h2");
    this.said = make("p", { class: "note", role: "status" });
    this.canvas = make("canvas", { role: "img", "aria-label": "Spectrogram with its emissions" });
    this.list = make("ol", { class: "rows", "aria-label": "Emissions of the recording" });
    this.form = this.makeForm();
    dialog.append(
      this.heading,
      this.said,
      this.form,
      this.canvas,
      this.list,
      make("form", { method: "dialog" }, make("button", { class: "main" }, "Close")),
    );
    new ResizeObserver(() => this.found && this.draw()).observe(this.canvas);
  }

  // Raw I/Q may not say its rate and type: then somebody must.
  makeForm() {
    this.rate = make("input", { placeholder: "250k", "aria-label": "Rate in samples per second", required: true });
    this.type = make(
      "select",
      { "aria-label": "Type of its samples" },
      make("option", { value: "" }, "as its name says"),
      TYPES.map((value) => make("option", { value }, value)),
    );
    const form = make("form", { class: "actions", hidden: true }, this.rate, this.type, make("button", {}, "Try again"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(event.submitter, () => this.analyse());
    });
    return form;
  }

  async open(files) {
    if (!files.length) return;
    this.files = files;
    this.rate.value = this.type.value = "";
    if (!this.dialog.open) this.dialog.showModal();
    await this.analyse();
  }

  async analyse() {
    const body = new FormData(),
      rate = fromMetric(this.rate.value),
      query = new URLSearchParams();
    for (const file of this.files) body.append("file", file);
    if (!Number.isNaN(rate)) query.set("rate_hz", rate);
    if (this.type.value) query.set("datatype", this.type.value);
    this.heading.textContent = this.files[0].name;
    this.said.textContent = "Analysing…";
    this.said.classList.remove("bad");
    this.found = null;
    this.canvas.hidden = true;
    this.list.replaceChildren();
    try {
      this.found = await (await call("POST", `v1/analyse?${query}`, body)).json();
    } catch (error) {
      if (!error.status) throw error;
      this.said.textContent = error.message;
      this.said.classList.add("bad");
      this.form.hidden = false;
      return;
    }
    this.form.hidden = true;
    await this.show();
  }

  async show() {
    const { found } = this,
      { source, seconds: long, emissions, label } = found;
    const count = emissions.length === 1 ? "one emission" : `${emissions.length} emissions`;
    this.said.textContent = `${source}; ${seconds(long)}, ${emissions.length ? count : label}`;
    const raw = Uint8Array.from(atob(found.picture), (letter) => letter.charCodeAt(0));
    this.picture = await createImageBitmap(new Blob([raw], { type: "image/png" }));
    this.canvas.hidden = false;
    this.draw();
    this.list.replaceChildren(
      ...emissions.map((emission) =>
        make(
          "li",
          {},
          swatch(emission.label, emission.family),
          make("span", {}, `${emission.label} ${sure(emission)}`),
          make("small", {}, `${metric(emission.centre_hz, 7)}Hz, ${metric(emission.bandwidth_hz, 3)}Hz wide`),
          make("small", {}, `${emission.begin.toFixed(2)} to ${emission.end.toFixed(2)} s, ${emission.snr_db} dB`),
        ),
      ),
    );
  }

  draw() {
    fit(this.canvas);
    const { width, height } = this.canvas,
      context = this.canvas.getContext("2d"),
      ratio = width / this.canvas.clientWidth || 1,
      { rate_hz, freq_hz, seconds: long, emissions } = this.found;
    const x = (hz) => ((hz - (freq_hz ?? 0)) / rate_hz + 0.5) * width,
      y = (second) => (second / long) * height;
    context.drawImage(this.picture, 0, 0, width, height);
    context.font = `600 ${11 * ratio}px system-ui`;
    context.textBaseline = "top";
    for (const emission of emissions) {
      const { colour, ink } = styleOf(emission.label, emission.family),
        [left, top] = [x(emission.lower_hz), y(emission.begin)],
        text = title(emission),
        wide = context.measureText(text).width + 8 * ratio;
      context.strokeStyle = colour;
      context.lineWidth = 2 * ratio;
      context.strokeRect(left, top, x(emission.upper_hz) - left, Math.max(3, y(emission.end) - top));
      context.fillStyle = colour;
      context.fillRect(Math.min(left, width - wide), top, wide, 15 * ratio);
      context.fillStyle = ink;
      context.fillText(text, Math.min(left, width - wide) + 4 * ratio, top + 2 * ratio);
    }
  }
}
