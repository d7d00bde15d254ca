"""Playing: an episode in the simulator, step by step as it happens, until it ends, time is up, or nobody looks on."""

import struct
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from vmg.base.errors import VMGError
from vmg.base.types import Float32s
from vmg.data.counting import counted
from vmg.envs import Task
from vmg.evaluation import EpisodeScore, run_episode, scored_by
from vmg.goals import Objective
from vmg.runs.requests import RECORDED, Request, in_task
from vmg.runs.stages import knowing_goals
from vmg.view.episodes import NotingActor, NotingEnvironment, Watched, draw_plainly, noted, rendering, seen
from vmg.view.explorer.code import Code, evaluated_code, played_code
from vmg.view.explorer.graphs import Explored
from vmg.view.explorer.marks import Mark, watched_marks
from vmg.view.explorer.pictures import encoded, why_no_pictures
from vmg.view.explorer.plans import AnyPlan, Planned, Plans, with_episodes
from vmg.view.explorer.problems import ImpossibleError
from vmg.view.explorer.replays import playable, said_of
from vmg.view.explorer.wants import request_of

LONGEST = 300.0
"""Seconds after which an episode is stopped."""
FASTEST = 30.0
"""Pictures in a second, at most."""
AHEAD = 200
"""Vertices of the way ahead that are sent with each step."""

Send = Callable[[dict[str, Any] | bytes], None]


@dataclass(frozen=True)
class Wish:
    """How an episode is to be played."""

    request: Request | None
    """What is wanted; None: what the task itself asks for."""
    seed: int = 0
    pictures: bool = True
    frames_per_second: float = 15.0
    delay: float = 0.0
    """Seconds to wait after each step."""


def read_wish(content: Any, seed: int) -> Wish:
    """Read the first message of a page that wants to see an episode, with the agent of a seed."""
    if not isinstance(content, dict):
        raise VMGError('Say what to play: {"want": ..., "seed": 0}.')
    want, first = content.get("want"), content.get("seed", 0)
    if isinstance(first, bool) or not isinstance(first, int) or not 0 <= first < 2**31:
        raise VMGError(f'"seed" must be a whole number from 0 on, not {first!r:.40}.')
    speed, delay = (_number(content, name, usual) for name, usual in (("frames_per_second", 15.0), ("delay", 0.0)))
    if not 0 < speed <= FASTEST or not 0 <= delay <= 1:
        raise VMGError(f'"frames_per_second" is above 0 and at most {FASTEST:g}, "delay" from 0 to 1 seconds.')
    request = None if want is None else request_of(want, seed)
    return Wish(request, first, bool(content.get("pictures", True)), speed, delay)


def _number(content: dict[str, Any], name: str, usual: float) -> float:
    number = content.get(name, usual)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise VMGError(f'"{name}" must be a number, not {number!r:.40}.')
    return float(number)


def run_again(shown: Explored, seed: int, plans: Plans) -> Watched:
    """Run an episode again as the evaluation did."""
    episode = Play(shown, Wish(None, seed, pictures=False), plans, lambda message: None).run()
    if episode is None:
        raise ImpossibleError(f"The episode of seed {seed} did not begin within {LONGEST:g} seconds.")
    return episode


class StoppedError(Exception):
    """An episode that was not played to its end: nobody looks on, or time is up."""


@dataclass(eq=False)
class Play:
    """One episode that is played. `run` does all of it in the thread that calls it."""

    shown: Explored
    wish: Wish
    plans: Plans
    send: Send
    stop: Event = field(default_factory=Event)
    ends: float = field(default_factory=lambda: time.monotonic() + LONGEST)

    def run(self) -> Watched | None:
        """Make the environment, play, and send what happens; None where it was stopped before its first step."""
        task, actor, planned = self._prepared()
        env, missing = self._environment(task)
        with closing(env):
            live = _LiveActor(self, actor, task, planned, missing)
            noting = _LiveEnvironment(self, env, live, pictures=not missing)
            try:
                score = run_episode(live, task, noting, self.wish.seed)
            except StoppedError:
                score = _stopped(self.wish.seed, noting)
        episode = noted(score, live, noting) if live.plan is not None else None
        self.send(self._end(score, episode, planned))
        return episode

    def look(self) -> None:
        """Stop here if nobody looks on any more, or time is up."""
        if self.stop.is_set() or time.monotonic() > self.ends:
            raise StoppedError

    def _prepared(self) -> tuple[Task, Any, Planned | None]:
        shown, request = self.shown, self.wish.request
        task = seen(playable(shown)) if self.wish.pictures else playable(shown)
        if request is None:
            return task, knowing_goals(shown.run, task, shown.agent).policy(), None
        planned, _ = self.plans.get(shown, request)
        if request.reward == RECORDED:
            return task, planned.plan.policy(), planned
        if request.skill:
            return in_task(request, task), planned.plan.policy(), planned
        plan: AnyPlan = planned.plan if request.reward is None else with_episodes(planned)
        return scored_by(task, plan), plan.policy(), planned

    def _environment(self, task: Task) -> tuple[Any, str]:
        """The environment, and why there are no pictures; nothing where there are."""
        missing = why_no_pictures(self.shown) if self.wish.pictures else "Pictures were not asked for."
        if not missing:
            try:
                return rendering(task), ""
            except VMGError as error:
                missing = str(error)
        return task.make(), missing

    def _end(self, score: EpisodeScore, episode: Watched | None, planned: Planned | None) -> dict[str, Any]:
        stopped = f"Stopped after {counted(score.steps, 'step')}."
        said = stopped if episode is None or score.ended == "stopped" else said_of(self.shown, episode)
        marks: list[Mark] = watched_marks(episode) if episode else []
        return {
            "type": "end",
            "steps": score.steps,
            "return": score.reward,
            "success": score.success,
            "ended": score.ended,
            "said": said,
            "marks": marks,
            "code": self._code(planned),
        }

    def _code(self, planned: Planned | None) -> Code:
        if planned is None or planned.request.reward == RECORDED:
            return evaluated_code(self.shown, self.wish.seed)
        with_data = planned.with_data or planned.request.reward is not None
        return played_code(self.shown, planned.request, planned.objective, self.wish.seed, with_data=with_data)


