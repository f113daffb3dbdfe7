// The answer now: in large letters, how sure, how strong, for how long; and what else it could have been.

import { styleOf } from "./colours.js";
import { make } from "./dom.js";
import { metric, NO_SIGNAL, offset, percent, seconds, sureness } from "./units.js";

const MOST_BARS = 7;
const PAST = {
  cold: "the stream has just begun",
  gap: "just after a gap",
  signal: "a signal has just begun",
  change: "it has just become another signal",
};

export class Answer {
  constructor(place) {
    this.label = make("output", { class: "label" }, "—");
    this.past = make("p", { class: "past" });
    this.facts = make("dl", { class: "facts" });
    this.bars = make("ul", { class: "bars", "aria-label": "Probability of each class" });
    this.spoken = make("p", { class: "hidden", "aria-live": "polite" });
    place.append(this.label, this.past, this.facts, this.bars, this.spoken);
  }

  // `onAir` is how long its emission has been on the air, where it is followed.
  draw(report, onAir) {
    if (!report) {
      this.label.textContent = "…";
      this.label.style.removeProperty("--label");
      this.past.textContent = this.order = "";
      this.facts.replaceChildren();
      this.bars.replaceChildren();
      return;
    }
    const style = styleOf(report.label);
    this.label.textContent = report.label;
    this.label.style.setProperty("--label", style.colour);
    this.past.textContent = PAST[report.past] ?? "";
    this.facts.replaceChildren(
      ...facts(report, onAir ?? report.held_s).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    );
    this.drawBars(report.label === NO_SIGNAL ? {} : report.probabilities);
  }

  drawBars(probabilities) {
    const most = Object.entries(probabilities)
      .sort((a, b) => b[1] - a[1])
      .slice(0, MOST_BARS);
    const shown = new Set(most.map(([name]) => name));
    const order = Object.keys(probabilities).filter((name) => shown.has(name)); // the classes' own
    if (order.join() !== this.order) {
      // kept while the classes are the same: bars grow instead of jumping
      this.order = order.join();
      this.bars.replaceChildren(
        ...order.map((name) => {
          const bar = make("i");
          bar.style.background = styleOf(name).colour;
          return make("li", {}, make("span", {}, name), make("b", {}, bar), make("em"));
        }),
      );
    }
    order.forEach((name, i) => {
      const [, track, number] = this.bars.children[i].children;
      track.firstChild.style.transform = `scaleX(${probabilities[name]})`;
      number.textContent = percent(probabilities[name]);
    });
  }

  // Only changes that lasted are read aloud.
  say(event) {
    const sure = sureness(event);
    this.spoken.textContent = sure ? `${event.label}, ${sure} sure` : event.label;
  }
}

// What is known of an answer; some models and signals have more than others.
function facts(report, held) {
  const { family, snr_db, bandwidth_hz, offset_hz } = report;
  const heard = [
    ["sure", sureness(report)],
    ["family", family ?? ""],
    ["SNR", snr_db == null ? "—" : `${snr_db} dB`],
    ["bandwidth", bandwidth_hz == null ? "" : `${metric(bandwidth_hz, 3)}Hz`],
    ["offset", offset_hz == null ? "" : offset(offset_hz)],
  ];
  const found = report.label === NO_SIGNAL ? [] : heard.filter(([, text]) => text);
  return [...found, ["for", seconds(held)]];
}
