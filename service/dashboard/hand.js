// The hand on the waterfall: drag chooses a stretch, a click a box, the wheel zooms, keys do all of it, too.

import { frequencyAt, frequencyText } from "./spectrum.js";
import { clock, sureness } from "./units.js";
import { describe } from "./words.js";

const CLICK_PX = 4; // a drag shorter than this is a click, which lets go

export class Hand {
  // `air()` is the stream that is shown, or null; `open(id)` is called with the emission that somebody clicked.
  constructor(place, { view, boxes, air, open }) {
    this.place = place;
    this.view = view;
    this.boxes = boxes;
    this.air = air;
    this.open = open;
    this.box = place.querySelector("#chosen");
    this.pointer = place.querySelector("#pointer");
    place.addEventListener("pointerdown", (event) => this.down(event));
    place.addEventListener("pointermove", (event) => this.move(event));
    place.addEventListener("pointerup", (event) => this.up(event));
    place.addEventListener("pointercancel", () => {
      this.from = null;
    });
    place.addEventListener("pointerleave", () => {
      this.pointer.hidden = true;
      this.over = boxes.hovered = null;
    });
    place.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    place.addEventListener("dblclick", () => this.view.reset());
    place.addEventListener("keydown", (event) => this.key(event));
  }

  shares(event) {
    const box = this.place.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  }

  down(event) {
    if (event.button !== 0) return;
    this.place.focus({ preventScroll: true });
    this.place.setPointerCapture(event.pointerId);
    const { following } = this.view;
    if (following) this.view.pause(); // the air must hold still under the hand
    const { x, y } = this.shares(event);
    this.from = { px: event.clientY, second: this.view.toSecond(y), box: this.boxes.find(x, y), following };
  }

  move(event) {
    const { x, y } = this.shares(event);
    if (this.from && Math.abs(event.clientY - this.from.px) >= CLICK_PX) {
      this.view.choose(this.from.second, this.view.toSecond(Math.min(1, Math.max(0, y))));
    }
    this.describe(x, y);
  }

  up(event) {
    const { from } = this;
    this.from = null;
    if (!from || Math.abs(event.clientY - from.px) >= CLICK_PX) return;
    this.view.choose(null);
    if (!from.box) return;
    if (from.following) this.view.resume();
    this.open(from.box.emission);
  }

  // What lies under the pointer.
  describe(x, y) {
    const air = this.air();
    if (!air) return;
    this.over = { x, y };
    const box = this.boxes.find(x, y);
    this.boxes.hovered = box?.emission ?? null;
    this.pointer.textContent = (box ? describe(air, box) : this.point(air, x, y)).join("  ·  ");
    this.pointer.hidden = false;
    this.pointer.style.left = `${100 * x}%`;
    this.pointer.style.top = `${100 * y}%`;
    this.pointer.classList.toggle("left", x > 0.5); // so that it stays inside
    this.pointer.classList.toggle("under", y < 0.2);
    this.pointer.classList.toggle("box", Boolean(box));
  }

  // What is known of a point that is in no box.
  point(air, x, y) {
    const { view } = this,
      second = view.toSecond(y),
      band = view.low + x * (view.high - view.low);
    const run = air.runAt(second);
    const parts = [frequencyText(air, frequencyAt(air, band)), clock(air.toClock(second), 2)];
    const at = air.rows.find(second * air.rate);
    if (at >= 0)
      parts.push(
        `${Math.round(air.rows.db(at, Math.min(air.rows.bins - 1, Math.floor(band * air.rows.bins))))} dB`,
      );
    if (run) parts.push(`${run.label} ${sureness(run)}`);
    return parts;
  }

  wheel(event) {
    event.preventDefault();
    const { x, y } = this.shares(event),
      { view } = this;
    const factor = 1.2 ** Math.sign(event.deltaY || event.deltaX);
    if (event.shiftKey) view.zoomBand(factor, view.low + x * (view.high - view.low));
    else if (event.ctrlKey) view.pan((-Math.sign(event.deltaY) * view.span) / 10);
    else view.zoom(factor, view.toSecond(y));
  }

  key(event) {
    const { view } = this,
      step = view.span / 10;
    const actions = {
      ArrowDown: () => (event.shiftKey ? this.stretch(-1) : view.pan(-step)),
      ArrowUp: () => (event.shiftKey ? this.stretch(1) : view.pan(step)),
      PageDown: () => view.pan(-view.span),
      PageUp: () => view.pan(view.span),
      ArrowLeft: () => view.zoomBand(1, (view.low + view.high) / 2 - (view.high - view.low) / 10),
      ArrowRight: () => view.zoomBand(1, (view.low + view.high) / 2 + (view.high - view.low) / 10),
      End: () => view.resume(),
      s: () => this.lastSecond(),
      Escape: () => view.choose(null),
    };
    if (!actions[event.key] || event.altKey || event.metaKey) return;
    event.preventDefault();
    actions[event.key]();
  }

  lastSecond() {
    this.view.pause();
    this.view.choose(this.view.end - 1, this.view.end);
  }

  stretch(direction) {
    const { chosen, span } = this.view;
    if (!chosen) return this.lastSecond();
    const from = chosen[0] + (direction * span) / 50;
    if (from < chosen[1]) this.view.choose(from, chosen[1]);
  }

  // The box around the chosen stretch; and what lies under the pointer now, for the air moves on below it.
  draw() {
    const { view, box } = this;
    if (this.over && !this.from && view.following) this.describe(this.over.x, this.over.y);
    box.hidden = !view.chosen;
    if (!view.chosen) return;
    const [from, to] = view.chosen.map((second) => 100 * Math.min(1, Math.max(0, view.toShare(second))));
    box.style.top = `${to}%`;
    box.style.height = `${from - to}%`;
  }
}
