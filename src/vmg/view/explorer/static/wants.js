// What is wanted, as it is put together by mouse; and the server's form of it.

export class Wanted {
  constructor() {
    this.clear();
  }

  clear() {
    this.goals = []; // named or finished goals: {vertices}, {text} or {skill}
    this.painted = new Set(); // the goal that is being painted
    this.rewards = new Map(); // vertex: what entering it pays
    this.forbidden = new Set();
    this.regions = []; // forbidden in words: {text}
    this.gone = []; // edges: [tail, head]
    this.join = "in order";
    this.stay = false;
  }

  get isNew() {
    const lists = this.goals.length + this.regions.length + this.gone.length;
    return lists + this.painted.size + this.rewards.size + this.forbidden.size > 0;
  }

  /** Goals and rewards are different tasks: whichever is painted last stands. */
  paint(tool, vertices, weight) {
    for (const v of vertices) {
      if (tool === "erase") [this.painted, this.rewards, this.forbidden].forEach((marked) => marked.delete(v));
      if (tool === "goal") this.painted.add(v);
      if (tool === "reward") this.rewards.set(v, weight);
      if (tool === "forbidden") this.forbidden.add(v);
    }
    if (tool === "goal") this.rewards.clear();
    if (tool === "reward") {
      this.painted.clear();
      this.goals = [];
    }
  }

  /** Put the painted goal into the list, so that another one can be painted. */
  keepPainted() {
    if (this.painted.size) this.goals.push({ vertices: [...this.painted] });
    this.painted.clear();
  }

  add(goal) {
    this.rewards.clear();
    if (goal.skill) this.goals = this.goals.filter((other) => other.skill);
    this.keepPainted();
    this.goals.push(goal);
  }

  /** The server's form; null when nothing at all is wanted. */
  want(rewarded) {
    const rules = {};
    const avoid = [...this.regions, ...(this.forbidden.size ? [{ vertices: [...this.forbidden] }] : [])];
    if (avoid.length) rules.avoid = avoid;
    if (this.gone.length) rules.without_edges = this.gone;
    if (this.rewards.size) return { rewards: this.#byWeight(), ...rules };
    const goals = [...this.goals, ...(this.painted.size ? [{ vertices: [...this.painted] }] : [])];
    if (goals.length) return { goals, join: goals.some((goal) => goal.skill) ? "all" : this.join, stay: this.stay, ...rules };
    return rewarded ? { recorded: true, ...rules } : null;
  }

  #byWeight() {
    const groups = new Map();
    for (const [vertex, weight] of this.rewards) groups.set(weight, [...(groups.get(weight) ?? []), vertex]);
    return Array.from(groups, ([weight, vertices]) => ({ vertices, weight }));
  }

  /** Take over a want, as from an address. */
  take(want) {
    this.clear();
    for (const { vertices, weight } of want.rewards ?? []) for (const v of vertices) this.rewards.set(v, weight);
    this.goals = [...(want.goals ?? [])];
    if (this.goals.length === 1 && this.goals[0].vertices) this.painted = new Set(this.goals.pop().vertices);
    this.regions = (want.avoid ?? []).filter((region) => !region.vertices);
    this.forbidden = new Set((want.avoid ?? []).flatMap((region) => region.vertices ?? []));
    this.gone = want.without_edges ?? [];
    this.join = want.join ?? "in order";
    this.stay = want.stay ?? false;
  }

  /** 1 goal, 2 reward, 3 forbidden, by vertex. */
  marks() {
    const marks = new Map();
    for (const goal of this.goals) for (const v of goal.vertices ?? []) marks.set(v, 1);
    for (const v of this.painted) marks.set(v, 1);
    for (const v of this.rewards.keys()) marks.set(v, 2);
    for (const v of this.forbidden) marks.set(v, 3);
    return marks;
  }
}

/** A goal in a few words. */
export function inWords(goal) {
  if (goal.skill) return goal.skill;
  if (goal.text) return goal.text;
  return goal.vertices.length === 1 ? `vertex ${goal.vertices[0]}` : `painted: ${goal.vertices.length} vertices`;
}
