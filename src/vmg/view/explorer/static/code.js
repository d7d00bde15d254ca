// The drawer with the Python and the command that make what is seen.

import { byId, make } from "./dom.js";

export class CodeDrawer {
  constructor() {
    this.root = byId("code");
    this.button = byId("code-button");
    this.button.onclick = () => this.toggle();
  }

  toggle() {
    this.root.hidden = !this.root.hidden;
    this.button.setAttribute("aria-expanded", String(!this.root.hidden));
    this.button.setAttribute("aria-pressed", String(!this.root.hidden));
  }

  /** Say how something is made without a mouse. */
  set(what, code) {
    if (!code) return;
    const parts = [["Python", code.python], ["Command", code.command]].filter(([, text]) => text);
    this.root.replaceChildren(...parts.map(([language, text]) => block(`${language}: ${what}`, text)), block("This view as a link", null));
  }
}

function block(title, text) {
  const link = "The address of this page reproduces what you see, as long as the explorer runs on this run.";
  const pre = make("pre", { tabIndex: 0 }, text ?? link);
  const copy = make("button.plain", {}, "Copy");
  copy.onclick = async () => {
    try {
      await navigator.clipboard.writeText(text ?? location.href);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(pre);
      copy.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => (copy.textContent = "Copy"), 2500);
  };
  return make("div", {}, make("h2", {}, title, copy), pre);
}
