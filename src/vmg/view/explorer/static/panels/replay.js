// Replay recorded and evaluated episodes on the graph, with a time line.

import { get, getArrays, postForArrays } from "../api.js";
import { make, number } from "../dom.js";
import { option, said, table } from "./parts.js";

const GOOD = ["reached", "done", "rewarded"];

export function replayPanel(app, root) {
  const kind = make("select", { "aria-label": "Which episodes", onchange: () => list() }, option("recorded", "Recorded episodes"), option("evaluated", "Evaluated episodes"));
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
      const evaluated = kind.value === "evaluated";
      if (!found.episodes.length) return episodes.replaceChildren(make("p.faint", {}, evaluated ? "This run was not evaluated yet: vmg evaluate does it." : "No episodes are at hand."));
      const rows = found.episodes.map((each) => (evaluated ? [each.seed, each.steps, each.return, each.success === null ? each.ended : each.success ? "✓ success" : `✗ ${each.ended}`] : [each.episode, each.steps, each.return]));
      const header = evaluated ? ["seed", "steps", "return", "ended"] : ["episode", "steps", "return"];
      const rest = found.total > found.episodes.length ? [make("p.faint", {}, `The first ${found.episodes.length} of ${number(found.total)}; search for “episode 300” to see another.`)] : [];
      return episodes.replaceChildren(table(header, rows, (row) => open(kind.value, found.episodes[row][evaluated ? "seed" : "episode"])), ...rest);
    });
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
    const [field] = Object.entries(app.facts.fields).find(([, columns]) => String(columns) === String(named.columns)) ?? [named.columns.join(",")];
    const want = { goals: [{ text: `${field}=${goal.map((x) => Number(x.toPrecision(4))).join(",")}` }], tolerance: named.tolerance };
    return () => postForArrays(`graphs/${app.facts.id}/plans`, { want });
  }

  function draw(step) {
    const { vertices } = episode.arrays;
    const slider = make("input", { type: "range", min: 0, max: vertices.length - 1, value: step, "aria-label": "Time", oninput: () => at(Number(slider.value)) });
    const marks = make("div.marks", {}, episode.marks.map((mark) => markButton(mark, vertices.length)));
    const now = make("p.faint", { "aria-live": "off" });
    const run = make("button.main", { type: "button", onclick: () => toggle() }, "▶ Replay");
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
    const button = make(good ? "button.good" : "button", { type: "button", title: `step ${mark.step}: ${mark.said}`, "aria-label": `Go to step ${mark.step}: ${mark.kind}`, onclick: () => at(mark.step) }, good ? "◆" : "▲");
    button.style.left = `${(100 * mark.step) / Math.max(1, count - 1)}%`;
    return button;
  }

  /** A button for the first mark of each kind. */
  function jumps() {
    const first = new Map();
    for (const mark of episode.marks) if (!first.has(mark.kind)) first.set(mark.kind, mark);
    return Array.from(first.values(), (mark) => make("button", { type: "button", title: mark.said, onclick: () => at(mark.step) }, `to: ${mark.kind}`));
  }

  function at(step) {
    const { arrays, slider, now } = episode;
    const place = (i) => app.pane.spotOf(arrays.x?.length ? [arrays.x[i], arrays.y[i]] : null, arrays.vertices[i]);
    slider.value = step;
    app.pane.show({ trail: Array.from({ length: step + 1 }, (_, i) => place(i)), spot: place(step), subgoal: arrays.subgoals?.[step] ?? null, planned: episode.path ?? [], goal: app.pane.layout.floor ? episode.goal ?? null : null, selected: null, neighbours: null });
    const reward = arrays.rewards?.[step - 1];
    now.textContent = [`step ${step}`, `vertex ${arrays.vertices[step]}`, arrays.distances && `${number(arrays.distances[step])} from it`, reward !== undefined && `reward ${number(reward)}`].filter(Boolean).join(" · ");
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
      app.pane.show({ trail: [], spot: null, subgoal: null, planned: [], goal: null });
    },
    open,
    restore: (view) => view.replay && open(view.replay.which, view.replay.id, view.replay.step),
  };
}
