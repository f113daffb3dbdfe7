// The last minutes or hours of answers in one strip; a click goes there.

import { get, ifAnswered } from "./api.js";
import { fillOf, styleOf } from "./colours.js";
import { fit, themed } from "./dom.js";
import { clock } from "./units.js";

const PAGE = 1000,
  PAGES = 4,
  EVERY_MS = 5_000,
  OVERLAP_MS = 10_000; // history is written in batches

export class Overview {
  constructor(canvas, view, air) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.view = view;
    this.air = air;
    this.reach = 600;
    this.runs = []; // newest first
    this.loaded = null; // the stream whose runs these are: from then on only new ones are asked for
    for (const kind of ["pointerdown", "pointermove"]) {
      canvas.addEventListener(kind, (event) => event.buttons === 1 && this.goTo(event));
    }
    setInterval(() => document.hidden || this.load(), EVERY_MS);
  }

  goTo(event) {
    const air = this.air(),
      box = this.canvas.getBoundingClientRect();
    if (air) this.view.goTo(air.fromClock(this.toClock((event.clientX - box.left) / box.width)));
  }

  toClock(share) {
    return this.now - (1 - share) * this.reach * 1000;
  }

  setReach(reach) {
    this.reach = reach;
    this.loaded = null;
    return this.load();
  }

  async load() {
    const air = this.air();
    if (!air || air.closed) return;
    const oldest = air.toClock(air.end) - this.reach * 1000,
      known = this.loaded === air ? this.runs : [];
    const from = known.length ? Math.max(oldest, Date.parse(known[0].from) - OVERLAP_MS) : oldest;
    const fresh = await ifAnswered(this.fetch(air, new Date(from).toISOString()));
    if (!fresh || air !== this.air()) return;
    const again = new Set(fresh.map((run) => run.id)); // those that have grown
    const kept = known.filter((run) => !again.has(run.id) && Date.parse(run.to) > oldest);
    this.runs = [...fresh, ...kept].slice(0, PAGE * PAGES);
    this.loaded = air;
    air.addRuns(fresh.slice(0, PAGE));
    this.draw();
  }

  async fetch(air, from) {
    const runs = [];
    let cursor = "";
    for (let page = 0; page < PAGES && (cursor || !page); page++) {
      const path = `v1/streams/${air.stream.id}/predictions?from=${from}&limit=${PAGE}&cursor=${cursor}`;
      const answer = await get(path);
      runs.push(...answer.predictions);
      cursor = answer.cursor;
    }
    return runs;
  }

  draw() {
    const air = this.air();
    if (!air) return;
    fit(this.canvas);
    const { context } = this,
      { width, height } = this.canvas,
      ratio = width / this.canvas.clientWidth;
    this.now = air.toClock(air.end);
    const x = (ms) => (1 - (this.now - ms) / 1000 / this.reach) * width;
    const bar = height - 14 * ratio;
    context.clearRect(0, 0, width, height);
    for (const run of this.runs) {
      const from = x(Date.parse(run.from)),
        to = x(Date.parse(run.to));
      context.fillStyle = fillOf(context, styleOf(run.label));
      context.fillRect(from, 0, Math.max(1, to - from), bar);
    }
    context.font = `${10 * ratio}px system-ui`;
    context.fillStyle = themed("--faint");
    for (let i = 0; i <= 4; i++) {
      context.textAlign = i === 0 ? "left" : i === 4 ? "right" : "center";
      context.fillText(clock(this.toClock(i / 4)), (i / 4) * width, height - 3 * ratio);
    }
    const from = x(air.toClock(this.view.begin)),
      to = x(air.toClock(this.view.end));
    context.strokeStyle = themed("--text");
    context.lineWidth = 2 * ratio;
    context.strokeRect(from, ratio, Math.max(3 * ratio, to - from) - ratio, bar - 2 * ratio);
  }
}
