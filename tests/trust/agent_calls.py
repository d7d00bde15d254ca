"""Calls of the public functions of graphs, agents, plans and tasks."""

from pathlib import Path

import numpy as np
from legal_values import DICTS, FUNCTIONS, NONE_OR_LIST, NOTHING, TEXTS, TRUTH
from odd_values import ODD
from trust_cases import Call, agent, episodes, observation, place

import vmg
from vmg import goals
from vmg.learn import Training


def of_graphs() -> dict[str, Call]:
    graph, own = agent().built, agent()
    rewards = vmg.reward(graph, episodes())
    features = vmg.embed(own.weights, episodes().observations)
    ways = own.routes
    assert ways is not None
    return {
        "MemoryGraph.distances": Call(graph.distances, {"features": features[:1], "vertices": [0]}),
        "MemoryGraph.edge": Call(graph.edge, {"number": 0}, {"number": ("0",)}),
        "MemoryGraph.edge_number": Call(
            graph.edge_number,
            {"tail": int(graph.tails[0]), "head": int(graph.heads[0])},
            {"tail": ("0",), "head": ("0",)},
        ),
        "MemoryGraph.nearest": Call(graph.nearest, {"features": features[:1]}),
        "MemoryGraph.nearest_vertices": Call(graph.nearest_vertices, {"features": features[:1]}),
        "Routes.cost": Call(ways.cost, {"entry": 0}, {"entry": ("0",)}),
        "Routes.path": Call(ways.path, {"vertex": 0}, {"vertex": ("0",)}),
        "Routes.path_from": Call(ways.path_from, {"entry": 0}, {"entry": ("0",)}),
        "Routes.pieces": Call(ways.pieces, {"entry": 0}, {"entry": ("0",)}),
        "build": Call(
            vmg.build,
            {
                "features": features,
                "episodes": episodes(),
                "radius": 0.1,
                "labelling": "nearest",
                "merging": "greedy",
                "clusters": None,
                "seed": 0,
                "recordings": False,
                "edges": ("recorded",),
                "goal_columns": (),
            },
            {
                "radius": ("0", "1.5", "1e20", "10**30"),
                "clusters": NOTHING,
                "seed": ("0", "10**30", "10**400"),
                "recordings": TRUTH,
                "goal_columns": ("an empty list",),
            },
        ),
        "embed": Call(vmg.embed, {"weights": own.weights, "observations": episodes().observations}),
        "goal": Call(
            vmg.goal,
            {
                "graph": graph,
                "distances": np.arange(len(graph.labels)),
                "tolerance": 0.5,
                "kind": "reach",
                "variant": "mean",
            },
            {"tolerance": ("0", "1.5", "1e20", "10**30", "infinity")},
        ),
        "reward": Call(vmg.reward, {"graph": graph, "rewards": episodes(), "variant": "mean"}),
        "solve": Call(
            vmg.solve,
            {
                "graph": graph,
                "rewards": rewards,
                "discount": 0.9,
                "search": "multi-step",
                "search_steps": None,
                "path_weights": "rewards",
                "paths": "edges",
                "switch_cost": 1.0,
                "fall_cost": 1.0,
                "slow_cost": 1.0,
                "ties": "index",
                "dead_ends": "loop",
                "tolerance": 1e-6,
            },
            {
                "discount": ("0",),
                "search_steps": ("0", "None", "10**30", "10**400"),
                "switch_cost": ("0", "1.5"),
                "fall_cost": ("0", "1.5"),
                "slow_cost": ("0", "1.5"),
                "tolerance": ("1.5", "1e20", "10**30"),
            },
        ),
    }


