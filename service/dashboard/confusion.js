// A table of truth against answer; a cell is the darker the more of its row it holds.

import { make } from "./dom.js";
import { percent } from "./units.js";

// `counts` is truth -> answer -> number of windows.
export function confusionTable(title, counts) {
  const truths = Object.keys(counts);
  const answers = [...new Set([...truths, ...Object.values(counts).flatMap(Object.keys)])];
  const head = make(
    "tr",
    {},
    make("th", {}, "truth ╲ answer"),
    answers.map((name) => make("th", { scope: "col" }, name)),
  );
  const rows = truths.map((truth) => {
    const all = sum(Object.values(counts[truth])) || 1;
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, truth),
      answers.map((answer) => {
        const share = (counts[truth][answer] ?? 0) / all;
        const cell = make("td", { class: answer === truth ? "right" : null }, share ? percent(share) : "");
        cell.style.setProperty("--share", `${100 * share}%`);
        return cell;
      }),
    );
  });
  const caption = make("caption", {}, `${title}: ${percent(accuracy(counts))} right`);
  return make("table", { class: "confusion" }, caption, head, ...rows);
}

export function accuracy(counts) {
  const all = sum(Object.values(counts).flatMap((row) => Object.values(row)));
  return sum(Object.keys(counts).map((truth) => counts[truth][truth] ?? 0)) / (all || 1);
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
