"""A call that works for every public function and method, from which one argument at a time is changed.

`legal` names the odd values (see `odd_values`) that an argument may have: what is not named there must be refused.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from learning_cases import untrained
from odd_values import ODD

import vmg
from vmg import goals
from vmg.data.facts import DataFacts
from vmg.learn import Training

PUBLIC = ("vmg", "vmg.data", "vmg.goals")


@cache
def episodes() -> vmg.Episodes:
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(6):
        actions = rng.uniform(-1, 1, (12, 2))
        places = np.concatenate([rng.normal(size=(1, 2)), actions]).cumsum(0)
        parts.append(
            (np.concatenate([places, 0.1 * places], axis=1), actions, (np.arange(12) == 11) * 1.0, True, False)
        )
    return vmg.Episodes.from_list(parts, source="walk", fields={"place": (0, 1)})


@cache
def agent(seed: int = 0, *, along: str = "edges") -> vmg.Agent:
    """An agent whose networks have not learned anything: that takes no time, and every check is the same."""
    learn = vmg.LearnConfig(hidden_units=8, metric_dimension=3, steps=1)
    graph = vmg.GraphConfig(radius=0.1, goal_columns=(0, 1), recordings=along == "recordings")
    config = vmg.AgentConfig(learn=learn, graph=graph, solve=vmg.SolveConfig(paths=along))
    weights = untrained(episodes(), learn, seed)
    return vmg.Agent(config, DataFacts.of(episodes()), seed, weights).build(episodes()).solve()


def place() -> vmg.Objective:
    return goals.near([0.0, 0.0], columns=(0, 1), tolerance=0.5)


def observation() -> np.ndarray:
    return episodes().observations[0]


@dataclass(frozen=True)
class Call:
    """One public function, arguments with which it works, and odd values that are legal."""

    function: Callable[..., Any]
    good: dict[str, Any] = field(default_factory=dict)
    legal: dict[str, tuple[str, ...]] = field(default_factory=dict)
    long: bool = False
    """Whether a call that works takes its time: then only those are made that must fail."""


NUMBERS = ("0", "-1", "1.5", "1e20", "10**30")
WHOLE = ("0", "-1", "10**30")
TEXTS = ("a text", "an empty text")
NOTHING = ("None",)
TRUTH = ("true",)
FUNCTIONS = ("a class", "a function")
NONE_OR_LIST = ("None", "an empty list")
DICTS = ("an empty dict",)

MADE_FOR_USERS = {
    "Agent", "Column", "Conjunction", "ConjunctionPlan", "DataWarning", "Decision", "Decisions", "EdgeRewards", "Episode",
    "Explanation", "Goal", "MemoryGraph", "Place", "Plan", "Policy", "Routes", "Scores", "SequencePlan", "Stages",
    "Summary", "VMGError",
}  # fmt: skip
"""Classes whose objects are results: users get them, and do not make them."""
FOR_EXTENSIONS = {
    "ConjunctionPlan.plan_of", "Reader", "Routes.ahead", "Routes.ends", "Routes.enter", "Routes.features",
    "Routes.from_arrays", "Routes.solve", "Routes.states", "Routes.tracker", "Routes.vertices", "Translator.actor",
    "Translator.check", "Translator.goal_rows", "Translator.loss", "Translator.parts", "Translator.scalings",
    "Translator.shapes",
}  # fmt: skip
"""What this package calls with its own arrays, at every step: whoever extends it is not checked there."""


@cache
def calls() -> dict[str, Call]:
    """Return the calls by the names of their functions."""
    return {**_of_data(), **_of_goals(), **_of_graphs(), **_of_agents(), **_of_plans(), **_of_tasks()}


def _of_data() -> dict[str, Call]:
    own = episodes()
    arrays = {name: getattr(own, name) for name in ("observations", "actions", "rewards", "lengths", "terminated")}
    one = [(np.zeros((3, 1)), np.zeros((2, 1)), np.zeros(2), True, False)]
    columns = vmg.data.describe_columns(own)
    texts = {"source": TEXTS, "fields": (*NOTHING, *DICTS)}
    readers = {
        name: Call(getattr(vmg.data, name), {"path": "there is no such file"}, {"path": ()})
        for name in ("read_d4rl", "read_hdf5", "read_npz", "read_ogbench", "read_robomimic", "read_table")
    }
    return readers | {
        "Episodes": Call(vmg.Episodes, {**arrays, "truncated": own.truncated, "source": "x", "fields": {}, "left_out": {}},
                         {"source": TEXTS, "fields": DICTS, "left_out": DICTS}),
        "Episodes.filter": Call(own.filter, {"keep": len}, {"keep": FUNCTIONS}),
        "Episodes.from_list": Call(vmg.Episodes.from_list, {"episodes": one, "source": "x", "fields": None}, texts),
        "Episodes.relabel": Call(own.relabel, {"rewards": own.rewards}),
        "Episodes.split": Call(own.split, {"validation": 0.5, "seed": 0}, {"seed": ("0", "10**30", "10**400")}),
        "Episodes.subset": Call(own.subset, {"indices": [0]}, {"indices": ("[-1]",)}),
        "brings_environment": Call(vmg.data.brings_environment, {"data_id": "x"}, {"data_id": TEXTS}),
        "check": Call(vmg.data.check, {"episodes": own}),
        "collect": Call(vmg.data.collect, {"maze": "umaze", "steps": 1, "seed": 0}, {"seed": ("0", "10**30", "10**400")}, long=True),
        "concatenate": Call(vmg.concatenate, {"parts": [own], "source": "x"}, {"source": (*TEXTS, *NOTHING)}),
        "describe_columns": Call(vmg.data.describe_columns, {"episodes": own}),
        "from_arrays": Call(vmg.data.from_arrays, {**arrays, "source": "x", "fields": None},
                            {**texts, "rewards": NOTHING, "terminated": NOTHING}),
        "load": Call(vmg.load, {"name": "npz:there is no such file", "keys": None}, {"keys": ()}),
        "make_environment": Call(vmg.data.make_environment, {"data_id": "x"}),
        "read_lerobot": Call(vmg.data.read_lerobot, {"name": "x", "keys": None}),
        "read_minari": Call(vmg.data.read_minari, {"dataset_id": "x", "keys": None}),
        "reader_of": Call(vmg.data.reader_of, {"data_id": "x"}, {"data_id": TEXTS}),
        "render": Call(vmg.data.render, {"summary": vmg.data.summarise(own)}),
        "render_columns": Call(vmg.data.render_columns, {"columns": columns}, {"columns": ("an empty list",)}),
        "save": Call(vmg.data.save, {"episodes": own, "path": Path("x.npz")}, {"path": TEXTS}, long=True),
        "summarise": Call(vmg.data.summarise, {"episodes": own}),
        "takes_keys": Call(vmg.data.takes_keys, {"data_id": "x"}, {"data_id": TEXTS}),
    }  # fmt: skip


def _of_goals() -> dict[str, Call]:
    here, rows = place(), episodes().observations
    named = {"name": (*TEXTS, *NOTHING)}
    one = {"columns": (0,), "name": "x"}
    both = {
        f"{kind}.{name}": call
        for kind, each in (("Objective", here), ("Conjunction", goals.all_of([here])))
        for name, call in {
            "avoiding": Call(each.avoiding, {"region": here}),
            "costing": Call(each.costing, {"weight": 1.0, "paying": here}, {"weight": ("0", "1.5", "1e20", "10**30")}),
            "distances": Call(each.distances, {"observations": rows}),
            "reached": Call(each.reached, {"observations": rows}),
            "step_rewards": Call(each.step_rewards, {"episodes": episodes()}),
        }.items()
    }
    stages = goals.in_order([here])
    graph, weights = agent().built, agent().weights
    return both | {
        "Objective": Call(vmg.Objective, {"name": "x", "distance": None, "tolerance": 0.0, "rewards": None, "kind": "reach", "avoided": (), "penalties": ()},
                          {"name": TEXTS, "distance": (*NOTHING, *FUNCTIONS), "tolerance": ("0", "1.5", "1e20", "10**30", "infinity"),
                           "rewards": (*NOTHING, *FUNCTIONS), "avoided": ("an empty list",), "penalties": ("an empty list",)}),
        "Stages.avoiding": Call(stages.avoiding, {"region": here}),
        "Stages.costing": Call(stages.costing, {"weight": 1.0, "paying": here}, {"weight": ("0", "1.5", "1e20", "10**30")}),
        "all_of": Call(goals.all_of, {"objectives": [here], "before": ()}, {"before": ("an empty list",)}),
        "any_of": Call(goals.any_of, {"objectives": [here]}),
        "in_order": Call(goals.in_order, {"objectives": [here]}),
        "in_vertices": Call(goals.in_vertices, {"graph": graph, "weights": weights, "vertices": [0]}, {"weights": DICTS}),
        "near": Call(goals.near, {"place": [0.0], **one, "tolerance": 0.5},
                     {"place": ("[-1]",), "columns": ("[10**30]",), "tolerance": ("0", "1.5", "1e20", "10**30"), **named}),
        "paid_in_vertices": Call(goals.paid_in_vertices, {"graph": graph, "weights": weights, "pay": {0: 1.0}}, {"weights": DICTS}),
        "reward_file": Call(goals.reward_file, {"place": "x.py:f"}),
        "reward_function": Call(goals.reward_function, {"function": len, "name": "x"}, {"function": FUNCTIONS, **named}),
        "step_rewards": Call(goals.step_rewards, {"rewards": [0.0]}, {"rewards": ("[-1]", "an empty list", "an empty array")}),
        "weighted": Call(goals.weighted, {"parts": [(1.0, here)]}),
        "where": Call(goals.where, {"predicate": len, "fields": {"x": (0,)}, "name": "x"}, {"predicate": FUNCTIONS, "fields": DICTS, **named}),
        "within": Call(goals.within, {"low": [-1.0], "high": [1.0], **one}, {"low": ("[-1]",), "high": ("[-1]",), "columns": ("[10**30]",), **named}),
    }  # fmt: skip


def _of_graphs() -> dict[str, Call]:
    graph, own = agent().built, agent()
    rewards = vmg.reward(graph, episodes())
    features = vmg.embed(own.weights, episodes().observations)
    ways = own.routes
    assert ways is not None
    return {
        "MemoryGraph.distances": Call(graph.distances, {"features": features[:1], "vertices": [0]}),
        "MemoryGraph.edge": Call(graph.edge, {"number": 0}, {"number": ("0",)}),
        "MemoryGraph.edge_number": Call(graph.edge_number, {"tail": int(graph.tails[0]), "head": int(graph.heads[0])}, {"tail": ("0",), "head": ("0",)}),
        "MemoryGraph.nearest": Call(graph.nearest, {"features": features[:1]}),
        "MemoryGraph.nearest_vertices": Call(graph.nearest_vertices, {"features": features[:1]}),
        "Routes.cost": Call(ways.cost, {"entry": 0}, {"entry": ("0",)}),
        "Routes.path": Call(ways.path, {"vertex": 0}, {"vertex": ("0",)}),
        "Routes.path_from": Call(ways.path_from, {"entry": 0}, {"entry": ("0",)}),
        "Routes.pieces": Call(ways.pieces, {"entry": 0}, {"entry": ("0",)}),
        "build": Call(vmg.build, {"features": features, "episodes": episodes(), "radius": 0.1, "labelling": "nearest", "merging": "greedy",
                                  "clusters": None, "seed": 0, "recordings": False, "edges": ("recorded",), "goal_columns": ()},
                      {"radius": ("0", "1.5", "1e20", "10**30"), "clusters": NOTHING, "seed": ("0", "10**30", "10**400"), "recordings": TRUTH,
                       "goal_columns": ("an empty list",)}),
        "embed": Call(vmg.embed, {"weights": own.weights, "observations": episodes().observations}),
        "goal": Call(vmg.goal, {"graph": graph, "distances": np.arange(len(graph.labels)), "tolerance": 0.5, "kind": "reach", "variant": "mean"},
                     {"tolerance": ("0", "1.5", "1e20", "10**30", "infinity")}),
        "reward": Call(vmg.reward, {"graph": graph, "rewards": episodes(), "variant": "mean"}),
        "solve": Call(vmg.solve, {"graph": graph, "rewards": rewards, "discount": 0.9, "search": "multi-step", "search_steps": None,
                                  "path_weights": "rewards", "paths": "edges", "switch_cost": 1.0, "ties": "index", "dead_ends": "loop", "tolerance": 1e-6},
                      {"discount": ("0",), "search_steps": ("0", "None"), "switch_cost": ("0", "1.5"),
                       "tolerance": ("1.5", "1e20", "10**30")}),
    }  # fmt: skip


def _of_agents() -> dict[str, Call]:
    own, learn = agent(), agent().config.learn
    training = {"episodes": episodes(), "config": learn, "seeds": (0,), "validation": None, "folder": None}
    shown = {"show_progress": (*NOTHING, *TRUTH)}
    seeds = {"seeds": (), "validation": NOTHING, "folder": (*NOTHING, *TEXTS), "config": NOTHING, **shown}
    return {
        "Agent.build": Call(own.build, {"episodes": episodes()}),
        "Agent.fit": Call(vmg.Agent.fit, {**training, "config": own.config, "show_progress": False}, seeds, long=True),
        "Agent.fit_together": Call(vmg.Agent.fit_together, {"trainings": [Training(episodes())], "configs": [own.config], "show_progress": False}, shown, long=True),
        "Agent.load": Call(vmg.Agent.load, {"folder": "there is no such folder"}),
        "Agent.plan": Call(own.plan, {"objective": place(), "episodes": None}, {"episodes": NOTHING}),
        "Agent.plan_many": Call(own.plan_many, {"objectives": [place()], "episodes": None, "workers": 1},
                                {"objectives": ("an empty list",), "episodes": NOTHING, "workers": NOTHING}),
        "Agent.policy": Call(own.policy, {"settings": None}, {"settings": NOTHING}),
        "Agent.save": Call(own.save, {"folder": Path("x")}, {"folder": TEXTS}, long=True),
        "Agent.solve": Call(own.solve, {"episodes": None}, {"episodes": NOTHING}),
        "choose": Call(vmg.choose, {"episodes": episodes(), "folder": None, "steps": 1, "show_progress": False},
                       {"folder": NOTHING, "steps": (*NOTHING, "10**30", "10**400"), **shown}, long=True),
        "clone": Call(vmg.clone, {"episodes": episodes(), "config": learn, "seeds": (0,), "goal_columns": (), "folder": None, "show_progress": False},
                      {**seeds, "goal_columns": ("an empty list", "an empty array")}, long=True),
        "fit": Call(vmg.fit, {**training, "resume": True, "show_progress": False}, {**seeds, "resume": TRUTH}, long=True),
    }  # fmt: skip


def _of_plans() -> dict[str, Call]:
    own, here, settings = agent(), place(), {"settings": NOTHING}
    plan = own.plan(here)
    there = goals.near(episodes().observations[20, :2], columns=(0, 1), tolerance=0.5)
    together = own.plan(goals.all_of([here, there], before=[(here, there)]), episodes())
    in_order = own.plan(goals.in_order([here, here]))
    policy = own.policy()
    return {
        "ConjunctionPlan.explain": Call(together.explain, {"observation": observation()}),
        "ConjunctionPlan.plan_freely": Call(together.plan_freely, {"part": 0}, {"part": ("0",)}),
        "ConjunctionPlan.policy": Call(together.policy, {"settings": None}, settings),
        "ConjunctionPlan.starting_at": Call(together.starting_at, {"observation": observation()}),
        "Plan.explain": Call(plan.explain, {"observation": observation()}),
        "Plan.nearest": Call(plan.nearest, {"vertices": np.ones(own.built.n_vertices, bool)}),
        "Plan.policy": Call(plan.policy, {"settings": None}, settings),
        "Policy.act": Call(policy.act, {"observations": observation(), "plans": None}, {"plans": NOTHING}),
        "Policy.begin": Call(policy.begin, {"observation": None, "objective": None}, {"observation": tuple(ODD), "objective": NOTHING}),
        "Policy.decide": Call(policy.decide, {"observations": observation(), "plans": None}, {"plans": NOTHING}),
        "Policy.follow": Call(own.policy().follow, {"plan": plan}),
        "Policy.likeness": Call(policy.likeness, {"states": observation()[None]}),
        "SequencePlan.explain": Call(in_order.explain, {"observation": observation()}),
        "SequencePlan.policy": Call(in_order.policy, {"settings": None}, settings),
    }  # fmt: skip


def _of_tasks() -> dict[str, Call]:
    task = vmg.find_task("pointmaze-umaze")
    trial = {
        "n_episodes": 1,
        "first_seed": 0,
        "executor": "here",
        "workers": 1,
        "known": (),
        "on_episode": None,
        "title": "",
        "show_progress": False,
    }
    given = {"achieved_goal": np.zeros(2), "observation": np.zeros(4), "desired_goal": np.zeros(2)}
    assert task.goal is not None
    return {
        "Task": Call(vmg.Task, {"name": "x", "environment": len, "options": {}, "keys": None, "horizon": None, "score_range": (0.0, 1.0), "fields": {}, "goal": None},
                     {"name": TEXTS, "environment": (*TEXTS, *FUNCTIONS), "options": (*DICTS, "a dict"), "keys": (*NONE_OR_LIST, "[text]"), "horizon": (*NOTHING, "10**30", "10**400"),
                      "fields": DICTS, "goal": NOTHING}),
        "Task.asked_for": Call(vmg.find_task("kitchen-partial").asked_for, {"names": ("kettle",)}),
        "Task.objective": Call(task.objective, {"goal": "0=1", "tolerance": 0.5}, {"tolerance": ("0", "1.5", "1e20", "10**30")}),
        "Task.objective_of": Call(task.objective_of, {"observation": given}, {"observation": tuple(ODD)}),
        "Task.preset": Call(task.preset, {"name": "ours"}),
        "Task.state_of": Call(task.state_of, {"observation": given}),
        "Task.tolerance_in": Call(task.tolerance_in, {"columns": (0, 1)}, {"columns": ("an empty list", "[10**30]", "[-1]")}),
        "Task.with_goal_columns": Call(task.with_goal_columns, {"config": agent().config}),
        "TaskGoal.objective": Call(task.goal.objective, {"observation": given}, {"observation": tuple(ODD)}),
        "TaskGoal.place": Call(task.goal.place, {"observation": given}, {"observation": tuple(ODD)}),
        "evaluate": Call(vmg.evaluate, {"actor": agent().policy(), "task": task, **trial},
                         {"first_seed": ("0", "10**30", "10**400"), "known": ("an empty list",), "on_episode": (*NOTHING, *FUNCTIONS),
                          "title": TEXTS, "workers": NOTHING, "show_progress": (*NOTHING, *TRUTH)}, long=True),
        "find_task": Call(vmg.find_task, {"name": "pointmaze-umaze"}),
        "scored_by": Call(vmg.scored_by, {"task": task, "plan": agent().plan(place())}),
    }  # fmt: skip


def names_of(module: str) -> Iterator[tuple[str, Any]]:
    """Every public function, class and method of a module by its name."""
    for name in import_module(module).__all__:
        thing = getattr(import_module(module), name)
        if inspect.isclass(thing):
            yield f"{name}", thing
            for method, value in inspect.getmembers(thing):
                if not method.startswith("_") and (inspect.isfunction(value) or inspect.ismethod(value)):
                    yield f"{name}.{method}", value
        elif callable(thing):
            yield name, thing


@cache
def public() -> dict[str, Any]:
    """Every public name; what two modules both have is the same thing."""
    return {name: thing for module in PUBLIC for name, thing in names_of(module)}
