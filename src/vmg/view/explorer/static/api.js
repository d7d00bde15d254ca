// Speaks with the server. A request that is refused becomes an Error with the server's own sentence.

import { unpacked } from "./frames.js";

export async function get(path) {
  return (await asked(path)).json();
}

export async function getArrays(path) {
  return unpacked(await (await asked(path)).arrayBuffer());
}

export async function post(path, content) {
  return (await asked(path, posted(content))).json();
}

export async function postForArrays(path, content) {
  return unpacked(await (await asked(path, posted(content))).arrayBuffer());
}

export function socket(path) {
  const made = new WebSocket(new URL(`api/${path}`, location.href).href.replace(/^http/, "ws"));
  made.binaryType = "arraybuffer";
  return made;
}

const PATIENCE = 250; // milliseconds after which a page says that it waits
let waiting = 0;
let saying = null;

/** Show that something is on its way, unless it comes at once. */
function wait(change) {
  waiting += change;
  if (waiting) saying ??= setTimeout(() => document.body.classList.add("waiting"), PATIENCE);
  if (waiting) return;
  clearTimeout(saying);
  saying = null;
  document.body.classList.remove("waiting");
}

function posted(content) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) };
}

async function asked(path, options) {
  let answer;
  wait(1);
  try {
    answer = await fetch(`api/${path}`, options);
  } catch {
    throw new Error("The explorer does not answer. Is `vmg explore` still running?");
  } finally {
    wait(-1);
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => null);
  throw new Error(said?.error ?? `The explorer answered with ${answer.status}.`);
}

/** Where a pane gets the arrays of a graph from. */
export function served(id) {
  return {
    edges: () => getArrays(`graphs/${id}/edges`),
    layout: (name) => getArrays(`graphs/${id}/layouts/${name}`),
    array: (name) => getArrays(`graphs/${id}/arrays/${name}`),
  };
}
