// Boxes on the waterfall: each emission outlined in its family's colour, with what it is, how sure and how strong.
//
// Unknown ones are hatched. A box fades once its emission has ended; one that is ignored is dashed and has no name.

import { lined, styleOf } from "./colours.js";
import { fit, themed } from "./dom.js";
import { places } from "./emissions.js";
import { title } from "./words.js";

const FADE_S = 4,
  FAINTEST = 0.3;
const NARROWEST_PX = 5, // that a box is drawn and can be hit
  CHIP_PX = 16,
  SLOTS = 7, // places for a name, one below the other
  MOST_NAMES = 80;

export class Boxes {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.shown = []; // those drawn last: the emission, and left, top, right, bottom from 0 to 1
    this.chosen = this.hovered = null; // identities
  }

  draw(air, view, ignores) {
    fit(this.canvas);
    const { context } = this,
      { width, height } = this.canvas;
    this.ratio = width / this.canvas.clientWidth || 1;
    context.clearRect(0, 0, width, height);
    context.font = `600 ${11 * this.ratio}px system-ui`;
    context.textBaseline = "middle";
    this.shown = air.emissions.inView(view).map((emission) => this.place(air, view, emission, ignores(emission)));
    for (const box of this.shown) this.outline(box);
    this.taken = []; // rectangles of names
    const first = this.shown.filter((box) => !box.ignored).sort((a, b) => b.rank - a.rank);
    for (const box of first.slice(0, MOST_NAMES)) this.name(box);
    context.globalAlpha = 1;
  }

  place(air, view, emission, ignored) {
    const { width } = this.canvas,
      [low, high] = places(air, emission);
    const x = (place) => (place - view.low) / (view.high - view.low);
    const end = air.emissions.end(emission),
      gone = Math.max(0, Math.min(view.end, Math.max(end, air.emissions.newest)) - end);
    const wider = Math.max(0, (NARROWEST_PX * this.ratio) / width - (x(high) - x(low))) / 2;
    const alpha = gone > 0 ? Math.max(FAINTEST, 1 - gone / FADE_S) : 1;
    return {
      emission,
      ignored,
      left: x(low) - wider,
      right: x(high) + wider,
      top: Math.max(0, view.toShare(end)),
      bottom: Math.min(1, view.toShare(emission.t0)),
      alpha: ignored ? FAINTEST : alpha,
      rank: (emission.emission === this.chosen ? 1e3 : 0) + alpha, // who is on the air is named first
    };
  }

  outline(box) {
    const { context, ratio } = this,
      { width, height } = this.canvas,
      { emission } = box;
    const chosen = emission.emission === this.chosen,
      hovered = emission.emission === this.hovered;
    const [x, y] = [box.left * width, box.top * height];
    const [wide, tall] = [(box.right - box.left) * width, Math.max(3 * ratio, (box.bottom - box.top) * height)];
    const { colour } = styleOf(emission.label, emission.family);
    context.globalAlpha = box.alpha;
    if (emission.label === "unknown") {
      this.hatching ??= context.createPattern(lined("rgb(190 196 206 / 55%)"), "repeat");
      context.fillStyle = this.hatching;
      context.fillRect(x, y, wide, tall);
    }
    if (chosen || hovered) {
      context.globalAlpha = 0.18;
      context.fillStyle = colour;
      context.fillRect(x, y, wide, tall);
      context.globalAlpha = 1;
    }
    context.setLineDash(box.ignored ? [3 * ratio, 4 * ratio] : []);
    if (chosen) this.stroke(themed("--text"), 4.5, x, y, wide, tall);
    else this.stroke("rgb(0 0 0 / 55%)", 3.5, x, y, wide, tall); // so that it stands out of a bright waterfall
    this.stroke(colour, chosen || hovered ? 2.5 : 1.5, x, y, wide, tall);
    context.setLineDash([]);
  }

  stroke(colour, line, x, y, wide, tall) {
    this.context.strokeStyle = colour;
    this.context.lineWidth = line * this.ratio;
    this.context.strokeRect(x, y, wide, tall);
  }

  // Its name stands at its newest end, or below where that place is taken; or nowhere.
  name(box) {
    const { context, ratio } = this,
      { width, height } = this.canvas,
      style = styleOf(box.emission.label, box.emission.family);
    const text = title(box.emission),
      wide = context.measureText(text).width + 8 * ratio,
      tall = CHIP_PX * ratio;
    const x = Math.min(Math.max(box.left * width, 0), width - wide);
    const lowest = Math.min(height - tall, Math.max(box.top, box.bottom) * height);
    for (let slot = 0; slot < SLOTS; slot++) {
      const y = box.top * height + slot * (tall + ratio);
      if (y > lowest && slot) return;
      if (this.taken.some((r) => x < r.x + r.wide && r.x < x + wide && y < r.y + tall && r.y < y + tall)) continue;
      this.taken.push({ x, y, wide });
      box.chip = { left: x / width, right: (x + wide) / width, top: y / height, bottom: (y + tall) / height };
      context.globalAlpha = Math.max(0.55, box.alpha);
      context.fillStyle = style.colour;
      context.beginPath();
      context.roundRect(x, y, wide, tall, 3 * ratio);
      context.fill();
      context.fillStyle = style.ink;
      context.fillText(text, x + 4 * ratio, y + tall / 2 + ratio / 2);
      return;
    }
  }

  // The emission at a place from 0 to 1 each: the one whose name stands there, else the smallest box.
  find(x, y) {
    const inside = (r) => r && r.left <= x && x <= r.right && r.top <= y && y <= r.bottom;
    const named = this.shown.find(({ chip }) => inside(chip));
    if (named) return named.emission;
    const there = this.shown.filter(inside);
    const size = (b) => (b.right - b.left) * (b.bottom - b.top);
    return there.sort((a, b) => size(a) - size(b))[0]?.emission ?? null;
  }
}
