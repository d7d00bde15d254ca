"""Several goals at once that no recorded state fulfils: a plan that finds their order, keeps to it and finds another.

Before acting it says the order; while acting it looks again whenever a part is done, undone, or takes too long.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vmg.act.body import Body, NeedsEpisodesError, Recorded
from vmg.act.explanation import Explanation
from vmg.act.imagining import MOST_PARTS, bits, subsets
from vmg.act.likeness import Likeness, likeness
from vmg.act.ordering import Ordering, Stage, Tried
from vmg.act.plan import Plan, make_plan
from vmg.act.policy import Decisions, Policy
from vmg.act.progress import planned_steps
from vmg.act.rules import RecordedPart, keeping_off, restricted
from vmg.act.settings import ActConfig
from vmg.base.arguments import checked, numbers_of
from vmg.base.errors import VMGError
from vmg.base.types import Bools, Float32s, Float64s
from vmg.data.counting import counted
from vmg.goals.combinations import all_of
from vmg.goals.objectives import Conjunction, Objective
from vmg.networks.encoder import embed

PATIENCE, LONGER = 25, 1.5
"""A stage may take so many steps, and so many times as many as recorded, before something else is tried."""
STARTS = 20
"""Recorded starts from which an order is looked for, about."""
UNDONE_AFTER = 5
"""Steps for which a part must not be fulfilled before it counts as undone."""
KEPT = 8
"""Plans of stages that are kept for later episodes."""


@dataclass(frozen=True, eq=False)
class ConjunctionPlan:
    """All of several objectives, in an order that it finds from the state at hand."""

    objective: Conjunction
    body: Body = field(repr=False)
    recorded: Recorded = field(repr=False)
    ordering: Ordering = field(repr=False)
    start: Float32s = field(repr=False)
    """The state from which `stages` are; see `starting_at`."""

    @property
    def stages(self) -> tuple[Plan, ...]:
        """The plans that are followed one after the other from the start, as far as recorded ways lead."""
        return tuple(plan for _, plan, _ in self._found)

    @property
    def order(self) -> tuple[Objective, ...]:
        """The objectives in the order found."""
        return tuple(stage.objective for stage in self.stages)

    @property
    def parts(self) -> tuple[Objective, ...]:
        """The objectives wanted at once."""
        return self.objective.parts

    def starting_at(self, observation: ArrayLike) -> "ConjunctionPlan":
        """Return the same plan with the stages from another state."""
        start = _one(observation)
        if start.shape != self.start.shape or not np.isfinite(start).all():
            raise VMGError(f"An observation of this agent is {len(self.start)} finite numbers, not {start.tolist()}.")
        return replace(self, start=start)

    @checked
    def policy(self, settings: ActConfig | None = None) -> "ConjunctionPolicy":
        """Return a policy that finds the order from the state it begins in, and finds another when one fails."""
        return ConjunctionPolicy(self, settings)

    def explain(self, observation: ArrayLike) -> list[Explanation]:
        """Explain one stage after the other, each from the state in which the one before is expected to end."""
        return [explanation for _, _, explanation in self.starting_at(observation)._found]

    def in_words(self) -> str:
        """Say the order, why it is that one, and what each stage is for."""
        begun = self.ordering.done_in(self.start)
        done = f" {self._names(begun)} is done already." if begun else ""
        stages = [stage for stage, _, _ in self._found]
        order = ", then ".join(self._names(stage.gain) for stage in stages)
        steps = sum(explanation.steps for _, _, explanation in self._found)
        found = f" The order found: {order}; about {counted(round(steps), 'recorded step')}."
        why = self._others() if stages and stages[0].complete else f" {self._missing()}"
        if begun == self.ordering.all_done:
            done, why = "", f" {self._nothing_left}"
        text = f"{self._opening}{done}{found if stages else ''}{why}"
        return "\n".join([text, *(self._stage_in_words(stage, answer.steps) for stage, _, answer in self._found)])

    __str__ = in_words

    @cached_property
    def _found(self) -> list[tuple[Stage, Plan, Explanation]]:
        """The stages from the start, each with its plan and its explanation."""
        found: list[tuple[Stage, Plan, Explanation]] = []
        state, done, imagined = self.start, self.ordering.done_in(self.start), 0
        while done != self.ordering.all_done:
            stage = self.ordering.next_stage(state, self.start, done, imagined)
            if stage is None:
                break
            plan, seen = self.plan_of(stage), self.ordering.imagine(state, stage.imagined, self.start)
            found.append((stage, plan, plan.explain(seen)))
            state, done, imagined = self.ordering.state_after(stage), done | stage.gain, stage.imagined
        return found

    def plan_of(self, stage: Stage) -> Plan:
        """Return the plan of a stage: the graph without what it must not use, solved for what comes next."""
        left_out, steps, goals = self.ordering.accepted(stage)
        body, recorded = restricted(self.body, self.recorded, left_out, steps)
        parts = [replace(self.parts[part], kind="reach", penalties=(), avoided=()) for part in bits(stage.gain)]
        objective = parts[0] if len(parts) == 1 else all_of(parts)
        ending = _Ending(recorded.graph, recorded.episodes, recorded.left_out, None, goals)
        plan = make_plan(body, replace(objective, penalties=self.objective.penalties), ending)
        return self._keeping_off(plan)

    @checked
    def plan_freely(self, part: int) -> Plan:
        """Return the plan for one part, whatever becomes of the others."""
        if part not in range(len(self.parts)):
            raise VMGError(f"There are the parts 0 to {len(self.parts) - 1}, but not {part}.")
        objective = replace(self.parts[part], kind="reach", penalties=(), avoided=())
        return self._keeping_off(make_plan(self.body, objective, self.recorded))

    def plan_kept(self) -> Plan:
        """Return the plan to stay where all is done, with all of it as far as anything recorded has all."""
        whole = all_of([replace(part, kind="reach", penalties=(), avoided=()) for part in self.parts])
        if not np.isfinite(self.recorded.distances(whole)).any():
            return self.plan_freely(0)
        return self._keeping_off(make_plan(self.body, whole, self.recorded))

    def _keeping_off(self, plan: Plan) -> Plan:
        """What is to be avoided is left out of the graph already; who follows the plan has to know of it, too."""
        return replace(plan, objective=replace(plan.objective, avoided=self.objective.avoided))

    @property
    def _opening(self) -> str:
        n = len(self.parts)
        why = "An order is asked for." if self.ordering.before else f"No recorded state has all {n} at once."
        many = f" More than {MOST_PARTS} are not weighed in every order: the one done soonest comes next."
        return f"Task: {self.objective.name}. {why}{many if n > MOST_PARTS else ''}"

    def _others(self) -> str:
        """Say what the order costs, and what beginning with another part would cost."""
        first, words = self._found[0][0], []
        masks = [mask for size in range(first.done.bit_count() + 1) for mask in subsets(first.done, size)]
        for part in bits(self.ordering.all_done & ~first.done & ~first.gain):
            others = frozenset((mask, gain) for mask in masks for gain in self.ordering.gains if gain != 1 << part)
            stage = self.ordering.next_stage(self.start, self.start, first.done, 0, others)
            cost = f"{stage.left:.0f}" if stage and stage.complete else "no recorded way to all"
            words.append(f"{self.parts[part].name}: {cost}")
        others_cost = f"; beginning with another: {', '.join(words)}" if words else ""
        return f" It costs {first.left:.0f} steps, with what changing between recordings costs{others_cost}."

    def _stage_in_words(self, stage: Stage, steps: float) -> str:
        kept = f", with {self._names(stage.done)} done" if stage.done else ""
        shown = self.ordering.evidence(stage)
        text = f"{self._names(stage.gain)}{kept}: about {counted(round(steps), 'step')}, as "
        text += f"{counted(shown, 'recorded episode')} {'shows' if shown == 1 else 'show'} it"
        if stage.imagined:
            text += f" with {self._names(stage.imagined)} not done and not moved; the policy sees it like that"
        return f"{text}."

    @property
    def _nothing_left(self) -> str:
        """Say that all holds at the start, and what becomes of an order that was asked for."""
        later = " and ".join(dict.fromkeys(self.parts[second].name for _, second in self.ordering.before))
        anew = f" An evaluation counts {later} once it is reached anew, after what comes before it." if later else ""
        return f"All of it holds already: nothing is left to do, and the policy stays there.{anew}"

    def _missing(self) -> str:
        done = self._found[-1][0].done | self._found[-1][0].gain if self._found else self.ordering.done_in(self.start)
        rest = self._names(self.ordering.all_done & ~done)
        after = f" once {self._names(done)} is done" if done else ""
        return (
            f"No recorded way from here does {rest}{after} and leaves done what is done. "
            "The policy tries one after the other all the same."
        )

    def _names(self, mask: int) -> str:
        return " and ".join(self.parts[part].name for part in bits(mask))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is found again, and the episodes where the graph keeps all that acting needs of them."""
        content = {name: value for name, value in self.__dict__.items() if name != "_found"}
        if self.body.graph.recordings and not self.objective.penalties:
            content["recorded"] = replace(self.recorded, episodes=None)
        return content


