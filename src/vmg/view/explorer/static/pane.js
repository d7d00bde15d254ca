// One graph on the screen: its data, what is seen of it, and what lies over it.

import { Camera } from "./camera.js";
import { named, table } from "./colours.js";
import { Grid } from "./grid.js";
import { drawFloor, drawOverlay } from "./overlay.js";
import { listen } from "./pointer.js";
import { Renderer } from "./renderer.js";
import { shadesOf } from "./shades.js";

const SLOW = 8000; // vertices that UMAP lays out in seconds
const STILL = 140; // milliseconds without a movement until the camera counts as still
const NOTHING = {
  found: [], planned: [], way: [], switches: [], trail: [], pins: [], goal: null, spot: null, subgoal: null,
  hovered: null, selected: null, neighbours: null, brush: null, crosshair: false,
};
const OF_PLANS = { value: "values", steps: "steps" };

export class Pane {
  constructor(element, hands) {
    this.element = element;
    const [floor, graph, overlay] = ["floor", "graph", "overlay"].map((name) => element.querySelector(`canvas.${name}`));
    this.canvases = [floor, graph, overlay];
    this.floorContext = floor.getContext("2d");
    this.overlayContext = overlay.getContext("2d");
    this.renderer = new Renderer(graph);
    this.camera = new Camera();
    this.shown = { ...NOTHING };
    this.movedAt = 0;
    this.layouts = new Map();
    this.arrays = new Map();
    this.waiting = [];
    this.marks = new Map();
    this.retheme();
    listen(overlay, this.camera, { ...hands(this), moved: () => this.moved(hands(this).moved) });
    new ResizeObserver(() => this.resize()).observe(element);
    this.resize();
  }

  /** Take a graph: its facts, and where its arrays come from. */
  async load(facts, source) {
    this.facts = facts;
    this.source = source;
    this.layouts.clear();
    this.arrays.clear();
    this.plan = null;
    this.shown = { ...NOTHING };
    const { arrays } = await source.edges();
    const pairs = new Uint32Array(arrays.tails.length * 2);
    arrays.tails.forEach((tail, i) => {
      pairs[2 * i] = tail;
      pairs[2 * i + 1] = arrays.heads[i];
    });
    this.pairs = shuffled(pairs);
  }

  async setLayout(name) {
    const known = this.facts.layouts.find((layout) => layout.name === name);
    if (!this.layouts.has(name)) this.layouts.set(name, placed(await this.source.layout(name), known?.floor));
    this.layout = this.layouts.get(name);
    this.places = this.layout.places;
    this.grid = new Grid(this.places, this.layout.within);
    this.renderer.setPlaces(this.places);
    this.renderer.setEdges(this.pairs);
    this.camera.fit(this.layout.box);
    this.recolour();
  }

  async setColour(name) {
    if (!(name in OF_PLANS) && !this.arrays.has(name)) {
      const { arrays } = await this.source.array(name);
      this.arrays.set(name, arrays.values);
    }
    this.colour = name;
    this.recolour();
  }

  setPlan(plan) {
    this.plan = plan;
    this.recolour();
  }

  /** Which vertices are marked: 1 goal, 2 reward, 3 forbidden. */
  setMarks(marks) {
    this.marks = marks;
    this.recolour();
  }

  /** The numbers behind the colours now, or null. */
  get numbers() {
    return (this.colour in OF_PLANS ? this.plan?.arrays[OF_PLANS[this.colour]] : this.arrays.get(this.colour)) ?? null;
  }

  recolour() {
    if (!this.places) return;
    const { shades, low, high, logarithmic, unknown } = shadesOf(this.numbers, this.facts.vertices, this.colour, this.plan);
    const marks = new Float32Array(this.facts.vertices);
    if (this.plan && this.colour in OF_PLANS) for (const v of this.plan.arrays.goals) marks[v] = 1;
    if (this.plan && this.plan.arrays.goals.length > this.facts.vertices / 3) marks.fill(0);
    for (const [vertex, mark] of this.marks) marks[vertex] = mark;
    this.scale = { low, high, logarithmic, unknown, marks: new Set(marks) };
    this.renderer.setShades(shades, marks);
    this.redraw();
  }

  retheme() {
    this.renderer.setColours(table(), named("edge").map((part) => part / 255));
    this.redraw();
  }

  /** Take away everything that lies over the graph. */
  clear() {
    this.show(NOTHING);
  }

  show(what) {
    Object.assign(this.shown, what);
    this.redraw();
  }

