// The form for another stream; it knows the radios of this machine.

import { get } from "./api.js";
import { attempt, make } from "./dom.js";
import { PlanFields } from "./plan.js";
import { metric } from "./units.js";

const KINDS = {
  zmq: "GNU Radio, by ZMQ",
  rtltcp: "A radio, by rtl_tcp",
  file: "A recording kept here",
  tone: "A test tone",
  any: "Any source address",
};

export class AddForm {
  constructor(add) {
    const choose = () => {
      this.chosen = true;
      this.draw();
    };
    this.kind = make("select", { "aria-label": "Kind of source", onchange: choose });
    this.fields = make("div", { class: "fields" });
    this.plan = new PlanFields();
    this.note = make("p", { class: "note" });
    this.name = make("input", { placeholder: "name (optional)", "aria-label": "Name", maxlength: 100 });
    this.element = make(
      "form",
      { class: "add", "aria-label": "Add a stream" },
      make("h3", {}, "Add a stream"),
      this.kind,
      this.fields,
      this.note,
      this.plan.element,
      this.name,
      make("button", { class: "main" }, "Listen"),
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(event.submitter, () =>
        add({ source: this.source(), name: this.name.value.trim(), plan: this.plan.read(this.values) }),
      );
    });
    this.element.addEventListener("input", () => this.plan.draw(this.values));
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

  sweep() {
    const ready = this.radios.findIndex(({ abilities }) => abilities);
    this.choose(ready < 0 ? "rtltcp" : `radio ${ready}`);
    this.plan.element.open = true;
    this.plan.element.querySelector("input").focus();
  }

  get values() {
    return Object.fromEntries(new FormData(this.element));
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
    this.plan.offer(this.radio || this.kind.value === "rtltcp");
    this.note.textContent =
      this.radio?.error ?? (can ? abilities(can) : (this.problem ?? "Looking for radios…"));
  }

  source() {
    const value = this.values;
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
