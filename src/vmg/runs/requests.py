"""Requests for a new task: what is wanted, in the words of the command, and as an objective."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import arg

from vmg.agent.agent import Agent
from vmg.base.errors import VMGError
from vmg.base.types import Float32s
from vmg.data.fields import Fields
from vmg.envs import Task
from vmg.envs.words import GoalWords, read_goal, usual_tolerance
from vmg.goals import (
    Objective,
    Stages,
    all_of,
    any_of,
    in_order,
    in_vertices,
    paid_in_vertices,
    recorded_rewards,
    reward_file,
)
from vmg.goals.combinations import in_circle
from vmg.goals.vertices import WORD as VERTICES
from vmg.goals.vertices import read_pay, read_vertices
from vmg.graph import without_edges
from vmg.graph.settings import GoalKind
from vmg.runs.notes import Trial

RANDOM = "random"
RECORDED = "recorded"
EDGES = "edges="
Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Request(Trial):
    """What is wanted, and how it is tried."""

    reward: str | None = None
    """A reward, FILE.py:FUNCTION: a function of (o_t, a_t, o_{t+1}) on whole arrays, one row per step. The file is
    run. Or `recorded`, the rewards in the data, or what steps into vertices of the graph pay,
    vertices=3-5:1,9:-0.5."""
    goal: tuple[str, ...] = ()
    """A place, hand=0.9,0.9 or by columns 4,5=0.9,0.9, a region, hand=0..1,0..1, or vertices of the graph,
    vertices=3-5,9. Several: one after the other in one episode, unless --any or --all. `random`: another one in every
    episode, drawn by the environment."""
    any_goal: Annotated[bool, arg(name="any")] = False
    """Of several goals, any one will do."""
    all_goals: Annotated[bool, arg(name="all")] = False
    """Several goals at once; in which order they are reached is found on the graph."""
    before: tuple[str, ...] = ()
    """With --all, which goal comes before which, by their numbers: 1,2 has the first one reached before the second."""
    avoid: tuple[str, ...] = ()
    """Regions that no way may pass, hand=0..1,0..1 or vertices=3-5, and edges of the graph, edges=3-9,9-4."""
    penalty: str | None = None
    """What steps on the way to a goal cost, FILE.py:FUNCTION, a function as for --reward. The file is run."""
    penalty_weight: float = 1.0
    """How many steps a penalty of 1 is worth."""
    skill: tuple[str, ...] = ()
    """Skills that the task knows by name, all of them at once: "top burner"."""
    tolerance: float | None = None
    """How near counts as reached; None: as near as goals named by the environment must be, or a twentieth of what the
    data cover."""
    kind: GoalKind | None = None
    """Reach it and be done, or stay there; None: stay for skills, so that a motion is followed through, else reach."""
    agents: Annotated[tuple[int, ...], arg(name="seeds")] = ()
    """Agents of the run to ask, by seed; none: all."""
    n_episodes: Annotated[int, arg(name="episodes")] = 20
    """Episodes to try it in, for each agent; 0: only answer, which needs no simulator."""

    @property
    def goal_kind(self) -> GoalKind:
        return self.kind or ("stay" if self.skill else "reach")

    @property
    def content(self) -> dict[str, Any]:
        """All that is asked for, in plain values: every option but how it is tried and who is asked; files as they are.

        Whatever differs in it is another request, with answers and episodes of its own.
        """
        others = {each.name for each in fields(Trial)} | {"agents"}
        asked = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in others}
        return asked | {"kind": self.goal_kind, "files": [_digest(text) for text in (self.reward, self.penalty)]}

    @property
    def is_random(self) -> bool:
        """Whether the environment draws the goals."""
        return self.goal == (RANDOM,)


def _digest(text: str | None) -> str | None:
    """The SHA-256 of the file in which a function is named; None where no file is."""
    file = Path((text or "").rpartition(":")[0])
    return sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def in_options(text: str) -> str:
    """Return what a plan says in the words of Python, in those of the command."""
    text = text.replace("Plan without `avoiding`", "Ask without --avoid")
    return text.replace("plan without `avoiding`", "ask without --avoid")


def check(request: Request) -> None:
    """Refuse a request that wants nothing, or two things, or says something that would do nothing."""
    if sum(map(bool, (request.reward, request.goal, request.skill))) != 1:
        raise VMGError("Say one thing that is wanted: --reward FILE.py:FUNCTION, --goal FIELD=NUMBERS or --skill NAME.")
    if request.tolerance is not None and (request.is_random or not request.goal):
        raise VMGError("A tolerance says how near a place counts as reached: give it with --goal FIELD=NUMBERS.")
    if (request.any_goal or request.all_goals) and len(request.goal) < 2:
        raise VMGError("--any and --all join several goals: name them after one --goal, --goal A=1,2 B=3.")
    if request.any_goal and request.all_goals:
        raise VMGError("Any of the goals, or all of them: give --any or --all, not both.")
    if request.before and not request.all_goals:
        raise VMGError("--before orders the goals of --all; without --all, goals are reached in the order given.")
    if request.kind and (request.reward or request.is_random):
        raise VMGError("--kind says whether a goal is reached or stayed at: give it with --goal FIELD=NUMBERS.")
    if (request.avoid or request.penalty) and request.is_random:
        raise VMGError("What is avoided or costs is for goals that are named: --goal FIELD=NUMBERS.")
    if request.penalty_weight != 1 and not request.penalty:
        raise VMGError("--penalty-weight weighs what --penalty charges: give it with --penalty FILE.py:FUNCTION.")
    if request.penalty and request.reward:
        raise VMGError("A penalty is for the way to a goal: take it off the reward in the function of --reward.")


@dataclass(frozen=True, eq=False)
class Reading:
    """What words mean for one agent: the names of its columns, how much the data cover of them, and its vertices."""

    agent: Agent
    task: Task | None
    whose: str

    @property
    def fields(self) -> Fields:
        """The named parts of the state: as the data name them, and as the task does."""
        return {**self.agent.data.fields, **(self.task.fields if self.task else {})}

    @property
    def states(self) -> Float32s:
        """The states of the graph's vertices."""
        return self.agent.built.states

    def objective(self, request: Request, tell: Tell) -> Objective | Stages:
        """Return what a request wants; a tolerance that nobody named is told."""
        if request.reward:
            objective: Objective | Stages = self._reward(request.reward)
        elif request.skill:
            objective = self._skills(request.skill)
        else:
            objective = _joined([self._goal(each, request, tell) for each in request.goal], request)
        for region in filter(_is_region, request.avoid):
            objective = objective.avoiding(self._region(region, request.tolerance))
        if request.penalty:
            objective = objective.costing(request.penalty_weight, reward_file(request.penalty))
        return objective if request.goal_kind == "reach" else objective.staying()

    def _skills(self, names: tuple[str, ...]) -> Objective:
        if self.task is None:
            raise VMGError(f"{self.whose} has no task that knows skills by name: name one with --task.")
        return self.task.asked_for(names)[0]

    def _reward(self, text: str) -> Objective:
        graph, weights = self.agent.built, self.agent.weights
        if text.startswith(VERTICES):
            return paid_in_vertices(graph, weights, read_pay(text, graph))
        return recorded_rewards() if text == RECORDED else reward_file(text)

    def _vertices(self, text: str) -> Objective | None:
        """The vertices that are named; None where something else is."""
        graph, weights = self.agent.built, self.agent.weights
        if not text.startswith(VERTICES) or VERTICES[:-1] in self.fields:
            return None
        return in_vertices(graph, weights, read_vertices(text, graph))

    def _goal(self, text: str, request: Request, tell: Tell) -> Objective:
        if vertices := self._vertices(text):
            return vertices
        wanted = self._read(text)
        if not wanted.exact or request.tolerance is not None:
            if request.tolerance is not None and not wanted.exact:
                tell(f"The tolerance does nothing for {text!r}, which is a region.")
            return wanted.objective(request.tolerance)
        tolerance = self.task.tolerance_in(wanted.columns) if self.task else None
        if tolerance is None:
            tolerance = usual_tolerance(self.states, wanted.exact)
            tell(
                f"How near to {text!r} counts as reached is not said: within {tolerance:g}, a twentieth of what the "
                "data cover there. --tolerance changes it."
            )
        return wanted.objective(tolerance)

    def _read(self, text: str) -> GoalWords:
        """Read a goal; of too few or too many numbers it is said how many there must be, with an example."""
        name, _, numbers = (part.strip() for part in text.partition("="))
        columns = self.fields.get(name, ())
        if columns and len(columns) != (given := len(numbers.split(",")) if numbers else 0):
            example = ",".join(f"{self.states[-1, column]:.3g}" for column in columns)
            verb = "number is" if given == 1 else "numbers are"
            raise VMGError(
                f"{name!r} has {len(columns)} number{'s' * (len(columns) > 1)}, but {given} {verb} given in {text!r}: "
                f"write as many, {name}={example}, or LOW..HIGH for any of them, -inf..inf where any will do."
            )
        return read_goal(text, self.fields, self.states.shape[1], whose=self.whose)

    def _region(self, text: str, tolerance: float | None) -> Objective:
        if vertices := self._vertices(text):
            return vertices
        region = self._read(text)
        if region.exact and tolerance is None:
            tolerance = usual_tolerance(self.states, region.exact)
        return region.objective(tolerance)


