// The emissions of a stream: those on the air and those that were, as far as the page remembers them.

import { get, ifAnswered } from "./api.js";

const MOST = 2_000;
const LATELY_S = 1.5; // one that goes on is told anew each second
const PAGE = 200;

export class Emissions {
  constructor(air) {
    this.air = air;
    this.known = new Map(); // by identity, those told last at the end
    this.newest = 0; // the second up to which the service has told: it may lag behind the samples
  }

  // Those of the last minutes; what is told meanwhile is newer.
  async load() {
    const page = await ifAnswered(get(`v1/streams/${this.air.stream.id}/emissions?limit=${PAGE}`));
    for (const emission of page?.emissions.toReversed() ?? []) {
      if (!this.known.has(emission.emission)) this.take(emission);
    }
  }

  // What an emission is now, as REST and live messages describe it.
  take(message) {
    const known = { ...message, heard: [Date.parse(message.from), Date.parse(message.to)] };
    this.known.delete(message.emission);
    this.known.set(message.emission, this.place(known));
    if (this.known.size > MOST) this.known.delete(this.known.keys().next().value);
  }

  // Sample counts restart with the service: emissions of before are placed by the clock.
  place(known) {
    const { air } = this,
      [from] = known.heard;
    const ours = air.counts(known.start_sample, from);
    known.t0 = ours ? known.start_sample / known.rate_hz : air.fromClock(from);
    known.t1 = known.t0 + (known.end_sample - known.start_sample) / known.rate_hz;
    if (ours) this.told(known.t1);
    return known;
  }

  // Where samples are counted anew.
  placeAll() {
    this.newest = 0;
    for (const known of this.known.values()) this.place(known);
  }

  get(id) {
    return this.known.get(id);
  }

  // The service has answered up to a second of the stream.
  told(second) {
    this.newest = Math.max(this.newest, second);
  }

  // When it was last heard: one that goes on reaches as far as anything is known.
  end(known) {
    if (known.state === "end" || this.newest - known.t1 > LATELY_S) return known.t1;
    const now = this.air.end;
    return Math.max(known.t1, now - this.newest < LATELY_S ? now : this.newest);
  }

  // Those heard at a second of the stream, or at the newest one that is known; the lowest frequency first.
  at(second) {
    if (this.air.end - second < LATELY_S) second = Math.min(second, this.newest);
    return this.sorted((known) => known.t0 <= second && this.end(known) >= second);
  }

  // Those of the time that is shown, the lowest frequency first.
  during(view) {
    return this.sorted((known) => known.t0 < view.end && this.end(known) > view.begin);
  }

  // Those of them that lie in the part of the band that is shown.
  inView(view) {
    return this.during(view).filter((known) => {
      const [low, high] = places(this.air, known);
      return low < view.high && high > view.low;
    });
  }

  sorted(wanted) {
    return [...this.known.values()].filter(wanted).sort((a, b) => a.lower_hz - b.lower_hz);
  }
}

// Where its edges lie in the band, from 0 to 1.
export function places(air, { lower_hz, upper_hz }) {
  const centre = Number.isNaN(air.frame?.freq ?? NaN) ? 0 : air.frame.freq;
  return [lower_hz, upper_hz].map((hz) => 0.5 + (hz - centre) / air.rate);
}
