"""A new task for a run: whether and how it can be done, and how well it is done. Nothing is trained again.

RUN/retask/NAME.json     what was asked, the answers, the scores        RUN/evaluations/     every episode, as it ended

Answers come from what the agents keep. The data are loaded only for what these do not know: rewards by a function, and
goals in columns that are not kept. The environment is made only where the task is tried.
"""

import json
import re
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from vmg.act.body import NeedsEpisodesError
from vmg.act.conjunction import ConjunctionPlan
from vmg.act.explanation import Explanation
from vmg.act.plan import Plan
from vmg.act.sequence import SequencePlan, explain_stages
from vmg.agent.agent import Agent
from vmg.base.errors import VMGError
from vmg.base.files import write_json
from vmg.base.types import Float32s
from vmg.base.versions import versions
from vmg.data.episodes import Episodes
from vmg.envs import Task
from vmg.evaluation import Actor, Scores, Summary, scored_by
from vmg.goals.objectives import Objective, Stages
from vmg.graph import MemoryGraph
from vmg.runs.commands import command
from vmg.runs.notes import Measured, noted_with_more
from vmg.runs.remarks import on_avoided, on_endings, on_likeness, on_penalty, pays_nothing
from vmg.runs.requests import (
    RECORDED,
    Reading,
    Request,
    Tell,
    check,
    in_options,
    in_task,
    names_vertices,
    without_avoided_edges,
)
from vmg.runs.run import Run, alone

TIMED, TIMED_TOGETHER = 20, 3
"""Calls that the time to the first action is the median of; fewer where an order of goals is found in each."""

PAID_ITSELF = "Scored by what the environment itself pays: the recorded rewards are known of recorded steps alone."

AnyPlan: TypeAlias = Plan | SequencePlan | ConjunctionPlan


@dataclass(frozen=True)
class Retasked:
    """What came of a request."""

    content: dict[str, Any]
    """All of it, as in the file."""
    scores: tuple[Scores, ...]
    """One per agent; none where it was only asked."""
    file: Path


@dataclass(frozen=True)
class _Attempt:
    """One agent's answers, and how they are tried."""

    name: str
    answers: dict[str, Any]
    actor: Actor
    task: Task | None
    """None: only asked."""


@alone
def retask(run: Run, request: Request, tell: Tell) -> Retasked:
    """Answer for each agent, telling so in sentences, then try it in the environment."""
    check(request)
    agents = {seed: without_avoided_edges(run.agent(seed), request) for seed in _seeds(run, request)}
    asked = _Asked(run, request, tell)
    objective = None if request.is_random else asked.objective(next(iter(agents.values())))
    attempts = {
        seed: asked.answer(agent, objective) if objective else asked.random_goals(agent)
        for seed, agent in agents.items()
    }
    scores = [_tried(run, agents[seed], attempt, request) for seed, attempt in attempts.items()]
    found, first = tuple(each for each in scores if each), next(iter(attempts.values()))
    for agent, each in zip(agents.values(), found, strict=False):
        endings = on_endings(each, asked.task) if asked.task and not request.skill else []
        for sentence in (*on_likeness(each, agent.built), *endings, *on_avoided(each), *on_penalty(each)):
            tell(sentence)
    content = {
        "task": asked.task.name if asked.task else None,
        "wanted": objective.name if objective else "a goal drawn by the environment, another one in every episode",
        "kind": request.goal_kind,
        "protocol": first.task.protocol if first.task else asked.why_untried,
        "data": run.all_data,
        "checkpoint": "last",
        "summary": Summary.of(found).to_dict() if found else None,
        "agents": [attempt.answers for attempt in attempts.values()],
        "settings": run.config.to_dict(),
        "command": command(["retask", str(run.folder)], request),
        "versions": versions(),
    }
    file = run.folder / "retask" / f"{first.name}.json"
    if kept := noted_with_more(file, content):
        tell(kept)
    else:
        write_json(file, content)
    return Retasked(content, found, file)


def _seeds(run: Run, request: Request) -> tuple[int, ...]:
    if unknown := [seed for seed in request.agents if seed not in run.seeds]:
        raise VMGError(f"{run.folder} has no agent of seed {unknown[0]}. It has: {', '.join(map(str, run.seeds))}.")
    seeds = request.agents or run.seeds
    if len(seeds) > 1 and names_vertices(request):
        raise VMGError(f"Vertices have other numbers in each agent's graph: say whose they are, --seeds {seeds[0]}.")
    return seeds


