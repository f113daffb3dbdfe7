// Tabs as WAI-ARIA describes them: arrow keys go from one to the next, and only the chosen one can be tabbed to.

export class Tabs {
  // `onShow(id)` is called with the panel that is shown.
  constructor(list, onShow) {
    this.tabs = [...list.querySelectorAll("[role=tab]")];
    this.onShow = onShow;
    for (const [i, tab] of this.tabs.entries()) {
      tab.tabIndex = i ? -1 : 0;
      tab.addEventListener("click", () => this.show(i));
      tab.addEventListener("keydown", ({ key }) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
        if (step) this.show((i + step + this.tabs.length) % this.tabs.length, true);
      });
    }
    this.current = this.tabs[0].getAttribute("aria-controls");
  }

  open(id) {
    this.show(this.tabs.findIndex((tab) => tab.getAttribute("aria-controls") === id));
  }

  show(index, focus = false) {
    for (const [i, tab] of this.tabs.entries()) {
      tab.setAttribute("aria-selected", String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = i !== index;
    }
    if (focus) this.tabs[index].focus();
    this.current = this.tabs[index].getAttribute("aria-controls");
    this.onShow(this.current);
  }
}
