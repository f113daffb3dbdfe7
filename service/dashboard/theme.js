// Dark or light: as somebody chose on this page, else as the system says.

import { setTheme } from "./dom.js";

const system = matchMedia("(prefers-color-scheme: light)");

export class Theme extends EventTarget {
  constructor() {
    super();
    system.addEventListener("change", () => this.apply());
  }

  get name() {
    return localStorage.getItem("theme") ?? (system.matches ? "light" : "dark");
  }

  toggle() {
    localStorage.setItem("theme", this.name === "dark" ? "light" : "dark");
    this.apply();
  }

  apply() {
    setTheme(this.name);
    this.dispatchEvent(new Event("change"));
  }
}