def _joined(goals: list[Objective], request: Request) -> Objective | Stages:
    if len(goals) == 1:
        return goals[0]
    if request.any_goal:
        return any_of(goals)
    return all_of(goals, before=_pairs(request.before, goals)) if request.all_goals else in_order(goals)


def _pairs(before: tuple[str, ...], goals: list[Objective]) -> list[tuple[Objective, Objective]]:
    pairs = []
    for text in before:
        numbers = [int(part) for part in text.split(",") if part.strip().isdecimal()]
        if len(numbers) != 2 or not all(1 <= number <= len(goals) for number in numbers):
            raise VMGError(f"--before takes two numbers of goals, 1 to {len(goals)}: --before 1,2, not {text!r}.")
        pairs.append((numbers[0] - 1, numbers[1] - 1))
    if in_circle(len(goals), pairs):
        raise VMGError(
            f"No order fits: by --before {' '.join(before)} a goal would have to come before itself. Leave a pair out."
        )
    return [(goals[first], goals[second]) for first, second in pairs]


def without_avoided_edges(agent: Agent, request: Request) -> Agent:
    """Return the agent with a graph that lacks the edges to be avoided."""
    edges = avoided_edges(request)
    return replace(agent, graph=without_edges(agent.built, edges), routes=None) if edges else agent


