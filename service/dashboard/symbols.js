// From raw samples to symbols, as far as they can be found without knowing the modulation.
//
// Symbol clock: the line of |x|^2 at the symbol rate. Carrier: the line of (z/|z|)^M, M = 2, 4, 8, of the symbols z.
// Without a line the samples are shown as they are.

import { fft, clearest } from "./fft.js";

const UP = 4; // samples in between, so that an eye is round
const CLEAR = 5; // a line that stands out this far is not chance
const SLOW = 0.1;
export const EDGE = 8; // samples at each end, where the transform wraps round

export class Symbols {
  constructor() {
    this.rate = 0; // symbols per sample, smoothed; 0 where no clock was found
  }

  // Takes I and Q interleaved; gives the wave UP times as dense, the symbol clock, and the symbols. Of the band
  // only this share around zero is taken: the rest is noise.
  push(points, share = 1) {
    const n = 2 ** Math.floor(Math.log2(points.length / 2));
    const wave = denser(points, n, share);
    const clock = this.clock(wave, n);
    const symbols = at(wave, clock, n);
    return { wave, clock, symbols, carrier: derotate(symbols) };
  }

  clock(wave, n) {
    const re = wave.re.map((value, i) => value * value + wave.im[i] * wave.im[i]);
    const mean = re.reduce((a, b) => a + b) / re.length;
    const step = (2 * Math.PI) / re.length; // a Hann window: a line between two bins is then located to a hundredth
    for (let i = 0; i < re.length; i++) re[i] = (re[i] - mean) * (1 - Math.cos(step * i));
    const im = new Float64Array(re.length);
    fft(re, im);
    const found = clearest(re, im, Math.ceil(0.02 * n), Math.floor(0.98 * n), re.length / 2);
    if (found.height > CLEAR) {
      const rate = found.place / n,
        steady = Math.abs(rate - this.rate) < 2 / n;
      this.rate = steady ? this.rate + SLOW * (rate - this.rate) : rate;
    } else if (found.height < CLEAR / 2) {
      this.rate = 0;
    }
    const rate = this.rate || 1;
    // Symbols lie where the envelope is largest: where its line's angle is 0.
    const peak = this.rate ? n / 2 - found.angle / (2 * Math.PI * rate) : 0;
    const first = peak + Math.ceil((EDGE - peak) * rate) / rate; // the first symbol behind the edge
    return { rate, first, found: Boolean(this.rate) };
  }
}

// The same wave with UP times the samples: its spectrum with zeros around it.
function denser(points, n, share) {
  const re = new Float64Array(n),
    im = new Float64Array(n),
    offset = points.length - 2 * n;
  for (let i = 0; i < n; i++) {
    re[i] = points[offset + 2 * i];
    im[i] = points[offset + 2 * i + 1];
  }
  fft(re, im);
  const wave = { re: new Float64Array(UP * n), im: new Float64Array(UP * n), up: UP };
  for (let k = 0; k < n; k++) {
    if (Math.min(k, n - k) > (share * n) / 2) continue;
    const to = k < n / 2 ? k : UP * n - n + k;
    wave.re[to] = re[k] / n;
    wave.im[to] = im[k] / n;
  }
  fft(wave.re, wave.im, true);
  return wave;
}

// The wave at the symbols' instants.
function at(wave, { rate, first }, n) {
  const re = [],
    im = [];
  for (let t = first; t < n - EDGE; t += 1 / rate) {
    const x = t * UP,
      i = Math.floor(x),
      part = x - i;
    re.push(wave.re[i] + part * (wave.re[i + 1] - wave.re[i]));
    im.push(wave.im[i] + part * (wave.im[i + 1] - wave.im[i]));
  }
  return { re, im };
}

// Derotates the symbols where a carrier is found; its frequency in cycles per symbol, or null.
function derotate(symbols) {
  const { re, im } = symbols,
    size = 2 ** Math.ceil(Math.log2(2 * re.length));
  for (const power of [2, 4, 8]) {
    const lineRe = new Float64Array(size),
      lineIm = new Float64Array(size);
    for (let k = 0; k < re.length; k++) {
      const angle = power * Math.atan2(im[k], re[k]);
      lineRe[k] = Math.cos(angle);
      lineIm[k] = Math.sin(angle);
    }
    fft(lineRe, lineIm);
    const middle = (re.length - 1) / 2;
    const line = clearest(lineRe, lineIm, -size / 2, size / 2, middle);
    if (line.height < CLEAR) continue;
    const turn = (2 * Math.PI * line.place) / size / power;
    const corner = power === 4 ? Math.PI : 0; // QPSK and QAM stand on their corners
    const start = (line.angle - corner) / power;
    for (let k = 0; k < re.length; k++) {
      const angle = -(start + turn * (k - middle)),
        c = Math.cos(angle),
        s = Math.sin(angle);
      [re[k], im[k]] = [re[k] * c - im[k] * s, re[k] * s + im[k] * c];
    }
    return turn / (2 * Math.PI);
  }
  return null;
}
