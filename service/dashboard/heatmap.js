// How busy each frequency was, by time: a heat map.

import { heat } from "./colours.js";
import { fit, themed } from "./dom.js";
import { busy, moment } from "./review.js";
import { frequencyText } from "./spectrum.js";

export class HeatMap {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.shares = new Map(); // step and cell -> share
  }

  draw(occupancy, theme) {
    this.occupancy = occupancy;
    const { steps, cells } = occupancy,
      colours = heat(theme);
    this.shares = new Map(occupancy.occupancy.map(({ step, cell, share }) => [step * cells + cell, share]));
    const image = new ImageData(steps, cells),
      pixels = new Uint32Array(image.data.buffer).fill(colours[0]);
    for (const { step, cell, share } of occupancy.occupancy) {
      // The root makes seldom use visible, too; the highest frequency is at the top.
      pixels[(cells - 1 - cell) * steps + step] = colours[Math.round(255 * Math.sqrt(share))];
    }
    const picture = new OffscreenCanvas(steps, cells);
    picture.getContext("2d").putImageData(image, 0, 0);
    fit(this.canvas);
    const { context } = this,
      { width, height } = this.canvas;
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, 0, 0, width, height);
    context.strokeStyle = themed("--line");
    context.strokeRect(0, 0, width, height);
  }

  // What lies at a place of the picture, in words.
  tell(x, y, air) {
    if (!this.occupancy || !air) return "";
    const { steps, cells, from, step_s, f_low, f_high } = this.occupancy,
      step = Math.floor(x * steps),
      cell = cells - 1 - Math.floor(y * cells);
    const hz = f_low + ((cell + 0.5) / cells) * (f_high - f_low);
    const when = moment(Date.parse(from) + step * step_s * 1000);
    return `${frequencyText(air, hz)}, ${when}: ${busy(this.shares.get(step * cells + cell))}`;
  }
}
