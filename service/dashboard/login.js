// The login, where the service wants a token: asked for once, kept as a cookie that scripts cannot read.

import { get, post, service } from "./api.js";
import { make } from "./dom.js";

export class Login {
  // `done` is called when the page may go on.
  constructor(dialog, done) {
    this.dialog = dialog;
    this.token = make("input", {
      type: "password",
      "aria-label": "Token",
      autocomplete: "current-password",
      required: true,
    });
    this.problem = make("p", { class: "bad", role: "alert" });
    // Password managers want to know whose it is.
    const user = make("input", {
      class: "hidden",
      autocomplete: "username",
      value: "wavetell",
      tabindex: -1,
      "aria-hidden": "true",
    });
    const form = make(
      "form",
      {},
      user,
      make("h2", {}, "A token is needed"),
      make("p", { class: "note" }, "wavetell token add NAME gives one."),
      this.token,
      this.problem,
      make("button", { class: "main" }, "Log in"),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        await post("v1/login", { token: this.token.value });
      } catch (error) {
        this.problem.textContent = error.message;
        return;
      }
      this.token.value = this.problem.textContent = "";
      dialog.close();
      done();
    });
    dialog.append(form);
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    service.addEventListener("login", () => this.ask());
  }

  ask() {
    if (!this.dialog.open) this.dialog.showModal();
  }

  // Whether the page may go on at once.
  async allowed() {
    const { role } = await get("v1/login");
    if (!role) this.ask();
    return Boolean(role);
  }
}
