// What lies over the graph: choice of layout and colour, tools, legend, the tip at the pointer.

import { gradient } from "./colours.js";
import { byId, make, number } from "./dom.js";
import { layoutOf } from "./pane.js";

const TOOLS = [
  ["move", "✥", "Move", "m"],
  ["goal", "◆", "Goal", "g"],
  ["reward", "◎", "Reward", "r"],
  ["forbidden", "✕", "Forbidden", "f"],
  ["erase", "⌫", "Erase", "e"],
];

export class Stage {
  constructor(app) {
    this.app = app;
    this.tool = "move";
    this.radius = 26;
    this.weight = 1;
    this.#makeTools();
    byId("layout").onchange = (event) => this.#chooseLayout(event.target.value);
    byId("colour").onchange = (event) => app.setColour(event.target.value);
    byId("zoom-in").onclick = () => this.#zoom(1.5);
    byId("zoom-out").onclick = () => this.#zoom(1 / 1.5);
    byId("zoom-all").onclick = () => this.#each((pane) => pane.camera.fit(pane.camera.box));
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Offer what a graph has to show. */
  fill(facts) {
    const names = facts.layouts.map(({ name, title }) => make("option", { value: name }, title));
    byId("layout").replaceChildren(...names, make("option", { value: "columns" }, "Two columns"));
    for (const [i, axis] of ["axis-x", "axis-y"].entries()) {
      byId(axis).replaceChildren(...facts.columns.map(({ column, name }) => make("option", { value: column }, name)));
      byId(axis).selectedIndex = Math.min(i, facts.columns.length - 1);
      byId(axis).onchange = () => this.#chooseLayout("columns");
    }
    byId("colour").replaceChildren(...facts.colours.map(({ name, title }) => make("option", { value: name }, title)));
    this.#showLayout(layoutOf(facts, this.app.view.layout));
  }

  showColour(name) {
    byId("colour").value = name;
    this.showLegends();
  }

  showLegends() {
    for (const pane of this.app.panes) if (pane.scale) pane.element.querySelector(".legend").replaceChildren(...this.#legend(pane));
  }

  #legend(pane) {
    const title = pane.facts.colours.find((colour) => colour.name === pane.colour)?.title ?? "value";
    const { low, high, logarithmic } = pane.scale;
    const heading = make("b", {}, title[0].toUpperCase() + title.slice(1));
    if (low === null) return [heading, make("div.faint", {}, "Nothing is wanted yet. Paint a goal.")];
    const planned = ["value", "steps"].includes(pane.colour);
    const ramp = make("div.ramp");
    ramp.style.background = gradient();
    const ends = pane.colour === "steps" ? [high, low] : [low, high];
    const words = [number(ends[0]), ...(logarithmic ? ["logarithmic"] : []), number(ends[1])];
    return [
      heading,
      ...(planned && pane.plan ? [make("div.faint", {}, pane.plan.name)] : []),
      ramp,
      make("div.ends", {}, words.map((word) => make("span", {}, word))),
      make("ul", {}, this.#shapes(pane.scale, planned)),
    ];
  }

  #shapes({ marks, unknown }, planned) {
    const known = ["goal", "reward", "forbidden"].filter((_, i) => marks.has(i + 1)).map((name) => make(`li.${name}`, {}, name));
    return unknown ? [...known, make("li.unknown", {}, planned ? "no way leads there" : "not known")] : known;
  }

  say(text) {
    byId("timing").textContent = text;
  }

  showTools(shown) {
    byId("tools").hidden = !shown;
    document.body.classList.toggle("painting-tools", shown);
  }

  setTool(tool) {
    this.tool = tool;
    for (const [name] of TOOLS) byId(`tool-${name}`).setAttribute("aria-pressed", String(name === tool));
    byId("weight").hidden = tool !== "reward";
    for (const pane of this.app.panes ?? []) {
      pane.canvases[2].classList.toggle("painting", tool !== "move");
      pane.show({ brush: null });
    }
  }

  /** What a hand does on a pane. Painting belongs to the first one. */
  hands(pane) {
    const { app } = this;
    const first = () => pane === app.pane;
    return {
      tool: () => (first() ? this.tool : "move"),
      hover: (x, y) => this.#hover(pane, x, y),
      leave: () => {
        byId("tip").hidden = true;
        pane.show({ hovered: null, brush: null });
      },
      click: (x, y, event) => {
        const vertex = pane.vertexAt(x, y, 22);
        byId("tip").hidden = true;
        if (vertex !== null && first()) app.choose(vertex, event);
      },
      enter: (x, y, event) => {
        if (!first()) return;
        if (this.tool === "move") return void this.hands(pane).click(x, y, event);
        this.#stroke(pane, x, y);
        app.panels.task.painted();
      },
      strokeBegin: (x, y) => this.#stroke(pane, x, y),
      stroke: (x, y) => this.#stroke(pane, x, y),
      strokeEnd: () => app.panels.task.painted(),
      keyboard: () => pane.show({ crosshair: true }),
      moved: () => {
        byId("tip").hidden = true;
        app.comparison?.follow(pane);
        if (first()) app.rememberCamera();
      },
    };
  }

  #stroke(pane, x, y) {
    const vertices = pane.verticesAt(x, y, this.radius);
    pane.show({ brush: { x, y, radius: this.radius, tool: this.tool }, crosshair: false });
    this.app.wanted.paint(this.tool, vertices, this.weight);
    this.app.solve(performance.now());
  }

