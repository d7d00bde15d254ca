"""A new task for a run: what it is, whether and how it can be done, and how well it is done. Nothing is trained again.

RUN/retask/NAME.json     what was asked, the answers, the scores        RUN/evaluations/     every episode, as it ended
"""

import re
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from tyro.conf import arg

from vmg.act.explanation import Explanation
from vmg.act.plan import Plan
from vmg.act.sequence import SequencePlan, explain_stages
from vmg.agent.agent import Agent
from vmg.base.errors import VMGError
from vmg.base.files import write_json
from vmg.base.versions import versions
from vmg.data.episodes import Episodes
from vmg.envs import Task
from vmg.evaluation import Actor, Scores, Summary, scored_by
from vmg.goals import Objective, Stages, in_order, reward_file
from vmg.graph.settings import GoalKind
from vmg.runs.commands import command
from vmg.runs.notes import Measured, Trial
from vmg.runs.run import Run

RANDOM = "random"
TIMED = 20
"""Calls that the time to the first action is the median of."""

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Request(Trial):
    """What is wanted, and how it is tried."""

    reward: str | None = None
    """A reward, FILE.py:FUNCTION: a function of (o_t, a_t, o_{t+1}) on whole arrays, one row per step. The file is
    run."""
    goal: tuple[str, ...] = ()
    """A place, position=1,2.5, or a region, position=0..1,2..3, in a named field of the state. Several: one after the
    other in one episode. `random`: another one in every episode, drawn by the environment."""
    skill: tuple[str, ...] = ()
    """Skills that the task knows by name, all of them at once: "top burner"."""
    tolerance: float | None = None
    """How near counts as reached; None: as near as goals named by the environment must be."""
    kind: GoalKind | None = None
    """Reach it and be done, or stay there; None: stay for skills, so that a motion is followed through, else reach."""
    agents: Annotated[tuple[int, ...], arg(name="seeds")] = ()
    """Agents of the run to ask, by seed; none: all."""
    n_episodes: Annotated[int, arg(name="episodes")] = 20
    """Episodes to try it in, for each agent; 0: only answer."""

    @property
    def goal_kind(self) -> GoalKind:
        return self.kind or ("stay" if self.skill else "reach")


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

    answers: dict[str, Any]
    actor: Actor
    task: Task


def retask(run: Run, request: Request, tell: Tell) -> Retasked:
    """Answer for each agent, telling so in sentences, then try it in the environment."""
    _check(request)
    task = run.find_task()
    agents = {seed: run.agent(seed) for seed in _seeds(run, request)}
    if request.goal == (RANDOM,):
        name, words = "random-goals", "a goal anywhere, another one in every episode"
        attempts = {seed: _random_goals(agent, task, request, tell) for seed, agent in agents.items()}
    else:
        objective, episodes = _objective(task, request), run.episodes()[0]
        name, words = _name(objective, request.goal_kind, episodes), objective.name
        attempts = {seed: _answer(agent, episodes, objective, task, request, tell) for seed, agent in agents.items()}
    scores = [_tried(run, name, agents[seed], attempt, request) for seed, attempt in attempts.items()]
    found = tuple(each for each in scores if each)
    content = {
        "task": task.name,
        "wanted": words,
        "kind": request.goal_kind,
        "protocol": next(iter(attempts.values())).task.protocol,
        "data": run.data,
        "checkpoint": "last",
        "summary": Summary.of(found).to_dict() if found else None,
        "agents": [attempt.answers for attempt in attempts.values()],
        "settings": run.config.to_dict(),
        "command": command(["retask", str(run.folder)], request),
        "versions": versions(),
    }
    file = run.folder / "retask" / f"{name}.json"
    write_json(file, content)
    return Retasked(content, found, file)


def _check(request: Request) -> None:
    if sum(map(bool, (request.reward, request.goal, request.skill))) != 1:
        raise VMGError("Say one thing that is wanted: --reward FILE.py:FUNCTION, --goal FIELD=NUMBERS or --skill NAME.")
    if request.tolerance is not None and request.goal in ((), (RANDOM,)):
        raise VMGError("A tolerance says how near a place counts as reached: give it with --goal FIELD=NUMBERS.")


