// A vertex: its state, what leads in and out, the episodes through it, its value and why.

import { get } from "../api.js";
import { counted, make, number } from "../dom.js";
import { large, said, table } from "./parts.js";

export function vertexPanel(app, root) {
  root.append(...welcome(app));

  async function choose(vertex) {
    const plan = app.plan ? `?plan=${app.plan.plan}` : "";
    const found = await get(`graphs/${app.facts.id}/vertices/${vertex}${plan}`);
    app.remember({ vertex });
    const [into, out] = [found.into, found.out].map((edges) => edges.map((edge) => edge.vertex));
    app.pane.show({ selected: vertex, way: found.path ?? [], switches: [], pins: [], neighbours: { vertex, into, out } });
    root.replaceChildren(...described(app, found));
  }

  return {
    choose,
    leave: () => app.pane.show({ selected: null, neighbours: null, way: [] }),
    enter: () => {
      if (app.view.vertex !== undefined && app.view.vertex !== null) app.attempt(() => choose(app.view.vertex));
    },
  };
}

function welcome(app) {
  const start = (title, go) => make("button", { onclick: go }, title);
  return [
    make("h2", {}, "What the robot knows"),
    make("p", {}, "Click a dot to see the state it stands for, where one can go from it, and what it is worth."),
    make("p.faint", {}, "Drag to move, scroll to zoom. With the keyboard: arrows, plus and minus, Enter for the dot in the middle, / to search."),
    make("h3", {}, "Or begin with"),
    make("div.starts", {},
      start("What is worth most?", () => app.choose(best(app))),
      start("Watch a recorded episode", () => app.panels.replay.open("recorded", 0)),
      start("Give it a new goal", () => app.openTab("task")),
      start("Watch it act", () => app.panels.play.begin())),
  ];
}

/** The vertex of the highest value; where nothing is wanted, of most visits. */
function best(app) {
  const numbers = app.plan?.arrays.values ?? app.pane.numbers;
  return numbers.reduce((most, value, i) => (value > numbers[most] ? i : most), 0);
}

function described(app, found) {
  const last = found.value === undefined || found.value === null ? ["edges out", found.out_count] : ["value", found.value];
  const numbers = large([["visits", found.visits], ["episodes", found.episode_count], last]);
  const parts = [make("h2", {}, `Vertex ${found.vertex}`, makeAsk(app, found.vertex)), picture(app, found), numbers];
  if (found.why) parts.push(said(found.why));
  parts.push(make("h3", {}, "The recorded state"), table(["field", "value"], found.state.map(({ name, value }) => [name, value])));
  parts.push(...edges(app, "Leads on to", found.out, found.out_count), ...edges(app, "Comes from", found.into, found.into_count));
  parts.push(make("h3", {}, `Recorded episodes through it: ${number(found.episode_count)}`));
  const open = (row) => app.panels.replay.open("recorded", found.episodes[row].episode, found.episodes[row].first);
  const rows = found.episodes.map((each) => [each.episode, each.first, each.visits]);
  if (rows.length) parts.push(table(["episode", "first at step", "visits"], rows, open));
  return parts.filter(Boolean);
}

function makeAsk(app, vertex) {
  return make("button.plain", { onclick: () => app.panels.ask.to(vertex) }, "How to get there?");
}

function picture(app, { vertex, picture: there }) {
  if (!there) return null;
  const src = `api/graphs/${app.facts.id}/vertices/${vertex}/picture`;
  const image = make("img.picture", { alt: `The state of vertex ${vertex} in the simulator`, src, width: 360, height: 270 });
  image.onerror = () => image.remove();
  return image;
}

function edges(app, title, found, count) {
  if (!found.length) return [make("h3", {}, title), make("p.faint", {}, "Nothing recorded.")];
  const worth = found.some((edge) => edge.value !== undefined && edge.value !== null);
  const header = ["vertex", "recorded", ...(worth ? ["value"] : [])];
  const often = ({ count: times, kind }) => (times ? counted(times, "time") : `never (${kind})`);
  const rows = found.map((edge) => [edge.vertex, often(edge), ...(worth ? [edge.value] : [])]);
  return [make("h3", {}, `${title} ${counted(count, "vertex", "vertices")}`), table(header, rows, (row) => app.choose(found[row].vertex))];
}
