// The discrete Fourier transform of 2^n complex numbers, in place: X[k] = sum x[n] exp(-2 pi i k n / N).

export function fft(re, im, inverse = false) {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j], re[i]];
      [im[i], im[j]] = [im[j], im[i]];
    }
  }
  for (let size = 2; size <= n; size *= 2) {
    const angle = ((inverse ? 2 : -2) * Math.PI) / size,
      half = size / 2;
    for (let k = 0; k < half; k++) {
      const c = Math.cos(angle * k),
        s = Math.sin(angle * k);
      for (let i = k; i < n; i += size) {
        const j = i + half;
        const tr = re[j] * c - im[j] * s,
          ti = re[j] * s + im[j] * c;
        re[j] = re[i] - tr;
        im[j] = im[i] - ti;
        re[i] += tr;
        im[i] += ti;
      }
    }
  }
}

const NEAR = 24,
  OWN = 2; // bins that a line is held against, less those that it fills itself

// The clearest line of a spectrum between two bins: how far it stands out of its neighbourhood, its place (between bins,
// too), and the wave's angle at the instant `middle`. Taken in the middle of the data, the angle holds wherever the line
// lies between two bins.
export function clearest(re, im, low, high, middle) {
  const n = re.length,
    size = (k) => Math.hypot(re[(k + n) % n], im[(k + n) % n]);
  const sizes = Float64Array.from({ length: high - low + 2 * NEAR + 1 }, (_, i) => size(low - NEAR + i));
  let best = low,
    height = 0;
  for (let k = low; k < high; k++) {
    const i = k - low + NEAR;
    let around = 0;
    for (let j = OWN + 1; j <= NEAR; j++) around += sizes[i - j] + sizes[i + j];
    const ratio = (sizes[i] * 2 * (NEAR - OWN)) / around;
    if (ratio > height) [best, height] = [k, ratio];
  }
  const [before, at, after] = [size(best - 1), size(best), size(best + 1)];
  const shift = (after - before) / (2 * (2 * at - before - after) || 1); // the top of a parabola through three
  const bin = (best + n) % n;
  const angle = Math.atan2(im[bin], re[bin]) + (2 * Math.PI * best * middle) / n;
  return { place: best + shift, angle, height };
}
