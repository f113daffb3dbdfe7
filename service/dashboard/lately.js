// What changed lately: the events of a stream, newest first.

import { get } from "./api.js";
import { make } from "./dom.js";
import { swatch } from "./teach.js";
import { clock, percent } from "./units.js";

const MOST = 30;

export class Lately {
  constructor(list) {
    this.list = list;
  }

  async load(air) {
    const { events } = await get(`v1/events?stream=${air.stream.id}&limit=${MOST}`);
    this.list.replaceChildren(...events.map(line));
  }

  add(event) {
    this.list.prepend(line(event));
    while (this.list.children.length > MOST) this.list.lastChild.remove();
  }
}

function line({ since, label, probability, snr_db }) {
  const how = snr_db === null ? percent(probability) : `${percent(probability)}, ${snr_db} dB`;
  return make(
    "li",
    {},
    swatch(label),
    make("span", {}, label),
    make("small", {}, how),
    make("small", {}, clock(Date.parse(since))),
  );
}
