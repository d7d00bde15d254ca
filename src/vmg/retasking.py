"""A new task for a run: what it is, whether and how it can be done, and how well it is done. Nothing is trained again.

RUN/retask/NAME.json     what was asked, the answers, the scores        RUN/evaluations/     every episode, as it ended
"""

import re
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from vmg import runs
from vmg.act.errands import Errand, judged
from vmg.act.evaluation import Actor, Scores
from vmg.act.policy import Policy
from vmg.act.retask import Explanation, Prospect, want
from vmg.act.tasks import Task
from vmg.agent import Agent, versions
from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.files import write_json
from vmg.graph import GoalKind
from vmg.runs import Run, Trial
from vmg.statistics import bootstrap_interval
from vmg.types import Float32s
from vmg.wishes import Wish, by_file

RANDOM = "random"
TIMED = 20
"""Calls that the time to the first action is the median of."""

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is wanted, and how it is tried."""

    reward: str | None = None
    """A reward, FILE.py:FUNCTION: a function of (o_t, a_t, o_{t+1}) on whole arrays, a row a step. The file is run."""
    goal: tuple[str, ...] = ()
    """A place, position=1,2.5, or a region, position=0..1,2..3, in a named part of the state. Several: one after the
    other in one episode. `random`: another one in every episode, drawn by the environment."""
    task: tuple[str, ...] = ()
    """Skills that the task knows by name, all of them at once: "top burner"."""
    tolerance: float | None = None
    """How near a place counts as there; None: as near as goals named by the environment must be."""
    kind: GoalKind | None = None
    """Reach it and be done, or stay there; None: stay for skills, so that a motion is followed through, else reach."""
    seeds: tuple[int, ...] = ()
    """Agents of the run to ask, by seed; none: all."""
    episodes: int = 20
    """Episodes to try it in, for each agent; 0: only answer."""
    first_seed: int = 0
    """Seed of the first episode."""
    workers: int | None = None
    """Processes; None: one a core."""

    @property
    def goal_kind(self) -> GoalKind:
        return self.kind or ("stay" if self.task else "reach")


@dataclass(frozen=True)
class Retasked:
    """What came of a request."""

    content: dict[str, Any]
    """All of it, as in the file."""
    scores: tuple[Scores, ...]
    """An agent each; none where it was only asked."""
    file: Path


@dataclass(frozen=True)
class _Attempt:
    """One agent's answers, and how they are tried."""

    answers: dict[str, Any]
    actor: Actor
    task: Task


def retask(run: Run, request: Request, tell: Tell) -> Retasked:
    """Answer for each agent, telling so in sentences, then try it in the environment."""
    if sum(map(bool, (request.reward, request.goal, request.task))) != 1:
        raise VMGError("Say what is wanted in one way: --reward FILE.py:FUNCTION, --goal FIELD=NUMBERS or --task NAME.")
    if request.tolerance is not None and request.goal in ((), (RANDOM,)):
        raise VMGError("A tolerance says how near a place counts as there: give it with --goal FIELD=NUMBERS.")
    task = run.find_task()
    agents = {seed: Agent.load(run.agent_folder(seed)) for seed in _seeds(run, request)}
    if request.goal == (RANDOM,):
        name, words = "random-goals", "a goal anywhere, another one in every episode"
        attempts = {seed: _random_goals(agent, task, request, tell) for seed, agent in agents.items()}
    else:
        wishes, episodes = _wishes(task, request), run.episodes()[0]
        name, words = _name(wishes, request.goal_kind, episodes), ", then ".join(wish.words for wish in wishes)
        attempts = {seed: _answer(agent, episodes, wishes, task, request, tell) for seed, agent in agents.items()}
    scores = [_tried(run, name, agents[seed], attempt, request) for seed, attempt in attempts.items()]
    found = tuple(each for each in scores if each)
    content = {
        "task": task.name,
        "wanted": words,
        "kind": request.goal_kind,
        "protocol": next(iter(attempts.values())).task.protocol,
        "data": run.data,
        "checkpoint": "last",
        "summary": _summary(found) if found else None,
        "agents": [attempt.answers for attempt in attempts.values()],
        "settings": run.config.to_dict(),
        "command": shlex.join(["vmg", *sys.argv[1:]]) if Path(sys.argv[0]).name == "vmg" else "vmg.retasking",
        "versions": versions(),
    }
    file = run.folder / "retask" / f"{name}.json"
    write_json(file, content)
    return Retasked(content, found, file)


# --- what is wanted ---------------------------------------------------------------------------------------------------


def _wishes(task: Task, request: Request) -> list[Wish]:
    if request.reward:
        return [by_file(request.reward)]
    if request.task:
        return [task.asked_for(request.task)[0]]
    return [task.wish(goal, tolerance=request.tolerance) for goal in request.goal]


def _name(wishes: Sequence[Wish], kind: GoalKind, episodes: Episodes) -> str:
    """Name a request by its words and by what it pays, so that a file that has changed is another request."""
    content = sha256(kind.encode())
    for wish in wishes:
        content.update(wish.pays(episodes).tobytes())
    words = re.sub(r"[^\w.]+", "-", " then ".join(wish.words for wish in wishes)).strip("-.")
    return f"{words[:60]}-{content.hexdigest()[:8]}"


def _seeds(run: Run, request: Request) -> tuple[int, ...]:
    if unknown := [seed for seed in request.seeds if seed not in run.seeds]:
        raise VMGError(f"{run.folder} has no agent of seed {unknown[0]}. It has: {', '.join(map(str, run.seeds))}.")
    return request.seeds or run.seeds


