"""Scoring an objective of one's own, on the states an environment goes through.

An environment pays for its own task. A plan's objective is therefore scored by itself, on the same states the policy
sees:

    a place, a region, a predicate, "reach"    each is paid once, in order; the last one ends the episode
    all of several, in an order that is found  each more that holds at once is paid; all at once end the episode
    "stay"                                     every step there is paid
    rewards, sums                              every step is paid what the objective says; the score compares as many
                                               steps of the recorded episodes

Steps in regions that are to be avoided are counted, and what penalties charge is added up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vmg.act.conjunction import ConjunctionPlan
from vmg.act.plan import Plan
from vmg.act.sequence import SequencePlan, next_stage
from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.data.own import OwnFunctionError
from vmg.envs.task import Task
from vmg.envs.wrappers import Wrapped
from vmg.evaluation.recorded import RecordedReturns, recorded_returns, steps_of
from vmg.goals.measures import Relabelled
from vmg.goals.objectives import Objective

AVOIDED = ("avoided_steps", "began_avoided")
"""What is noted of regions that are to be avoided: steps in one, and whether the episode began in one."""


@checked
def scored_by(task: Task, plan: Plan | SequencePlan | ConjunctionPlan) -> Task:
    """Return the task with a plan's objective in place of what its environment pays; a horizon's steps per stage."""
    together = isinstance(plan, ConjunctionPlan) and plan.objective.kind == "reach"
    objectives = _objectives(plan)
    horizon = task.horizon and task.horizon * len(objectives)
    longer = replace(task, horizon=horizon)
    how, score_range = _scoring(plan, objectives, longer)
    scoring = _Scoring(longer, objectives, _before(plan) if together else None)
    return replace(
        task,
        name=f"{task.name}: {plan.objective.name}",
        environment=scoring,
        options={},
        endless={},
        goal=None,
        horizon=horizon,
        score_range=score_range,
        report=("reached",) * bool(objectives[0].distance) + (*AVOIDED,) * bool(scoring.avoided) + ("penalty",),
        protocol=f"Wanted: {plan.objective.name}. Scored on the state by the objective itself, not by the environment: "
        f"{how}.",
    )


def _objectives(plan: Plan | SequencePlan | ConjunctionPlan) -> tuple[Objective, ...]:
    """What is scored, one after the other or all at once."""
    if not isinstance(plan, ConjunctionPlan):
        return tuple(stage.objective for stage in plan.stages)
    if plan.objective.kind == "stay":
        return (plan.objective,)
    first, *rest = plan.parts
    return (replace(first, avoided=plan.objective.avoided, penalties=plan.objective.penalties), *rest)


def _before(plan: Plan | SequencePlan | ConjunctionPlan) -> tuple[tuple[int, int], ...]:
    """Which of several at once is asked to be reached before which."""
    return plan.objective.before if isinstance(plan, ConjunctionPlan) else ()


def _scoring(
    plan: Plan | SequencePlan | ConjunctionPlan, objectives: Sequence[Objective], task: Task
) -> tuple[str, tuple[float, float]]:
    """Say how a score comes about, and which returns score 0 and 100."""
    n, horizon = len(objectives), task.horizon
    if objectives[0].distance is None:
        returns = _recorded_returns(plan.stages[0], steps_of(task))
        return f"each step is paid what the objective says; {returns.in_words}", returns.score_range
    if objectives[0].kind == "stay":
        if n > 1 or horizon is None:
            raise VMGError('"stay" is for one objective, in a task that says how many steps an episode has.')
        order = ", in whatever order it came about" * bool(_before(plan))
        success = "an episode succeeds if it is there in its last step"
        return f"the score is the share of {horizon} steps spent there{order}; {success}", (0.0, float(horizon))
    limit = f"in {horizon} steps" if horizon else "before the episode ends"
    if isinstance(plan, ConjunctionPlan):
        order = "; what comes before its turn counts once it is reached anew after it" * bool(_before(plan))
        return f"the most that hold at once {limit} count{order}", (0.0, float(n))
    order = ", each once and in this order" if n > 1 else ""
    return f"reached {limit} counts{order}", (0.0, float(n))


def _recorded_returns(plan: Plan, steps: int | None) -> RecordedReturns:
    """Mean and best return of the recorded episodes, for what is wanted now and in as many steps as it is tried for."""
    objective, episodes = plan.objective, plan.recorded.episodes if plan.recorded else None
    if episodes is None:
        raise VMGError(f"{objective.name!r} is scored against the recorded episodes: give them to `plan`.")
    try:
        before, after = episodes.observations[:2]
        paid = [_paid(objective, before, episodes.actions[0], after, recorded) for recorded in (0.0, 1.0)]
    except OwnFunctionError:
        raise
    except VMGError as error:
        raise VMGError(
            f"{objective.name!r} knows recorded steps alone and cannot score new ones: give a function ({error})."
        ) from error
    if paid[0] != paid[1]:
        raise VMGError(
            f"{objective.name!r} is paid what was recorded, which nobody knows of new steps: evaluate in the task "
            "itself, which pays its own rewards, or give a function."
        )
    return recorded_returns(episodes, objective.step_rewards(episodes), steps)


@dataclass(frozen=True, eq=False)
class _Scoring:
    """Makes the environment of a task, scored by objectives; its own goal ends nothing."""

    task: Task
    objectives: tuple[Objective, ...]
    before: tuple[tuple[int, int], ...] | None = None
    """For objectives that are to hold at once: which is reached before which. None: they are reached in order."""

    @property
    def avoided(self) -> tuple[Objective, ...]:
        """Regions in which steps are counted."""
        return tuple(dict.fromkeys(region for each in self.objectives for region in each.avoided))

    def __call__(self) -> "_ScoredEnvironment":
        free = replace(self.task, options={**self.task.options, **self.task.endless})
        return _ScoredEnvironment(free.make(), self)


class _ScoredEnvironment(Wrapped):
    def __init__(self, env: Any, scoring: _Scoring) -> None:
        super().__init__(env)
        self._scoring = scoring
        self._stage, self._counted, self._inside, self._charged = 0, 0, 0, 0.0
        self._ever, self._early = frozenset[int](), frozenset[int]()
        self._begins_inside = False
        self._state = np.zeros(0, np.float32)
        self._own: Objective | None = None

    def reset(self, **options: Any) -> Any:
        observation, info = self.env.reset(**options)
        self._state, self._own = self._scoring.task.state_of(observation), self._scoring.task.objective_of(observation)
        self._stage, self._counted, self._inside, self._charged = 0, 0, 0, 0.0
        self._ever, self._early = frozenset(), frozenset()
        self._begins_inside = self._is_inside
        self._reach()
        return observation, info

    def step(self, action: Any) -> Any:
        observation, _, terminated, truncated, _ = self.env.step(action)
        before, self._state = self._state, self._scoring.task.state_of(observation)
        terminated = terminated and not (self._own and self._own.reached(self._state[None])[0])
        objectives, info = self._scoring.objectives, self._counted_inside() | self._penalty(before, action)
        if objectives[0].distance is None:
            return observation, _paid(objectives[0], before, action, self._state), terminated, truncated, info
        if objectives[0].kind == "stay":
            there = bool(objectives[0].reached(self._state[None])[0])
            return observation, float(there), terminated, truncated, info | {"success": there, "reached": int(there)}
        self._reach()
        reward, self._counted = self._stage - self._counted, self._stage
        done = self._stage == len(objectives)
        found = info | {"success": done, "reached": self._stage}
        return observation, float(reward), terminated or done, truncated, found

    def _reach(self) -> None:
        """Count what is reached: in order, or the most at once."""
        objectives, pairs = self._scoring.objectives, self._scoring.before
        if pairs is None:
            self._stage = next_stage(objectives, self._stage, self._state)
            return
        now = frozenset(i for i, each in enumerate(objectives) if each.reached(self._state[None])[0])
        waiting = frozenset(second for first, second in pairs if first not in self._ever)
        self._early = now & (waiting | self._early)  # what came too early counts once it has been reached anew
        self._ever |= now - self._early
        self._stage = max(self._stage, len(now - self._early))

    def _counted_inside(self) -> dict[str, Any]:
        if not self._scoring.avoided:
            return {}
        self._inside += self._is_inside
        return {"avoided_steps": self._inside} | ({"began_avoided": True} if self._begins_inside else {})

    @property
    def _is_inside(self) -> bool:
        return any(bool(region.reached(self._state[None])[0]) for region in self._scoring.avoided)

    def _penalty(self, before: Float32s, action: Any) -> dict[str, Any]:
        """Add up what penalties charge, before their weight, as far as it is known of steps that were not recorded."""
        objectives = self._scoring.objectives
        stage = 0 if self._scoring.before is not None else min(self._stage, len(objectives) - 1)
        known = [paying for _, paying in objectives[stage].penalties if isinstance(paying.rewards, Relabelled)]
        self._charged += sum(_paid(paying, before, action, self._state) for paying in known)
        return {"penalty": self._charged} if known or self._charged else {}


def _paid(objective: Objective, before: Float32s, action: Any, after: Float32s, recorded: float = 0.0) -> float:
    """What one step is paid, had it been recorded with this reward."""
    step = Episodes.from_list([(np.stack([before, after]), np.asarray(action)[None], [recorded], False, True)])
    return float(objective.step_rewards(step)[0])