class ConjunctionPolicy:
    """Follows stage after stage; looks for the next one when a part is done or undone, or a stage takes too long."""

    def __init__(self, plan: ConjunctionPlan, settings: ActConfig | None = None) -> None:
        self.plan, self._settings = plan, settings
        self._plans: dict[tuple[int, ...], Plan] = {}
        self.begin()

    def begin(self, observation: Any = None, objective: Objective | None = None) -> None:
        """Start an episode."""
        self._observation = observation
        self._start: Float32s = np.zeros(0, np.float32)
        self._stage: Stage | None = None
        self._policy: Policy | None = None
        self._done, self._missed, self._taken = 0, np.zeros(len(self.plan.parts), int), 0
        self._planned = 0.0
        self._tried: Tried = frozenset()

    def act(self, state: Float32s) -> Float32s:
        """Return the action in this state, towards the part that comes next."""
        policy, seen = self._turn(_one(state))
        return policy.act(seen)

    def decide(self, state: Float32s) -> Decisions:
        """Return the same action with its reasons."""
        policy, seen = self._turn(_one(state))
        return policy.decide(seen)

    def _turn(self, state: Float32s) -> tuple[Policy, Float32s]:
        """Return the policy of the part that comes next, and the state as it is shown to it."""
        if self._policy is None:
            self._start = state
        done = self._done_now(state)
        policy = self._policy
        if policy is None or (done != self._done and done != self.plan.ordering.all_done):
            self._done, self._tried = done, frozenset()
            policy = self._look_again(state)
        elif self._stage and self._taken > LONGER * self._planned + PATIENCE:
            self._tried |= {(self._stage.imagined, self._stage.gain)}
            policy = self._look_again(state)
        self._taken += 1
        return policy, self.plan.ordering.imagine(state, self._imagined, self._start)

    def likeness(self, states: Float32s) -> Likeness:
        """Say how much an episode's states are like what was recorded."""
        return likeness(self.plan.body.graph, embed(self.plan.body.weights, states))

    def _done_now(self, state: Float32s) -> int:
        """The parts that are done: reached now, or a moment ago."""
        seen = self.plan.ordering.done_in(state)
        for part in range(len(self.plan.parts)):
            self._missed[part] = 0 if seen >> part & 1 else self._missed[part] + 1
        lately = sum(1 << part for part in bits(self._done) if self._missed[part] < UNDONE_AFTER)
        return seen | lately

    @property
    def _imagined(self) -> int:
        return self._stage.imagined if self._stage else 0

    def _look_again(self, state: Float32s) -> Policy:
        """Find the next stage, of those not tried in vain; where all were, all are tried again."""
        known = (state, self._start, self._done, self._imagined)
        stage = self.plan.ordering.next_stage(*known, self._tried)
        if stage is None and self._tried:
            self._tried = frozenset()
            stage = self.plan.ordering.next_stage(*known)
        self._stage, self._taken = stage, 0
        plan = self._plan_for(stage)
        self._planned = planned_steps(plan, self.plan.ordering.imagine(state, self._imagined, self._start))
        self._policy = plan.policy(self._settings)
        self._policy.begin(self._observation)
        return self._policy

    def _plan_for(self, stage: Stage | None) -> Plan:
        if stage is None and self._done == self.plan.ordering.all_done:
            return self.plan.plan_kept()
        if stage is None:
            return self.plan.plan_freely(self.plan.ordering.first_open(self._done))
        way = (stage.done, stage.imagined, stage.gain, stage.end)  # its costs differ from state to state
        if way not in self._plans:
            if len(self._plans) == KEPT:
                self._plans.pop(next(iter(self._plans)))
            self._plans[way] = self.plan.plan_of(stage)
        return self._plans[way]


