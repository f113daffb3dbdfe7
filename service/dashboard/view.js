// Which time and which part of the band is on the screen, and which stretch somebody has chosen.

const USUAL_S = 20,
  SHORTEST_S = 0.05,
  LONGEST_S = 480,
  NARROWEST = 0.02; // of the band

export class View extends EventTarget {
  constructor() {
    super();
    this.end = 0; // seconds; the newest, at the top
    this.span = USUAL_S;
    this.following = true;
    this.low = 0; // the part of the band
    this.high = 1;
    this.chosen = null; // [from, to] in seconds
  }

  get begin() {
    return this.end - this.span;
  }

  changed() {
    this.dispatchEvent(new Event("change"));
  }

  follow(end) {
    if (!this.following) return;
    this.end = end;
  }

  pause() {
    this.following = false;
    this.changed();
  }

  resume() {
    this.following = true;
    this.changed();
  }

  pan(seconds) {
    this.end += seconds;
    this.following = false;
    this.changed();
  }

  goTo(second) {
    this.end = second + this.span / 2;
    this.following = false;
    this.changed();
  }

  // Show `factor` times as much; the second `about` stays where it is.
  zoom(factor, about = this.following ? this.end : (this.begin + this.end) / 2) {
    const span = Math.min(LONGEST_S, Math.max(SHORTEST_S, this.span * factor));
    if (!this.following) this.end = about + ((this.end - about) * span) / this.span;
    this.span = span;
    this.changed();
  }

  // The same for the band; `about` is a place in it, from 0 to 1.
  zoomBand(factor, about) {
    const width = Math.min(1, Math.max(NARROWEST, (this.high - this.low) * factor));
    const share = (about - this.low) / (this.high - this.low);
    this.low = Math.min(1 - width, Math.max(0, about - share * width));
    this.high = this.low + width;
    this.changed();
  }

  // A part of the band, with as much again around it.
  showBand(low, high) {
    const width = Math.min(1, Math.max(NARROWEST, 3 * (high - low)));
    this.low = Math.min(1 - width, Math.max(0, (low + high - width) / 2));
    this.high = this.low + width;
    this.changed();
  }

  // The usual seconds, and the whole band.
  reset() {
    [this.low, this.high] = [0, 1];
    this.zoom(USUAL_S / this.span);
  }

  choose(a, b) {
    this.chosen = a === null ? null : [Math.min(a, b), Math.max(a, b)];
    this.changed();
    this.dispatchEvent(new Event("choose"));
  }

  // Where a second lies between the top (0) and the bottom (1), and back.
  toShare(second) {
    return (this.end - second) / this.span;
  }

  toSecond(share) {
    return this.end - share * this.span;
  }
}
