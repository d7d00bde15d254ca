"""Tasks: an environment, the data for it, what makes the state, the goal, the score, and the protocol in words.

A task is added with `TASKS.add(name, task)`, or brought by a file: `--task file.py:name` (see `vmg.envs.finding`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from vmg import data
from vmg.agent.settings import AgentConfig
from vmg.base.arguments import check_fields, checked, numbers_of
from vmg.base.errors import VMGError, require
from vmg.base.registry import Registry
from vmg.base.settings import Bounds, Settings
from vmg.base.types import Bools, Float32s
from vmg.data.keys import choose_keys, join_leaves, leaves
from vmg.data.mazes import import_robotics
from vmg.envs.disturbances import Disturbance
from vmg.envs.floors import Floor
from vmg.envs.words import read_goal
from vmg.goals.objectives import Objective, near
from vmg.graph.settings import GoalKind

OTHERWISE = "Name one that can with --task: a gymnasium id, or file.py:NAME with a `NAME = vmg.Task(...)` of your own."


@dataclass(frozen=True, kw_only=True)
class TaskGoal(Settings):
    """The goal that an environment names in each episode, and how it is to be understood."""

    columns: tuple[int, ...]
    """The columns of the state in which goals are named (a maze's x and y)."""
    tolerance: Annotated[float, Bounds(0)]
    """How near counts as reached."""
    kind: GoalKind = "reach"
    """Reach it and be done, or stay."""
    key: str = "desired_goal"
    """Where the environment's observation names it."""

    def place(self, observation: Any) -> Float32s | None:
        """Return the goal that an observation names; None where it names none."""
        if not isinstance(observation, Mapping) or self.key not in observation:
            return None
        return numbers_of(observation[self.key], f"The goal {self.key!r}", np.float32)

    def objective(self, observation: Any) -> Objective | None:
        """Return the objective to reach the goal that an observation names."""
        place = self.place(observation)
        if place is None:
            return None
        return replace(near(place, columns=self.columns, tolerance=self.tolerance), kind=self.kind)


@dataclass(frozen=True)
class Skill:
    """Something else that can be done in a task's environment: the objective, and the environment that checks it."""

    objective: Objective
    options: Mapping[str, Any]
    """Keyword arguments of the environment that pays for this and nothing else."""
    score_range: tuple[float, float]


@dataclass(frozen=True)
class Task:
    """Everything an evaluation needs besides a policy. Your own: give `environment` a function that makes one."""

    name: str
    environment: str | Callable[..., Any]
    """A gymnasium id, "minari:ID" for a set's own evaluation environment, or a function that makes an environment."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments of the environment."""
    endless: Mapping[str, Any] = field(default_factory=dict)
    """Those with which its own goal ends nothing: so objectives of your own are scored in it."""
    make_with: Callable[..., Any] | None = None
    """Makes the environment from its id and these arguments; None: gymnasium's own `make`."""
    data: str = ""
    """The data set the task is usually learned from."""
    also: tuple[str, ...] = ()
    """Patterns of other data sets that are this task's."""
    get: str = ""
    """How to get the data."""
    keys: tuple[str, ...] | None = None
    """Leaves of the observation that make the state; None: as the data reader chooses."""
    state: Callable[[Any], Float32s] | None = None
    """Turns the environment's observation into the state, where keys cannot."""
    goal: TaskGoal | None = None
    """The goal that the environment names in each episode; None where it names none."""
    horizon: int | None = None
    """Steps after which an episode is cut; None: the environment's own."""
    score_range: tuple[float, float] = (0.0, 1.0)
    """Returns that score 0 and 100."""
    begin: Callable[[int], Mapping[str, Any]] | None = None
    """Reset options of the episode with a given seed."""
    fields: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Named parts of the state, for objectives: which columns they are."""
    floor: Floor | None = None
    """The floor plan of a maze, to draw on; None: as the environment's `maze` has it, if it is one."""
    arrange: Callable[[Any, Float32s], None] | None = None
    """Puts an environment that was reset into a state, so that the state can be seen; None: it cannot be."""
    skill: Callable[[tuple[str, ...]], Skill] | None = None
    """Turns names of skills ("top burner") into an objective, and into how the environment is asked for it."""
    fallen: Callable[[Float32s], Bools] | None = None
    """Says of each of many states, one per row, whether the body lies as it does after a fall; None: it cannot fall."""
    disturbances: Mapping[str, Disturbance] = field(default_factory=dict)
    """What can disturb it besides what disturbs any environment, or in its stead, by name."""
    report: tuple[str, ...] = ()
    """Entries of the last `info` to keep with each episode."""
    protocol: str = ""
    """What is measured, and where it differs from D4RL's."""
    presets: Mapping[str, AgentConfig] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)
        if self.horizon is not None and self.horizon < 1:
            raise VMGError(f"The task {self.name!r}: an episode has at least one step, not {self.horizon}.")
        low, high = self.score_range
        if not -np.inf < low < high < np.inf:
            raise VMGError(f"The task {self.name!r}: the returns that score 0 and 100 are {low} and {high}.")

    def make(self) -> Any:
        """Make the environment."""
        if callable(self.environment):
            return self.environment(**self.options)
        gymnasium = require("gymnasium", "envs")
        import_robotics()
        try:
            return self._make(gymnasium.make)
        except VMGError:
            raise
        except (gymnasium.error.Error, ImportError, ValueError) as error:
            raise VMGError(f"The environment of {self.name} cannot be made: {error}. {OTHERWISE}") from error

    def _make(self, make: Callable[..., Any]) -> Any:
        options = {**({} if self.horizon is None else {"max_episode_steps": self.horizon}), **self.options}
        if self.make_with:
            return self.make_with(self.environment, **options)
        if data.brings_environment(str(self.environment)):
            return data.make_environment(str(self.environment), **options)
        return make(self.environment, disable_env_checker=True, **options)

    def state_of(self, observation: Any) -> Float32s:
        """Return the state a policy sees."""
        if self.state:
            return np.asarray(self.state(observation), dtype=np.float32)
        try:
            return join_leaves(observation, ("",) if self.keys is None else self.keys).astype(np.float32)
        except (KeyError, ValueError):  # there are others than the one unnamed array, or than these keys
            keys = choose_keys(leaves(observation), self.keys, source=self.name)
            return join_leaves(observation, keys).astype(np.float32)

    def objective_of(self, observation: Any) -> Objective | None:
        """Return the objective of the episode that begins with this observation, where the environment names one."""
        return self.goal.objective(observation) if self.goal else None

    @checked
    def preset(self, name: str) -> AgentConfig:
        """Return the settings called `name`, or the defaults for a task without presets.

        The graph keeps the columns in which the task names goals.
        """
        if not self.presets:
            return self.with_goal_columns(AgentConfig())
        if name not in self.presets:
            raise VMGError(f"The task {self.name} has no preset {name!r}. It has: {', '.join(self.presets)}.")
        return self.with_goal_columns(self.presets[name])

    @checked
    def with_goal_columns(self, config: AgentConfig) -> AgentConfig:
        """Return settings whose graph keeps the columns in which the task names goals."""
        if self.goal is None:
            return config
        return replace(config, graph=replace(config.graph, goal_columns=self.goal.columns))

    @checked
    def objective(self, goal: str, *, tolerance: float | None = None) -> Objective:
        """Return the objective to bring a field, or columns, to a place, "position=1,2.5", or between bounds, "0=0..1".

        `tolerance`: how near counts as reached; None: as near as goals named by the environment must be.
        """
        wanted = read_goal(goal, self.fields, whose=self.name)
        return wanted.objective(self.tolerance_in(wanted.columns) if tolerance is None else tolerance)

    @checked
    def tolerance_in(self, columns: tuple[int, ...]) -> float | None:
        """Return how near counts as reached in these columns; None where the task does not say."""
        return self.goal.tolerance if self.goal and self.goal.columns == columns else None

    @checked
    def asked_for(self, names: tuple[str, ...]) -> tuple[Objective, "Task"]:
        """Return the objective of these skills, and this task asked for them alone."""
        if self.skill is None:
            raise VMGError(f"The task {self.name} has no named skills. Give a goal or a reward instead.")
        skill, words = self.skill(names), " and ".join(names)
        asked = replace(
            self,
            name=f"{self.name}: {words}",
            environment=TASKS.find(self.name).environment if self.name in TASKS else self.environment,
            options=skill.options,
            score_range=skill.score_range,
            protocol=f"Asked for {words} alone, without training anything again. {self.protocol}",
        )
        return skill.objective, asked


TASKS: Registry[Task] = Registry("task")


VARIANTS: Registry[Task] = Registry("variant of a task")
"""Tasks with the name of another, for data of theirs that have another state."""
