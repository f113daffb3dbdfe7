// Models: which one runs, where it came from, how good it is by SNR, and the way back.

import { get, post, put } from "./api.js";
import { curves } from "./curves.js";
import { attempt, make, toast } from "./dom.js";

// Whether a row of an evaluation (wavetell evaluate) is of the model itself, not of what it is compared with.
const isOwn = (name) => name.startsWith("model");

export class Models {
  constructor(place, page) {
    this.page = page;
    this.now = make("div");
    this.list = make("ul", { class: "rows", "aria-label": "Models" });
    this.back = make(
      "button",
      { onclick: (event) => attempt(event.currentTarget, () => this.use("rollback")) },
      "Roll back",
    );
    this.file = make("input", {
      type: "file",
      accept: ".safetensors",
      "aria-label": "Bundle file",
      onchange: () => attempt(null, () => this.upload()),
    });
    place.append(
      this.now,
      make("div", { class: "actions" }, this.back),
      make("h3", {}, "All models"),
      this.list,
      make("h3", {}, "Upload a bundle"),
      this.file,
    );
  }

  async refresh() {
    const { models, activations } = await get("v1/models");
    const state = JSON.stringify([models, activations]);
    if (state === this.state) return;
    this.state = state;
    const active = models.find((model) => model.active);
    this.back.disabled = activations.length < 2;
    this.back.textContent =
      activations.length < 2 ? "Nothing to roll back to" : `Roll back to ${activations.at(-2)}`;
    this.list.replaceChildren(...models.map((model) => this.row(model)));
    this.drawActive(active);
  }

  row(model) {
    return make(
      "li",
      {},
      make("span", {}, model.name),
      make("small", {}, model.sha256.slice(0, 12)),
      model.active
        ? make("b", {}, "runs")
        : make(
            "button",
            { onclick: (event) => attempt(event.currentTarget, () => this.use(`${model.name}/activate`)) },
            "Use",
          ),
    );
  }

  drawActive(model) {
    const facts = [
      ["hash", model.sha256.slice(0, 16)],
      ...Object.entries(model.provenance).filter(([, value]) => typeof value !== "object"),
    ];
    for (const head of model.heads)
      facts.push([`head ${head.name}`, `${head.classes.join(", ")} (${head.mode}, window ${head.window})`]);
    for (const [head, { labels, made }] of Object.entries(model.fitted ?? {})) {
      facts.push([
        `${head} was fitted`,
        `${made}: ${Object.entries(labels)
          .map(([name, count]) => `${count} ${name}`)
          .join(", ")}`,
      ]);
    }
    const chart = make("div", { class: "chart", role: "img", "aria-label": "Accuracy by SNR" });
    this.now.replaceChildren(
      make("h2", {}, model.name),
      make(
        "dl",
        { class: "table" },
        facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))]),
      ),
      chart,
    );
    const rows = Object.entries(model.evaluation ?? {})
      .filter(([, row]) => row.by_snr?.length)
      .sort(([a], [b]) => isOwn(b) - isOwn(a));
    if (!rows.length)
      return chart.replaceWith(
        make("p", { class: "note" }, "This model carries no evaluation: accuracy by SNR is not known."),
      );
    chart.before(make("h3", {}, "Accuracy by SNR"));
    curves(
      chart,
      "SNR, dB",
      rows.map(([name, { by_snr }]) => ({
        label: isOwn(name) ? `this ${name}` : name,
        limit: name.includes("limit"),
        points: by_snr.map(({ snr_db, accuracy }) => [snr_db, 100 * accuracy]),
      })),
      "%",
    );
  }

  async use(path) {
    const { active } = await post(`v1/models/${path}`);
    toast(`${active} runs`);
    await this.page.refresh();
    await this.refresh();
  }

  async upload() {
    const [file] = this.file.files;
    const name = file.name.replace(/\.safetensors$/, "");
    await put(`v1/models/${encodeURIComponent(name)}`, file);
    toast(`${name} is here; Use puts it to work`);
    this.file.value = "";
    await this.refresh();
  }
}
