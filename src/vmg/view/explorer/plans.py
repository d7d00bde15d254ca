"""Plans that the page asked for: made once however many ask for them, and kept while they are used."""

import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from vmg.act.body import NeedsEpisodesError
from vmg.act.conjunction import ConjunctionPlan
from vmg.act.plan import Plan
from vmg.act.sequence import SequencePlan
from vmg.agent.agent import Agent
from vmg.base.types import Float64s
from vmg.goals import Objective, Stages
from vmg.runs.requests import RECORDED, Reading, Request, without_avoided_edges
from vmg.view.explorer.code import Code, plan_code
from vmg.view.explorer.frames import framed
from vmg.view.explorer.graphs import Explored
from vmg.view.explorer.problems import ImpossibleError, UnknownError
from vmg.view.explorer.steps import steps_to_end

KEPT = 32
"""Plans that are kept; of more, those that were not used for longest go."""

AnyPlan = Plan | SequencePlan | ConjunctionPlan
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Planned:
    """A plan, and how it was asked for."""

    shown: Explored
    request: Request
    objective: Objective | Stages
    plan: AnyPlan
    told: tuple[str, ...]
    """What was said while the request was read."""
    with_data: bool
    """Whether it took the recorded episodes."""
    milliseconds: float

    @cached_property
    def name(self) -> str:
        """The same for the same request: a link to it can be used again."""
        return "p" + sha256(f"{self.shown.number} {self.request!r}".encode()).hexdigest()[:12]

    @property
    def kind(self) -> str:
        if isinstance(self.plan, SequencePlan):
            return "sequence"
        if isinstance(self.plan, ConjunctionPlan):
            return "together"
        return "goal" if self.plan.has_goal else "reward"

    @cached_property
    def stages(self) -> tuple[Plan, ...]:
        return self.plan.stages

    @property
    def code(self) -> Code:
        return plan_code(self.shown, self.request, self.objective, with_data=self.with_data)

    @cached_property
    def said(self) -> list[str]:
        """Say what the plan is for and how much of the graph can do it."""
        try:
            return [*self.told, *self.plan.in_words().splitlines()]
        except NeedsEpisodesError:
            return [*self.told, f"Task: {self.plan.objective.name}."]


def make(shown: Explored, request: Request) -> Planned:
    """Plan for a request, from what the agent keeps or else with the data."""
    begun = time.perf_counter()
    agent, told = without_avoided_edges(shown.agent, request), list[str]()
    whose = shown.task.name if shown.task else str(shown.run.folder)
    objective = Reading(agent, shown.task, whose).objective(request, told.append)
    plan, with_data = _planned(shown, agent, request, objective)
    milliseconds = 1000 * (time.perf_counter() - begun)
    return Planned(shown, request, objective, plan, tuple(told), with_data, milliseconds)


def _planned(shown: Explored, agent: Agent, request: Request, objective: Objective | Stages) -> tuple[AnyPlan, bool]:
    if request.reward == RECORDED and not request.avoid and shown.episodes is None and agent.routes:
        return agent.own_plan, False
    try:
        return agent.plan(objective), False
    except NeedsEpisodesError as error:
        if shown.episodes is None:
            raise ImpossibleError(f"This needs the data {shown.run.data!r}, which are not at hand here.") from error
        return agent.plan(objective, shown.episodes), True


def with_episodes(planned: Planned) -> Plan:
    """Return a plan for rewards with the recorded episodes, against which it is scored."""
    plan = planned.plan
    assert isinstance(plan, Plan)
    assert plan.recorded is not None
    return replace(plan, recorded=replace(plan.recorded, episodes=planned.shown.data))


def answer(planned: Planned, stage: int, *, began: float, cached: bool) -> bytes:
    """Return what the page has to know of a stage of a plan, with its values."""
    if not 0 <= stage < max(len(planned.stages), 1):
        raise UnknownError(f"There is no stage {stage}: this plan has {len(planned.stages)}.")
    facts, arrays = _stage_facts(planned, stage)
    spent = {"plan": planned.milliseconds, "all": 1000 * (time.perf_counter() - began), "cached": cached}
    return framed(
        {
            "plan": planned.name,
            "graph": planned.shown.number,
            "name": planned.plan.objective.name,
            "said": planned.said,
            "kind": planned.kind,
            "stages": [each.objective.name for each in planned.stages],
            "stage": stage,
            **facts,
            "milliseconds": spent,
            "code": planned.code,
        },
        arrays,
    )


def _stage_facts(planned: Planned, stage: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Values, steps and goals of a stage; a plan that found no order from its start has none of them."""
    if not planned.stages:
        nothing = np.full(planned.shown.graph.n_vertices, np.nan)
        arrays = {"values": nothing, "steps": nothing, "goals": np.zeros(0, np.int32)}
        return {"values": {"low": 0.0, "high": 0.0}, "reach": 0.0}, arrays
    plan = planned.stages[stage]
    reach, goals = _reach(plan)
    arrays = {"values": plan.values, "steps": steps_to_end(plan) if reach is not None else plan.values * np.nan}
    arrays["goals"] = goals
    values: Float64s = plan.values
    return {"values": {"low": float(values.min()), "high": float(values.max())}, "reach": reach}, arrays


def _reach(plan: Plan) -> tuple[float | None, np.ndarray]:
    """The share of the vertices that can reach what is wanted, and where that is; None where only the data can say."""
    try:
        return float(plan.can_reach.mean()), np.flatnonzero(plan.goal_vertices).astype(np.int32)
    except NeedsEpisodesError:
        return None, np.zeros(0, np.int32)


@dataclass(eq=False)
class Shelf(Generic[Made]):
    """Keeps what was made last, by its key; what several ask for at once is made once."""

    most: int
    _kept: "OrderedDict[Any, Future[Made]]" = field(default_factory=OrderedDict)
    _lock: Any = field(default_factory=Lock)

    def get(self, key: Any, make: Callable[[], Made]) -> tuple[Made, bool]:
        """Return what is kept under a key, or make it; and whether it was there."""
        with self._lock:
            future, there = self._kept.get(key), key in self._kept
            if future is None:
                future = self._kept[key] = Future()
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)
        if not there:
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)
                self._forget(key, future)
        return future.result(), there

    def find(self, wanted: Callable[[Made], bool]) -> Made | None:
        """Return something that is kept and fits; it counts as used."""
        with self._lock:
            for key, future in self._kept.items():
                if future.done() and future.exception() is None and wanted(future.result()):
                    self._kept.move_to_end(key)
                    return future.result()
        return None

    def __len__(self) -> int:
        return len(self._kept)

    def _forget(self, key: Any, future: "Future[Made]") -> None:
        with self._lock:
            if self._kept.get(key) is future:
                del self._kept[key]


class Plans:
    """The plans of all graphs that are explored."""

    def __init__(self, most: int = KEPT) -> None:
        self.shelf: Shelf[Planned] = Shelf(most)

    def get(self, shown: Explored, request: Request) -> tuple[Planned, bool]:
        """Return the plan for a request, and whether it was there."""
        return self.shelf.get((shown.number, request), lambda: make(shown, request))

    def find(self, shown: Explored, name: str) -> Planned:
        """Return a plan by its name, or say that it is no longer kept."""
        found = self.shelf.find(lambda each: each.shown is shown and each.name == name)
        if found is None:
            raise UnknownError(f"The plan {name!r} is not kept here, or no longer: ask for what is wanted again.")
        return found