class _LiveActor(NotingActor):
    """Sends every decision as it is made."""

    def __init__(self, play: Play, policy: Any, task: Task, planned: Planned | None, missing: str) -> None:
        super().__init__(policy)
        self._play, self._task, self._planned, self._missing = play, task, planned, missing
        self.total, self.reward = 0.0, 0.0

    def begin(self, observation: Any, objective: Objective | None) -> None:
        super().begin(observation, objective)
        planned = self._planned or self._named(objective)
        self._play.send(
            {
                "type": "begin",
                "seed": self._play.wish.seed,
                "horizon": self._task.horizon,
                "plan": planned.name if planned else None,
                "name": planned.plan.objective.name if planned else self._task.protocol,
                "goal": self.goal,
                "pictures": not self._missing,
                "why_no_pictures": self._missing,
            }
        )

    def _named(self, objective: Objective | None) -> Planned | None:
        """The plan for the goal that the environment names, so that the page can show its values."""
        if objective is None or objective.place is None:
            return None
        columns = ",".join(map(str, objective.place.columns))
        text = f"{columns}={','.join(f'{number:.9g}' for number in objective.place.numbers)}"
        want = {"goals": [{"text": text}], "tolerance": objective.tolerance, "stay": objective.kind == "stay"}
        return self._play.plans.get(self._play.shown, request_of(want, self._play.shown.seed))[0]

    def act(self, state: Float32s) -> Float32s:
        self._play.look()
        action = super().act(state)
        decision, floor = self.decisions[-1], self._play.shown.floor
        self._play.send(
            {
                "type": "step",
                "step": len(self.decisions) - 1,
                "vertex": decision.vertex,
                "target": decision.target,
                "subgoal": decision.subgoal,
                "path": decision.path[:AHEAD],
                "action": action,
                "distance": decision.distance,
                "off_graph": decision.off_graph,
                "value": float(self.plan.values[decision.vertex]) if self.plan else None,
                "reward": self.reward,
                "return": self.total,
                "wanted": self.plan.objective.name if self.plan else None,
                "place": state[list(floor.columns)] if floor else None,
            }
        )
        return action


class _LiveEnvironment(NotingEnvironment):
    """Sends pictures, not more often than asked for."""

    def __init__(self, play: Play, env: Any, actor: _LiveActor, *, pictures: bool) -> None:
        super().__init__(env, 0)
        self._play, self._actor, self._pictures = play, actor, pictures
        self._next, self._drawn_plainly = 0.0, False

    def step(self, action: Any) -> Any:
        result = super().step(action)
        self._actor.reward = self.rewards[-1]
        self._actor.total += self.rewards[-1]
        if self._play.wish.delay:
            self._play.stop.wait(self._play.wish.delay)
        return result

    def take_picture(self, last: bool = False) -> None:
        now = time.monotonic()
        if not self._pictures or (now < self._next and not last):
            return
        if not self._drawn_plainly:
            draw_plainly(self.env)
            self._drawn_plainly = True
        self._next = now + 1 / self._play.wish.frames_per_second
        self._play.send(struct.pack("<I", len(self.done)) + encoded(self.env.render(), "JPEG"))


def _stopped(seed: int, env: _LiveEnvironment) -> EpisodeScore:
    return EpisodeScore(seed, len(env.rewards), sum(env.rewards), None, "stopped")
