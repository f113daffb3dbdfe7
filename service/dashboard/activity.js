// Emissions over time as bars, stacked by family, with a mark for each alert.

import { fillOf, styleOf } from "./colours.js";
import { fit, themed } from "./dom.js";
import { clock } from "./units.js";

const SCALE = 14, // pixels for the times
  MARKS = 10; // and for the alerts

export class ActivityChart {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.bars = new Map(); // step -> name -> emissions
  }

  draw(review, alerts, chosen) {
    this.review = review;
    this.count(review);
    fit(this.canvas);
    const { context } = this,
      { width, height } = this.canvas,
      ratio = width / this.canvas.clientWidth || 1;
    const bottom = height - SCALE * ratio,
      top = MARKS * ratio,
      wide = width / review.steps;
    const totals = [...this.bars.values()].map((names) => [...names.values()].reduce((a, b) => a + b, 0));
    const scale = (bottom - top) / Math.max(1, ...totals);
    context.clearRect(0, 0, width, height);
    context.fillStyle = themed("--raised");
    context.fillRect(chosen * wide, 0, Math.max(2 * ratio, wide), bottom);
    for (const [step, names] of this.bars) {
      let y = bottom;
      for (const [name, emissions] of names) {
        context.fillStyle = fillOf(context, styleOf(name, name));
        context.fillRect(step * wide, y - emissions * scale, Math.max(1, wide - ratio), emissions * scale);
        y -= emissions * scale;
      }
    }
    context.fillStyle = themed("--bad");
    for (const { at } of alerts) this.mark(this.x(Date.parse(at)) * width, ratio);
    context.fillStyle = themed("--faint");
    context.font = `${10 * ratio}px system-ui`;
    for (let i = 0; i <= 4; i++) {
      context.textAlign = i === 0 ? "left" : i === 4 ? "right" : "center";
      context.fillText(this.time(i / 4), (i / 4) * width, height - 3 * ratio);
    }
  }

  count({ activity }) {
    this.bars.clear();
    for (const { step, name, emissions } of activity) {
      if (!this.bars.has(step)) this.bars.set(step, new Map());
      this.bars.get(step).set(name, emissions);
    }
  }

  mark(x, ratio) {
    const { context } = this;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x - 4 * ratio, MARKS * ratio - 2);
    context.lineTo(x + 4 * ratio, MARKS * ratio - 2);
    context.fill();
  }

  x(ms) {
    return (ms - Date.parse(this.review.from)) / (1000 * this.review.step_s * this.review.steps);
  }

  time(share) {
    const { from, step_s, steps } = this.review,
      ms = Date.parse(from) + share * step_s * steps * 1000;
    return step_s * steps > 86_400 ? new Date(ms).toLocaleDateString([], { day: "numeric", month: "short" }) : clock(ms);
  }

  // What lies at a place of the picture, in words.
  tell(x) {
    if (!this.review) return "";
    const step = Math.floor(x * this.review.steps),
      names = [...(this.bars.get(step) ?? [])].map(([name, emissions]) => `${emissions} ${name}`);
    return `${this.time(step / this.review.steps)}: ${names.join(", ") || "nothing"}`;
  }
}
