// The spectrum of one emission in its own channel, with the edges of what it occupies.

import { styleOf } from "./colours.js";
import { fit, themed } from "./dom.js";
import { frequencyText } from "./spectrum.js";

export class ChannelSpectrum {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  // `frame` is a spectrum frame of the channel.
  draw(air, frame, emission) {
    fit(this.canvas);
    const { context } = this,
      { width, height } = this.canvas,
      ratio = width / this.canvas.clientWidth || 1;
    const { psd, rate } = frame,
      centre = Number.isNaN(frame.freq) ? emission.centre_hz : frame.freq;
    const bottom = height - 16 * ratio,
      sorted = Float32Array.from(psd).sort();
    const low = sorted[Math.floor(0.1 * sorted.length)] - 6,
      high = Math.max(sorted.at(-1) + 3, low + 20);
    const x = (hz) => ((hz - centre) / rate + 0.5) * width,
      y = (db) => bottom - ((db - low) / (high - low)) * bottom;
    const { colour } = styleOf(emission.label, emission.family);
    context.clearRect(0, 0, width, height);
    context.fillStyle = colour;
    context.globalAlpha = 0.16;
    const [left, right] = [x(emission.lower_hz), x(emission.upper_hz)];
    context.fillRect(left, 0, right - left, bottom);
    context.globalAlpha = 1;
    for (const edge of [left, right]) context.fillRect(edge - ratio / 2, 0, ratio, bottom);
    context.beginPath();
    for (let i = 0; i < psd.length; i++) context.lineTo(((i + 0.5) / psd.length) * width, y(psd[i]));
    context.strokeStyle = themed("--accent");
    context.lineWidth = 1.5 * ratio;
    context.lineJoin = "round";
    context.stroke();
    context.font = `${10 * ratio}px system-ui`;
    context.fillStyle = themed("--faint");
    context.textAlign = "center";
    context.fillText(frequencyText(air, centre), width / 2, height - 4 * ratio);
  }
}
