// Re-task: paint a goal, a reward or a forbidden region; name goals; put them in an order.

import { getArrays } from "../api.js";
import { make } from "../dom.js";
import { inWords } from "../wants.js";
import { option, said } from "./parts.js";

export function taskPanel(app, root) {
  const goals = make("ul.chips", { "aria-label": "Goals" });
  const skills = make("ul.chips", { "aria-label": "Skills" });
  const forbidden = make("ul.chips", { "aria-label": "Forbidden" });
  const answer = make("div", { "aria-live": "polite" });
  const text = make("input.grow", { type: "text", "aria-label": "A goal in numbers", autocomplete: "off", spellcheck: false });
  const ways = [option("in order", "one after the other"), option("any", "any one of them"), option("all", "all at once")];
  const join = make("select", { "aria-label": "How several goals belong together" }, ways);
  join.onchange = () => change(() => (app.wanted.join = join.value));
  const stay = make("input", { type: "checkbox", onchange: () => change(() => (app.wanted.stay = stay.checked)) });
  const next = make("button", { onclick: () => nextGoal() }, "Then another goal");
  const play = make("button.main", { onclick: () => app.panels.play.begin() }, "▶ Play it");
  const again = make("button.plain", { onclick: () => change(() => app.wanted.clear()) }, "Start over");
  const add = make("button", { type: "submit" }, "Add goal");
  const forbid = make("button", { onclick: () => forbidText() }, "Forbid");
  root.append(
    make("h2", {}, "Ask for something new", again),
    make("p.faint", {}, "Choose Goal, Reward or Forbidden beside the graph and paint. Nothing is trained: values follow the brush."),
    make("form.row", { onsubmit: (event) => addText(event) }, text, add, forbid),
    skills,
    goals,
    make("div.row", {}, join, make("label", {}, stay, "stay there"), next),
    forbidden,
    answer,
    make("div.row", {}, play, make("button", { onclick: () => app.panels.ask.task() }, "Explain the way")),
  );

  function change(work) {
    work();
    update();
    return app.solve(performance.now());
  }

  function addText(event) {
    event.preventDefault();
    if (text.value.trim()) change(() => app.wanted.add({ text: text.value.trim() }));
    text.value = "";
  }

  function forbidText() {
    if (text.value.trim()) change(() => app.wanted.regions.push({ text: text.value.trim() }));
    text.value = "";
  }

  function nextGoal() {
    app.wanted.keepPainted();
    app.stage.setTool("goal");
    update();
  }

  function update() {
    const { wanted } = app;
    const chip = (words, remove) => {
      const cross = make("button", { "aria-label": `Remove ${words}`, onclick: () => change(remove) }, "×");
      return make("li", {}, words, cross);
    };
    const place = (i) => (wanted.goals.length > 1 ? `${i + 1}. ` : "");
    const known = wanted.goals.map((goal, i) => chip(place(i) + inWords(goal), () => wanted.goals.splice(i, 1)));
    if (wanted.painted.size) known.push(chip(`painted goal: ${wanted.painted.size} vertices`, () => wanted.painted.clear()));
    if (wanted.rewards.size) known.push(chip(`painted reward: ${wanted.rewards.size} vertices`, () => wanted.rewards.clear()));
    goals.replaceChildren(...known);
    const rules = wanted.regions.map((region, i) => chip(`not through ${inWords(region)}`, () => wanted.regions.splice(i, 1)));
    if (wanted.forbidden.size) rules.push(chip(`forbidden: ${wanted.forbidden.size} vertices`, () => wanted.forbidden.clear()));
    for (const [i, [tail, head]] of wanted.gone.entries()) rules.push(chip(`${tail} → ${head} is gone`, () => wanted.gone.splice(i, 1)));
    forbidden.replaceChildren(...rules);
    join.hidden = wanted.goals.length + (wanted.painted.size ? 1 : 0) < 2 || wanted.goals.some((goal) => goal.skill);
    join.value = wanted.join;
    stay.checked = wanted.stay;
    next.hidden = !wanted.painted.size;
  }

  /** Of goals one after the other: whose values to see. */
  function stages(plan) {
    if (plan.stages.length < 2) return [];
    const show = (stage) => app.attempt(async () => {
      app.pane.setPlan({ ...(await getArrays(`graphs/${app.facts.id}/plans/${plan.plan}?stage=${stage}`)), name: plan.stages[stage] });
      app.stage.showLegends();
    });
    const pick = (name, i) => make("li.pick", {}, make("button", { onclick: () => show(i) }, `${i + 1}. ${name}`));
    const buttons = plan.stages.map(pick);
    return [make("p.faint", {}, "Values on the way to:"), make("ul.chips", {}, buttons)];
  }

  function enter() {
    const [name, columns] = Object.entries(app.facts.fields)[0] ?? ["0", [0]];
    text.placeholder = `${name}=${columns.map((column) => Number(app.facts.columns[column]?.high.toPrecision(2) ?? 1)).join(",")}`;
    const offer = (skill) => make("button", { onclick: () => change(() => app.wanted.add({ skill })) }, skill);
    skills.replaceChildren(...app.facts.skills.map((skill) => make("li.pick", {}, offer(skill))));
    play.disabled = !app.facts.play.possible;
    play.title = app.facts.play.why ?? "";
    app.stage.setTool(app.wanted.isNew ? "move" : "goal");
    update();
  }

  return {
    enter,
    painted: () => update(),
    planned: (plan) => answer.replaceChildren(said(plan.said, plan.reach > 0), ...stages(plan)),
  };
}
