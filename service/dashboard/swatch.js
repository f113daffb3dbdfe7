// The colour of a label, as a small mark beside its name.

import { styleOf } from "./colours.js";
import { make } from "./dom.js";

export function swatch(label, family) {
  const mark = make("i", { class: label === "unknown" ? "swatch hatched" : "swatch" });
  mark.style.backgroundColor = styleOf(label, family ?? undefined).colour;
  return mark;
}
