// What it is least sure about: emissions in groups that look alike, each with one name for all; or runs of a signal.

import { ApiError, get } from "./api.js";
import { make, attempt, toast } from "./dom.js";
import { keepAs } from "./labels.js";
import { frequencyText } from "./spectrum.js";
import { swatch } from "./swatch.js";
import { ago, percent } from "./units.js";
import { sure } from "./words.js";

const GROUPS = 4,
  RUNS = 4,
  TOGETHER = 20; // emissions that one name labels at most: more of one kind teach little
const SHORTEST_S = 0.3,
  LONGEST_S = 3;

export class Doubts {
  // `named(ids)` is called with the labels that one name gave.
  constructor(page, named) {
    this.page = page;
    this.named = named;
    this.names = make("datalist", { id: "group-names" });
    this.list = make("ol", { class: "rows doubts", "aria-label": "Least sure, first" });
    this.element = make("div", {}, this.list, this.names);
  }

  async refresh() {
    const { air } = this.page;
    if (!air || this.busy) return;
    const path = `v1/streams/${air.stream.id}`;
    if (air.stream.attention) {
      const { groups } = await get(`${path}/emissions/uncertain?limit=${GROUPS}`);
      if (!this.busy) this.show(groups.map((group) => this.group(air, group)));
      const known = [...new Set([...air.classes, ...this.page.labelNames])];
      this.names.replaceChildren(...known.map((value) => make("option", { value })));
      return;
    }
    const from = new Date(air.toClock(air.stream.kept.start / air.rate)).toISOString();
    const { predictions } = await get(`${path}/predictions?order=least_sure&limit=${RUNS}&from=${from}`);
    this.show(predictions.map((run) => this.run(air, run)));
  }

  // Somebody is naming a group: it stays where it is.
  get busy() {
    return [...this.list.querySelectorAll("input")].some(
      (input) => input.value || input.disabled || input === document.activeElement,
    );
  }

  show(rows) {
    this.list.replaceChildren(...rows);
  }

  group(air, emissions) {
    const [first] = emissions,
      count = Math.min(TOGETHER, emissions.length);
    const name = make("input", {
      list: "group-names",
      maxlength: 20,
      placeholder: "what is it?",
      "aria-label": `Name of ${emissions.length} like ${first.label}`,
      autocomplete: "off",
    });
    const text = count === 1 ? "Name it" : count < emissions.length ? `Name ${count}` : `Name all ${count}`;
    const form = make("form", { class: "actions" }, name, make("button", {}, text));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(event.submitter, () => this.nameAll(air, emissions.slice(0, count), name));
    });
    const alike = emissions.length > 1 ? `${emissions.length} alike: ` : "";
    return make(
      "li",
      {},
      swatch(first.label, first.family),
      make("span", {}, `${alike}${first.label} ${sure(first)}`),
      make("small", {}, `${frequencyText(air, first.centre_hz)}, ${ago(first.to)}`),
      make("button", { onclick: () => this.page.open(first.emission) }, "Look"),
      form,
    );
  }

  // One name for all of a group; what is no longer kept, or too short to learn from, is left out.
  async nameAll(air, emissions, input) {
    const label = input.value.trim(),
      ids = [];
    if (!label) return input.focus();
    input.disabled = true;
    let refusal = null;
    try {
      for (const emission of emissions) {
        try {
          ids.push((await keepAs(air, emission, label)).id);
        } catch (error) {
          if (!(error instanceof ApiError) || !error.status) throw error;
          refusal = error;
        }
      }
    } finally {
      input.disabled = false;
      input.value = "";
      input.blur();
    }
    if (!ids.length) throw refusal;
    toast(`Kept ${ids.length} of ${emissions.length} as ${label}`);
    await this.named(ids);
  }

  run(air, run) {
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
    const long = Math.max(SHORTEST_S, (2 * window) / air.rate, Math.min(LONGEST_S, (run.end - run.start) / air.rate));
    const start = Math.max(kept.start / air.rate, run.start / air.rate);
    view.goTo(start);
    view.choose(start, Math.min(start + long, air.end));
    this.page.selection.name.focus();
  }
}
