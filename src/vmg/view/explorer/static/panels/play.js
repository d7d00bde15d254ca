// Play: the policy tries the task in the simulator, step by step, beside the graph.

import { getArrays, socket } from "../api.js";
import { make, number } from "../dom.js";
import { large, option, said } from "./parts.js";

const ROWS = 300;
const SPEEDS = [["0.03", "30 steps a second"], ["0", "as fast as it can"], ["0.2", "5 steps a second"], ["1", "1 step a second"]];

export function playPanel(app, root) {
  const screen = make("img.picture.film", { alt: "The simulator, live", hidden: true });
  const what = make("select", { "aria-label": "What to play" });
  const seed = make("input", { type: "number", min: 0, value: 0, "aria-label": "Seed" });
  const speed = make("select", { "aria-label": "Speed" }, SPEEDS.map(([value, title]) => option(value, title)));
  const go = make("button.main", { onclick: () => start() }, "▶ Play");
  const stop = make("button", { disabled: true, onclick: () => live?.send(JSON.stringify({ stop: true })) }, "■ Stop");
  const other = make("button", { onclick: () => again(1) }, "Other seed");
  const bar = make("progress", { value: 0, max: 1, "aria-label": "Steps played" });
  const totals = make("div");
  const heading = make("p.faint");
  const ending = make("div", { "aria-live": "polite" });
  const rows = make("tbody");
  const head = make("tr", {}, ["step", "vertex", "subgoal", "distance", "reward", "action"].map((name) => make("th", {}, name)));
  const decisions = make("div.scroll", { tabIndex: 0 }, make("table", {}, make("thead", {}, head), rows));
  root.append(
    make("h2", {}, "Play"),
    make("div.row", {}, make("label.grow", {}, what)),
    make("div.row", {}, make("label", {}, "Seed", seed), make("label.grow", {}, speed)),
    make("div.row", {}, go, stop, other),
    screen, bar, totals, heading, ending,
    make("h3", {}, "Every decision"),
    decisions,
  );
  let live = null;
  let trail = [];
  let off = 0;
  let picture = null;

  function fill() {
    const { possible, why } = app.facts.play;
    go.disabled = other.disabled = !possible;
    if (!possible) ending.replaceChildren(said(why, false));
    const { value } = what;
    const asked = app.want ? [option("new", `the task: ${app.plan?.name ?? "what is wanted"}`)] : [];
    const own = app.facts.task ? [option("own", `${app.facts.task.name} as it is evaluated`)] : [];
    what.replaceChildren(...asked, ...own);
    what.value = value || (app.wanted.isNew || !app.facts.task ? "new" : "own");
    if (!what.value) what.selectedIndex = 0;
  }

  function again(step) {
    seed.value = Number(seed.value) + step;
    start();
  }

  function start() {
    finish();
    app.calm();
    trail = [];
    off = 0;
    rows.replaceChildren();
    ending.replaceChildren();
    screen.hidden = true;
    delete root.dataset.ended;
    app.remember({ seed: Number(seed.value) });
    live = socket(`graphs/${app.facts.id}/play`);
    const mine = live;
    const wish = { want: what.value === "new" ? app.want : null, seed: Number(seed.value), delay: Number(speed.value) };
    const film = { frames_per_second: 15, pictures: app.facts.play.pictures };
    live.onopen = () => mine.send(JSON.stringify({ ...wish, ...film }));
    live.onmessage = ({ data }) => mine === live && (typeof data === "string" ? told(JSON.parse(data)) : framed(data));
    live.onclose = () => mine === live && broken();
    stop.disabled = false;
    go.textContent = "▶ Again";
  }

  function finish() {
    const last = live;
    live = null;
    if (last && last.readyState < 2) last.close();
    stop.disabled = true;
  }

  function broken() {
    ending.replaceChildren(said("The connection ended before the episode did. Is `vmg explore` still running?", false));
    finish();
  }

  function told(message) {
    if (message.type === "begin") return begun(message);
    if (message.type === "step") return stepped(message);
    if (message.type === "error") {
      ending.replaceChildren(said(message.error, false));
      return finish();
    }
    return ended(message);
  }

  function begun({ horizon, plan, goal, why_no_pictures }) {
    bar.max = horizon || 1;
    bar.value = 0;
    app.pane.clear();
    app.pane.show({ goal: app.pane.layout.floor ? goal : null });
    app.showPlan(plan && plan !== app.plan?.plan ? () => getArrays(`graphs/${app.facts.id}/plans/${plan}`) : null);
    const beside = what.value === "new" && app.facts.task?.goal;
    const note = why_no_pictures || (beside ? "The simulator draws the goal of its own task; the policy heads for yours." : "");
    if (note) ending.replaceChildren(make("p.faint", {}, note));
  }

  function stepped(message) {
    const { step, vertex, subgoal, place, path } = message;
    const spot = app.pane.spotOf(place, vertex);
    trail.push(spot);
    bar.value = step + 1;
    if (message.off_graph) off += 1;
    totals.replaceChildren(large([["steps", step + 1], ["return", message.return], ["steps off the graph", off]]));
    const numbers = [step, vertex, subgoal, message.distance, message.reward].map((x) => make("td.number", {}, number(x)));
    rows.prepend(make("tr", {}, numbers, make("td", {}, message.action.map((x) => x.toFixed(2)).join(" "))));
    if (rows.childElementCount > ROWS) rows.lastChild.remove();
    heading.textContent = message.wanted ? `Heading for ${message.wanted}` : "";
    app.pane.show({ trail, spot, subgoal, planned: path });
  }

  function framed(data) {
    const address = URL.createObjectURL(new Blob([new Uint8Array(data, 4)], { type: "image/jpeg" }));
    const last = picture;
    picture = address;
    screen.onload = () => last && URL.revokeObjectURL(last);
    screen.src = address;
    screen.hidden = false;
  }

  function ended(message) {
    ending.replaceChildren(said(message.said, message.success !== false && message.ended !== "stopped"));
    if (message.code) app.code.set("this episode", message.code);
    app.pane.show({ subgoal: null, planned: [] });
    root.dataset.ended = message.ended;
    finish();
  }

  return {
    enter: fill,
    leave() {
      finish();
      app.showPlan(null);
      app.pane.clear();
    },
    begin() {
      app.openTab("play");
      if (app.wanted.isNew) what.value = "new";
      if (app.facts.play.possible) start();
    },
    restore: (view) => view.seed !== undefined && (seed.value = view.seed),
  };
}
