// The answers beside the waterfall, second by second at the same height; a bar is as wide as the answer is sure.

import { fillOf, styleOf } from "./colours.js";
import { fit, themed } from "./dom.js";
import { clock, NO_SIGNAL } from "./units.js";
import { stripes } from "./waterfall.js";

const STEPS_S = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120];
const CLOCK_PX = 56; // for the time at the left

export class Timeline {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  theme() {
    this.stripes = null;
  }

  draw(air, view) {
    fit(this.canvas);
    const { context } = this,
      { width, height } = this.canvas,
      ratio = width / this.canvas.clientWidth;
    context.clearRect(0, 0, width, height);
    context.font = `600 ${11 * ratio}px system-ui`;
    context.textBaseline = "middle";
    const left = CLOCK_PX * ratio,
      room = width - left - 5 * ratio;
    const y = (second) => view.toShare(second) * height;
    let free = Infinity; // the lowest line that no text has taken, going up
    for (const run of air.runsIn(view)) {
      const top = Math.max(0, y(run.t1)),
        bottom = Math.min(height, y(run.t0));
      const style = styleOf(run.label);
      const wide = room * (run.label === NO_SIGNAL ? 0.15 : 0.5 + 0.5 * run.probability);
      context.fillStyle = fillOf(context, style);
      context.fillRect(left, top, wide, Math.max(1, bottom - top - (bottom - top > 3 ? 1 : 0)));
      const middle = (top + bottom) / 2;
      if (bottom - top < 13 * ratio || middle > free || run.label === NO_SIGNAL) continue;
      if (style.pattern) {
        context.fillStyle = style.colour;
        context.fillRect(left, middle - 7 * ratio, wide, 14 * ratio); // no hatching under letters
      }
      context.fillStyle = style.ink;
      context.fillText(run.label, left + 4 * ratio, middle, wide - 6 * ratio);
      free = middle - 13 * ratio;
    }
    this.drawGaps(air, y, left, room);
    this.drawClock(air, view, y, ratio);
  }

  drawGaps(air, y, left, room) {
    const { context } = this;
    this.stripes ??= context.createPattern(stripes(themed("--gap"), themed("--panel")), "repeat");
    for (const gap of [...air.rows.holes, ...air.gaps]) {
      const top = y(gap.end / air.rate),
        tall = Math.max(3, y(gap.start / air.rate) - top);
      context.fillStyle = this.stripes;
      context.fillRect(left, top, room, tall);
    }
  }

  drawClock(air, view, y, ratio) {
    const { context } = this;
    const step = STEPS_S.find((s) => (s / view.span) * this.canvas.height > 34 * ratio) ?? 300;
    const offset = (air.toClock(0) / 1000) % step; // so that ticks lie on round times
    context.font = `${11 * ratio}px system-ui`;
    context.fillStyle = themed("--faint");
    for (let s = Math.ceil((view.begin + offset) / step) * step - offset; s < view.end; s += step) {
      const digits = step < 0.1 ? 2 : step < 1 ? 1 : 0;
      if (y(s) > 8 * ratio) context.fillText(clock(air.toClock(s), digits), 2 * ratio, y(s));
      context.fillRect((CLOCK_PX - 5) * ratio, y(s), 4 * ratio, 1);
    }
  }
}
