// Review: hours and days of emissions and alerts in one picture, how busy each frequency was, and what is kept.

import { ActivityChart } from "./activity.js";
import { get } from "./api.js";
import { attempt, make } from "./dom.js";
import { HeatMap } from "./heatmap.js";
import { frequencyText } from "./spectrum.js";
import { swatch } from "./swatch.js";
import { bytes, clock, percent } from "./units.js";
import { sure } from "./words.js";

const MINUTE = 60,
  HOUR = 3600,
  DAY = 86_400;
// How far back, and seconds of a step of the bars and of the heat map.
const REACHES = {
  "1 hour": [HOUR, MINUTE, MINUTE],
  "6 hours": [6 * HOUR, 10 * MINUTE, 10 * MINUTE],
  "24 hours": [DAY, 10 * MINUTE, HOUR],
  "7 days": [7 * DAY, HOUR, HOUR],
  "30 days": [30 * DAY, 6 * HOUR, HOUR],
};
const EVERY_MS = 30_000;
const ALERTS = 100,
  LISTED = 20;

export class ReviewPanel {
  constructor(place, page) {
    this.page = page;
    this.loaded = null; // what is shown: stream, reach, when it was asked for
    this.reach = make(
      "select",
      { "aria-label": "How far back", onchange: () => attempt(null, () => this.load()) },
      Object.keys(REACHES).map((text) => make("option", {}, text)),
    );
    this.reach.value = "24 hours";
    this.activity = new ActivityChart(make("canvas", { role: "img", "aria-label": "Emissions by time" }));
    this.heat = new HeatMap(make("canvas", { role: "img", "aria-label": "Occupancy by frequency and time" }));
    this.said = make("output", { class: "note" });
    this.when = make("input", {
      type: "range",
      min: 0,
      value: 0,
      "aria-label": "Time to look at",
      oninput: () => attempt(null, () => this.look(Number(this.when.value))),
    });
    this.heading = make("h3", {}, "");
    this.alerts = make("ol", { class: "alerts", "aria-label": "Alerts of that time" });
    this.emissions = make("ol", { class: "rows", "aria-label": "Emissions of that time" });
    this.kept = make("p", { class: "note", "aria-label": "What is kept" });
    for (const chart of [this.activity, this.heat]) this.follow(chart);
    place.append(
      make("div", { class: "actions" }, this.reach),
      make("figure", { class: "review" }, this.activity.canvas, make("figcaption", {}, "Emissions, ▲ alerts")),
      this.when,
      make("figure", { class: "review" }, this.heat.canvas, make("figcaption", {}, "Occupancy ", this.said)),
      this.heading,
      this.alerts,
      this.emissions,
      this.kept,
    );
  }

  // A click looks closer, hovering tells.
  follow(chart) {
    const place = ({ offsetX, offsetY }) => [offsetX / chart.canvas.clientWidth, offsetY / chart.canvas.clientHeight];
    chart.canvas.addEventListener("click", (event) => {
      const step = Math.floor(place(event)[0] * (this.review?.steps ?? 0));
      if (this.review) attempt(null, () => this.look(step));
    });
    chart.canvas.addEventListener("pointermove", (event) => {
      this.said.textContent = chart.tell(...place(event), this.page.air);
    });
    chart.canvas.addEventListener("pointerleave", () => {
      this.said.textContent = "";
    });
  }

  async refresh() {
    const { air } = this.page,
      { loaded } = this;
    const same = loaded && air && loaded.stream === air.stream.id && loaded.reach === this.reach.value;
    if (air && !(same && Date.now() - loaded.at < EVERY_MS)) await this.load();
  }

  async load() {
    const { air } = this.page;
    if (!air) return;
    const [span, bar, cell] = REACHES[this.reach.value],
      asked = { stream: air.stream.id, reach: this.reach.value, at: Date.now() },
      same = this.loaded?.stream === asked.stream && this.loaded.reach === asked.reach,
      step = Math.max(bar, cell);
    this.loaded = asked;
    // Whole steps, so that what the service has added up already can be used.
    const to = Math.ceil(asked.at / 1000 / step) * step,
      range = `from=${stamp(to - span)}&to=${stamp(to)}`,
      path = `v1/streams/${air.stream.id}`;
    const [review, occupancy, { alerts }, kept] = await Promise.all([
      get(`${path}/review?${range}&step_s=${bar}`),
      get(`${path}/occupancy?${range}&step_s=${cell}`),
      get(`v1/alerts?${range}&limit=${ALERTS}`),
      get("v1/storage"),
    ]);
    if (asked !== this.loaded) return; // somebody has asked for something else meanwhile
    this.review = review;
    this.found = alerts;
    this.occupancy = occupancy;
    const newest = Math.floor((asked.at - Date.parse(review.from)) / 1000 / review.step_s);
    this.when.max = newest;
    this.drawKept(kept);
    await this.look(same ? Math.min(this.chosen, newest) : newest);
  }

  draw() {
    this.activity.draw(this.review, this.found, this.chosen);
    this.heat.draw(this.occupancy, this.page.theme.name);
  }

  // The alerts and emissions of one step.
  async look(step) {
    this.chosen = step;
    this.when.value = step;
    this.draw();
    const { review } = this,
      from = Date.parse(review.from) + step * review.step_s * 1000,
      to = from + review.step_s * 1000;
    const alerts = this.found.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) < to);
    this.heading.textContent = `${moment(from)} to ${clock(to)}`;
    this.when.setAttribute("aria-valuetext", this.heading.textContent);
    this.alerts.replaceChildren(...alerts.map((alert) => this.page.panels.alerts.row(alert)));
    const range = `from=${stamp(from / 1000)}&to=${stamp(to / 1000)}`;
    const { emissions } = await get(`v1/streams/${this.loaded.stream}/emissions?${range}&limit=${LISTED}`);
    if (this.chosen === step) this.emissions.replaceChildren(...emissions.map((each) => this.row(each)));
  }

  row(emission) {
    return make(
      "li",
      {},
      swatch(emission.label, emission.family),
      make("button", { class: "quiet", onclick: () => this.page.open(emission.emission) }, emission.label),
      make("small", {}, sure(emission)),
      make("span", {}, frequencyText(this.page.air, emission.centre_hz)),
      make("small", {}, clock(Date.parse(emission.from))),
    );
  }

  drawKept({ history, alerts, clips, recordings, free, removed, problem }) {
    const gone = Object.entries(removed).map(([what, count]) => `${count} × ${what}`);
    this.kept.textContent = [
      problem,
      `Kept: history ${bytes(history)}, ${alerts} alerts with ${bytes(clips)} of clips, recordings ${bytes(recordings)};`,
      `${bytes(free)} are free.`,
      ...(gone.length ? [`Deleted: ${gone.join(", ")}.`] : []),
    ].join(" ");
    this.kept.classList.toggle("bad", Boolean(problem));
  }

  theme() {
    if (this.review) this.draw();
  }
}

const stamp = (seconds) => new Date(seconds * 1000).toISOString();

export const moment = (ms) => {
  const time = new Date(ms),
    today = time.toDateString() === new Date().toDateString();
  return today ? clock(ms) : time.toLocaleString([], { hour12: false });
};

export const busy = (share) => (share ? `in use ${percent(share)} of the time` : "not in use");
