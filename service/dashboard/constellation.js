// The constellation: where symbols lie in the plane, brighter where they are many, fading as new ones come.

import { heat } from "./colours.js";
import { fit, themed } from "./dom.js";

const CELLS = 160,
  REACH = 2,
  FADE = 0.86;

export class Constellation {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.density = new Float32Array(CELLS * CELLS);
    this.inner = document.createElement("canvas");
    this.inner.width = this.inner.height = CELLS;
    this.image = new ImageData(CELLS, CELLS);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  theme(name) {
    this.colours = heat(name);
  }

  clear() {
    this.density.fill(0);
  }

  draw({ re, im }) {
    fit(this.canvas);
    const { context, density } = this,
      { width, height } = this.canvas;
    for (let i = 0; i < density.length; i++) density[i] *= FADE;
    for (let k = 0; k < re.length; k++) {
      const x = Math.floor(((re[k] / REACH + 1) * CELLS) / 2),
        y = Math.floor(((1 - im[k] / REACH) * CELLS) / 2);
      if (x > 0 && x < CELLS - 1 && y > 0 && y < CELLS - 1) {
        density[y * CELLS + x] += 2;
        for (const beside of [-1, 1, -CELLS, CELLS]) density[y * CELLS + x + beside] += 1;
      }
    }
    const most = density.reduce((a, b) => Math.max(a, b), 12);
    for (let i = 0; i < density.length; i++)
      this.pixels[i] = this.colours[Math.floor(255 * Math.sqrt(density[i] / most))];
    this.inner.getContext("2d").putImageData(this.image, 0, 0);
    context.drawImage(this.inner, 0, 0, width, height);
    context.strokeStyle = themed("--grid");
    context.beginPath();
    context.moveTo(width / 2, 0);
    context.lineTo(width / 2, height);
    context.moveTo(0, height / 2);
    context.lineTo(width, height / 2);
    context.moveTo(width / 2 + width / 2 / REACH, height / 2);
    context.arc(width / 2, height / 2, width / 2 / REACH, 0, 2 * Math.PI);
    context.stroke();
  }
}
