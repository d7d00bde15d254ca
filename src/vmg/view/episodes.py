"""An episode, watched: run again from its seed, with what was decided at every step and what it looked like."""

import importlib
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from ctypes.util import find_library
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from vmg.act.conjunction import ConjunctionPolicy
from vmg.act.plan import Plan
from vmg.act.policy import Decision, Policy
from vmg.act.sequence import SequencePolicy
from vmg.agent.agent import Agent
from vmg.base.errors import VMGError, require
from vmg.base.types import Float32s, Float64s, Int32s
from vmg.envs import Task
from vmg.evaluation import EpisodeScore, run_episode
from vmg.goals import Objective

Frame = np.ndarray
DONE, TO_DO = "episode_task_completions", "tasks_to_complete"  # where the kitchen says which subtasks are done


@dataclass(frozen=True, eq=False)
class Watched:
    """An episode step by step."""

    score: EpisodeScore
    plan: Plan
    """What it followed."""
    states: Float32s
    decisions: tuple[Decision, ...]
    done: tuple[tuple[str, ...], ...]
    """Subtasks complete after each step, where the environment has any."""
    to_do: tuple[str, ...]
    """Subtasks still open at the end."""
    goal: Float64s | None
    """The goal the environment named."""
    rewards: tuple[float, ...] = ()
    """What each step was paid."""
    frames: Mapping[int, Frame] = field(default_factory=dict, repr=False)
    """Pictures of the environment, by the step they were taken before."""

    @property
    def vertices(self) -> Int32s:
        return np.array([decision.vertex for decision in self.decisions], np.int32)

    @property
    def values(self) -> Float64s:
        return self.plan.values[self.vertices]

    @property
    def subtasks(self) -> list[tuple[str, int]]:
        """Each completed subtask and the step that completed it."""
        found: dict[str, int] = {}
        for step, names in enumerate(self.done, 1):
            for name in names:
                found.setdefault(name, step)
        return list(found.items())


def watch(agent: Agent, task: Task, seed: int, *, frame_every: int = 0) -> Watched:
    """Run the episode of this seed as evaluation does, noting everything; a picture every `frame_every` steps."""
    env = rendering(task) if frame_every else task.make()
    try:
        actor, filmed = NotingActor(agent.policy()), NotingEnvironment(env, frame_every)
        with threadpool_limits(1):  # as evaluation does: the same sums, the same episode
            score = run_episode(actor, task, filmed, seed)
    finally:
        env.close()
    return noted(score, actor, filmed)


def noted(score: EpisodeScore, actor: "NotingActor", env: "NotingEnvironment") -> Watched:
    """Put together what was noted during an episode."""
    assert actor.plan is not None
    return Watched(
        score=score,
        plan=actor.plan,
        states=np.array(actor.states),
        decisions=tuple(actor.decisions),
        done=tuple(env.done),
        to_do=env.to_do,
        goal=actor.goal,
        rewards=tuple(env.rewards),
        frames=env.frames,
    )


class NotingActor:
    """Follows a policy and notes what it decides."""

    def __init__(self, policy: Policy | SequencePolicy | ConjunctionPolicy) -> None:
        self.policy = policy
        self.states: list[Float32s] = []
        self.decisions: list[Decision] = []
        self.plan: Plan | None = None
        self.goal: Float64s | None = None

    def begin(self, observation: Any, objective: Objective | None) -> None:
        self.policy.begin(observation, objective)
        self.goal = objective.place.numbers if objective and objective.place else None

    def act(self, state: Float32s) -> Float32s:
        decided = self.policy.decide(state)
        self.plan = decided.plans[0]
        self.states.append(np.array(state))
        self.decisions.append(decided[0])
        return self.decisions[-1].action

    def __getattr__(self, name: str) -> Any:
        """What else the policy can tell of an episode."""
        return getattr(self.policy, name)