  #hover(pane, x, y) {
    const painting = this.tool !== "move" && pane === this.app.pane;
    const vertex = painting ? null : pane.vertexAt(x, y);
    pane.canvases[2].classList.toggle("pointing", vertex !== null);
    pane.show({ hovered: vertex, brush: painting ? { x, y, radius: this.radius, tool: this.tool } : null, crosshair: false });
    const tip = byId("tip");
    tip.hidden = vertex === null;
    if (vertex === null) return;
    tip.textContent = this.#tipOf(pane, vertex);
    const box = pane.element.getBoundingClientRect();
    const stage = byId("stage").getBoundingClientRect();
    tip.style.left = `${Math.min(box.left - stage.left + x + 16, stage.width - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.max(4, y + box.top - stage.top - 40)}px`;
  }

  #tipOf(pane, vertex) {
    const parts = [`vertex ${vertex}`];
    const title = pane.facts.colours.find((colour) => colour.name === pane.colour)?.title;
    if (pane.numbers) parts.push(`${title} ${number(pane.numbers[vertex])}`);
    const steps = pane.plan?.arrays.steps[vertex];
    if (pane.colour === "value" && steps !== undefined) parts.push(Number.isNaN(steps) ? "no way from here" : `${Math.round(steps)} steps to go`);
    return parts.join(" · ");
  }

  #chooseLayout(name) {
    byId("axes").hidden = name !== "columns";
    if (name !== "columns") return this.app.setLayout(name);
    return this.app.setLayout(`columns:${byId("axis-x").value},${byId("axis-y").value}`);
  }

  #showLayout(name) {
    const columns = name.startsWith("columns:");
    byId("layout").value = columns ? "columns" : name;
    byId("axes").hidden = !columns;
    if (columns) [byId("axis-x").value, byId("axis-y").value] = name.slice("columns:".length).split(",");
  }

  #zoom(factor) {
    this.#each((pane) => pane.camera.zoomAt(pane.camera.width / 2, pane.camera.height / 2, factor));
  }

  #each(change) {
    this.app.panes.forEach((pane) => {
      change(pane);
      pane.moved();
    });
    this.app.rememberCamera();
  }

  #key(event) {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
      event.preventDefault();
      byId("search-text").focus();
    }
    if (event.key === "Escape") this.setTool("move");
    const tool = TOOLS.find(([, , , key]) => key === event.key);
    if (tool && this.app.tab === "task") this.setTool(tool[0]);
  }

  #makeTools() {
    const buttons = TOOLS.map(([name, shape, title, key]) => {
      const properties = { id: `tool-${name}`, title: `${title} (key ${key})`, "aria-pressed": "false", onclick: () => this.setTool(name) };
      return make("button", properties, make(`span.shape.${name}`, { "aria-hidden": "true" }, shape), title);
    });
    const slider = (properties, take) => make("input", { type: "range", ...properties, oninput: (event) => take(Number(event.target.value)) });
    const size = slider({ min: 8, max: 90, value: this.radius }, (radius) => (this.radius = radius));
    const weight = slider({ min: -2, max: 2, step: 0.5, value: 1 }, (paid) => this.#weigh(paid));
    const label = make("label", { id: "weight" }, make("span", {}, "Pays 1"), weight);
    byId("tools").append(...buttons, make("label", {}, "Brush", size), label);
    byId("tools").hidden = true;
  }

  #weigh(weight) {
    this.weight = weight;
    byId("weight").querySelector("span").textContent = weight < 0 ? `Costs ${-weight}` : `Pays ${weight}`;
  }
}
