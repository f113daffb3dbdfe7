// Numbers as people read them.

const SIZES = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

// 433920000 -> "433.92 M"
export function metric(value, digits = 6) {
  const [size, suffix] = SIZES.find(([size]) => Math.abs(value) >= size) ?? [1, ""];
  return `${Number((value / size).toPrecision(digits))} ${suffix}`;
}

// "433.92M" -> 433920000; NaN where it is no number
export function fromMetric(text) {
  const match = /^\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*([kMG]?)(?:Hz)?\s*$/i.exec(text);
  if (!match) return NaN;
  return Number(match[1]) * ({ k: 1e3, m: 1e6, g: 1e9 }[match[2].toLowerCase()] ?? 1);
}

export const percent = (share) => `${Math.round(100 * share)} %`;

export const NO_SIGNAL = "no signal"; // the front end's answer where there is nothing to name

// How sure an answer is; where there is no signal, nobody was asked.
export const sureness = ({ label, probability }) => (label === NO_SIGNAL ? "" : percent(probability));

// "+12.5 kHz"
export const offset = (hz) => `${hz > 0 ? "+" : ""}${metric(hz, 4)}Hz`;

export function bytes(count) {
  return count < 1e3 ? `${count} B` : `${metric(count, 3)}B`;
}

export function seconds(s) {
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
}

// Local time of day; `digits` of the second behind the point.
export function clock(ms, digits = 0) {
  const time = new Date(ms);
  const text = time.toLocaleTimeString([], { hour12: false });
  return digits ? `${text}.${String(time.getMilliseconds()).padStart(3, "0").slice(0, digits)}` : text;
}

// How long ago, in words.
export function ago(when) {
  return when ? `${seconds(Math.max(0, (Date.now() - new Date(when)) / 1000))} ago` : "never";
}
