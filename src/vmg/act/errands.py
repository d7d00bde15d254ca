"""Errands: doing what is wanted, one wish after the other, and judging it on the states an environment goes through.

An environment pays for its own task. A wish is therefore judged by itself, on the same states the policy sees:

    a place, a region, a predicate, "reach"    each is paid once, in order; the last one ends the episode
    "stay"                                     every step there is paid
    rewards, sums                              every step is paid what the wish says
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vmg.act.policy import Policy
from vmg.act.retask import Prospect
from vmg.act.tasks import Task
from vmg.act.wrapping import Wrapped
from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.graph import GoalKind
from vmg.types import Float32s
from vmg.wishes import Wish


class Errand:
    """Follows prospects in turn: the next one as soon as one is fulfilled, the last one to the end."""

    def __init__(self, prospects: Sequence[Prospect]) -> None:
        _check_order([prospect.wish for prospect in prospects])
        self.policy: Policy = prospects[0].policy()
        self._legs = [(prospect.wish, prospect.solution, prospect.aim) for prospect in prospects]
        self._turn = 0

    def begin(self, observation: Any = None) -> None:
        """Start an episode, with the first wish."""
        self.policy.begin(observation)
        self._head_for(0)

    def act(self, state: Float32s) -> Float32s:
        """Return the action in this state, towards the first wish that is not fulfilled yet."""
        turn = min(_passed([wish for wish, _, _ in self._legs], self._turn, state), len(self._legs) - 1)
        if turn != self._turn:
            self._head_for(turn)
        return self.policy.act(state)

    def _head_for(self, turn: int) -> None:
        _, solution, aim = self._legs[turn]
        self.policy.follow(solution, aim)
        self._turn = turn


def judged(task: Task, prospects: Sequence[Prospect]) -> Task:
    """Return the task with the prospects' wishes in place of what its environment pays; each has a horizon's steps."""
    wishes = [prospect.wish for prospect in prospects]
    _check_order(wishes)
    horizon = task.horizon and task.horizon * len(wishes)
    words = ", then ".join(wish.words for wish in wishes)
    how, score_range = _scoring(prospects, horizon)
    return replace(
        task,
        name=f"{task.name}: {words}",
        environment=_Judging(replace(task, horizon=horizon), tuple(wishes), prospects[0].kind),
        horizon=horizon,
        score_range=score_range,
        report=("reached",) if wishes[0].distance else (),
        protocol=f"Wanted: {words}. Judged on the state by the wish itself, not by the environment: {how}.",
    )


def _scoring(prospects: Sequence[Prospect], horizon: int | None) -> tuple[str, tuple[float, float]]:
    """Say how a score comes about, and which returns score 0 and 100."""
    first, n = prospects[0], len(prospects)
    if first.wish.distance is None:
        mean, best = _recorded_returns(first)
        how = f"0 is the mean return of the recorded episodes ({mean:.3g}), 100 their best ({best:.3g})"
        return f"each step is paid what the wish says; {how}", (mean, best if best > mean else mean + 1)
    if first.kind == "stay":
        if n > 1 or horizon is None:
            raise VMGError('"stay" is for one wish, in a task that says how many steps an episode has.')
        return f"the score is the share of {horizon} steps spent there", (0.0, float(horizon))
    limit = f"in {horizon} steps" if horizon else "before the episode ends"
    order = ", each once and in this order" if n > 1 else ""
    return f"reached {limit} counts{order}", (0.0, float(n))


def _check_order(wishes: Sequence[Wish]) -> None:
    if not wishes:
        raise VMGError("There is nothing to do: the list of wishes is empty.")
    if len(wishes) > 1 and any(wish.distance is None for wish in wishes):
        raise VMGError("Only wishes that can be reached can follow one another.")


def _passed(wishes: Sequence[Wish], turn: int, state: Float32s) -> int:
    """Return whose turn it is: wishes that are fulfilled in this state are passed, in order."""
    while turn < len(wishes) and wishes[turn].distance is not None and wishes[turn].holds(state[None])[0]:
        turn += 1
    return turn


def _recorded_returns(prospect: Prospect) -> tuple[float, float]:
    """Mean and best return of the recorded episodes, for what is wanted now."""
    try:
        before, after = prospect.episodes.observations[:2]
        _paid(prospect.wish, before, prospect.episodes.actions[0], after)
    except VMGError as error:
        raise VMGError(
            f"'{prospect.wish.words}' knows recorded steps alone and cannot judge new ones: give a function ({error})."
        ) from error
    returns = replace(prospect.episodes, rewards=prospect.wish.pays(prospect.episodes)).returns
    return float(returns.mean()), float(returns.max())


@dataclass(frozen=True, eq=False)
class _Judging:
    """Makes the environment of a task, judged by wishes; its own goal ends nothing."""

    task: Task
    wishes: tuple[Wish, ...]
    kind: GoalKind

    def __call__(self) -> "_JudgedEnvironment":
        free = replace(self.task, options={**self.task.options, **self.task.endless})
        return _JudgedEnvironment(free.make(), self)


class _JudgedEnvironment(Wrapped):
    def __init__(self, env: Any, judging: _Judging) -> None:
        super().__init__(env)
        self._judging = judging
        self._turn, self._counted = 0, 0
        self._state = np.zeros(0, np.float32)

    def reset(self, **options: Any) -> Any:
        observation, info = self.env.reset(**options)
        self._state = self._judging.task.state_of(observation)
        self._turn, self._counted = _passed(self._judging.wishes, 0, self._state), 0
        return observation, info

    def step(self, action: Any) -> Any:
        observation, _, terminated, truncated, _ = self.env.step(action)
        before, self._state = self._state, self._judging.task.state_of(observation)
        wishes = self._judging.wishes
        if wishes[0].distance is None:
            return observation, _paid(wishes[0], before, action, self._state), terminated, truncated, {}
        there = bool(wishes[0].holds(self._state[None])[0])
        if self._judging.kind == "stay":
            return observation, float(there), terminated, truncated, {"success": there, "reached": int(there)}
        self._turn = _passed(wishes, self._turn, self._state)
        reward, self._counted = self._turn - self._counted, self._turn
        done = self._turn == len(wishes)
        return observation, float(reward), terminated or done, truncated, {"success": done, "reached": self._turn}


def _paid(wish: Wish, before: Float32s, action: Any, after: Float32s) -> float:
    """What one step is paid."""
    step = Episodes.from_list([(np.stack([before, after]), np.asarray(action)[None], [0.0], False, True)])
    return float(wish.pays(step)[0])
