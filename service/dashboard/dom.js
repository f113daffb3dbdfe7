// Small helpers for the document.

export const $ = (id) => document.getElementById(id);

// make("button", {class: "quiet", onclick: f}, "Text", child): an element. Text is always text, never HTML.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

// Says something that passes; errors stay longer.
export function toast(text, kind = "info") {
  const line = make("p", { class: kind }, text);
  $("toasts").append(line);
  setTimeout(() => line.remove(), kind === "error" ? 8000 : 4000);
}

// Runs what a click started; what goes wrong is said, not swallowed.
export async function attempt(button, action) {
  if (button) button.disabled = true;
  try {
    return await action();
  } catch (error) {
    toast(error.message, "error");
    if (!error.status) throw error;
  } finally {
    if (button) button.disabled = false;
  }
}

// Matches a canvas to its size on the screen; answers whether it changed.
export function fit(canvas) {
  const ratio = Math.min(window.devicePixelRatio, 2);
  const width = Math.round(canvas.clientWidth * ratio),
    height = Math.round(canvas.clientHeight * ratio);
  if (canvas.width === width && canvas.height === height) return false;
  canvas.width = width;
  canvas.height = height;
  return true;
}

const colours = new Map();

// A colour of the theme that holds now, for a canvas; kept until the theme changes.
export function themed(name) {
  if (!colours.has(name)) {
    const probe = make("i");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    colours.set(name, getComputedStyle(probe).color);
    probe.remove();
  }
  return colours.get(name);
}

// Switches to dark or light.
export function setTheme(name) {
  document.documentElement.dataset.theme = name;
  colours.clear();
}