def avoided_edges(request: Request) -> list[tuple[int, int]]:
    """Return the tail and the head of each edge to be avoided."""
    return [edge for text in request.avoid if not _is_region(text) for edge in _read_edges(text)]


def names_vertices(request: Request) -> bool:
    """Say whether a request names vertices or edges, whose numbers are those of one agent's graph."""
    words = (*request.goal, *request.avoid, request.reward or "")
    return any(text.startswith((VERTICES, EDGES)) for text in words)


def _is_region(text: str) -> bool:
    return not text.startswith(EDGES)


def _read_edges(text: str) -> list[tuple[int, int]]:
    """Read "edges=3-9,9-4": from which vertex to which each edge leads."""
    pairs = [part.strip().split("-") for part in text.removeprefix(EDGES).split(",")]
    if not all(len(pair) == 2 and all(each.isdecimal() for each in pair) for pair in pairs):
        raise VMGError(f"{text!r} names no edges: write from which vertex to which each one leads, {EDGES}3-9,9-4.")
    return [(int(tail), int(head)) for tail, head in pairs]


def in_task(request: Request, task: Task) -> Task:
    """Return the task that checks the skills asked for by itself."""
    _, asked = task.asked_for(request.skill)
    return replace(asked, protocol=f"{asked.protocol} Scored by the environment's own check.")
