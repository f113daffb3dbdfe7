// Watch rules: what somebody wants to be told about, and a form for another one.

import { get, post, remove } from "./api.js";
import { attempt, make, toast } from "./dom.js";
import { ago, fromMetric, metric } from "./units.js";

// What each kind is called, and which fields it needs beside where.
const KINDS = {
  new: ["A new emitter", ["minutes"], "Nothing was there before for, minutes"],
  label: ["A label", ["label"]],
  unknown: ["An unknown class", []],
  silent: ["Gone silent", ["label", "minutes"], "For, minutes"],
  occupied: ["Occupancy", ["percent", "minutes"], "Taken over, minutes"],
};

export class Watches {
  constructor(page, changed) {
    this.page = page;
    this.changed = changed;
    this.rules = [];
    this.list = make("ul", { class: "rows", "aria-label": "Watch rules" });
    this.element = make("div", {}, this.list, this.makeForm());
    this.drawForm();
  }

  makeForm() {
    const field = (name, text, value = "", more = {}) =>
      make("label", { "data-field": name }, text, make("input", { name, value, autocomplete: "off", ...more }));
    this.names = make("datalist", { id: "watch-names" });
    this.kind = make(
      "select",
      { name: "kind", "aria-label": "What to watch for", onchange: () => this.drawForm() },
      Object.entries(KINDS).map(([value, [text]]) => make("option", { value }, text)),
    );
    this.form = make(
      "form",
      { class: "add watch", "aria-label": "Watch for" },
      make("h3", {}, "Watch for"),
      this.kind,
      make(
        "div",
        { class: "fields" },
        field("label", "Label", "", { list: "watch-names", maxlength: 100, placeholder: "QPSK" }),
        this.names,
        field("f_low", "Lowest frequency", "", { placeholder: "433.05M" }),
        field("f_high", "Highest frequency", "", { placeholder: "434.79M" }),
        field("minutes", "Minutes", "15"),
        field("percent", "Above, % of the time", "50"),
      ),
      make(
        "details",
        {},
        make("summary", {}, "How often, and when not"),
        make(
          "div",
          { class: "fields" },
          field("per_hour", "Alerts an hour at most", "6"),
          field("collapse_s", "Counted in the last one, seconds", "60"),
          field("quiet_from", "Quiet from", "", { type: "time" }),
          field("quiet_to", "Quiet to", "", { type: "time" }),
          field("name", "Name", "", { maxlength: 100, placeholder: "made from the rule" }),
        ),
      ),
      make("button", { class: "main" }, "Watch"),
    );
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(event.submitter, () => this.add());
    });
    return this.form;
  }

  drawForm() {
    const [, wanted, minutes] = KINDS[this.kind.value];
    for (const name of ["label", "minutes", "percent"]) {
      const label = this.form.querySelector(`[data-field=${name}]`);
      label.hidden = !wanted.includes(name);
      if (name === "minutes" && minutes) label.firstChild.data = minutes;
    }
    const classes = [...new Set([...(this.page.air?.classes ?? []), ...Object.values(this.page.air?.stream.families ?? {})])];
    this.names.replaceChildren(...classes.map((value) => make("option", { value })));
  }

  // Fills the form in for an emission: where it lies, and what it is.
  prefill({ label, lower_hz, upper_hz }) {
    const { elements } = this.form;
    elements.label.value = label === "unknown" ? "" : label;
    elements.f_low.value = exact(lower_hz);
    elements.f_high.value = exact(upper_hz);
    this.kind.value = "silent";
    this.drawForm();
    this.kind.focus();
  }

  async add() {
    const given = Object.fromEntries(new FormData(this.form)),
      wanted = KINDS[given.kind][1],
      rule = { kind: given.kind };
    for (const name of ["label", "quiet_from", "quiet_to", "name"]) {
      if (given[name].trim() && (name !== "label" || wanted.includes(name))) rule[name] = given[name].trim();
    }
    for (const name of ["f_low", "f_high", "minutes", "percent", "per_hour", "collapse_s"]) {
      const value = fromMetric(given[name]),
        unused = ["minutes", "percent"].includes(name) && !wanted.includes(name);
      if (!given[name].trim() || unused) continue;
      if (Number.isNaN(value)) {
        this.form.elements[name].focus();
        throw Object.assign(new Error(`expected a number such as 433.92M, not ${given[name]}`), { status: 422 });
      }
      rule[name] = value;
    }
    const { name } = await post("v1/watches", rule);
    toast(`Watching: ${name}`);
    await this.changed();
  }

  async load() {
    this.rules = (await get("v1/watches")).watches;
    if (!this.form.contains(document.activeElement)) this.drawForm();
    this.list.replaceChildren(
      ...this.rules.map((rule) =>
        make(
          "li",
          {},
          make("span", {}, rule.name),
          make("small", {}, rule.last ? `last ${ago(rule.last)}` : "nothing yet"),
          rule.raised >= rule.per_hour ? make("small", { class: "bad" }, "at its limit") : null,
          make(
            "button",
            {
              "aria-label": `Stop watching ${rule.name}`,
              onclick: (event) => attempt(event.currentTarget, () => this.remove(rule)),
            },
            "Stop",
          ),
        ),
      ),
    );
  }

  async remove(rule) {
    await remove(`v1/watches/${rule.id}`);
    await this.changed();
  }
}

// 433917000 -> "433.917M", to the hertz.
const exact = (hz) => metric(Math.round(hz), 10).replace(" ", "");
