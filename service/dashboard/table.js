// The table of emissions, on the air and past: sorted and filtered by the service, and downloaded from it.

import { get } from "./api.js";
import { attempt, make } from "./dom.js";
import { frequencyText } from "./spectrum.js";
import { swatch } from "./swatch.js";
import { clock, fromMetric, percent } from "./units.js";
import { sure } from "./words.js";

const PAGE = 50,
  MOST = 1000;
const STATES = { "": "Now and past", now: "On the air", past: "Past" };
const DOWNLOADS = { csv: "CSV", jsonl: "JSON lines", sigmf: "SigMF annotations" };
// Heading, what the service calls that order, whether the largest come first, and the text of a cell.
const COLUMNS = [
  ["Label", "label", false],
  ["Frequency", "frequency", false, (e, air) => frequencyText(air, e.centre_hz)],
  ["SNR", "snr", true, (e) => `${Math.round(e.snr_db)} dB`],
  ["First", "first", true, (e) => when(e.from)],
  ["Last", "last", true, (e) => (e.state === "end" ? when(e.to) : "now")],
  ["Duty", "duty", true, (e) => percent(e.duty)],
  ["Bursts", "bursts", true, (e) => String(e.bursts)],
];

export class EmissionTable {
  // `open(id)` is called with the one that somebody chose.
  constructor(page, open) {
    this.page = page;
    this.open = open;
    this.sort = "last";
    this.descending = true;
    this.wanted = PAGE; // rows
    this.rows = new Map(); // by identity; kept, so that what has the focus keeps it
    this.body = make("tbody");
    this.none = make("p", { class: "note", hidden: true }, "None.");
    this.more = make("button", { hidden: true, onclick: () => attempt(this.more, () => this.further()) }, "More");
    this.links = Object.entries(DOWNLOADS).map(([format, text]) =>
      make("a", { "data-format": format, download: true }, text),
    );
    this.element = make(
      "div",
      {},
      this.filters(),
      make("div", { class: "scroll" }, this.table()),
      this.none,
      make("div", { class: "actions" }, this.more, make("span", { class: "downloads" }, "Download ", ...this.links)),
    );
  }

  table() {
    this.heads = COLUMNS.map(([text, sort, descending]) => {
      const button = make("button", { class: "quiet", onclick: () => this.sortBy(sort, descending) }, text);
      return make("th", { scope: "col", "data-sort": sort }, button);
    });
    return make(
      "table",
      { class: "emissions" },
      make("caption", { class: "hidden" }, "Emissions"),
      make("thead", {}, make("tr", {}, this.heads)),
      this.body,
    );
  }

  filters() {
    const field = (name, placeholder, label, type = "text") =>
      make("label", {}, label, make("input", { name, placeholder, type, step: 1, autocomplete: "off" }));
    this.form = make(
      "form",
      { class: "filters", "aria-label": "Which emissions" },
      make(
        "select",
        { name: "state", "aria-label": "On the air or past" },
        Object.entries(STATES).map(([value, text]) => make("option", { value }, text)),
      ),
      make(
        "details",
        {},
        make("summary", {}, "Filter"),
        make(
          "div",
          { class: "fields" },
          field("label", "QPSK", "Label"),
          field("f_low", "433.9M", "From this frequency"),
          field("f_high", "434M", "To this frequency"),
          field("min_snr_db", "10", "SNR from, dB"),
          field("min_duty", "50", "Duty cycle from, %"),
          field("min_bursts", "2", "Bursts from"),
          field("since", "", "Heard since", "datetime-local"),
          field("until", "", "Heard until", "datetime-local"),
        ),
      ),
    );
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("change", () => {
      this.wanted = PAGE;
      attempt(null, () => this.refresh());
    });
    return this.form;
  }

  // What is asked for, as parameters of the service; a frequency or number that is none is left out.
  get query() {
    const { state, label, since, until, ...numbers } = Object.fromEntries(new FormData(this.form));
    const query = new URLSearchParams({ sort: this.sort, descending: this.descending });
    if (state) query.set("state", state);
    if (label.trim()) query.set("label", label.trim());
    for (const [name, text] of Object.entries(numbers)) {
      const value = fromMetric(text) / (name === "min_duty" ? 100 : 1),
        wrong = text.trim() && Number.isNaN(value);
      this.form.elements[name].setAttribute("aria-invalid", String(Boolean(wrong)));
      if (text.trim() && !wrong) query.set(name, value);
    }
    if (since) query.set("from", new Date(since).toISOString());
    if (until) query.set("to", new Date(until).toISOString());
    return query;
  }

  sortBy(sort, descending) {
    this.descending = this.sort === sort ? !this.descending : descending;
    this.sort = sort;
    return attempt(null, () => this.refresh());
  }

  further() {
    this.wanted = Math.min(MOST, this.wanted + PAGE);
    return this.refresh();
  }

  async refresh() {
    const { air } = this.page;
    if (!air) return;
    const query = this.query,
      path = `v1/streams/${air.stream.id}/emissions`,
      asked = (this.asked = Symbol("asked"));
    for (const link of this.links) link.href = `${path}/download?${query}&format=${link.dataset.format}`;
    const { emissions, cursor } = await get(`${path}?${query}&limit=${this.wanted}`);
    if (asked !== this.asked) return; // somebody has asked for something else meanwhile
    this.more.hidden = !cursor || this.wanted >= MOST;
    this.none.hidden = emissions.length > 0;
    this.draw(air, emissions);
  }

  draw(air, emissions) {
    for (const head of this.heads) {
      const sorted = head.dataset.sort === this.sort;
      head.setAttribute("aria-sort", sorted ? (this.descending ? "descending" : "ascending") : "none");
    }
    const before = this.rows;
    this.rows = new Map(emissions.map((each) => [each.emission, before.get(each.emission) ?? this.row(each)]));
    for (const [id, row] of before) if (!this.rows.has(id)) row.remove();
    emissions.forEach((emission, i) => {
      const row = this.rows.get(emission.emission);
      this.fill(row, emission, air);
      if (this.body.children[i] !== row) this.body.insertBefore(row, this.body.children[i] ?? null);
    });
  }

  row({ emission }) {
    const name = make("button", { class: "quiet", onclick: () => this.open(emission) });
    const row = make("tr", {}, make("td", {}, name), COLUMNS.slice(1).map(() => make("td")));
    row.addEventListener("click", ({ target }) => target.closest("button") ?? this.open(emission));
    return row;
  }

  fill(row, emission, air) {
    const [name, ...cells] = row.children;
    name.firstChild.replaceChildren(
      swatch(emission.label, emission.family),
      ` ${emission.label} `,
      make("small", {}, sure(emission)),
    );
    cells.forEach((cell, i) => {
      cell.textContent = COLUMNS[i + 1][3](emission, air);
    });
    row.classList.toggle("past", emission.state === "end");
    row.classList.toggle("ignored", this.page.ignored.holds(emission));
  }
}

// The time of day; before today with the date.
function when(text) {
  const time = new Date(text),
    today = time.toDateString() === new Date().toDateString();
  return today ? clock(time.getTime()) : time.toLocaleString([], { hour12: false });
}