def _objective(task: Task, request: Request) -> Objective | Stages:
    if request.reward:
        return reward_file(request.reward)
    if request.skill:
        objectives = [task.asked_for(request.skill)[0]]
    else:
        objectives = [task.objective(goal, tolerance=request.tolerance) for goal in request.goal]
    objectives = [replace(each, kind=request.goal_kind) for each in objectives]
    return objectives[0] if len(objectives) == 1 else in_order(objectives)


def _name(objective: Objective | Stages, kind: GoalKind, episodes: Episodes) -> str:
    """Name a request by its words and by what it pays, so that a file that has changed is another request."""
    content = sha256(kind.encode())
    stages = objective.stages if isinstance(objective, Stages) else (objective,)
    for stage in stages:
        content.update(stage.step_rewards(episodes).tobytes())
    words = re.sub(r"[^\w.]+", "-", " then ".join(stage.name for stage in stages)).strip("-.")
    return f"{words[:60]}-{content.hexdigest()[:8]}"


def _seeds(run: Run, request: Request) -> tuple[int, ...]:
    if unknown := [seed for seed in request.agents if seed not in run.seeds]:
        raise VMGError(f"{run.folder} has no agent of seed {unknown[0]}. It has: {', '.join(map(str, run.seeds))}.")
    return request.agents or run.seeds


# --- answers ----------------------------------------------------------------------------------------------------------


def _answer(
    agent: Agent, episodes: Episodes, objective: Objective | Stages, task: Task, request: Request, tell: Tell
) -> _Attempt:
    """Plan for the objective, and say from a start of the environment what can be done."""
    plan: Plan | SequencePlan = agent.plan(objective, episodes)
    tried_in = _asked(task, request.skill) if request.skill else scored_by(task, plan)
    start = task.state_of(_first_observation(tried_in, request.first_seed))
    first = plan.stages[0].objective
    milliseconds = _timed(lambda _: agent.plan(first, episodes).policy().act(start))
    explanations = explain_stages(plan.stages, start)
    tell(f"Agent of seed {agent.seed}, solved to its first action in {milliseconds:.0f} ms (median of {TIMED}).")
    for number, (stage, explanation) in enumerate(zip(plan.stages, explanations, strict=True)):
        tell(stage.in_words())
        beginning = f"a start of {task.name} (seed {request.first_seed})" if number == 0 else "there"
        tell(f"From {beginning}: {explanation}")
    answers = _answers(agent, milliseconds, plan.stages, explanations)
    return _Attempt(answers, plan.policy(), tried_in)


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


def _asked(task: Task, skills: tuple[str, ...]) -> Task:
    _, asked = task.asked_for(skills)
    return replace(asked, protocol=f"{asked.protocol} Scored by the environment's own check.")


def _random_goals(agent: Agent, task: Task, request: Request, tell: Tell) -> _Attempt:
    """Plan for the goals that the environment draws."""
    if task.goal is None:
        raise VMGError(f"The environment of {task.name} names no goals, so there are none to draw. Say one: --goal ...")
    limit = f" in {task.horizon} steps" if task.horizon else ""
    tried_in = replace(
        task,
        name=f"{task.name}: random goals",
        begin=None,
        protocol="Start and goal anywhere, drawn by the environment in each episode; reached within "
        f"{task.goal.tolerance:g}{limit} counts.",
    )
    with closing(tried_in.make()) as env:
        firsts = [env.reset(seed=request.first_seed + i)[0] for i in range(TIMED)]
    policy = agent.policy()

    def begin(i: int) -> None:
        policy.begin(firsts[i], tried_in.objective_of(firsts[i]))
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


# --- trying it --------------------------------------------------------------------------------------------------------


def _tried(run: Run, name: str, agent: Agent, attempt: _Attempt, request: Request) -> Scores | None:
    """Evaluate, unless only answers are wanted; called again, it runs only the episodes that are missing."""
    if request.n_episodes == 0:
        return None
    task = replace(attempt.task, name=f"{run.find_task().name}: {name}")
    settings = agent.config.to_dict() | {"wanted": name}
    scores = Measured(run, task, "VMG", agent.seed, settings).scores(attempt.actor, request)
    scores = replace(scores, task=attempt.task.name)
    attempt.answers["scores"] = scores.to_dict()
    return scores
