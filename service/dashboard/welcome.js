// The first steps, while there is no stream: the radios of this machine, the demo, other sources, a recording.

import { get, post } from "./api.js";
import { attempt, make } from "./dom.js";
import { metric } from "./units.js";

const FREQ = "433.92M";

export class Welcome {
  constructor(place, page) {
    this.page = page;
    this.radios = make("ul", { "aria-label": "Radios of this machine" });
    this.problem = make("p", { class: "note", role: "status" }, "Looking for radios…");
    const act = (text, title, run, kind = "") =>
      make("button", { title, class: kind, onclick: (event) => attempt(event.currentTarget, run) }, text);
    const file = make("input", {
      type: "file",
      multiple: true,
      hidden: true,
      "aria-label": "Recording",
      onchange: () => attempt(null, () => page.recording.open([...file.files])),
    });
    place.append(
      make("h2", {}, "No stream yet. What shall it listen to?"),
      this.radios,
      this.problem,
      make(
        "div",
        { class: "actions" },
        act("Play the demo", "A shipped band with six transmitters at once", () => this.listen("demo"), "main"),
        act("A radio by rtl_tcp", "On this machine or another one", () => page.panels.streams.ask("rtltcp")),
        act("GNU Radio by ZMQ", "A PUB sink of complex samples", () => page.panels.streams.ask("zmq")),
        act("Sweep a wider range", "A radio steps through more than it sees at once", () =>
          page.panels.streams.ask("sweep"),
        ),
        act("Look for radios again", "After one was plugged in", () => this.find()),
      ),
      make(
        "p",
        { class: "note" },
        "Or drop a recording onto this page (SigMF, WAV, raw I/Q): it is analysed in place, and no stream is made. ",
        act("Choose a recording", "As a file of this machine", () => file.click(), "quiet"),
        file,
      ),
    );
    // The waterfall behind it takes clicks and keys for its own.
    for (const kind of ["pointerdown", "click", "dblclick", "wheel", "keydown"]) {
      place.addEventListener(kind, (event) => event.stopPropagation());
    }
    this.takeDrops();
  }

  async load() {
    if (this.asked) return;
    this.asked = true;
    await attempt(null, () => this.find());
  }

  async find() {
    this.problem.textContent = "Looking for radios…";
    const { devices, problem } = await get("v1/devices");
    this.radios.replaceChildren(...devices.map((device) => this.radio(device)));
    this.problem.textContent = problem || (devices.length ? "" : "No radio was found on this machine.");
  }

  radio({ address, label, abilities, error }) {
    if (!abilities) return make("li", {}, `${label}: ${error}`); // another program has it, or a permission is missing
    const [least, most] = abilities.rates_hz[0],
      rate = Math.min(most, Math.max(least, 1.024e6)),
      gain = abilities.auto_gain ? "auto" : "20";
    const source = `${address}?freq=${FREQ}&rate=${rate}&gain=${gain}`;
    return make(
      "li",
      {},
      make(
        "button",
        { class: "main", onclick: (event) => attempt(event.currentTarget, () => this.listen(source, label)) },
        `Listen with ${label}`,
      ),
      make("small", { class: "note" }, ` ${FREQ}Hz, ${metric(rate, 4)}S/s`),
    );
  }

  async listen(source, name = "") {
    const stream = await post("v1/streams", { source, name });
    await this.page.refresh();
    await this.page.show(stream);
  }

  // A file may be dropped anywhere, at any time.
  takeDrops() {
    const files = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
    const mark = (on) => document.body.classList.toggle("dropping", on);
    document.addEventListener("dragover", (event) => {
      if (!files(event)) return;
      event.preventDefault();
      mark(true);
    });
    document.addEventListener("dragleave", ({ relatedTarget }) => relatedTarget ?? mark(false));
    document.addEventListener("drop", (event) => {
      if (!files(event)) return;
      event.preventDefault();
      mark(false);
      attempt(null, () => this.page.recording.open([...event.dataTransfer.files]));
    });
  }
}
