// The answer now: in large letters, how sure, how strong, for how long; and what else it could have been.

import { styleOf } from "./colours.js";
import { make } from "./dom.js";
import { percent, seconds } from "./units.js";

const PAST = { cold: "the stream has just begun", gap: "just after a gap" };

export class Answer {
  constructor(place) {
    this.label = make("output", { class: "label" }, "—");
    this.past = make("p", { class: "past" });
    this.facts = make("dl", { class: "facts" });
    this.bars = make("ul", { class: "bars", "aria-label": "Probability of each class" });
    this.spoken = make("p", { class: "hidden", "aria-live": "polite" });
    place.append(this.label, this.past, this.facts, this.bars, this.spoken);
  }

  draw(report) {
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
    const facts = [
      ["sure", percent(report.probability)],
      ["SNR", report.snr_db === null ? "—" : `${report.snr_db} dB`],
      ["for", seconds(report.held_s)],
    ];
    this.facts.replaceChildren(
      ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    );
    this.drawBars(report.probabilities);
  }

  drawBars(probabilities) {
    const most = Object.entries(probabilities)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 8);
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
    this.spoken.textContent = `${event.label}, ${percent(event.probability)} sure`;
  }
}
