// What changed lately: the events of a stream, newest first.

import { get } from "./api.js";
import { make } from "./dom.js";
import { swatch } from "./swatch.js";
import { clock, sureness } from "./units.js";

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

function line(event) {
  const { since, label, snr_db } = event,
    sure = sureness(event);
  const how = sure && snr_db != null ? `${sure}, ${snr_db} dB` : sure;
  return make(
    "li",
    {},
    swatch(label),
    make("span", {}, label),
    make("small", {}, how),
    make("small", {}, clock(Date.parse(since))),
  );
}