  place(vertex) {
    return [this.places[2 * vertex], this.places[2 * vertex + 1]];
  }

  /** Where a place on the floor is drawn: itself on a floor plan, otherwise where its vertex is. */
  spotOf(floorPlace, vertex) {
    return this.layout.floor && floorPlace ? floorPlace : this.place(vertex);
  }

  vertexAt(left, top, reach = 16) {
    if (!this.grid) return null;
    return this.grid.nearest(...this.camera.toLayout(left, top), reach / this.camera.scale);
  }

  verticesAt(left, top, radius) {
    return Array.from(this.grid.within(...this.camera.toLayout(left, top), radius / this.camera.scale), ([vertex]) => vertex);
  }

  flyTo(vertex) {
    [this.camera.x, this.camera.y] = this.place(vertex);
    this.camera.scale = Math.max(this.camera.scale, this.camera.home * 2);
    this.moved();
  }

  moved(tell) {
    this.movedAt = performance.now();
    this.redraw();
    tell?.(this);
  }

  resize() {
    const { width, height } = this.element.getBoundingClientRect();
    if (!width || !height) return;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    for (const canvas of this.canvases) [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.camera.resize(width, height, ratio);
    this.renderer.forget();
    this.redraw();
  }

  redraw() {
    this.stale = true;
    this.#again();
  }

  #again() {
    this.scheduled ??= requestAnimationFrame((now) => this.#frame(now));
  }

  /** Wait until what was last asked for is on the screen. */
  painted() {
    this.redraw();
    return new Promise((done) => this.waiting.push(done));
  }

  /** Pixels across a vertex: as there is room when all are seen, and more when zoomed in. */
  #size() {
    const [left, bottom, right, top] = this.layout.box;
    const room = Math.sqrt(((right - left) * (top - bottom)) / this.facts.vertices) * this.camera.home;
    const seen = Math.min(8, Math.max(1.8, 0.42 * room));
    return Math.min(13, seen * Math.sqrt(Math.max(1, this.camera.zoom)));
  }

  #frame(now) {
    this.scheduled = null;
    if (!this.places) return;
    const still = performance.now() - this.movedAt > STILL;
    const busy = this.renderer.draw(this.camera, { still, size: this.#size(), now });
    if (this.stale) drawFloor(this.floorContext, this.camera, this.layout.floor);
    if (this.stale) drawOverlay(this.overlayContext, this.camera, this.shown, (vertex) => this.place(vertex));
    this.stale = false;
    if (busy || !still) this.#again();
    if (this.renderer.vertices.settled) this.waiting.splice(0).forEach((done) => done(performance.now()));
  }
}

/** The layout to begin with: the first one, but none that takes long to find. */
function usualLayout({ layouts, vertices }) {
  const slow = vertices > SLOW && layouts[0].name === "umap";
  return slow ? "pca" : layouts[0].name;
}

/** A layout by its name where a graph has it, or its usual one. */
export function layoutOf(facts, name) {
  const there = name && (name.startsWith("columns:") || facts.layouts.some((layout) => layout.name === name));
  return there ? name : usualLayout(facts);
}

/** Places in pairs. A floor plan keeps its measures; other layouts are fitted into a box that suits a screen. */
function placed({ arrays: { x, y }, ...facts }, floor) {
  const places = new Float32Array(2 * x.length);
  const [left, right, bottom, top] = [...extent(x), ...extent(y)];
  const [across, up] = floor ? [1, 1] : [2.8 / (right - left || 1), 2 / (top - bottom || 1)];
  const [x0, y0] = floor ? [0, 0] : [(left + right) / 2, (bottom + top) / 2];
  for (let i = 0; i < x.length; i++) {
    places[2 * i] = (x[i] - x0) * across;
    places[2 * i + 1] = (y[i] - y0) * up;
  }
  const within = floor ? [left, bottom, right, top] : [-1.4, -1, 1.4, 1];
  const box = floor ? [floor.extent[0][0], floor.extent[1][0], floor.extent[0][1], floor.extent[1][1]] : within;
  return { ...facts, places, floor, within, box };
}

function extent(numbers) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of numbers) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/** Edges in an order that is the same every time and fair: what is painted first is a sample of all. */
function shuffled(pairs) {
  let seed = 12345;
  for (let i = pairs.length / 2 - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = seed % (i + 1);
    for (const k of [0, 1]) [pairs[2 * i + k], pairs[2 * j + k]] = [pairs[2 * j + k], pairs[2 * i + k]];
  }
  return pairs;
}
