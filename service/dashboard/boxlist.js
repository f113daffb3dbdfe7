// The boxes as buttons, for keyboard and screen reader: one stop of the tab key, arrow keys go from box to box.

import { make } from "./dom.js";
import { describe } from "./words.js";

const EVERY_MS = 500;

export class BoxList {
  // `open(emission)` is called with the one that somebody chose.
  constructor(list, boxes, open) {
    this.list = list;
    this.boxes = boxes;
    this.open = open;
    this.buttons = new Map(); // by identity
    this.next = 0;
    list.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("focusin", ({ target }) => {
      boxes.hovered = target.dataset.emission;
      this.rove(target);
    });
    list.addEventListener("focusout", () => {
      boxes.hovered = null;
    });
  }

  get focused() {
    return this.list.contains(document.activeElement) ? document.activeElement : null;
  }

  draw(air) {
    const { focused } = this;
    if (performance.now() >= this.next) {
      this.next = performance.now() + EVERY_MS;
      this.sync(air, focused);
    }
    if (focused) this.put(focused, this.shown(focused.dataset.emission));
  }

  shown(id) {
    return this.boxes.shown.find(({ emission }) => emission.emission === id);
  }

  // A button for every box; the one that has the focus stays as long as its emission is known.
  sync(air, focused) {
    const wanted = new Map(this.boxes.shown.map((box) => [box.emission.emission, box]));
    for (const [id, button] of this.buttons) {
      if (wanted.has(id) || button === focused) continue;
      button.parentNode.remove();
      this.buttons.delete(id);
    }
    let before = null;
    for (const [id, box] of wanted) {
      const button = this.buttons.get(id) ?? this.add(id);
      const text = describe(air, box.emission).join(", ") + (box.ignored ? ", ignored" : "");
      if (button.textContent !== text) button.textContent = text;
      this.put(button, box);
      const after = before ? before.nextElementSibling : this.list.firstElementChild;
      if (after !== button.parentNode && button !== focused) this.list.insertBefore(button.parentNode, after);
      before = button.parentNode;
    }
    if (![...this.buttons.values()].some(({ tabIndex }) => tabIndex === 0)) this.rove(this.all[0]);
  }

  get all() {
    return [...this.list.querySelectorAll("button")];
  }

  add(id) {
    const open = () => this.boxes.shown.length && this.open(id);
    const button = make("button", { type: "button", tabindex: -1, "data-emission": id, onclick: open });
    this.list.append(make("li", {}, button));
    this.buttons.set(id, button);
    return button;
  }

  put(button, box) {
    if (!box) return;
    const percent = (share) => `${100 * Math.min(1, Math.max(0, share))}%`;
    button.style.left = percent(box.left);
    button.style.top = percent(box.top);
    button.style.width = percent(Math.min(1, box.right) - Math.max(0, box.left));
    button.style.height = percent(box.bottom - box.top);
  }

  rove(button) {
    for (const each of this.buttons.values()) each.tabIndex = each === button ? 0 : -1;
  }

  key(event) {
    const { all } = this,
      at = all.indexOf(this.focused);
    const to = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    event.stopPropagation(); // the waterfall scrolls with the same keys
    all[(to + all.length) % all.length].focus();
  }
}
