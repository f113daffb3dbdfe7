// The panel of emissions: all of them in a table, or one of them, and what is ignored.

import { attempt, make } from "./dom.js";
import { EmissionView } from "./emission.js";
import { EmissionTable } from "./table.js";
import { clock, metric } from "./units.js";

export class EmissionPanel {
  constructor(place, page) {
    this.page = page;
    this.table = new EmissionTable(page, (id) => page.open(id));
    this.view = new EmissionView(page, () => page.open(null));
    this.rules = make("ul", { class: "rows", "aria-label": "What is ignored" });
    this.ignored = make("div", { hidden: true }, make("h3", {}, "Ignored"), this.rules);
    place.append(this.view.element, this.table.element, this.ignored);
    page.ignored.addEventListener("change", () => this.drawIgnored());
  }

  async refresh() {
    await (this.view.id ? this.view.refresh() : this.table.refresh());
  }

  // Shows one emission; all of them where there is none.
  async open(id) {
    this.table.element.hidden = Boolean(id);
    if (id) await attempt(null, () => this.view.open(id));
    else {
      this.view.close();
      await attempt(null, () => this.table.refresh());
    }
  }

  // An emission was told anew.
  take({ emission }) {
    if (emission === this.view.id && this.view.emission) this.view.draw();
  }

  theme(name) {
    this.view.theme(name);
  }

  drawIgnored() {
    const { rules } = this.page.ignored;
    this.ignored.hidden = !rules.length;
    this.rules.replaceChildren(
      ...rules.map((rule) =>
        make(
          "li",
          {},
          make("span", {}, what(rule)),
          make("small", {}, rule.until ? `until ${clock(Date.parse(rule.until))}` : "for ever"),
          make(
            "button",
            { onclick: (event) => attempt(event.currentTarget, () => this.page.ignored.remove(rule)) },
            "Tell again",
          ),
        ),
      ),
    );
  }
}

function what({ emission, label, f_low, f_high }) {
  if (emission !== null) return `emission ${emission.split("-").at(-1)}`;
  if (label !== null) return `all ${label}`;
  return `${metric(f_low, 7)}Hz to ${metric(f_high, 7)}Hz`;
}
