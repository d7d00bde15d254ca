// The page as a whole: which graph, which task, which view; and what happens when one of them changes.

import { readAddress, writeAddress } from "./address.js";
import { get, postForArrays, served } from "./api.js";
import { CodeDrawer } from "./code.js";
import { onTheme } from "./colours.js";
import { Comparison } from "./compare.js";
import { byId, counted, make } from "./dom.js";
import { showHints } from "./hints.js";
import { Pane, layoutOf } from "./pane.js";
import { askPanel } from "./panels/ask.js";
import { playPanel } from "./panels/play.js";
import { replayPanel } from "./panels/replay.js";
import { taskPanel } from "./panels/task.js";
import { vertexPanel } from "./panels/vertex.js";
import { listenToSearch } from "./search.js";
import { Stage } from "./stage.js";
import { Wanted } from "./wants.js";

const PANELS = [
  ["vertex", "Look", vertexPanel],
  ["ask", "Ask", askPanel],
  ["task", "Re-task", taskPanel],
  ["play", "Play", playPanel],
  ["replay", "Replay", replayPanel],
];

export class App {
  async start() {
    this.view = { ...readAddress() };
    this.wanted = new Wanted();
    this.history = []; // what was planned for on this page: {want, name}
    this.stage = new Stage(this);
    this.pane = new Pane(byId("pane-a"), (pane) => this.stage.hands(pane));
    this.code = new CodeDrawer();
    this.explorer = await get("explorer");
    this.#makePanels();
    this.comparison = new Comparison(this);
    listenToSearch(this);
    onTheme(() => this.panes.forEach((pane) => pane.retheme()));
    await this.open(this.view.graph ?? this.explorer.graphs[0].id);
    showHints(this);
  }

  get panes() {
    return this.comparison?.pane ? [this.pane, this.comparison.pane] : [this.pane];
  }

  /** Show a graph as the view asks. */
  async open(id) {
    const { view } = this;
    this.facts = await get(`graphs/${id}`);
    this.#introduce();
    await this.pane.load(this.facts, served(id));
    await this.pane.setLayout(layoutOf(this.facts, view.layout));
    this.stage.fill(this.facts);
    if (view.want) this.wanted.take(view.want);
    await this.solve();
    await this.setColour(view.colour ?? (this.pane.plan ? "value" : "visits"));
    if (view.camera) this.pane.camera.set(...view.camera);
    byId("loading").hidden = true;
    this.pane.redraw();
    const { tab = "vertex" } = view;
    await this.panels[tab]?.restore?.(view);
    this.openTab(tab in this.panels ? tab : "vertex");
    await this.comparison.restore(view.other);
  }

