"""Something else to want of the same graph, so that its values can be seen before and after."""

from dataclasses import dataclass

import numpy as np

from vmg.act.plan import Plan
from vmg.agent.agent import Agent
from vmg.base.errors import VMGError
from vmg.base.types import Float64s
from vmg.data.episodes import Episodes
from vmg.envs import Task, TaskGoal
from vmg.goals import Objective
from vmg.graph import goal
from vmg.graph.solving import solve_edges
from vmg.view.episodes import Watched
from vmg.view.graphs import Solved

GOALS_TRIED = 20
ENOUGH = 0.8
"""A goal that this share of the vertices can reach is taken at once."""


@dataclass(frozen=True, eq=False)
class Change:
    """A graph's values before and after what is wanted has changed."""

    before: Solved
    after: Solved
    names: tuple[str, str]
    goals: tuple[Float64s | None, Float64s | None] = (None, None)


def change_of(agent: Agent, task: Task | None, episodes: Episodes | None, shown: Watched | None) -> Change:
    """Choose something else to want: another goal, a skill nobody asked for, or else some recorded state."""
    if agent.built.places is not None and task and task.goal and shown and shown.goal is not None:
        return _another_goal(agent, task.goal, shown, shown.goal)
    if task and task.skill and episodes is not None and shown:
        asked = {name for name, _ in shown.subtasks} | set(shown.to_do)
        for name in task.fields:
            if name not in asked and (after := _skill(agent, task, episodes, name)) is not None:
                return Change(agent.own_plan, after, ("Before: the recorded rewards", f"After: {name} alone"))
    return _another_state(agent)


def _another_goal(agent: Agent, named: TaskGoal, shown: Watched, known: Float64s) -> Change:
    """Go to a far place that most vertices can reach, of a few tried."""
    graph = agent.built
    places = graph.states[:, list(named.columns)].astype(np.float64)
    by_distance = np.argsort(-np.linalg.norm(places - known, axis=1), kind="stable")
    tried: list[tuple[float, Float64s, Plan]] = []
    for place in places[by_distance[:: max(1, len(places) // GOALS_TRIED)]]:
        plan = agent.plan(_to(named, place))
        tried.append((float((plan.values > 0).mean()), place, plan))
        if tried[-1][0] > ENOUGH:
            break
    _, place, plan = max(tried, key=lambda each: each[0])
    before, after = (f"({', '.join(f'{x:.1f}' for x in each)})" for each in (known, place))
    return Change(shown.plan, plan, (f"Before: the goal {before}", f"After: the goal {after}"), (known, place))


def _to(named: TaskGoal, place: Float64s) -> Objective:
    """Return the objective of an episode whose environment names this place."""
    objective = named.objective({named.key: place})
    assert objective is not None
    return objective


def _skill(agent: Agent, task: Task, episodes: Episodes, name: str) -> Plan | None:
    """Plan for a skill; None where a part of the state is not one."""
    assert task.skill is not None
    try:
        return agent.plan(task.skill((name,)).objective, episodes)
    except VMGError:
        return None


def _another_state(agent: Agent) -> Change:
    """Want the state in which the longest recorded episode ended."""
    graph, solving = agent.built, agent.config.solve
    longest = int(np.argmax(graph.lengths))
    vertex = graph.labels[(np.cumsum(graph.lengths + 1) - 1)[longest]]
    gaps = np.linalg.norm(graph.features - graph.features[vertex], axis=1)[graph.labels]
    wanted = goal(graph, gaps, graph.radius / 2, variant=solving.variant)
    names = ("Before: the recorded rewards", f"After: to vertex {vertex:,}, where episode {longest} ended")
    return Change(agent.own_plan, solve_edges(graph, wanted.rewards, solving), names)