# --- answers ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Asked:
    """A request to a run: what is the same for all its agents, found when it is needed."""

    run: Run
    request: Request
    tell: Tell

    @cached_property
    def task(self) -> Task | None:
        """The task it is tried in; where it is only asked, nothing of it is made."""
        return self._found[0]

    @property
    def why_untried(self) -> str:
        """Why it is not tried."""
        return self._found[1] or "Only asked, not tried."

    @cached_property
    def _found(self) -> tuple[Task | None, str]:
        try:
            return self.run.find_task() if self.request.n_episodes else self.run.named_task(), ""
        except VMGError as error:
            return None, f"It is not tried. {error}"

    @cached_property
    def episodes(self) -> Episodes:
        """The data, loaded once for all agents."""
        return self.run.episodes()[0]

    def objective(self, agent: Agent) -> Objective | Stages:
        """Return what is wanted, in the words of this run."""
        whose = self.task.name if self.task else str(self.run.folder)
        return Reading(agent, self.task, whose).objective(self.request, self.tell)

    def answer(self, agent: Agent, objective: Objective | Stages) -> _Attempt:
        """Plan for the objective, and say from a start what can be done."""
        plan, episodes = self._planned(agent, objective)
        tried_in = self._tried_in(plan)
        start, beginning = self._start(agent.built, tried_in)
        milliseconds, calls = _time_to_act(agent, plan, episodes, start)
        self.tell(
            f"Agent of seed {agent.seed}, solved to its first action in {milliseconds:.0f} ms (median of {calls})."
        )
        if isinstance(plan, ConjunctionPlan):
            plan = plan.starting_at(start)
            explanations = plan.explain(start)
            words = [plan.in_words(), *([""] * (len(explanations) - 1))]
        else:
            explanations = [] if pays_nothing(plan.stages[0]) else explain_stages(plan.stages, start)
            words = [stage.in_words() for stage in plan.stages]
        self._tell_stages(words, explanations, beginning)
        if tried_in is None and self.request.n_episodes:
            self.tell(self.why_untried)
        answers = _answers(agent, milliseconds, plan.stages, explanations)
        return _Attempt(_name(plan, self.request, self.task), answers, plan.policy(), tried_in)

    def _tell_stages(self, words: Sequence[str], explanations: Sequence[Explanation], beginning: str) -> None:
        for number, said in enumerate(words):
            if said:
                self.tell(said)
            if number < len(explanations):
                self.tell(f"From {beginning if number == 0 else 'there'}: {in_options(str(explanations[number]))}")

    def _planned(self, agent: Agent, objective: Objective | Stages) -> tuple[AnyPlan, Episodes | None]:
        """Plan from what the agent keeps, or else with the data; rewards that are tried are scored by the data's."""
        if self.request.reward and self.request.n_episodes:
            return agent.plan(objective, self.episodes), self.episodes
        try:
            return agent.plan(objective), None
        except NeedsEpisodesError:
            return agent.plan(objective, self.episodes), self.episodes

    def _tried_in(self, plan: AnyPlan) -> Task | None:
        if self.task is None or self.request.n_episodes == 0:
            return None
        if self.request.reward == RECORDED:
            return replace(self.task, goal=None, protocol=f"{self.task.protocol} {PAID_ITSELF}".strip())
        return in_task(self.request, self.task) if self.request.skill else scored_by(self.task, plan)

    def _start(self, graph: MemoryGraph, task: Task | None) -> tuple[Float32s, str]:
        """A start of the environment or, where none is made, of a recorded episode; and what it is, in words."""
        seed = self.request.first_seed
        if task is not None and self.task is not None:
            return task.state_of(_first_observation(task, seed)), f"a start of {self.task.name} (seed {seed})"
        episode = seed % len(graph.lengths)
        return _recorded_start(graph, episode), f"the start of recorded episode {episode}"

    def random_goals(self, agent: Agent) -> _Attempt:
        """Plan for the goals that the environment draws."""
        task = self.task
        if task is None or task.goal is None:
            why = f"The environment of {task.name} names no goals" if task else self.why_untried
            raise VMGError(f"{why.removesuffix('.')}, so there are none to draw. Say one: --goal FIELD=NUMBERS.")
        limit = f" in {task.horizon} steps" if task.horizon else ""
        tried_in = replace(
            task,
            name=f"{task.name}: random goals",
            begin=None,
            protocol="Start and goal are drawn by the environment in each episode; reached within "
            f"{task.goal.tolerance:g}{limit} counts.",
        )
        policy, milliseconds = agent.policy(), _time_to_goals(agent, tried_in, self.request.first_seed)
        self.tell(
            f"Agent of seed {agent.seed}: a new goal to its first action in {milliseconds:.0f} ms (median of {TIMED})."
        )
        answers = {"seed": agent.seed, "vertices": agent.built.n_vertices, "first_action_ms": milliseconds}
        return _Attempt("random-goals", answers, policy, tried_in)


