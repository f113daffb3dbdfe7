// A plan of frequencies for a radio: from where to where, and how long at each step.

import { make } from "./dom.js";
import { fromMetric, metric, seconds } from "./units.js";

const USABLE = 0.8, // of the rate, as the service plans steps
  STEP = 0.6,
  SETTLE_S = 0.05;

export class PlanFields {
  constructor() {
    const field = (name, label, placeholder) =>
      make("label", {}, label, make("input", { name, placeholder, autocomplete: "off" }));
    this.note = make("p", { class: "note", role: "status" });
    this.element = make(
      "details",
      { class: "plan", hidden: true },
      make("summary", {}, "Sweep a wider range"),
      make(
        "div",
        { class: "fields" },
        field("start", "From", "430M"),
        field("stop", "To", "440M"),
        field("dwell", "Seconds at each step", "0.5"),
      ),
      this.note,
    );
  }

  // Only a radio can follow one.
  offer(radio) {
    this.element.hidden = !radio;
    if (!radio) this.element.open = false;
  }

  // What the form's values ask for: null where it is not open or nothing is filled in.
  read({ start, stop, dwell }) {
    if (!this.element.open || !(start.trim() || stop.trim())) return null;
    const plan = { start_hz: fromMetric(start), stop_hz: fromMetric(stop), dwell_s: Number(dwell || 0.5) };
    if (Object.values(plan).some(Number.isNaN))
      throw Object.assign(new Error("a sweep needs two frequencies such as 430M and 440M"), { status: 422 });
    return plan;
  }

  // How long a pass takes, while somebody types.
  draw(values) {
    this.note.textContent = "";
    let plan = null;
    try {
      plan = this.read(values);
    } catch {
      return; // not typed to the end yet
    }
    const rate = fromMetric(values.rate ?? ""),
      span = plan && plan.stop_hz - plan.start_hz;
    if (!(span > 0) || !(rate > 0)) return;
    const steps = span <= USABLE * rate ? 1 : Math.ceil((span - USABLE * rate) / (STEP * rate)) + 1;
    this.note.textContent = `${steps} steps, ${seconds(steps * (plan.dwell_s + SETTLE_S))} for all of them.`;
  }
}

// A plan in words.
export const planText = ({ start_hz, stop_hz, dwell_s }) =>
  `${metric(start_hz, 7)}Hz to ${metric(stop_hz, 7)}Hz, ${seconds(dwell_s)} each`;
