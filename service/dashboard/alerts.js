// Alerts: what the watch rules found, with its picture and samples; told by the browser where somebody wants that.

import { Channel, get, remove } from "./api.js";
import { attempt, make, toast } from "./dom.js";
import { clock, metric } from "./units.js";
import { Watches } from "./watch.js";

const PAGE = 20,
  MOST = 200;

export class AlertPanel {
  constructor(place, page, tab) {
    this.page = page;
    this.tab = tab;
    this.unseen = new Set(); // alerts that came while another tab was open
    this.wanted = PAGE;
    this.known = new Map(); // by id; kept, so that pictures do not flicker
    this.watches = new Watches(page, () => this.refresh());
    this.list = make("ol", { class: "alerts", "aria-label": "Alerts, newest first" });
    this.none = make("p", { class: "note", hidden: true }, "No alert yet.");
    this.more = make(
      "button",
      { hidden: true, onclick: () => attempt(this.more, () => this.further()) },
      "More",
    );
    this.notify = make("button", { onclick: () => attempt(this.notify, () => this.ask()) });
    place.append(
      make("div", { class: "actions" }, this.notify),
      this.none,
      this.list,
      this.more,
      make("h3", {}, "Rules"),
      this.watches.element,
    );
    this.drawNotify();
  }

  // Listens for alerts, whatever is shown.
  start() {
    this.channel ??= new Channel("v1/alerts/live", (data) => this.take(JSON.parse(data)));
  }

  get told() {
    return "Notification" in window && Notification.permission === "granted" && localStorage.notify === "yes";
  }

  async ask() {
    if (this.told) localStorage.notify = "no";
    else if (!("Notification" in window)) toast("This browser has no notifications.", "error");
    else if ((await Notification.requestPermission()) === "granted") localStorage.notify = "yes";
    else toast("This browser does not let the page notify you; allow it in its settings.", "error");
    this.drawNotify();
  }

  drawNotify() {
    this.notify.textContent = this.told ? "Notify me no more" : "Notify me in this browser";
    this.notify.setAttribute("aria-pressed", String(this.told));
  }

  // An alert is raised, or what it found was found again.
  take(alert) {
    if (alert.type !== "alert") return;
    const fresh = alert.count === 1 && !this.known.has(alert.id);
    if (fresh && !alert.quiet) {
      if (this.told) new Notification(alert.name, { body: alert.message, tag: alert.id, icon: alert.clip?.picture });
      else toast(alert.message);
    }
    if (this.page.tabs.current === "alerts") attempt(null, () => this.refresh());
    else if (fresh) {
      this.unseen.add(alert.id);
      this.drawTab();
    }
  }

  // Opens the form of a rule, filled in for an emission.
  watch(emission) {
    this.page.tabs.open("alerts");
    this.watches.prefill(emission);
  }

  drawTab() {
    this.tab.textContent = this.unseen.size ? `Alerts ${this.unseen.size}` : "Alerts";
  }

  further() {
    this.wanted = Math.min(MOST, this.wanted + PAGE);
    return this.refresh();
  }

  async refresh() {
    this.unseen.clear();
    this.drawTab();
    const [{ alerts, cursor }] = await Promise.all([get(`v1/alerts?limit=${this.wanted}`), this.watches.load()]);
    this.none.hidden = alerts.length > 0;
    this.more.hidden = !cursor || this.wanted >= MOST;
    const before = this.known;
    this.known = new Map(alerts.map((alert) => [alert.id, before.get(alert.id) ?? this.row(alert)]));
    for (const [id, row] of before) if (!this.known.has(id)) row.remove();
    alerts.forEach((alert, i) => {
      const row = this.known.get(alert.id);
      row.querySelector("small").textContent = when(alert);
      if (this.list.children[i] !== row) this.list.insertBefore(row, this.list.children[i] ?? null);
    });
  }

  row(alert) {
    const { clip } = alert,
      act = (text, title, run) =>
        make("button", { title, onclick: (event) => attempt(event.currentTarget, run) }, text);
    return make(
      "li",
      {},
      clip && make("img", { src: clip.picture, alt: pictured(alert), loading: "lazy", width: 320, height: 160 }),
      make("p", {}, alert.message),
      make("small", {}, when(alert)),
      make(
        "div",
        { class: "actions" },
        act("Show", "On the waterfall, as far as it is kept", () => this.show(alert)),
        clip?.iq && make("a", { href: clip.iq, download: `${alert.id}.sigmf`, class: "button" }, "I/Q as SigMF"),
        act("Delete", "The alert and its clip", () => this.remove(alert)),
      ),
    );
  }

  async remove(alert) {
    await remove(`v1/alerts/${alert.id}`);
    await this.refresh();
  }

  async show({ stream, at, emission }) {
    const { page } = this,
      known = page.streams.find(({ id }) => id === stream);
    if (known && page.air?.stream.id !== known.id) await page.show(known);
    if (!page.air) return;
    page.view.goTo(page.air.fromClock(Date.parse(at)));
    if (emission && known) await page.open(emission);
  }
}

function when({ at, to, count, quiet }) {
  const time = new Date(at),
    today = time.toDateString() === new Date().toDateString();
  return [
    today ? clock(time.getTime()) : time.toLocaleString([], { hour12: false }),
    ...(count > 1 ? [`${count} times until ${clock(Date.parse(to))}`] : []),
    ...(quiet ? ["in a quiet time"] : []),
  ].join(", ");
}

const pictured = ({ label, lower_hz, upper_hz }) =>
  `Spectrogram of ${label ?? "the band"}` +
  (lower_hz === null ? "" : ` at ${metric((lower_hz + upper_hz) / 2, 7)}Hz`);
