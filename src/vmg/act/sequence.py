"""A sequence of plans is a plan, too: each stage is followed until its objective is reached."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vmg.act.explanation import Explanation
from vmg.act.likeness import Likeness
from vmg.act.plan import Plan
from vmg.act.policy import Decisions, Policy
from vmg.act.remembering import imagined, shown
from vmg.act.settings import ActConfig
from vmg.base.arguments import numbers_of
from vmg.base.types import Float32s
from vmg.goals.objectives import Objective, Stages


@dataclass(frozen=True, eq=False)
class SequencePlan:
    """Plans that are followed one after the other."""

    objective: Stages
    stages: tuple[Plan, ...]

    def policy(self, settings: ActConfig | None = None) -> "SequencePolicy":
        """Return a policy that follows the stages in order."""
        return SequencePolicy(self.stages, settings)

    def explain(self, observation: ArrayLike) -> list[Explanation]:
        """Explain one stage after the other, each from the state in which the path of the one before ends."""
        return explain_stages(self.stages, observation)

    def in_words(self) -> str:
        """Say of each stage what it is for and how much of the graph can do it."""
        return "\n".join(stage.in_words() for stage in self.stages)

    __str__ = in_words


class SequencePolicy:
    """Follows plans in turn: the next one as soon as one's objective is reached, the last one to the end."""

    def __init__(self, stages: Sequence[Plan], settings: ActConfig | None = None) -> None:
        self.policy: Policy = stages[0].policy(settings)
        self._stages = tuple(stages)
        self._stage = 0
        self._start: Float32s | None = None
        self._imagined: tuple[int, ...] = ()

    def begin(self, observation: Any = None, objective: Objective | None = None) -> None:
        """Start an episode, with the first stage."""
        self.policy.begin(observation)
        self._start = None
        self._follow(0)

    def act(self, state: Float32s) -> Float32s:
        """Return the action in this state, towards the first objective that is not reached yet."""
        return self.policy.act(self._look(state))

    def decide(self, state: Float32s) -> Decisions:
        """Return the same action with its reasons."""
        return self.policy.decide(self._look(state))

    def likeness(self, states: Float32s) -> Likeness:
        """Say how much an episode's states are like what was recorded."""
        return self.policy.likeness(states)

    def _look(self, state: Float32s) -> Float32s:
        """Turn to the first objective that is not reached yet, and return the state as it is shown to its plan."""
        if self._start is None:
            self._start = state
        objectives = [stage.objective for stage in self._stages]
        stage = min(next_stage(objectives, self._stage, state), len(objectives) - 1)
        if stage != self._stage:
            self._follow(stage)
            self._imagined = imagined(self._stages, stage, state, self._start)
        return shown(self._stages, self._imagined, state, self._start)

    def _follow(self, stage: int) -> None:
        self.policy.follow(self._stages[stage])
        self._stage, self._imagined = stage, ()


def explain_stages(stages: Sequence[Plan], observation: ArrayLike) -> list[Explanation]:
    """Explain one plan after the other, each from the state in which the path of the one before ends."""
    explanations: list[Explanation] = []
    state = start = numbers_of(observation, "An observation", np.float32)
    for i, stage in enumerate(stages):
        parts = imagined(stages, i, state, start)
        answer = stage.explain(shown(stages, parts, state, start))
        explanations.append(replace(answer, imagined=tuple(stages[part].objective.name for part in parts)))
        state = shown(stages, parts, stage.graph.states[answer.path[-1]], state)
    return explanations


def next_stage(objectives: Sequence[Objective], stage: int, state: Float32s) -> int:
    """Return whose turn it is: objectives that are reached in this state are passed, in order."""
    while stage < len(objectives) and objectives[stage].distance is not None:
        if not objectives[stage].reached(state[None])[0]:
            break
        stage += 1
    return stage
