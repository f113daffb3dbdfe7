// The waterfall: power by frequency and time, newest at the top.
//
// Every picture is redrawn from the stored rows, so pausing, scrolling and zooming are the same as running.

import { heat } from "./colours.js";
import { fit, themed } from "./dom.js";
import { STEPS } from "./rows.js";

export class Waterfall {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.inner = document.createElement("canvas"); // a pixel per bin and line; the browser stretches it
  }

  theme(name) {
    this.colours = heat(name);
    this.stripes = null;
  }

  // `levels` are the dB of the ramp's two ends.
  draw(air, view, levels) {
    fit(this.canvas);
    const { width, height } = this.canvas;
    const rows = chooseRows(air, view),
      { bins } = rows;
    const lines = Math.min(height, 800);
    const pixels = this.picture(bins, lines);
    const floor = STEPS * levels.floor,
      gain = 255 / (STEPS * (levels.ceiling - levels.floor));
    const centre = air.frame?.freq ?? NaN;
    for (let line = 0; line < lines; line++) {
      const at = rows.find(view.toSecond((line + 0.5) / lines) * air.rate);
      const out = line * bins;
      if (at < 0) {
        this.pixels.fill(0, out, out + bins);
        continue;
      }
      const shift = Math.round(((rows.freqs[at] - centre) / air.rate) * bins) || 0; // it was tuned elsewhere
      const row = rows.power.subarray(at * bins, (at + 1) * bins);
      for (let x = 0; x < bins; x++) {
        const value = (row[x - shift] - floor) * gain; // NaN outside of the row becomes 0
        this.pixels[out + x] = this.colours[value > 255 ? 255 : value > 0 ? value | 0 : 0];
      }
    }
    this.inner.getContext("2d").putImageData(pixels, 0, 0);
    const left = view.low * bins,
      part = (view.high - view.low) * bins;
    this.context.imageSmoothingEnabled = part < width;
    this.context.fillStyle = themed("--panel");
    this.context.fillRect(0, 0, width, height);
    this.context.drawImage(this.inner, left, 0, part, lines, 0, 0, width, height);
    this.drawGaps(air, view);
  }

  picture(bins, lines) {
    if (this.image?.width !== bins || this.image.height !== lines) {
      this.inner.width = bins;
      this.inner.height = lines;
      this.image = new ImageData(bins, lines);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    return this.image;
  }

  // Lost samples are drawn as such, striped over the whole width; where only the answers are missing, see-through.
  drawGaps(air, view) {
    const { context } = this,
      { width, height } = this.canvas;
    this.stripes ??= context.createPattern(stripes(themed("--gap"), themed("--panel")), "repeat");
    context.fillStyle = this.stripes;
    for (const gap of [...air.rows.holes, ...air.gaps]) {
      const top = view.toShare(gap.end / air.rate) * height,
        bottom = view.toShare(gap.start / air.rate) * height;
      context.globalAlpha = gap.reason === "overload" ? 0.35 : 1;
      if (bottom > 0 && top < height) context.fillRect(0, top, width, Math.max(3, bottom - top));
    }
    context.globalAlpha = 1;
  }
}

// The fine rows where they cover what is shown, else those that came live.
function chooseRows(air, view) {
  const { detail } = air;
  const from = view.begin * air.rate,
    to = view.end * air.rate,
    slack = 0.02 * (to - from);
  return detail && !view.following && detail.start <= from + slack && detail.end >= to - slack
    ? detail
    : air.rows;
}

export function stripes(ink, ground) {
  const tile = new OffscreenCanvas(12, 12),
    context = tile.getContext("2d");
  context.fillStyle = ground;
  context.fillRect(0, 0, 12, 12);
  context.strokeStyle = ink;
  context.lineWidth = 4;
  for (const shift of [-12, 0, 12]) {
    context.moveTo(shift, 12);
    context.lineTo(shift + 12, 0);
  }
  context.stroke();
  return tile;
}
