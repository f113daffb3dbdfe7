// Colours that a colour-blind reader can distinguish: Okabe and Ito's, and patterns where there are more classes.

import { NO_SIGNAL } from "./units.js";

const OKABE_ITO = ["#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"];
const INKS = ["#000", "#000", "#000", "#000", "#fff", "#000", "#000"]; // that can be read on them
const UNKNOWN = { colour: "#8a8f98", ink: "#000", pattern: 0 };
const SILENCE = { colour: "#6b7280", ink: "#fff", pattern: 0 };
const NOISE = { colour: "#c3c8cf", ink: "#000", pattern: 1 };

// Families are the same colour on every screen.
const FAMILIES = {
  ASK: { colour: "#E69F00", ink: "#000", pattern: 0 },
  PSK: { colour: "#56B4E9", ink: "#000", pattern: 0 },
  FSK: { colour: "#009E73", ink: "#000", pattern: 0 },
  QAM: { colour: "#F0E442", ink: "#000", pattern: 0 },
  OFDM: { colour: "#0072B2", ink: "#fff", pattern: 0 },
  AM: { colour: "#D55E00", ink: "#000", pattern: 0 },
  FM: { colour: "#CC79A7", ink: "#000", pattern: 0 },
  chirp: { colour: "#A58CE8", ink: "#000", pattern: 0 },
  carrier: { colour: "#D8CBA8", ink: "#000", pattern: 0 },
  noise: NOISE,
};

// Labels in the order in which this browser saw them first: each keeps its colour, whatever model runs.
const known = JSON.parse(localStorage.getItem("labels") ?? "[]");
const familyOf = new Map(); // label -> family, as the models that run say

export function learnFamilies(families) {
  for (const [label, family] of Object.entries(families)) familyOf.set(label, family);
}

// Colour, ink and pattern of a label: its family's, where it has one that is known.
export function styleOf(label, family = familyOf.get(label)) {
  if (label === "unknown") return UNKNOWN;
  if (label === "noise") return NOISE;
  if (label === NO_SIGNAL) return SILENCE;
  if (Object.hasOwn(FAMILIES, family ?? label)) return FAMILIES[family ?? label];
  if (!known.includes(label)) {
    known.push(label);
    localStorage.setItem("labels", JSON.stringify(known));
  }
  const place = known.indexOf(label),
    turn = place % OKABE_ITO.length;
  return { colour: OKABE_ITO[turn], ink: INKS[turn], pattern: Math.floor(place / OKABE_ITO.length) };
}

const patterns = new Map();

// What a canvas fills with: plain for the first seven classes, hatched one way, then the other.
export function fillOf(context, style) {
  if (!style.pattern) return style.colour;
  const key = `${style.colour}/${style.pattern}`;
  if (!patterns.has(key)) patterns.set(key, context.createPattern(hatch(style), "repeat"));
  return patterns.get(key);
}

function hatch({ colour, pattern }) {
  const tile = lined("rgb(0 0 0 / 45%)", pattern),
    context = tile.getContext("2d");
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = colour;
  context.fillRect(0, 0, 8, 8);
  return tile;
}

// Slanted lines to repeat, with nothing between them.
export function lined(ink, pattern = 1) {
  const tile = new OffscreenCanvas(8, 8),
    context = tile.getContext("2d");
  context.strokeStyle = ink;
  context.lineWidth = 2;
  for (const shift of [-8, 0, 8]) {
    const [from, to] = pattern % 2 ? [shift, shift + 8] : [shift + 8, shift];
    context.moveTo(from, 0);
    context.lineTo(to, 8);
  }
  context.stroke();
  return tile;
}

// Stops from no power to most; both ramps grow evenly in lightness, so they also read in grey.
const RAMPS = {
  dark: ["#04070d", "#0b1d3a", "#143c6e", "#2d6a9f", "#56b4e9", "#bfe3c0", "#f6e58d", "#fffbe6"],
  light: ["#fbfcfd", "#e3edf5", "#b9d6ea", "#7fb8df", "#3d8ec4", "#0f5f9e", "#083b6b", "#04162c"],
};

// 256 colours as the pixels of an ImageData.
export function heat(theme) {
  const stops = RAMPS[theme].map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (stops.length - 1),
      low = Math.min(Math.floor(place), stops.length - 2);
    const [r, g, b] = stops[low].map((value, c) => value + (place - low) * (stops[low + 1][c] - value));
    return (255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r);
  });
}
