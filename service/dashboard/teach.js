// Teaching: what it is least sure about, the labels so far, the fit and what it changed, and the way back.

import { get, post, remove } from "./api.js";
import { styleOf } from "./colours.js";
import { confusionTable } from "./confusion.js";
import { attempt, make, toast } from "./dom.js";
import { ago, percent, seconds } from "./units.js";

const HEAD = "taught"; // the head that this page fits
const SUGGESTIONS = 4,
  SHORTEST_S = 0.3,
  LONGEST_S = 3;

export class Teach {
  constructor(place, page) {
    this.page = page;
    this.labels = [];
    this.doubts = make("ol", { class: "rows", "aria-label": "Least sure, first" });
    this.counts = make("ul", { class: "counts", "aria-label": "Labels of each class" });
    this.given = make("ol", { class: "rows", "aria-label": "Labels, newest first" });
    this.auto = make("input", { type: "checkbox", checked: true });
    this.fitButton = make(
      "button",
      { class: "main", onclick: (event) => attempt(event.currentTarget, () => this.fit()) },
      "Fit now",
    );
    this.undoButton = make(
      "button",
      { onclick: (event) => attempt(event.currentTarget, () => this.undo()) },
      "Undo last label",
    );
    this.backButton = make(
      "button",
      { disabled: true, onclick: (event) => attempt(event.currentTarget, () => this.rollBack()) },
      "Roll back the fit",
    );
    this.result = make("div", { "aria-live": "polite" });
    place.append(
      make(
        "p",
        { class: "note" },
        "Click a box of the waterfall, or drag over a stretch, and name it. With two classes or more the head is " +
          "fitted again.",
      ),
      make("h3", {}, "Least sure"),
      this.doubts,
      make("h3", {}, "Labels"),
      this.counts,
      make(
        "div",
        { class: "actions" },
        this.fitButton,
        this.undoButton,
        this.backButton,
        make("label", {}, this.auto, " after each label"),
      ),
      this.result,
      make("h3", {}, "Given"),
      this.given,
    );
  }

  async refresh() {
    await this.loadLabels();
    const { models } = await get("v1/models");
    this.backButton.disabled = !models.find(({ active }) => active).fitted?.[HEAD];
    const { air } = this.page;
    if (!air) return;
    const { kept } = air.stream,
      from = air.toClock(kept.start / air.rate);
    const query = `order=least_sure&limit=${SUGGESTIONS}&from=${new Date(from).toISOString()}`;
    const { predictions } = await get(`v1/streams/${air.stream.id}/predictions?${query}`);
    this.doubts.replaceChildren(...predictions.map((run) => this.doubt(air, run)));
  }

  doubt(air, run) {
    return make(
      "li",
      {},
      swatch(run.label),
      make("span", {}, `${run.label}, ${percent(run.lowest)} at worst`),
      make("small", {}, ago(run.to)),
      make("button", { onclick: () => this.look(air, run) }, "Look"),
    );
  }

  // Chooses a doubtful stretch, long enough to be learnt from, as far as it is still kept.
  look(air, run) {
    const { kept, window } = air.stream,
      { view } = this.page;
    const long = Math.max(
      SHORTEST_S,
      (2 * window) / air.rate,
      Math.min(LONGEST_S, (run.end - run.start) / air.rate),
    );
    const start = Math.max(kept.start / air.rate, run.start / air.rate);
    view.goTo(start);
    view.choose(start, Math.min(start + long, air.end));
    this.page.selection.name.focus();
  }

  async loadLabels() {
    const { labels, counts } = await get("v1/labels");
    this.labels = labels;
    this.counts.replaceChildren(
      ...Object.entries(counts).map(([name, count]) =>
        make("li", {}, swatch(name), `${name} `, make("b", {}, String(count))),
      ),
    );
    this.given.replaceChildren(
      ...labels
        .toReversed()
        .slice(0, 12)
        .map((label) =>
          make(
            "li",
            {},
            swatch(label.label),
            make("span", {}, `${label.label}, ${seconds((label.end - label.start) / label.rate_hz)}`),
            make("small", {}, ago(label.created)),
            make(
              "button",
              {
                "aria-label": `Take back ${label.label}`,
                onclick: (event) => attempt(event.currentTarget, () => this.takeBack(label)),
              },
              "Take back",
            ),
          ),
        ),
    );
    this.undoButton.disabled = !labels.length;
    this.fitButton.disabled = Object.keys(counts).length < 2;
  }

  // Called when something was labelled.
  async taught() {
    await this.loadLabels();
    await this.fitIfWanted();
  }

  async fitIfWanted() {
    if (this.auto.checked && !this.fitButton.disabled) await this.fit();
  }

  async fit() {
    this.result.replaceChildren(make("p", { class: "note" }, "Fitting…"));
    try {
      this.show(await post(`v1/heads/${HEAD}/fit`, {}));
      await this.refresh();
    } catch (error) {
      this.result.replaceChildren();
      throw error;
    }
  }

  show({ before, after, seconds: took, windows }) {
    this.result.replaceChildren(
      make("p", { class: "note" }, `Fitted to ${windows} windows in ${seconds(took)}; it answers now.`),
      confusionTable("Before", before),
      after
        ? confusionTable("After, on labels it had not seen", after)
        : make(
            "p",
            { class: "note" },
            "Give each class a second label to see how it does on labels it has not seen.",
          ),
    );
  }

  async undo() {
    await this.takeBack(this.labels.at(-1));
  }

  async takeBack(label) {
    await remove(`v1/labels/${label.id}`);
    toast(`Took back ${label.label}`);
    await this.taught();
  }

  async rollBack() {
    const { active } = await post("v1/models/rollback");
    this.result.replaceChildren();
    toast(`Back to ${active}`);
    await this.refresh();
  }
}

export function swatch(label, family) {
  const mark = make("i", { class: label === "unknown" ? "swatch hatched" : "swatch" });
  mark.style.backgroundColor = styleOf(label, family ?? undefined).colour;
  return mark;
}
