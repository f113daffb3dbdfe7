// Labels of emissions: what is kept of one under a name.

import { post } from "./api.js";

const TAUGHT_S = 2; // of it that a label keeps, the newest

// Keeps the newest of an emission, in its own channel.
export function keepAs(air, { emission, start_sample, end_sample, rate_hz }, label) {
  const start = Math.max(start_sample, air.stream.kept.start, end_sample - Math.round(TAUGHT_S * rate_hz));
  return post("v1/labels", { stream: air.stream.id, emission, label, start, end: end_sample });
}
