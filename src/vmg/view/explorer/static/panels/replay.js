// Replay recorded and evaluated episodes on the graph, with a time line.

import { get, getArrays, postForArrays } from "../api.js";
import { make, number } from "../dom.js";
import { option, said, table } from "./parts.js";

const NONE = { recorded: "No episodes are at hand.", evaluated: "This run was not evaluated yet: vmg evaluate does it." };
const GOOD = ["reached", "done", "rewarded"];

export function replayPanel(app, root) {
  const kinds = [option("recorded", "Recorded episodes"), option("evaluated", "Evaluated episodes")];
  const kind = make("select", { "aria-label": "Which episodes", onchange: () => list() }, kinds);
  const shown = make("div");
  const episodes = make("div");
  root.append(make("h2", {}, "Replay"), make("div.row", {}, make("label.grow", {}, kind)), shown, make("h3", {}, "Episodes"), episodes);
  let episode = null;
  let running = null;
  let filled = null;

  async function list() {
    await app.attempt(async () => {
      filled = kind.value;
      const found = await get(`graphs/${app.facts.id}/episodes?kind=${kind.value}&offset=0&limit=200`);
      episodes.replaceChildren(...(found.episodes.length ? listed(found) : [make("p.faint", {}, NONE[kind.value])]));
    });
  }

  function listed(found) {
    const evaluated = kind.value === "evaluated";
    const header = evaluated ? ["seed", "steps", "return", "ended"] : ["episode", "steps", "return"];
    const rows = found.episodes.map((each) => [each.seed ?? each.episode, each.steps, each.return, ...(evaluated ? [ending(each)] : [])]);
    const rest = `The first ${found.episodes.length} of ${number(found.total)}; search for “episode 300” to see another.`;
    const whole = table(header, rows, (row) => open(kind.value, rows[row][0]));
    return found.total > found.episodes.length ? [whole, make("p.faint", {}, rest)] : [whole];
  }

  async function open(which, id, step = 0) {
    if (app.tab !== "replay") app.openTab("replay");
    kind.value = which;
    if (filled !== which) await list();
    shown.replaceChildren(make("p.faint", {}, which === "evaluated" ? "Running it again …" : "Loading …"));
    const done = await app.attempt(async () => {
      const found = await getArrays(`graphs/${app.facts.id}/episodes/${which}/${id}`);
      episode = { which, id, ...found };
      app.code.set(`${which} episode ${id}`, found.code);
      await app.showPlan(planOf(found));
      draw(step);
    });
    if (!done) shown.replaceChildren();
  }

  /** The plan for the goal that an evaluated episode had. */
  function planOf({ goal }) {
    const named = app.facts.task?.goal;
    if (!goal || !named) return null;
    const fields = Object.entries(app.facts.fields);
    const [field] = fields.find(([, columns]) => String(columns) === String(named.columns)) ?? [named.columns.join(",")];
    const text = `${field}=${goal.map((x) => Number(x.toPrecision(4))).join(",")}`;
    const want = { goals: [{ text }], tolerance: named.tolerance };
    return () => postForArrays(`graphs/${app.facts.id}/plans`, { want });
  }

  function draw(step) {
    const { vertices } = episode.arrays;
    const range = { type: "range", min: 0, max: vertices.length - 1, value: step, "aria-label": "Time" };
    const slider = make("input", { ...range, oninput: () => at(Number(slider.value)) });
    const marks = make("div.marks", {}, episode.marks.map((mark) => markButton(mark, vertices.length)));
    const now = make("p.faint", { "aria-live": "off" });
    const run = make("button.main", { onclick: () => toggle() }, "▶ Replay");
    const what = episode.which === "recorded" ? `Recorded episode ${episode.id}` : `Evaluated, seed ${episode.id}`;
    shown.replaceChildren(
      make("h3", {}, `${what}: ${number(episode.steps)} steps, return ${number(episode.return)}`),
      ...(episode.said ? [said(episode.said, episode.success !== false)] : []),
      make("div.timeline", {}, slider, marks),
      make("div.row", {}, run, ...jumps()),
      now,
    );
    Object.assign(episode, { slider, now, run });
    at(step);
  }

  function markButton(mark, count) {
    const good = GOOD.some((word) => mark.kind.startsWith(word));
    const label = { title: `step ${mark.step}: ${mark.said}`, "aria-label": `Go to step ${mark.step}: ${mark.kind}` };
    const button = make(good ? "button.good" : "button", { ...label, onclick: () => at(mark.step) }, good ? "◆" : "▲");
    button.style.left = `${(100 * mark.step) / Math.max(1, count - 1)}%`;
    return button;
  }

  /** A button for the first mark of each kind. */
  function jumps() {
    const first = new Map();
    for (const mark of episode.marks) if (!first.has(mark.kind)) first.set(mark.kind, mark);
    const jump = ({ step, kind: name, said: why }) => make("button", { title: why, onclick: () => at(step) }, `to: ${name}`);
    return [...first.values()].map(jump);
  }

  function at(step) {
    const { arrays, slider, now } = episode;
    const place = (i) => app.pane.spotOf(arrays.x?.length ? [arrays.x[i], arrays.y[i]] : null, arrays.vertices[i]);
    slider.value = step;
    app.pane.clear();
    app.pane.show({
      trail: Array.from({ length: step + 1 }, (_, i) => place(i)),
      spot: place(step),
      subgoal: arrays.subgoals?.[step] ?? null,
      planned: episode.path ?? [],
      goal: app.pane.layout.floor ? episode.goal ?? null : null,
    });
    const words = [`step ${step}`, `vertex ${arrays.vertices[step]}`];
    if (arrays.distances) words.push(`${number(arrays.distances[step])} from it`);
    if (arrays.rewards?.[step - 1] !== undefined) words.push(`reward ${number(arrays.rewards[step - 1])}`);
    now.textContent = words.join(" · ");
    app.remember({ replay: { which: episode.which, id: episode.id, step } });
  }

  function toggle() {
    if (running) return pause();
    const last = Number(episode.slider.max);
    if (Number(episode.slider.value) >= last) at(0);
    episode.run.textContent = "❚❚ Pause";
    const pace = Math.max(1, Math.round(last / 600));
    running = setInterval(() => {
      const step = Math.min(last, Number(episode.slider.value) + pace);
      at(step);
      if (step >= last) pause();
    }, 33);
    return undefined;
  }

  function pause() {
    clearInterval(running);
    running = null;
    if (episode) episode.run.textContent = "▶ Replay";
  }

  return {
    enter: () => filled ?? list(),
    leave() {
      pause();
      app.showPlan(null);
      app.pane.clear();
    },
    open,
    restore: (view) => view.replay && open(view.replay.which, view.replay.id, view.replay.step),
  };
}

/** How an evaluated episode ended, in a word or two. */
function ending({ success, ended }) {
  if (success === null) return ended;
  return success ? "✓ success" : `✗ ${ended}`;
}
