// An emission in words.

import { frequencyText } from "./spectrum.js";
import { clock, metric, percent, seconds, sureness } from "./units.js";

// How sure its name is; of what is refused nothing is claimed.
export const sure = (emission) => (emission.label === "unknown" ? "" : sureness(emission));

// "QPSK 93 % 18 dB"
export function title(emission) {
  return [emission.label, sure(emission), `${Math.round(emission.snr_db)} dB`].filter(Boolean).join(" ");
}

// Everything that is known of it, in parts.
export function describe(air, emission) {
  const { label, family, snr_db, centre_hz, bandwidth_hz, bursts, duty, state } = emission;
  const [from, to] = emission.heard;
  const nearest = Object.entries(emission.nearest).map(([name, share]) => `${name} ${percent(share)}`);
  return [
    [label, sure(emission)].filter(Boolean).join(" "),
    ...(family && family !== label ? [family] : []),
    ...(nearest.length ? [`nearest ${nearest.join(", ")}`] : []),
    `SNR ${snr_db} dB`,
    frequencyText(air, centre_hz),
    `${metric(bandwidth_hz, 3)}Hz wide`,
    `since ${clock(from)}, ${seconds((to - from) / 1000)}${state === "end" ? ", ended" : ""}`,
    bursts > 1 ? `${bursts} bursts, on ${percent(duty)} of the time` : "one burst",
  ];
}
