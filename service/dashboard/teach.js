// Teaching: what it is least sure about, the labels so far, the fit and what it changed, and the way back.

import { get, post, remove } from "./api.js";
import { confusionTable } from "./confusion.js";
import { attempt, make, toast } from "./dom.js";
import { Doubts } from "./doubts.js";
import { swatch } from "./swatch.js";
import { ago, seconds } from "./units.js";

const HEAD = "taught"; // the head that this page fits

export class Teach {
  constructor(place, page) {
    this.page = page;
    this.labels = [];
    this.together = []; // labels that one name gave last
    this.doubts = new Doubts(page, (ids) => {
      this.together = ids;
      return this.taught();
    });
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
        "Click a box of the waterfall, or drag over a stretch, and name it; or give a group below one name. With two " +
          "classes or more the head is fitted again.",
      ),
      make("h3", {}, "Least sure"),
      this.doubts.element,
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
    await this.doubts.refresh();
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

  // What was named last: a label, or all that one name gave.
  async undo() {
    const last = this.labels.at(-1),
      group = this.labels.filter(({ id }) => this.together.includes(id));
    await this.takeBack(...(group.includes(last) ? group : [last]));
  }

  async takeBack(...labels) {
    for (const { id } of labels) await remove(`v1/labels/${id}`);
    toast(`Took back ${labels[0].label}`);
    await this.taught();
  }

  async rollBack() {
    const { active } = await post("v1/models/rollback");
    this.result.replaceChildren();
    toast(`Back to ${active}`);
    await this.refresh();
  }
}
