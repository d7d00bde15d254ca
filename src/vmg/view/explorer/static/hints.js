// Three sentences for the first visit.

import { byId, make } from "./dom.js";

const SEEN = "vmg-explorer-hints";

export function showHints(app) {
  if (seen() || Object.keys(app.view).some((name) => ["want", "vertex", "ask", "replay"].includes(name) && app.view[name])) return;
  const { episodes } = app.facts;
  const close = make("button.main", {}, "Let me see");
  close.onclick = () => {
    byId("hints").hidden = true;
    remember();
  };
  byId("hints").replaceChildren(
    make("h2", {}, "What the robot knows"),
    make("p", {}, `Every dot is a state from ${episodes.toLocaleString("en")} recorded episodes, and lines join states that one step led between.`),
    make("p", {}, "Bright dots are worth more for the task at hand: click one to see why."),
    make("p", {}, "Under Re-task, paint a new goal with the mouse, then press Play and watch it done."),
    close,
  );
  byId("hints").hidden = false;
}

function seen() {
  try {
    return localStorage.getItem(SEEN) !== null;
  } catch {
    return false;
  }
}

function remember() {
  try {
    localStorage.setItem(SEEN, "seen");
  } catch {
    // Without storage the hints come again, which does no harm.
  }
}
