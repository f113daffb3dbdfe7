// The page: which stream is shown, what is drawn when, tabs, theme and keys.

import { Air } from "./air.js";
import { Answer } from "./answer.js";
import { get } from "./api.js";
import { Constellation } from "./constellation.js";
import { $, make } from "./dom.js";
import { Eye } from "./eye.js";
import { Hand } from "./hand.js";
import { Levels } from "./levels.js";
import { Overview } from "./overview.js";
import { Spectrum } from "./spectrum.js";
import { Symbols } from "./symbols.js";
import { Theme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { metric, seconds } from "./units.js";
import { View } from "./view.js";
import { Waterfall } from "./waterfall.js";

const POLL_MS = 2_000;

class Page {
  constructor() {
    this.air = null;
    this.streams = [];
    this.view = new View();
    this.levels = new Levels();
    this.waterfall = new Waterfall($("waterfall"));
    this.spectrum = new Spectrum($("spectrum"), () => $("timeline").clientWidth);
    this.timeline = new Timeline($("timeline"));
    this.constellation = new Constellation($("constellation"));
    this.eye = new Eye($("eye"));
    this.symbols = new Symbols();
    this.answer = new Answer($("answer"));
    this.hand = new Hand($("water"), this.view, () => this.air);
    this.overview = new Overview($("overview"), this.view, () => this.air);
    this.view.addEventListener("change", () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe($("air"));
    this.theme = new Theme();
    this.theme.addEventListener("change", () => this.paint());
    this.theme.apply();
    this.tools();
  }

  // In the colours of the theme.
  paint() {
    for (const part of [this.waterfall, this.constellation, this.timeline]) part.theme(this.theme.name);
    this.eye.clear();
    this.redraw();
  }

  async start() {
    await this.refresh();
    setInterval(() => document.hidden || this.refresh(), POLL_MS);
  }

  // Every stream's state, now.
  async refresh() {
    try {
      this.streams = await get("v1/streams");
    } catch (error) {
      if (error.status === 0) return this.connection(false);
      throw error;
    }
    this.connection(true);
    const names = this.streams.map((stream) => `${stream.id} ${stream.name}`).join("\n");
    if (names !== this.names) {
      this.names = names;
      $("stream").replaceChildren(...this.streams.map(({ id, name }) => make("option", { value: id }, name)));
    }
    const wanted = this.streams.find(({ id }) => id === this.air?.stream.id) ?? this.streams[0];
    if (wanted?.id !== this.air?.stream.id) await this.show(wanted);
    if (wanted && this.air) this.air.stream = wanted;
    this.drawHealth();
    this.nothing();
  }

  async show(stream) {
    this.air?.close();
    this.air = stream ? new Air(stream) : null;
    this.levels = new Levels();
    this.view.choose(null);
    this.view.resume();
    this.constellation.clear();
    this.eye.clear();
    if (!stream) return;
    $("stream").value = stream.id;
    const { air } = this;
    air.addEventListener("frame", () => this.takeFrame());
    air.addEventListener("report", () => this.redraw());
    air.addEventListener("detail", () => this.redraw());
    air.addEventListener("event", ({ detail }) => this.answer.say(detail));
    await air.open();
    this.overview.load();
  }

  takeFrame() {
    const { psd, points } = this.air.frame;
    this.levels.push(psd);
    this.spectrum.push(psd);
    this.points = points;
    this.redraw();
  }

  redraw() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      this.draw();
    });
  }

  draw() {
    const { air, view, levels } = this;
    if (!air || levels.floor === null) return;
    view.follow(air.end);
    this.waterfall.draw(air, view, levels);
    this.timeline.draw(air, view);
    this.spectrum.draw(air, view, levels);
    this.hand.draw();
    this.overview.draw();
    this.answer.draw(air.latest, air.classes);
    if (this.points && view.following && !$("signal").hidden) this.drawSymbols();
    $("pause").textContent = view.following ? "Pause" : "Live";
    $("pause").setAttribute("aria-pressed", String(!view.following));
    $("range").textContent = `${seconds(view.span)} shown`;
  }

  drawSymbols() {
    const found = this.symbols.push(this.points);
    this.points = null;
    this.constellation.draw(found.symbols);
    this.eye.draw(found);
    const { rate } = this.air;
    $("eye-note").textContent = found.clock.found ? `${metric(found.clock.rate * rate, 4)}Bd` : "no symbol clock seen";
    $("constellation-note").textContent =
      found.carrier === null ? "as received" : `carrier ${metric(found.carrier * found.clock.rate * rate, 3)}Hz`;
  }

  connection(open) {
    $("connection").textContent = open ? "connected" : "the service does not answer; trying again";
    $("connection").classList.toggle("open", open);
  }

  drawHealth() {
    if (!this.air) return $("health").replaceChildren();
    const { real_time_factor: factor, lag_ms, samples, state, error } = this.air.stream;
    const dropped = Object.values(samples.dropped).reduce((a, b) => a + b, 0);
    const lost = [samples.lost, samples.lost_estimated].flatMap(Object.values).reduce((a, b) => a + b, 0);
    const facts = [
      ["state", error || state, state === "failed"],
      ["real time", `× ${factor.toFixed(1)}`, factor < 1 && state === "running"],
      ["lag", seconds(lag_ms / 1000), lag_ms > 500],
      ["dropped", metric(dropped, 3), dropped > 0],
      ["lost", metric(lost, 3), lost > 0],
      ["gaps", String(samples.gaps), samples.gaps > 0],
    ];
    $("health").replaceChildren(
      ...facts.map(([name, value, bad]) => make("li", { class: bad ? "bad" : null }, `${name} `, make("b", {}, value))),
    );
  }

  nothing() {
    const text = this.streams.length ? "" : "No stream yet: add one under Streams.";
    $("nothing").textContent = text;
    $("nothing").hidden = !text;
  }

  tools() {
    const { view } = this;
    $("theme").onclick = () => this.theme.toggle();
    $("pause").onclick = () => (view.following ? view.pause() : view.resume());
    $("back").onclick = () => view.pan(-view.span / 4);
    $("forth").onclick = () => view.pan(view.span / 4);
    $("zoom-in").onclick = () => this.zoom(0.5);
    $("zoom-out").onclick = () => this.zoom(2);
    $("goto").onchange = () => this.air && view.goTo(this.air.fromClock(new Date($("goto").value).getTime()));
    $("reach").onchange = () => this.overview.setReach(Number($("reach").value));
    $("stream").onchange = () => this.show(this.streams.find(({ id }) => id === $("stream").value));
  }

  zoom(factor) {
    this.view.zoom(factor);
  }
}

const page = new Page();
page.start();
