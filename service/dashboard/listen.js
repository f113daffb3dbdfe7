// Listening to an emission: its sound comes from the service and is played by WebAudio.

import { make } from "./dom.js";
import { metric } from "./units.js";

const MODES = { fm: "FM", am: "AM", usb: "USB", lsb: "LSB" };
const AHEAD_S = 0.25; // that is kept in hand, against a network that stumbles
const FAMILIES = { AM: "am", ASK: "am" };

export class Listen {
  constructor(path) {
    this.path = path; // gives the path of the emission's sound
    this.mode = make(
      "select",
      { "aria-label": "How it is demodulated", onchange: () => this.on && this.start() },
      Object.entries(MODES).map(([value, text]) => make("option", { value }, text)),
    );
    this.button = make("button", {
      title: "Its sound, demodulated by the service",
      "aria-pressed": "false",
      onclick: () => (this.on ? this.stop() : this.start()),
    });
    this.said = make("small", { class: "note", role: "status" });
    this.element = make("span", { class: "group" }, this.mode, this.button, this.said);
    this.stop();
  }

  // What is usual for its family.
  suit({ family }) {
    this.mode.value = FAMILIES[family] ?? "fm";
  }

  get on() {
    return Boolean(this.socket);
  }

  start() {
    this.stop();
    this.context = new AudioContext();
    this.next = 0; // when the next piece begins
    const url = new URL(`${this.path()}?mode=${this.mode.value}`, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = (this.socket = new WebSocket(url));
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.begin(JSON.parse(data)) : this.play(data));
    socket.onclose = () => this.socket === socket && this.stop();
    this.button.textContent = "Stop listening";
    this.button.setAttribute("aria-pressed", "true");
    this.said.textContent = "connecting";
  }

  begin({ rate_hz, mode }) {
    this.rate = rate_hz;
    this.said.textContent = `${MODES[mode]}, ${metric(rate_hz, 3)}S/s`;
  }

  play(data) {
    const samples = new Int16Array(data),
      { context } = this;
    if (!samples.length || !context) return;
    const buffer = context.createBuffer(1, samples.length, this.rate);
    buffer.copyToChannel(Float32Array.from(samples, (value) => value / 32_768), 0);
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(context.destination);
    // After a stumble some is kept in hand again.
    if (this.next < context.currentTime) this.next = context.currentTime + AHEAD_S;
    source.start(this.next);
    this.next += buffer.duration;
  }

  stop() {
    const { socket, context } = this;
    this.socket = this.context = null;
    socket?.close();
    context?.close();
    this.button.textContent = "Listen";
    this.button.setAttribute("aria-pressed", "false");
    this.said.textContent = "";
  }
}
