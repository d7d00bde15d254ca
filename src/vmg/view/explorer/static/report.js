// The graph inside a report: to hover over and zoom into, with its arrays in the page.

import { number } from "./dom.js";
import { unpacked } from "./frames.js";
import { Pane } from "./pane.js";

for (const figure of document.querySelectorAll("figure.live")) {
  show(figure).catch(() => figure.remove()); // the pictures beside it show the same
}

async function show(figure) {
  const packed = atob(figure.querySelector("script").textContent);
  const { arrays, ...facts } = unpacked(Uint8Array.from(packed, (letter) => letter.charCodeAt(0)).buffer);
  const overlay = figure.querySelector("canvas.overlay");
  const tip = figure.querySelector(".tip");
  const pane = new Pane(figure.querySelector(".pane"), (shown) => hands(shown, tip, arrays, overlay));
  await pane.load(facts, {
    edges: () => ({ arrays }),
    layout: (name) => ({ name, arrays: { x: arrays[`${name}.x`], y: arrays[`${name}.y`] } }),
  });
  const select = figure.querySelector("select");
  select.onchange = () => pane.setLayout(select.value);
  await pane.setLayout(select.value);
  pane.setPlan({ kind: "reward", arrays: { values: arrays.values, steps: new Float32Array(0), goals: [] } });
  await pane.setColour("value");
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => pane.retheme());
  figure.pane = pane;
}

function hands(pane, tip, arrays, overlay) {
  const point = (vertex) => {
    pane.show({ hovered: vertex });
    const { values, visits } = arrays;
    const said = `vertex ${vertex} · value ${number(values[vertex])} · ${number(visits[vertex])} recorded states`;
    tip.textContent = vertex === null ? "" : said;
  };
  const look = (x, y) => point(pane.vertexAt(x, y));
  return {
    tool: () => "move",
    zooms: () => document.activeElement === overlay,
    hover: look,
    click: look,
    enter: look,
    leave: () => point(null),
    moved: () => {},
    keyboard: () => {},
  };
}
