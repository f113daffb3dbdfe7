// The spectrum: power by frequency, now, with the peaks of the last seconds; its axis is the waterfall's, too.

import { lined, styleOf } from "./colours.js";
import { fit, themed } from "./dom.js";
import { places } from "./emissions.js";
import { metric } from "./units.js";

const FALL_DB = 0.4; // that a held peak sinks per frame
const SMOOTH = 0.5;

export class Spectrum {
  // `gutter` gives how many pixels lie left of the band: the timeline's width.
  constructor(canvas, gutter) {
    this.canvas = canvas;
    this.gutter = gutter;
    this.context = canvas.getContext("2d");
    this.line = this.peaks = new Float32Array(0);
  }

  push(psd) {
    if (this.line.length !== psd.length) {
      this.line = Float32Array.from(psd);
      this.peaks = Float32Array.from(psd);
    }
    for (let i = 0; i < psd.length; i++) {
      this.line[i] += SMOOTH * (psd[i] - this.line[i]);
      this.peaks[i] = Math.max(psd[i], this.peaks[i] - FALL_DB);
    }
  }

  draw(air, view, levels) {
    fit(this.canvas);
    const { context } = this,
      { width, height } = this.canvas,
      ratio = width / this.canvas.clientWidth;
    const left = this.gutter() * ratio,
      bottom = height - 18 * ratio;
    const low = levels.floor - 4,
      high = Math.max(levels.ceiling, levels.floor + 30) + 4;
    const y = (db) => bottom - ((db - low) / (high - low)) * bottom;
    const x = (place) => left + ((place - view.low) / (view.high - view.low)) * (width - left);
    context.clearRect(0, 0, width, height);
    context.font = `${11 * ratio}px system-ui`;
    this.drawGrid(air, view, { x, y, low, high, left, bottom, ratio });
    context.save();
    context.beginPath();
    context.rect(left, 0, width - left, bottom);
    context.clip();
    this.drawEmissions(air, view, x, bottom, ratio);
    context.lineJoin = "round";
    this.trace(this.peaks, x, y);
    context.strokeStyle = themed("--peak");
    context.lineWidth = ratio;
    context.stroke();
    this.trace(this.line, x, y);
    context.strokeStyle = themed("--accent");
    context.lineWidth = 1.5 * ratio;
    context.stroke();
    context.lineTo(x(1), bottom);
    context.lineTo(x(0), bottom);
    const shade = context.createLinearGradient(0, 0, 0, bottom);
    shade.addColorStop(0, themed("--shade-top"));
    shade.addColorStop(1, themed("--shade-bottom"));
    context.fillStyle = shade;
    context.fill();
    context.restore();
  }

  // The edges of what is on the air; a model without a front end knows none.
  drawEmissions(air, view, x, bottom, ratio) {
    const { context } = this;
    for (const emission of air.emissions.at(view.end)) {
      const [low, high] = places(air, emission).map(x),
        style = styleOf(emission.label, emission.family);
      const unknown = emission.label === "unknown";
      if (unknown) this.hatching ??= context.createPattern(lined("rgb(138 143 152 / 60%)"), "repeat");
      context.globalAlpha = unknown ? 1 : 0.16;
      context.fillStyle = unknown ? this.hatching : style.colour;
      context.fillRect(low, 0, high - low, bottom);
      context.globalAlpha = 1;
      context.fillStyle = style.colour;
      context.fillRect(low, 0, Math.max(2 * ratio, high - low), 3 * ratio);
      for (const edge of [low, high]) context.fillRect(edge - ratio / 2, 0, ratio, bottom);
    }
  }

  trace(values, x, y) {
    this.context.beginPath();
    for (let i = 0; i < values.length; i++) this.context.lineTo(x((i + 0.5) / values.length), y(values[i]));
  }

  drawGrid(air, view, { x, y, low, high, left, bottom, ratio }) {
    const { context } = this,
      { width } = this.canvas;
    context.fillStyle = themed("--faint");
    context.strokeStyle = themed("--grid");
    context.lineWidth = 1;
    context.beginPath();
    context.textAlign = "right";
    const step = [5, 10, 20, 50].find((db) => (db / (high - low)) * bottom > 16 * ratio) ?? 100;
    for (let db = Math.ceil(low / step) * step; db < high; db += step) {
      context.moveTo(left, y(db));
      context.lineTo(width, y(db));
      if (y(db) > 10 * ratio) context.fillText(`${db} dB`, left - 6 * ratio, y(db) + 4 * ratio);
    }
    const most = Math.max(2, Math.floor((width - left) / ratio / 110));
    for (const { place, text } of ticks(air, view, most)) {
      context.moveTo(x(place), 0);
      context.lineTo(x(place), bottom);
      const half = context.measureText(text).width / 2;
      context.textAlign = "center";
      context.fillText(text, Math.min(width - half, x(place)), bottom + 13 * ratio);
    }
    context.stroke();
  }
}

// The frequency at a place in the band (0 to 1): absolute where it is known, else from the centre.
export function frequencyAt(air, place) {
  const centre = air.frame?.freq ?? NaN;
  return (Number.isNaN(centre) ? 0 : centre) + (place - 0.5) * air.rate;
}

export function frequencyText(air, hz) {
  const sign = Number.isNaN(air.frame?.freq ?? NaN) && hz > 0 ? "+" : "";
  return `${sign}${metric(Math.abs(hz) < 1e-6 ? 0 : hz, 7)}Hz`;
}

function ticks(air, view, most) {
  const low = frequencyAt(air, view.low),
    high = frequencyAt(air, view.high);
  const raw = (high - low) / most,
    size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((m) => m * size >= raw) * size;
  const found = [];
  for (let hz = Math.ceil(low / step) * step; hz <= high; hz += step) {
    found.push({
      place: view.low + ((hz - low) / (high - low)) * (view.high - view.low),
      text: frequencyText(air, hz),
    });
  }
  return found;
}
