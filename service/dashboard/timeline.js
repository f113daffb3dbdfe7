// The answers beside the waterfall, second by second at the same height; a bar is as wide as the answer is sure.

import { fillOf, styleOf } from "./colours.js";
import { fit, themed } from "./dom.js";
import { clock, NO_SIGNAL } from "./units.js";
import { stripes } from "./waterfall.js";

const STEPS_S = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120];
const CLOCK_PX = 56; // for the time at the left
const NAMED_PX = 30; // a lane narrower than this has no room for letters
const BRIDGE_S = 1.5;
const OVERLAP_S = 0.5; // windows of answers overlap, too

export class Timeline {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.kept = new Map(); // the lanes drawn last
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
    const runs = bridged(air.runsIn(view)),
      followed = air.emissions.during(view),
      lanes = this.lanes([...followed, ...runs]),
      lane = room / Math.max(1, ...lanes.values());
    context.globalAlpha = 0.3; // between two answers
    for (const { emission, label, family, t0, t1 } of followed) {
      const from = left + (lanes.get(emission) - 1) * lane;
      context.fillStyle = styleOf(label, family).colour;
      context.fillRect(from, y(t1), 0.5 * lane, Math.max(1, y(t0) - y(t1)));
    }
    context.globalAlpha = 1;
    const free = new Map(); // lane -> the lowest line that no text has taken, going up
    for (const run of runs) {
      const place = lanes.get(run.emission) ?? 1,
        from = left + (place - 1) * lane;
      const top = Math.max(0, y(run.t1)),
        bottom = Math.min(height, y(run.t0));
      const style = styleOf(run.label);
      const wide = (lane - (lanes.size > 1 ? ratio : 0)) * (run.label === NO_SIGNAL ? 0.15 : 0.5 + 0.5 * run.probability);
      context.fillStyle = fillOf(context, style);
      context.fillRect(from, top, wide, Math.max(1, bottom - top - (bottom - top > 3 ? 1 : 0)));
      const middle = (top + bottom) / 2;
      if (bottom - top < 13 * ratio || lane < NAMED_PX * ratio || run.label === NO_SIGNAL) continue;
      if (middle > (free.get(place) ?? Infinity)) continue;
      if (style.pattern) {
        context.fillStyle = style.colour;
        context.fillRect(from, middle - 7 * ratio, wide, 14 * ratio); // no hatching under letters
      }
      context.fillStyle = style.ink;
      context.fillText(run.label, from + 4 * ratio, middle, wide - 6 * ratio);
      free.set(place, middle - 13 * ratio);
    }
    this.drawGaps(air, y, left, room);
    this.drawClock(air, view, y, ratio);
  }

  // Emissions that are heard at once stand beside each other: emission -> place, from 1 on. Each keeps its place
  // as long as it is in sight.
  lanes(runs) {
    const seen = new Map(); // emission -> from and to
    for (const { emission, t0, t1 } of runs) {
      if (emission == null) continue;
      const [from, to] = seen.get(emission) ?? [t0, t1];
      seen.set(emission, [Math.min(from, t0), Math.max(to, t1)]);
    }
    const lanes = new Map();
    for (const [emission, [from, to]] of seen) {
      const beside = [...lanes].filter(([other]) => {
        const [a, b] = seen.get(other);
        return from < b - OVERLAP_S && a < to - OVERLAP_S;
      });
      const taken = new Set(beside.map(([, place]) => place));
      let place = this.kept.get(emission) ?? 1;
      while (taken.has(place)) place += 1;
      lanes.set(emission, place);
    }
    this.kept = lanes;
    return lanes;
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

// An answer holds until the next one of its emission: where there is much to answer, they come with pauses.
function bridged(runs) {
  const newest = new Map(), // by emission
    made = [];
  for (const run of runs) {
    const before = run.emission == null ? null : newest.get(run.emission);
    if (before && run.t0 - before.t1 < BRIDGE_S) {
      before.t1 = Math.max(before.t1, run.label === before.label ? run.t1 : run.t0);
      if (run.label === before.label) continue;
    }
    const drawn = { ...run };
    newest.set(run.emission, drawn);
    made.push(drawn);
  }
  return made;
}
