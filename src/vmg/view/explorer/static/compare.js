// A second pane beside the first: another run or seed, or another plan on the same graph.

import { get, postForArrays, served } from "./api.js";
import { byId } from "./dom.js";
import { Pane, layoutOf } from "./pane.js";
import { option } from "./panels/parts.js";

const PAINTED = "A painted task belongs to the graph it was painted on. Name the goal in numbers, as position=1,1, to compare it on another graph.";

export class Comparison {
  constructor(app) {
    this.app = app;
    this.pane = null;
    byId("compare").onclick = () => (byId("pane-b").hidden ? this.#openWithUsual() : this.close());
    byId("other-graph").onchange = (event) => this.#choose(Number(event.target.value), byId("other-task").value);
    byId("other-task").onchange = (event) => this.#choose(this.pane.facts.id, event.target.value);
  }

  async restore(other) {
    if (other) await this.open(other.graph, other.want ?? "same");
  }

  /** Another graph for the same task or, where that was painted, this graph for the recorded rewards. */
  async #openWithUsual() {
    const { want, facts } = this.app;
    if (want && isPainted(want)) await this.open(facts.id, facts.rewarded ? "recorded" : "same");
    else await this.open(this.#another(), "same");
  }

  async open(graph, task) {
    byId("pane-b").hidden = false;
    byId("compare").setAttribute("aria-pressed", "true");
    this.kept ??= new Pane(byId("pane-b"), (pane) => this.app.stage.hands(pane));
    const { graphs } = this.app.explorer;
    byId("other-graph").replaceChildren(...graphs.map(({ id, name, seed }) => option(id, `${name}, seed ${seed}`)));
    this.pane = this.kept;
    this.pane.resize();
    await this.#choose(graph, task);
  }

  close() {
    byId("pane-b").hidden = true;
    byId("compare").setAttribute("aria-pressed", "false");
    this.pane = null;
    this.app.remember({ other: null });
  }

  /** The second pane shows what the first one shows, where both have the same layout. */
  follow(moved) {
    if (!this.pane || this.pane.layout?.name !== this.app.pane.layout?.name) return;
    const other = moved === this.pane ? this.app.pane : this.pane;
    other.camera.set(moved.camera.x, moved.camera.y, moved.camera.zoom);
    other.moved();
  }

  /** What is wanted has changed: the pane that shows the same task follows. */
  planned() {
    if (!this.pane?.facts) return;
    this.offer();
    if (this.task === "same") this.app.attempt(() => this.#plan("same"));
  }

  /** Offer what was planned for on this page. */
  offer() {
    const known = this.app.history.map(({ name }, i) => option(i, name));
    const recorded = this.pane.facts.rewarded ? [option("recorded", "the recorded rewards")] : [];
    byId("other-task").replaceChildren(option("same", "the same task"), ...recorded, ...known);
    byId("other-task").value = this.task;
  }

  async #choose(id, task) {
    this.task = typeof task === "object" ? "same" : task;
    await this.app.attempt(async () => {
      const { app, pane } = this;
      if (pane.facts?.id !== id) {
        await pane.load(await get(`graphs/${id}`), served(id));
        await pane.setLayout(layoutOf(pane.facts, app.pane.layout.name));
      }
      byId("other-graph").value = String(id);
      await this.#plan(task);
      await pane.setColour(app.pane.colour);
      this.offer();
      this.follow(app.pane);
      app.stage.showLegends();
    });
  }

  async #plan(task) {
    const want = this.#wantOf(task);
    const { id } = this.pane.facts;
    this.app.remember({ other: { graph: id, want: task === "same" ? null : want } });
    if (!want) return this.pane.setPlan(null);
    if (id !== this.app.facts.id && isPainted(want)) throw new Error(PAINTED);
    this.pane.setPlan(await postForArrays(`graphs/${id}/plans`, { want }));
    return this.app.stage.showLegends();
  }

  #wantOf(task) {
    if (task === "recorded") return { recorded: true };
    if (typeof task === "object") return task;
    return task === "same" ? this.app.want : this.app.history[Number(task)].want;
  }

  #another() {
    const { graphs } = this.app.explorer;
    return (graphs.find(({ id }) => id !== this.app.facts.id) ?? graphs[0]).id;
  }
}

function isPainted(want) {
  const parts = [...(want.goals ?? []), ...(want.avoid ?? []), ...(want.rewards ?? [])];
  return parts.some((part) => part.vertices) || Boolean(want.without_edges);
}