class NotingEnvironment:
    """An environment that notes what it pays, which subtasks are done, and what it looks like."""

    def __init__(self, env: Any, frame_every: int) -> None:
        self.env = env
        self.frame_every = frame_every
        self.frames: dict[int, Frame] = {}
        self.rewards: list[float] = []
        self.done: list[tuple[str, ...]] = []
        self.to_do: tuple[str, ...] = ()

    def reset(self, **options: Any) -> Any:
        began = self.env.reset(**options)
        if self.frame_every:
            draw_plainly(self.env)
        self.take_picture()
        return began

    def step(self, action: Any) -> Any:
        result = self.env.step(action)
        self.rewards.append(float(result[1]))
        self.done.append(tuple(result[4].get(DONE, ())))
        self.to_do = tuple(sorted(result[4].get(TO_DO, ())))
        self.take_picture(last=result[2] or result[3])
        return result

    def take_picture(self, last: bool = False) -> None:
        """Keep a picture, if it is time for one."""
        step = len(self.done)
        if self.frame_every and (last or step % self.frame_every == 0):
            self.frames[step] = np.array(self.env.render())


def rendering(task: Task) -> Any:
    """Make the task's environment so that it can be seen, without a screen if there is none."""
    _choose_renderer()
    env = seen(task).make()
    if getattr(env, "render_mode", None) != "rgb_array":
        env.close()
        raise VMGError(f"The environment of {task.name} cannot be filmed: make it with render_mode='rgb_array'.")
    _look_from_above(env)
    return env


def seen(task: Task) -> Task:
    """Return the task with an environment that can be seen; one that a function makes must see to that itself."""
    if callable(task.environment):
        return task
    return replace(task, options={**task.options, "render_mode": "rgb_array"})


def _choose_renderer() -> None:
    """Without a screen, let MuJoCo draw by EGL, or by OSMesa where there is no EGL."""
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if os.environ.get("MUJOCO_GL") or screen or not sys.platform.startswith("linux"):
        return
    for backend, library in (("egl", "EGL"), ("osmesa", "OSMesa")):
        if find_library(library):
            os.environ["MUJOCO_GL"] = backend
            _choose_again()
            return
    raise VMGError(
        "There is no screen, and nothing to draw the environment without one. Install EGL (Debian: apt-get install "
        "libegl1 libgl1-mesa-dri) or OSMesa (libosmesa6)."
    )


def _choose_again() -> None:
    """MuJoCo's own renderer, which OGBench uses, is bound when MuJoCo is imported, and episodes may have run before."""
    for name in ("mujoco.rendering.classic.gl_context", "mujoco.gl_context"):
        if name in sys.modules:
            with suppress(ImportError):  # EGL is there and has no device: drawing says so
                importlib.reload(sys.modules[name])


def _look_from_above(env: Any) -> None:
    """A maze is seen best from above, as on its floor plan."""
    maze, renderer = getattr(getattr(env, "unwrapped", env), "maze", None), _renderer(env)
    if maze is None or renderer is None:
        return
    extent = max(len(maze.maze_map), len(maze.maze_map[0])) * maze.maze_size_scaling
    renderer.default_cam_config = {"azimuth": 90, "elevation": -90, "distance": 1.2 * extent, "lookat": np.zeros(3)}


def draw_plainly(env: Any) -> None:
    """Leave out shadows and reflections: without a graphics card they take nine tenths of the time."""
    renderer = _renderer(env)
    if renderer is None:
        return
    env.render()  # makes the viewer
    flags = require("mujoco", "envs").mjtRndFlag
    for flag in (flags.mjRND_SHADOW, flags.mjRND_REFLECTION):
        renderer.viewer.scn.flags[flag] = 0


def _renderer(env: Any) -> Any:
    """Return MuJoCo's renderer, which some environments keep in their robot; None where there is another."""
    inner = getattr(env, "unwrapped", env)
    if hasattr(inner, "custom_renderer"):  # OGBench's mazes have one of their own
        return None
    robots = [getattr(inner, name, None) for name in ("point_env", "ant_env", "robot_env")]
    return next((each.mujoco_renderer for each in (inner, *robots) if hasattr(each, "mujoco_renderer")), None)
