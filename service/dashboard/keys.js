// Keys that work anywhere on the page, and the dialog that lists all of them.

import { make } from "./dom.js";

const LISTED = [
  ["space", "pause or go on"],
  ["↑ ↓", "scroll in time (on the waterfall)"],
  ["← →", "scroll in frequency, once zoomed"],
  ["+ −", "zoom in time; with the wheel, too, and in frequency with Shift"],
  ["] [", "zoom in frequency"],
  ["Tab", "from the waterfall to its boxes; arrow keys go from box to box, Enter opens one"],
  ["0", "as it was; a double click, too"],
  ["s", "choose the last second"],
  ["Shift ↑ ↓", "make the chosen stretch shorter or longer"],
  ["Enter", "name the chosen stretch"],
  ["Esc", "let go of it"],
  ["End", "back to live"],
  ["1 … 8", "Emissions, Signal, Alerts, Review, Teach, Streams, Models, Federation"],
  ["t", "dark or light"],
  ["?", "this list"],
];

// `actions` is key -> function.
export function listenForKeys(dialog, actions) {
  dialog.append(
    make("h2", {}, "Keys"),
    make(
      "dl",
      { class: "table" },
      LISTED.flatMap(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)]),
    ),
    make("form", { method: "dialog" }, make("button", { class: "main" }, "Close")),
  );
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea, dialog");
    const pressing = [" ", "Enter"].includes(event.key) && event.target.closest("button, a, summary");
    if (typing || pressing || event.ctrlKey || event.altKey || event.metaKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });
}
