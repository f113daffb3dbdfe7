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
    this.list.replaceChildren(...events.map((event) => line(event, air.classes)));
  }

  add(event, classes) {
    this.list.prepend(line(event, classes));
    while (this.list.children.length > MOST) this.list.lastChild.remove();
  }
}

function line({ since, label, probability, snr_db }, classes) {
  const how = snr_db === null ? percent(probability) : `${percent(probability)}, ${snr_db} dB`;
  return make("li", {}, swatch(label, classes), make("span", {}, label), make("small", {}, how), make("small", {}, clock(Date.parse(since))));
}