def make_conjunction(body: Body, objective: Conjunction, recorded: Recorded) -> Plan | ConjunctionPlan:
    """Plan for several objectives at once: for a recorded state that fulfils all or, if there is none, in an order.

    Where no order is possible either, the nearest recorded state stands for all, as for any goal.
    """
    distances = recorded.distances(objective)
    if not objective.before and (distances <= objective.tolerance).any():
        whole = make_plan(body, objective, recorded)
        if whole.entered:
            return whole
    found = _in_an_order(body, objective, recorded)
    if objective.before or found.ordering.leads_to_all(found.start) or not np.isfinite(distances).any():
        return found
    return make_plan(body, objective, recorded)


def _in_an_order(body: Body, objective: Conjunction, recorded: Recorded) -> ConjunctionPlan:
    body = body.not_looking  # an order imagines what nobody saw
    if objective.avoided:
        body, recorded = keeping_off(body, recorded, objective.avoided)
    observations = recorded.observations
    if observations is None:
        raise NeedsEpisodesError(
            f"To find an order for {objective.name!r} takes the recorded observations, which a saved agent does not "
            "keep: give the episodes the graph was built from, agent.plan(objective, episodes)."
        )
    ordering = Ordering(body, recorded, objective)
    firsts = np.cumsum(body.graph.lengths + 1) - (body.graph.lengths + 1)
    starts = observations[firsts[:: 1 + len(firsts) // STARTS]]
    start = next((each for each in starts if ordering.leads_to_all(each)), starts[0])
    return ConjunctionPlan(objective, body, recorded, ordering, start)


@dataclass(frozen=True, eq=False)
class _Ending(RecordedPart):
    """The recorded episodes, of which some observations alone count as having reached what is wanted."""

    goals: Bools = field(default_factory=lambda: np.zeros(0, bool), repr=False)

    def distances(self, objective: Objective) -> Float64s:
        """Say how far each recorded observation is from an objective."""
        return np.where(self.goals, super().distances(objective), np.inf)


def _one(observation: ArrayLike) -> Float32s:
    state = numbers_of(observation, "An observation", np.float32)
    if state.ndim != 1:
        raise VMGError(f"A conjunction is followed in one episode at a time, not in an array of shape {state.shape}.")
    return state