def _answers(
    agent: Agent, milliseconds: float, stages: tuple[Plan, ...], explanations: list[Explanation]
) -> dict[str, Any]:
    return {
        "seed": agent.seed,
        "vertices": agent.built.n_vertices,
        "first_action_ms": milliseconds,
        "plans": [
            {
                "wanted": plan.objective.name,
                "rewarded_steps": plan.rewarded_steps,
                "reaching_vertices": int(plan.can_reach.sum()),
                "known": plan.known,
                "distance": plan.distance,
            }
            for plan in stages
        ],
        "from_a_start": [explanation.to_dict() for explanation in explanations],
    }


def _name(plan: AnyPlan, request: Request, task: Task | None) -> str:
    """Name a request by its words, and by all that decides what is asked for: other options, files or data are others.

    Words are cut and rounded, so that they alone would not do.
    """
    together = (plan.objective, *plan.parts) if isinstance(plan, ConjunctionPlan) else ()
    parts = together or tuple(stage.objective for stage in plan.stages)
    recorded = plan.recorded if isinstance(plan, ConjunctionPlan) else plan.stages[0].recorded
    assert recorded is not None  # it was planned here
    content = sha256(json.dumps([request.content, *((task.name, task.horizon) if task else ())]).encode())
    for paying in (*parts, *(each for part in parts for _, each in part.penalties)):
        content.update(paying.tolerance.hex().encode() + recorded.step_rewards(paying).tobytes())
    words = re.sub(r"[^\w.-]+", "_", plan.objective.name).strip("-._")
    return f"{words[:60]}-{content.hexdigest()[:12]}"


def _recorded_start(graph: MemoryGraph, episode: int) -> Float32s:
    """The first observation of an episode or, where the graph does not keep it, the state of its vertex."""
    row = int((graph.lengths[:episode] + 1).sum())
    start: Float32s = graph.recordings.observations[row] if graph.recordings else graph.states[graph.labels[row]]
    return start


def _first_observation(task: Task, seed: int) -> Any:
    with closing(task.make()) as env:
        return env.reset(seed=seed, options=dict(task.begin(seed)) if task.begin else None)[0]


def _time_to_act(agent: Agent, plan: AnyPlan, episodes: Episodes | None, start: Float32s) -> tuple[float, int]:
    """Milliseconds from an objective, the first of several in turn, to the first action; and of how many calls."""
    together = isinstance(plan, ConjunctionPlan)
    objective = plan.objective if isinstance(plan, ConjunctionPlan) else plan.stages[0].objective

    def plan_and_act(_: int) -> None:
        agent.plan(objective, episodes).policy().act(start)

    calls = TIMED_TOGETHER if together else TIMED
    return _timed(plan_and_act, calls), calls


def _time_to_goals(agent: Agent, task: Task, first_seed: int) -> float:
    """Milliseconds from a goal that the environment draws to the first action."""
    with closing(task.make()) as env:
        firsts = [env.reset(seed=first_seed + i)[0] for i in range(TIMED)]
    policy = agent.policy()

    def begin(i: int) -> None:
        policy.begin(firsts[i], task.objective_of(firsts[i]))
        policy.act(task.state_of(firsts[i]))

    return _timed(begin)


def _timed(call: Callable[[int], Any], times: int = TIMED) -> float:
    """Median milliseconds of a call, warm."""
    call(0)
    taken = []
    for i in range(times):
        begun = time.perf_counter()
        call(i)
        taken.append(1000 * (time.perf_counter() - begun))
    return float(np.median(taken))


# --- trying it --------------------------------------------------------------------------------------------------------


def _tried(run: Run, agent: Agent, attempt: _Attempt, request: Request) -> Scores | None:
    """Evaluate, unless only answers are wanted; called again, it runs only the episodes that are missing."""
    if attempt.task is None or request.n_episodes == 0:
        return None
    task = replace(attempt.task, name=f"{run.named_task().name}: {attempt.name}")
    settings = agent.config.to_dict() | {"wanted": attempt.name}
    scores = Measured(run, task, "VMG", agent.seed, settings).scores(attempt.actor, request)
    scores = replace(scores, task=attempt.task.name)
    attempt.answers["scores"] = scores.to_dict()
    return scores
