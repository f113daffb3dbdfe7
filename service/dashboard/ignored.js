// What somebody does not want to be told about: an emission, a part of the band or a label; the service keeps the list.

import { get, post, remove } from "./api.js";

export class Ignored extends EventTarget {
  constructor() {
    super();
    this.rules = [];
  }

  async load() {
    this.rules = (await get("v1/ignored")).ignored;
    this.dispatchEvent(new Event("change"));
  }

  async add(rule) {
    await post("v1/ignored", rule);
    await this.load();
  }

  async remove(rule) {
    await remove(`v1/ignored/${rule.id}`);
    await this.load();
  }

  // As the service decides it (service/storage/ignored.py).
  holds(emission) {
    return this.rules.some((rule) => matches(rule, emission) && !(Date.parse(rule.until) <= Date.now()));
  }
}

function matches({ stream, emission, label, f_low, f_high }, heard) {
  if (stream !== null && stream !== heard.stream) return false;
  if (emission !== null) return emission === heard.emission;
  if (label !== null) return label === heard.label || label === heard.family;
  return f_low <= heard.centre_hz && heard.centre_hz <= f_high;
}
