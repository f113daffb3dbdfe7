// Spectra in the order they came, the oldest let go: memory is taken once and stays as it is.

const MOST_HOLES = 500;
const STEPS = 100; // a stored dB has so many parts

export class Rows {
  constructor(bins, capacity) {
    this.bins = bins;
    this.capacity = capacity;
    this.starts = new Float64Array(capacity);
    this.ends = new Float64Array(capacity);
    this.freqs = new Float64Array(capacity);
    this.power = new Int16Array(capacity * bins);
    this.clear();
  }

  clear() {
    this.holes = []; // between rows: samples that are missing
    this.first = this.next = 0; // rows are numbered from the beginning; row i lies at i % capacity
  }

  get start() {
    return this.next > this.first ? this.starts[this.first % this.capacity] : 0;
  }

  get end() {
    return this.next > this.first ? this.ends[(this.next - 1) % this.capacity] : 0;
  }

  push(frame) {
    if (frame.psd.length !== this.bins || frame.start < this.end) this.clear(); // another stream of samples
    if (this.next && frame.start > this.end) this.holes.push({ start: this.end, end: frame.start });
    if (this.holes.length > MOST_HOLES) this.holes.shift();
    const at = this.next % this.capacity;
    this.starts[at] = frame.start;
    this.ends[at] = frame.end;
    this.freqs[at] = frame.freq;
    const row = this.power.subarray(at * this.bins, (at + 1) * this.bins);
    for (let i = 0; i < this.bins; i++) row[i] = Math.max(-32768, Math.min(32767, STEPS * frame.psd[i]));
    this.next += 1;
    if (this.next - this.first > this.capacity) this.first += 1;
  }

  // Forgets what lies behind a sample.
  cut(sample) {
    while (this.next > this.first && this.ends[(this.next - 1) % this.capacity] > sample) this.next -= 1;
    this.holes = this.holes.filter((hole) => hole.end <= sample);
  }

  // Where the row with this sample is stored, or -1 where there is none.
  find(sample) {
    let low = this.first,
      high = this.next; // the first row that starts behind the sample
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle % this.capacity] <= sample) low = middle + 1;
      else high = middle;
    }
    const at = (low - 1) % this.capacity;
    return low > this.first && sample < this.ends[at] ? at : -1;
  }

  // dB of a stored row's bin.
  db(at, bin) {
    return this.power[at * this.bins + bin] / STEPS;
  }
}

export { STEPS };
