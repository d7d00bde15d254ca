"""Scoring an objective of one's own, on the states an environment goes through.

An environment pays for its own task. A plan's objective is therefore scored by itself, on the same states the policy
sees:

    a place, a region, a predicate, "reach"    each is paid once, in order; the last one ends the episode
    "stay"                                     every step there is paid
    rewards, sums                              every step is paid what the objective says
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vmg.act.plan import Plan
from vmg.act.sequence import SequencePlan, next_stage
from vmg.base.errors import VMGError
from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.envs.task import Task
from vmg.envs.wrappers import Wrapped
from vmg.goals.objectives import Objective


def scored_by(task: Task, plan: Plan | SequencePlan) -> Task:
    """Return the task with a plan's objective in place of what its environment pays; a horizon's steps per stage."""
    objectives = tuple(stage.objective for stage in plan.stages)
    horizon = task.horizon and task.horizon * len(objectives)
    how, score_range = _scoring(plan.stages, horizon)
    return replace(
        task,
        name=f"{task.name}: {plan.objective.name}",
        environment=_Scoring(replace(task, horizon=horizon), objectives),
        options={},
        endless={},
        goal=None,
        horizon=horizon,
        score_range=score_range,
        report=("reached",) if objectives[0].distance else (),
        protocol=f"Wanted: {plan.objective.name}. Scored on the state by the objective itself, not by the environment: "
        f"{how}.",
    )


def _scoring(stages: Sequence[Plan], horizon: int | None) -> tuple[str, tuple[float, float]]:
    """Say how a score comes about, and which returns score 0 and 100."""
    first, n = stages[0], len(stages)
    if not first.has_goal:
        mean, best = _recorded_returns(first)
        how = f"0 is the mean return of the recorded episodes ({mean:.3g}), 100 their best ({best:.3g})"
        return f"each step is paid what the objective says; {how}", (mean, best if best > mean else mean + 1)
    if first.objective.kind == "stay":
        if n > 1 or horizon is None:
            raise VMGError('"stay" is for one objective, in a task that says how many steps an episode has.')
        return f"the score is the share of {horizon} steps spent there", (0.0, float(horizon))
    limit = f"in {horizon} steps" if horizon else "before the episode ends"
    order = ", each once and in this order" if n > 1 else ""
    return f"reached {limit} counts{order}", (0.0, float(n))


def _recorded_returns(plan: Plan) -> tuple[float, float]:
    """Mean and best return of the recorded episodes, for what is wanted now."""
    objective, episodes = plan.objective, plan.recorded.episodes if plan.recorded else None
    if episodes is None:
        raise VMGError(f"{objective.name!r} is scored against the recorded episodes: give them to `plan`.")
    try:
        before, after = episodes.observations[:2]
        _paid(objective, before, episodes.actions[0], after)
    except VMGError as error:
        raise VMGError(
            f"{objective.name!r} knows recorded steps alone and cannot score new ones: give a function ({error})."
        ) from error
    returns = replace(episodes, rewards=objective.step_rewards(episodes)).returns
    return float(returns.mean()), float(returns.max())


@dataclass(frozen=True, eq=False)
class _Scoring:
    """Makes the environment of a task, scored by objectives; its own goal ends nothing."""

    task: Task
    objectives: tuple[Objective, ...]

    def __call__(self) -> "_ScoredEnvironment":
        free = replace(self.task, options={**self.task.options, **self.task.endless})
        return _ScoredEnvironment(free.make(), self)


class _ScoredEnvironment(Wrapped):
    def __init__(self, env: Any, scoring: _Scoring) -> None:
        super().__init__(env)
        self._scoring = scoring
        self._stage, self._counted = 0, 0
        self._state = np.zeros(0, np.float32)

    def reset(self, **options: Any) -> Any:
        observation, info = self.env.reset(**options)
        self._state = self._scoring.task.state_of(observation)
        self._stage, self._counted = next_stage(self._scoring.objectives, 0, self._state), 0
        return observation, info

    def step(self, action: Any) -> Any:
        observation, _, terminated, truncated, _ = self.env.step(action)
        before, self._state = self._state, self._scoring.task.state_of(observation)
        objectives = self._scoring.objectives
        if objectives[0].distance is None:
            return observation, _paid(objectives[0], before, action, self._state), terminated, truncated, {}
        there = bool(objectives[0].reached(self._state[None])[0])
        if objectives[0].kind == "stay":
            return observation, float(there), terminated, truncated, {"success": there, "reached": int(there)}
        self._stage = next_stage(objectives, self._stage, self._state)
        reward, self._counted = self._stage - self._counted, self._stage
        done = self._stage == len(objectives)
        return observation, float(reward), terminated or done, truncated, {"success": done, "reached": self._stage}


def _paid(objective: Objective, before: Float32s, action: Any, after: Float32s) -> float:
    """What one step is paid."""
    step = Episodes.from_list([(np.stack([before, after]), np.asarray(action)[None], [0.0], False, True)])
    return float(objective.step_rewards(step)[0])