  async setLayout(name) {
    await this.#try(async () => {
      await Promise.all(this.panes.map((pane) => pane.setLayout(layoutOf(pane.facts, name))));
      this.remember({ layout: name, camera: null });
    });
  }

  async setColour(name) {
    await this.#try(async () => {
      await Promise.all(this.panes.map((pane) => pane.setColour(name)));
      this.stage.showColour(name);
      this.remember({ colour: name });
    });
  }

  get want() {
    return this.wanted.want(this.facts.rewarded);
  }

  /** Plan for what is wanted and show its values. While one plan is made, only the last of all further wishes is kept. */
  async solve(since = null) {
    this.since ??= since;
    if (this.solving) {
      this.solveAgain = true;
      return this.solving;
    }
    this.solving = this.#solve().finally(() => {
      this.solving = null;
    });
    await this.solving;
    if (!this.solveAgain) return undefined;
    this.solveAgain = false;
    return this.solve();
  }

  async #solve() {
    const began = this.since;
    this.since = null;
    const { want } = this;
    this.pane.setMarks(this.wanted.marks());
    if (!want) return this.pane.setPlan(null);
    await this.#try(async () => {
      const plan = await postForArrays(`graphs/${this.facts.id}/plans`, { want });
      await this.takePlan(plan, want, began);
    });
    return undefined;
  }

  /** Show a plan that the server made, and how long it took since `began`. */
  async takePlan(plan, want, began = null) {
    this.plan = { ...plan, want };
    if (began !== null && !["value", "steps"].includes(this.pane.colour) && this.pane.colour) await this.setColour("value");
    this.pane.setPlan(plan);
    this.stage.showLegends();
    this.code.set(plan.name, plan.code);
    this.panels?.task.planned(plan);
    this.remember({ want: this.wanted.isNew ? want : null });
    this.#note(plan, want);
    if (began === null) return;
    const shown = (await this.pane.painted()) - began;
    this.lastStroke = { all: shown, server: plan.milliseconds.all };
    this.stage.say(`${Math.round(shown)} ms to new colours, ${Math.round(plan.milliseconds.all)} of them on the server`);
  }

  /** Show the plan of an episode while it is looked at; null brings back that of the task. */
  async showPlan(fetchPlan) {
    if (!fetchPlan && !this.borrowed) return;
    this.borrowed = fetchPlan;
    await this.#try(async () => {
      const plan = fetchPlan ? await fetchPlan() : this.plan;
      if (this.borrowed !== fetchPlan) return;
      this.pane.setMarks(fetchPlan ? new Map() : this.wanted.marks());
      this.pane.setPlan(plan ?? null);
      this.stage.showLegends();
    });
  }

  #note(plan, want) {
    const text = JSON.stringify(want);
    this.history = [{ want, name: plan.name }, ...this.history.filter((known) => JSON.stringify(known.want) !== text)].slice(0, 12);
    this.comparison?.planned();
  }

  /** Choose a vertex: the panel that is open says what it means. */
  async choose(vertex, event) {
    const last = this.facts.vertices - 1;
    if (vertex > last) return this.fail(new Error(`There is no vertex ${vertex}: they are numbered from 0 to ${last}.`));
    this.calm();
    const panel = this.panels[this.tab].choose ? this.tab : "vertex";
    if (panel !== this.tab) this.openTab(panel);
    await this.#try(() => this.panels[panel].choose(vertex, event));
    return undefined;
  }

  openTab(name) {
    this.calm();
    if (this.tab && this.tab !== name) this.panels[this.tab].leave?.();
    this.tab = name;
    for (const [id] of PANELS) {
      byId(`tab-${id}`).setAttribute("aria-selected", String(id === name));
      byId(`tab-${id}`).tabIndex = id === name ? 0 : -1;
      byId(`view-${id}`).hidden = id !== name;
    }
    this.stage.setTool("move");
    this.stage.showTools(name === "task");
    this.panels[name].enter?.();
    this.remember({ tab: name });
  }

  /** Write the view into the address, with these changes. */
  remember(changes = {}) {
    Object.assign(this.view, changes);
    clearTimeout(this.writing);
    this.writing = setTimeout(() => writeAddress(this.view), 150);
  }

  rememberCamera() {
    const { x, y, zoom } = this.pane.camera;
    this.remember({ camera: [x, y, zoom] });
  }

  fail(error) {
    byId("error").textContent = error.message;
    byId("error").hidden = false;
  }

  calm() {
    byId("error").hidden = true;
  }

  async #try(work) {
    try {
      await work();
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** Do something that may fail, and say why if it does. */
  attempt(work) {
    this.calm();
    return this.#try(work);
  }

  #introduce() {
    const { name, data, vertices, edges, episodes, steps } = this.facts;
    document.title = `${name} · VMG explorer`;
    byId("title").textContent = name;
    const { graphs } = this.explorer;
    byId("graph").hidden = graphs.length < 2;
    byId("graph").replaceChildren(...graphs.map((each) => make("option", { value: each.id }, `${each.name}, seed ${each.seed}`)));
    byId("graph").value = String(this.facts.id);
    byId("graph").onchange = (event) => this.#change(Number(event.target.value));
    const graph = `${counted(vertices, "vertex", "vertices")}, ${counted(edges, "edge")}`;
    byId("facts").textContent = `${data} · ${graph} · ${counted(episodes, "episode")}, ${counted(steps, "step")}`;
  }

  /** Open another graph in the same way; what was asked of this one belongs to its vertices. */
  #change(graph) {
    const { layout, colour, tab } = this.view;
    writeAddress({ graph, layout, colour, tab });
    location.reload();
  }

  #makePanels() {
    this.panels = {};
    for (const [id, title, create] of PANELS) {
      const properties = { id: `tab-${id}`, role: "tab", "aria-controls": `view-${id}`, onclick: () => this.openTab(id) };
      byId("tabs").append(make("button", properties, title));
      const root = make("section", { id: `view-${id}`, role: "tabpanel", "aria-labelledby": `tab-${id}`, hidden: true });
      byId("views").append(root);
      this.panels[id] = create(this, root);
    }
    byId("tabs").addEventListener("keydown", (event) => this.#walkTabs(event));
  }

  #walkTabs(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const ids = PANELS.map(([id]) => id);
    const next = ids[(ids.indexOf(this.tab) + step + ids.length) % ids.length];
    this.openTab(next);
    byId(`tab-${next}`).focus();
  }
}
