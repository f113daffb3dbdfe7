// Which dB the waterfall's darkest and brightest colours stand for, following the air slowly.

const SLOW = 0.05,
  NARROWEST_DB = 36;

export class Levels {
  constructor() {
    this.floor = this.ceiling = null;
  }

  push(psd) {
    const sorted = Float32Array.from(psd).sort();
    const low = sorted[Math.floor(0.1 * sorted.length)] - 6,
      high = sorted.at(-1) + 3;
    const wanted = Math.max(low + NARROWEST_DB, high);
    this.floor = this.floor === null ? low : this.floor + SLOW * (low - this.floor);
    // A strong signal must not glare: up at once, down slowly.
    this.ceiling =
      this.ceiling === null || wanted > this.ceiling + 6
        ? wanted
        : this.ceiling + SLOW * (wanted - this.ceiling);
  }
}
