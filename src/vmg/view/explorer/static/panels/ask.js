// Ask: is there a way from here to there, stitched from which recordings, and what if a part of it were gone?

import { post } from "../api.js";
import { counted, make, number } from "../dom.js";
import { large, option, said } from "./parts.js";

export function askPanel(app, root) {
  const state = { from: null, to: null, gone: [], picking: "to" };
  const from = make("select", { "aria-label": "From", onchange: () => fromChosen() });
  const to = make("select", { "aria-label": "To", onchange: () => toChosen() });
  const answer = make("div", { "aria-live": "polite" });
  root.append(
    make("h2", {}, "Ask for a way"),
    make("p.faint", {}, "Click where it should go. Hold Shift, or press Pick, to choose where it starts."),
    make("div.row", {}, make("label.grow", {}, "From", from), make("button", { onclick: () => pick("from") }, "Pick")),
    make("div.row", {}, make("label.grow", {}, "To", to), make("button", { onclick: () => pick("to") }, "Pick")),
    answer,
  );

  function pick(end) {
    state.picking = end;
    answer.replaceChildren(make("p.said", {}, end === "from" ? "Click a dot to start from." : "Click a dot to go to."));
  }

  function fill() {
    state.from ??= app.facts.play.possible ? { start: 0 } : { episode: 0, step: 0 };
    const starts = [[{ episode: 0, step: 0 }, "the start of recorded episode 0"]];
    const own = [[{ start: 0 }, "a start of the environment (seed 0)"], [{ start: 1 }, "another start (seed 1)"]];
    if (app.facts.play.possible) starts.unshift(...own);
    offer(from, starts, state.from, (value) => (value.vertex !== undefined ? `vertex ${value.vertex}` : "a recorded state"));
    offer(to, app.want ? [["task", `the task: ${app.plan?.name ?? "what is wanted"}`]] : [], state.to, (value) => `vertex ${value.vertex}`);
  }

  function fromChosen() {
    state.from = JSON.parse(from.value);
    ask();
  }

  function toChosen() {
    state.to = JSON.parse(to.value);
    ask();
  }

  async function ask() {
    fill();
    if (!state.to) return;
    app.remember({ ask: { from: state.from, to: state.to, gone: state.gone } });
    const rules = state.gone.length ? { without_edges: state.gone } : {};
    const wanted = state.to === "task" ? app.want : { goals: [{ vertices: [state.to.vertex] }], ...rulesOf(app.want) };
    await app.attempt(async () => {
      const way = await post(`graphs/${app.facts.id}/ways`, { want: { ...wanted, ...rules }, from: state.from });
      show(way);
    });
  }

  function show(way) {
    const pieced = way.stages.flatMap((stage) => stage.pieces);
    const switches = way.stages.flatMap((stage) => stage.pieces.slice(1)).flatMap((piece) => piece.vertices?.slice(0, 1) ?? []);
    const ends = [[way.from.vertex, "from"]];
    if (way.path.length > 1) ends.push([way.path.at(-1), way.possible ? "to" : "nearest"]);
    app.pane.show({ way: way.path, switches, pins: ends, selected: null, neighbours: null });
    app.code.set("this way", way.code);
    answer.replaceChildren(
      said(way.said, way.possible),
      large([
        ["steps", Math.round(way.steps)],
        ["edges", Math.max(0, way.path.length - 1)],
        ["recordings", new Set(pieced.map((piece) => piece.episode)).size],
      ]),
      ...way.stages.flatMap((stage) => pieces(stage, way.stages.length > 1)),
      ...gone(way),
    );
  }

  function pieces(stage, several) {
    const count = new Map(stage.edges.map((edge) => [`${edge.tail} ${edge.head}`, edge.count]));
    const items = stage.pieces.map((piece) => {
      const vertices = piece.vertices ?? [];
      const counts = vertices.slice(1).flatMap((head, i) => count.get(`${vertices[i]} ${head}`) ?? []);
      const often = counts.length ? `, each edge recorded ${between(counts)}` : "";
      const which = piece.first === piece.last ? `step ${piece.first}` : `steps ${piece.first} to ${piece.last}`;
      const steps = `, ${which}${often}`;
      const recorded = piece.episode !== null;
      const text = recorded ? ["Episode ", link(piece.episode, piece.first), steps] : `${piece.kind}: nobody recorded this`;
      const point = (found) => () => app.pane.show({ found });
      return make("li", { onmouseenter: point(vertices), onmouseleave: point([]) }, text);
    });
    if (!items.length) return [];
    return [make("h3", {}, several ? `${stage.name}, stitched from` : "Stitched from"), make("ol.pieces", {}, items)];
  }

  function link(episode, step) {
    return make("button.link", { onclick: () => app.panels.replay.open("recorded", episode, step) }, String(episode));
  }

  /** Offer to take away the edge that was recorded least, and list what is gone. */
  function gone(way) {
    const parts = [make("h3", {}, "What if a part were gone?")];
    const edges = way.stages.flatMap((stage) => stage.edges);
    const weakest = edges.reduce((least, edge) => (least === null || edge.count < least.count ? edge : least), null);
    if (weakest) {
      const { tail, head, count } = weakest;
      const words = `Without ${tail} → ${head}, recorded ${counted(count, "time")}`;
      parts.push(make("div.row", {}, make("button", { onclick: () => remove([tail, head]) }, words)));
    }
    const chips = state.gone.map(([tail, head], i) => {
      const back = { "aria-label": `Bring back the edge from ${tail} to ${head}`, onclick: () => restore(i) };
      return make("li", {}, `${tail} → ${head} is gone`, make("button", back, "×"));
    });
    if (chips.length) parts.push(make("ul.chips", {}, chips));
    parts.push(make("p.faint", {}, "A whole region: paint it as forbidden under Re-task, then ask again."));
    return parts;
  }

  function remove(edge) {
    state.gone.push(edge);
    ask();
  }

  function restore(index) {
    state.gone.splice(index, 1);
    ask();
  }

  return {
    enter() {
      fill();
      if (state.to) ask();
    },
    leave: () => app.pane.show({ way: [], pins: [], switches: [], found: [] }),
    async choose(vertex, event) {
      const end = event?.shiftKey ? "from" : state.picking;
      state.picking = "to";
      state[end] = { vertex };
      await ask();
    },
    to(vertex) {
      state.to = { vertex };
      app.openTab("ask");
    },
    task() {
      state.to = "task";
      app.openTab("ask");
    },
    restore(view) {
      if (view.ask) Object.assign(state, view.ask);
    },
  };
}

/** What no way may pass is also heeded when a vertex is asked for. */
function rulesOf(want) {
  const { avoid, without_edges } = want ?? {};
  return { ...(avoid && { avoid }), ...(without_edges && { without_edges }) };
}

function offer(select, known, chosen, describe) {
  const options = known.map(([value, title]) => option(JSON.stringify(value), title));
  const value = JSON.stringify(chosen);
  if (chosen && !known.some(([each]) => JSON.stringify(each) === value)) options.unshift(option(value, describe(chosen)));
  if (!chosen) options.unshift(option("null", "click a dot"));
  select.replaceChildren(...options);
  select.value = value;
}

function between(counts) {
  const [low, high] = [Math.min(...counts), Math.max(...counts)];
  return low === high ? counted(low, "time") : `${number(low)} to ${counted(high, "time")}`;
}
