// The eye diagram: the in-phase part over two symbols, trace upon trace, fading.

import { fit, themed } from "./dom.js";
import { EDGE } from "./symbols.js";

const SYMBOLS = 2,
  REACH = 2.2,
  MOST_TRACES = 90;

export class Eye {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
  }

  clear() {
    this.fresh = true;
  }

  draw({ wave, clock }) {
    const { context } = this;
    this.fresh = fit(this.canvas) || this.fresh;
    const { width, height } = this.canvas;
    context.globalAlpha = this.fresh ? 1 : 0.25;
    this.fresh = false;
    context.fillStyle = themed("--ground");
    context.fillRect(0, 0, width, height);
    context.globalAlpha = 0.22;
    context.strokeStyle = themed("--accent");
    context.lineWidth = Math.max(1, width / 400);
    context.beginPath();
    const period = wave.up / clock.rate; // points per symbol
    for (let trace = 1; trace < MOST_TRACES; trace++) {
      const from = clock.first * wave.up + (trace - 0.5) * period,
        to = from + SYMBOLS * period;
      if (to > wave.re.length - EDGE * wave.up) break;
      for (let i = Math.ceil(from); i <= to; i++) {
        const x = ((i - from) / (to - from)) * width,
          y = (0.5 - wave.re[i] / REACH / 2) * height;
        if (i === Math.ceil(from)) context.moveTo(x, y);
        else context.lineTo(x, y);
      }
    }
    context.stroke();
    context.globalAlpha = 0.6;
    context.strokeStyle = themed("--grid");
    context.beginPath();
    for (const instant of [0.5, 1.5]) {
      // where symbols are read
      context.moveTo((instant / SYMBOLS) * width, 0);
      context.lineTo((instant / SYMBOLS) * width, height);
    }
    context.stroke();
  }
}