# --- answers ----------------------------------------------------------------------------------------------------------


def _answer(
    agent: Agent, episodes: Episodes, wishes: Sequence[Wish], task: Task, request: Request, tell: Tell
) -> _Attempt:
    """Solve for the wishes, and say from a start of the environment what can be done."""
    kind = request.goal_kind
    prospects = [want(agent, episodes, wish, kind=kind) for wish in wishes]
    tried_in = _asked(task, request.task) if request.task else judged(task, prospects)
    start = task.state_of(_first_observation(tried_in, request.first_seed))
    milliseconds = _timed(lambda _: want(agent, episodes, wishes[0], kind=kind).policy().act(start))
    explanations = _explained(prospects, start)
    tell(f"Agent of seed {agent.seed}, solved to its first action in {milliseconds:.0f} ms (median of {TIMED}).")
    for turn, (prospect, explanation) in enumerate(zip(prospects, explanations, strict=True)):
        tell(prospect.in_words())
        beginning = f"a start of {task.name} (seed {request.first_seed})" if turn == 0 else "there"
        tell(f"From {beginning}: {explanation}")
    answers = {
        "seed": agent.seed,
        "vertices": agent.built.n_vertices,
        "first_action_ms": milliseconds,
        "prospects": [_facts(prospect) for prospect in prospects],
        "from_a_start": [explanation.to_dict() for explanation in explanations],
    }
    return _Attempt(answers, Errand(prospects), tried_in)


def _asked(task: Task, skills: tuple[str, ...]) -> Task:
    _, asked = task.asked_for(skills)
    return replace(asked, protocol=f"{asked.protocol} Judged by the environment's own check.")


def _random_goals(agent: Agent, task: Task, request: Request, tell: Tell) -> _Attempt:
    """Solve for the goals that the environment draws."""
    if agent.config.goal is None:
        raise VMGError(f"The environment of {task.name} names no goals, so there are none to draw. Say one: --goal ...")
    limit = f" in {task.horizon} steps" if task.horizon else ""
    tried_in = replace(
        task,
        name=f"{task.name}: random goals",
        begin=None,
        protocol="Start and goal anywhere, drawn by the environment in each episode; reached within "
        f"{agent.config.goal.tolerance:g}{limit} counts.",
    )
    with closing(tried_in.make()) as env:
        firsts = [env.reset(seed=request.first_seed + i)[0] for i in range(TIMED)]
    policy = Policy(agent)

    def begin(i: int) -> None:
        policy.begin(firsts[i])
        policy.act(tried_in.state_of(firsts[i]))

    milliseconds = _timed(begin)
    tell(f"Agent of seed {agent.seed}: a new goal to its first action in {milliseconds:.0f} ms (median of {TIMED}).")
    answers = {"seed": agent.seed, "vertices": agent.built.n_vertices, "first_action_ms": milliseconds}
    return _Attempt(answers, policy, tried_in)


def _timed(call: Callable[[int], Any]) -> float:
    """Median milliseconds of a call, warm."""
    call(0)
    taken = []
    for i in range(TIMED):
        begun = time.perf_counter()
        call(i)
        taken.append(1000 * (time.perf_counter() - begun))
    return float(np.median(taken))


def _first_observation(task: Task, seed: int) -> Any:
    with closing(task.make()) as env:
        return env.reset(seed=seed, options=dict(task.begin(seed)) if task.begin else None)[0]


def _explained(prospects: Sequence[Prospect], start: Float32s) -> list[Explanation]:
    """Explain one wish after the other, each from the state in which the path of the one before ends."""
    explanations = []
    for prospect in prospects:
        explanations.append(prospect.explain(start))
        start = prospect.agent.built.states[explanations[-1].path[-1]]
    return explanations


def _facts(prospect: Prospect) -> dict[str, Any]:
    return {
        "wanted": prospect.wish.words,
        "rewarded_steps": prospect.paid_steps,
        "reaching_vertices": int(prospect.reaching.sum()),
        "known": prospect.known,
        "distance": prospect.distance,
    }


# --- trying it --------------------------------------------------------------------------------------------------------


def _tried(run: Run, name: str, agent: Agent, attempt: _Attempt, request: Request) -> Scores | None:
    """Evaluate, unless only answers are wanted; called again, it runs only the episodes that are missing."""
    if request.episodes == 0:
        return None
    task = replace(attempt.task, name=f"{run.find_task().name}: {name}")
    trial = Trial(episodes=request.episodes, first_seed=request.first_seed, workers=request.workers)
    settings = agent.config.to_dict() | {"wanted": name}
    scores = runs.evaluated_as(run, task, "VMG", agent.seed, settings, attempt.actor, trial)
    scores = replace(scores, task=attempt.task.name)
    attempt.answers["scores"] = scores.to_dict()
    return scores


def _summary(scores: Sequence[Scores]) -> dict[str, Any]:
    success = [each.success_rate for each in scores if each.success_rate is not None]
    return {
        "score": float(np.mean([each.score for each in scores])),
        "interval": list(bootstrap_interval([each.normalised for each in scores])),
        "success_rate": float(np.mean(success)) if success else None,
        "mean_return": float(np.mean([each.mean_return for each in scores])),
        "mean_steps": float(np.mean([e.steps for each in scores for e in each.episodes])),
    }