def of_agents() -> dict[str, Call]:
    own, learn = agent(), agent().config.learn
    training = {"episodes": episodes(), "config": learn, "seeds": (0,), "validation": None, "folder": None}
    shown = {"show_progress": (*NOTHING, *TRUTH)}
    seeds = {"seeds": (), "validation": NOTHING, "folder": (*NOTHING, *TEXTS), "config": NOTHING, **shown}
    return {
        "Agent.build": Call(own.build, {"episodes": episodes(), "fallen": None}, {"fallen": NOTHING}),
        "Agent.extend": Call(
            own.extend,
            {"episodes": episodes(), "earlier": None, "fallen": None},
            {"earlier": NOTHING, "fallen": NOTHING},
        ),
        "Agent.growth_since": Call(
            own.extend(episodes()).growth_since, {"before": own, "held_out": None}, {"held_out": NOTHING}, long=True
        ),
        "Agent.fit": Call(vmg.Agent.fit, {**training, "config": own.config, "show_progress": False}, seeds, long=True),
        "Agent.fit_together": Call(
            vmg.Agent.fit_together,
            {"trainings": [Training(episodes())], "configs": [own.config], "show_progress": False},
            shown,
            long=True,
        ),
        "Agent.load": Call(vmg.Agent.load, {"folder": "there is no such folder"}),
        "Agent.plan": Call(own.plan, {"objective": place(), "episodes": None}, {"episodes": NOTHING}),
        "Agent.plan_many": Call(
            own.plan_many,
            {"objectives": [place()], "episodes": None, "workers": 1},
            {"objectives": ("an empty list",), "episodes": NOTHING, "workers": NOTHING},
        ),
        "Agent.policy": Call(own.policy, {"settings": None}, {"settings": NOTHING}),
        "Agent.save": Call(own.save, {"folder": Path("x")}, {"folder": TEXTS}, long=True),
        "Agent.solve": Call(own.solve, {"episodes": None}, {"episodes": NOTHING}),
        "choose": Call(
            vmg.choose,
            {"episodes": episodes(), "folder": None, "steps": 1, "show_progress": False},
            {"folder": NOTHING, "steps": (*NOTHING, "10**30", "10**400"), **shown},
            long=True,
        ),
        "clone": Call(
            vmg.clone,
            {
                "episodes": episodes(),
                "config": learn,
                "seeds": (0,),
                "goal_columns": (),
                "folder": None,
                "show_progress": False,
            },
            {**seeds, "goal_columns": ("an empty list", "an empty array")},
            long=True,
        ),
        "fit": Call(
            vmg.fit, {**training, "resume": True, "show_progress": False}, {**seeds, "resume": TRUTH}, long=True
        ),
    }


def of_plans() -> dict[str, Call]:
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
        "Policy.begin": Call(
            policy.begin, {"observation": None, "objective": None}, {"observation": tuple(ODD), "objective": NOTHING}
        ),
        "Policy.decide": Call(policy.decide, {"observations": observation(), "plans": None}, {"plans": NOTHING}),
        "Policy.follow": Call(own.policy().follow, {"plan": plan}),
        "Policy.likeness": Call(policy.likeness, {"states": observation()[None]}),
        "Policy.progress": Call(policy.progress, {"states": observation()[None]}),
        "SequencePlan.explain": Call(in_order.explain, {"observation": observation()}),
        "SequencePlan.policy": Call(in_order.policy, {"settings": None}, settings),
    }


def of_tasks() -> dict[str, Call]:
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
        "Scores.by": Call(vmg.Scores("x", "", (0.0, 1.0), ()).by, {"name": "place"}, {"name": TEXTS}),
        "Task": Call(
            vmg.Task,
            {
                "name": "x",
                "environment": len,
                "options": {},
                "keys": None,
                "horizon": None,
                "score_range": (0.0, 1.0),
                "fields": {},
                "goal": None,
            },
            {
                "name": TEXTS,
                "environment": (*TEXTS, *FUNCTIONS),
                "options": (*DICTS, "a dict"),
                "keys": (*NONE_OR_LIST, "[text]"),
                "horizon": (*NOTHING, "10**30", "10**400"),
                "fields": DICTS,
                "goal": NOTHING,
            },
        ),
        "Task.asked_for": Call(vmg.find_task("kitchen-partial").asked_for, {"names": ("kettle",)}),
        "Task.objective": Call(
            task.objective, {"goal": "0=1", "tolerance": 0.5}, {"tolerance": ("0", "1.5", "1e20", "10**30")}
        ),
        "Task.objective_of": Call(task.objective_of, {"observation": given}, {"observation": tuple(ODD)}),
        "Task.preset": Call(task.preset, {"name": "paper"}),
        "Task.state_of": Call(task.state_of, {"observation": given}),
        "Task.tolerance_in": Call(
            task.tolerance_in, {"columns": (0, 1)}, {"columns": ("an empty list", "[10**30]", "[-1]")}
        ),
        "Task.with_goal_columns": Call(task.with_goal_columns, {"config": agent().config}),
        "TaskGoal.objective": Call(task.goal.objective, {"observation": given}, {"observation": tuple(ODD)}),
        "TaskGoal.place": Call(task.goal.place, {"observation": given}, {"observation": tuple(ODD)}),
        "evaluate": Call(
            vmg.evaluate,
            {"actor": agent().policy(), "task": task, **trial},
            {
                "first_seed": ("0", "10**30", "10**400"),
                "known": ("an empty list",),
                "on_episode": (*NOTHING, *FUNCTIONS),
                "title": TEXTS,
                "workers": NOTHING,
                "show_progress": (*NOTHING, *TRUTH),
            },
            long=True,
        ),
        "find_task": Call(vmg.find_task, {"name": "pointmaze-umaze"}),
        "scored_by": Call(vmg.scored_by, {"task": task, "plan": agent().plan(place())}),
    }
