// The page: which stream is shown, what is drawn when, and what the panels beside it know.

import { Air } from "./air.js";
import { AlertPanel } from "./alerts.js";
import { Answer } from "./answer.js";
import { get } from "./api.js";
import { Boxes } from "./boxes.js";
import { BoxList } from "./boxlist.js";
import { learnFamilies, styleOf } from "./colours.js";
import { Constellation } from "./constellation.js";
import { $, attempt, make } from "./dom.js";
import { DroppedRecording } from "./dropped.js";
import { EmissionPanel } from "./panel.js";
import { Eye } from "./eye.js";
import { Federation } from "./federation.js";
import { Hand } from "./hand.js";
import { Ignored } from "./ignored.js";
import { listenForKeys } from "./keys.js";
import { Lately } from "./lately.js";
import { Levels } from "./levels.js";
import { Login } from "./login.js";
import { Models } from "./models.js";
import { Overview } from "./overview.js";
import { ReviewPanel } from "./review.js";
import { Selection } from "./selection.js";
import { Spectrum } from "./spectrum.js";
import { Streams, health } from "./streams.js";
import { Symbols } from "./symbols.js";
import { Tabs } from "./tabs.js";
import { Teach } from "./teach.js";
import { Theme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { metric, seconds } from "./units.js";
import { View } from "./view.js";
import { Waterfall } from "./waterfall.js";
import { Welcome } from "./welcome.js";

const POLL_MS = 2_000;
const LOOK_MS = 250; // after the last scroll or zoom, finer rows are asked for
const FINE_ROWS = 500;

class Page {
  constructor() {
    this.air = null; // the stream that is shown
    this.streams = []; // all, as REST describes them
    this.view = new View();
    this.levels = new Levels();
    this.waterfall = new Waterfall($("waterfall"));
    this.spectrum = new Spectrum($("spectrum"), () => $("timeline").clientWidth);
    this.timeline = new Timeline($("timeline"));
    this.constellation = new Constellation($("constellation"));
    this.eye = new Eye($("eye"));
    this.symbols = new Symbols();
    this.answer = new Answer($("answer"));
    this.lately = new Lately($("lately"));
    this.ignored = new Ignored();
    this.boxes = new Boxes($("boxes"));
    const open = (id) => this.open(id);
    this.boxList = new BoxList($("box-list"), this.boxes, open);
    this.hand = new Hand($("water"), { view: this.view, boxes: this.boxes, air: () => this.air, open });
    this.overview = new Overview($("overview"), this.view, () => this.air);
    this.panels = {
      emissions: new EmissionPanel($("emissions"), this),
      alerts: new AlertPanel($("alerts"), this, $("tab-alerts")),
      review: new ReviewPanel($("review"), this),
      teach: new Teach($("teach"), this),
      streams: new Streams($("streams"), this),
      models: new Models($("models"), this),
      federation: new Federation($("federation")),
    };
    this.selection = new Selection($("selection"), this, {
      taught: () => this.panels.teach.taught(),
      played: (stream) => this.refresh().then(() => this.show(stream)),
    });
    this.recording = new DroppedRecording($("dropped"));
    this.welcome = new Welcome($("nothing"), this);
    this.login = new Login($("login"), () => this.start());
    this.tabs = new Tabs($("tabs"), () => this.refreshPanel());
    this.theme = new Theme();
    this.theme.addEventListener("change", () => this.paint());
    this.theme.apply();
    this.view.addEventListener("change", () => this.moved());
    new ResizeObserver(() => this.redraw()).observe($("air"));
    this.tools();
  }

  get labelNames() {
    return this.panels.teach.labels.map(({ label }) => label);
  }

  async start() {
    try {
      if (!(await this.login.allowed())) return;
    } catch {
      // the service starts after the page
      setTimeout(() => this.start(), POLL_MS);
      return;
    }
    await Promise.all([this.panels.teach.loadLabels(), this.ignored.load()]);
    await this.refresh();
    this.panels.alerts.start();
    this.timer ??= setInterval(() => document.hidden || this.refresh(), POLL_MS);
  }

  // Every stream's state, now.
  async refresh() {
    try {
      this.streams = await get("v1/streams");
      this.connection(true);
      await this.choose();
      this.drawHealth();
      await this.refreshPanel();
    } catch (error) {
      if (error.status === undefined) throw error;
      this.connection(false);
    }
  }

  // Keeps showing the stream that is shown, as long as it is there.
  async choose() {
    const names = this.streams.map(({ id, name }) => `${id} ${name}`).join("\n");
    if (names !== this.names) {
      this.names = names;
      $("stream").replaceChildren(...this.streams.map(({ id, name }) => make("option", { value: id }, name)));
      $("stream").value = this.air?.stream.id ?? "";
    }
    $("nothing").hidden = this.streams.length > 0;
    if (!this.streams.length) this.welcome.load();
    const wanted = this.streams.find(({ id }) => id === this.air?.stream.id) ?? this.streams[0];
    if (wanted?.id !== this.air?.stream.id) await this.show(wanted);
    else if (this.air) this.air.stream = wanted;
  }

  async refreshPanel() {
    await attempt(null, async () => this.panels[this.tabs.current]?.refresh());
  }

  // Opens an emission: what it is in its own channel, and what can be done with it.
  async open(id) {
    if (!this.air) return;
    this.boxes.chosen = this.air.attended = id;
    document.querySelector("aside").classList.toggle("opened", Boolean(id));
    this.redraw();
    if (id && this.tabs.current !== "emissions") this.tabs.open("emissions");
    await this.panels.emissions.open(id);
  }

  async show(stream) {
    this.air?.close();
    this.air = stream ? new Air(stream) : null;
    this.open(null);
    this.levels = new Levels();
    this.points = null;
    this.view.choose(null);
    this.view.resume();
    this.constellation.clear();
    this.eye.clear();
    this.answer.draw(null);
    if (!stream) return;
    $("stream").value = stream.id;
    learnFamilies(stream.families);
    for (const name of stream.classes) styleOf(name); // in their order, before any is heard
    if (!stream.attention && this.tabs.current === "emissions") this.tabs.open("signal"); // one signal, no emissions
    const { air } = this;
    air.addEventListener("frame", () => this.takeFrame());
    air.addEventListener("report", () => this.redraw());
    air.addEventListener("detail", () => this.redraw());
    air.addEventListener("emission", ({ detail }) => this.panels.emissions.take(detail));
    air.addEventListener("event", ({ detail }) => {
      this.answer.say(detail);
      this.lately.add(detail);
    });
    await air.open();
    await this.lately.load(air);
    await this.overview.load();
  }

  takeFrame() {
    const { psd, points } = this.air.frame;
    if (this.view.following || this.levels.floor === null) {
      // paused, everything but the answer holds still
      this.levels.push(psd);
      this.spectrum.push(psd);
      this.points = points;
    }
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
    this.boxes.draw(air, view, (emission) => this.ignored.holds(emission));
    this.boxList.draw(air);
    this.timeline.draw(air, view);
    this.spectrum.draw(air, view, levels);
    this.hand.draw();
    this.overview.draw();
    const emission = air.emissions.get(air.latest?.emission);
    this.answer.draw(air.latest, emission && emission.t1 - emission.t0);
    if (this.points && !$("signal").hidden) this.drawSymbols();
    $("pause").textContent = view.following ? "Pause" : "Go live";
    $("pause").setAttribute("aria-pressed", String(!view.following));
    $("range").textContent = `${seconds(view.span)} shown`;
  }

  drawSymbols() {
    const found = this.symbols.push(this.points),
      baud = found.clock.rate * this.air.rate;
    this.points = null;
    this.constellation.draw(found.symbols);
    this.eye.draw(found);
    $("eye-note").textContent = found.clock.found ? `${metric(baud, 4)}Bd` : "no symbol clock seen";
    $("constellation-note").textContent =
      found.carrier === null ? "as received" : `carrier ${metric(Math.round(found.carrier * baud), 3)}Hz`;
  }

  // In the colours of the theme.
  paint() {
    const { emissions, review } = this.panels;
    const parts = [this.waterfall, this.constellation, this.timeline, emissions, review];
    for (const part of parts) part.theme(this.theme.name);
    this.eye.clear();
    this.redraw();
  }

  // Somebody scrolled or zoomed: once the hand rests, what is shown is fetched in full detail.
  moved() {
    this.redraw();
    clearTimeout(this.looking);
    const { air, view } = this;
    if (!air || view.following) return;
    this.looking = setTimeout(() => attempt(null, () => this.look()), LOOK_MS);
  }

  look() {
    const { begin, end, low, high } = this.view;
    return this.air?.look(begin, end, FINE_ROWS, high - low);
  }

  connection(open) {
    if (open && this.away) this.air?.hurry();
    this.away = !open;
    $("connection").textContent = open ? "connected" : "the service does not answer; trying again";
    $("connection").classList.toggle("open", open);
  }

  drawHealth() {
    const facts = this.air ? health(this.air.stream) : [];
    $("health").replaceChildren(
      ...facts.map(([name, value, bad]) =>
        make("li", { class: bad ? "bad" : null }, `${name} `, make("b", {}, value)),
      ),
    );
  }

  tools() {
    const { view } = this,
      toggle = () => (view.following ? view.pause() : view.resume());
    const help = () => $("help").showModal(),
      theme = () => this.theme.toggle();
    $("theme").onclick = theme;
    $("help-button").onclick = help;
    $("pause").onclick = toggle;
    $("back").onclick = () => view.pan(-view.span / 4);
    $("forth").onclick = () => view.pan(view.span / 4);
    $("zoom-in").onclick = () => view.zoom(0.5);
    $("zoom-out").onclick = () => view.zoom(2);
    const band = (factor) => view.zoomBand(factor, (view.low + view.high) / 2);
    $("band-in").onclick = () => band(0.5);
    $("band-out").onclick = () => band(2);
    $("goto").onchange = () => this.air && view.goTo(this.air.fromClock(new Date($("goto").value).getTime()));
    $("reach").onchange = () => this.overview.setReach(Number($("reach").value));
    $("stream").onchange = () => this.show(this.streams.find(({ id }) => id === $("stream").value));
    listenForKeys($("help"), {
      " ": toggle,
      "+": () => view.zoom(0.5),
      "-": () => view.zoom(2),
      "]": () => band(0.5),
      "[": () => band(2),
      0: () => view.reset(),
      t: theme,
      "?": help,
      Enter: () => view.chosen && this.selection.name.focus(),
      ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8].map((n) => [n, () => this.tabs.show(n - 1, true)])),
    });
  }
}

new Page().start();
