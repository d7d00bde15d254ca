"""Tasks: an environment, the data for it, what makes the state, the goal, the score, and the protocol in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import partial
from typing import Any

import numpy as np

from vmg.act.ogbench import five_tasks, make_ogbench_maze
from vmg.act.reported import SCORES
from vmg.config import ActConfig, AgentConfig, GoalConfig, GraphConfig, SolveConfig
from vmg.data.keys import choose_keys, join_leaves, leaves
from vmg.data.mazes import ENVIRONMENTS, corridor_distances, free_cells, import_robotics, maze_map
from vmg.errors import VMGError, require
from vmg.learn.config import LearnConfig
from vmg.types import Float32s
from vmg.wishes import Wish, both, near, within

Preset = Mapping[str, AgentConfig]


@dataclass(frozen=True)
class Skill:
    """Something else that can be done in a task's environment: the wish for it, and the environment that checks it."""

    wish: Wish
    options: Mapping[str, Any]
    """Keyword arguments of the environment that pays for this and nothing else."""
    score_range: tuple[float, float]


@dataclass(frozen=True)
class Task:
    """Everything an evaluation needs besides a policy. Your own: give `environment` a function that makes one."""

    name: str
    environment: str | Callable[[], Any]
    """A gymnasium id, "minari:ID" for a set's own evaluation environment, "ogbench:ID" for a maze of OGBench's, or a
    function that makes an environment."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments of the environment."""
    endless: Mapping[str, Any] = field(default_factory=dict)
    """Those with which its own goal ends nothing: so wishes of your own are judged in it."""
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
    horizon: int | None = None
    """Steps after which an episode is cut; None: the environment's own."""
    score_range: tuple[float, float] = (0.0, 1.0)
    """Returns that score 0 and 100."""
    begin: Callable[[int], Mapping[str, Any]] | None = None
    """Reset options of the episode with a given seed."""
    fields: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Named parts of the state, for wishes: which numbers they are."""
    skill: Callable[[tuple[str, ...]], Skill] | None = None
    """Turns names of skills ("top burner") into a wish, and into how the environment is asked for it."""
    report: tuple[str, ...] = ()
    """Entries of the last `info` to keep with each episode."""
    protocol: str = ""
    """What is measured, and where it differs from D4RL's."""
    presets: Preset = field(default_factory=dict)
    paper: tuple[float, float | None] | None = None
    """The paper's score: mean and, where it gives one, standard deviation over three models."""
    paper_bc: float | None = None
    """The score of behaviour cloning in the paper's table."""

    def make(self) -> Any:
        """Make the environment."""
        if callable(self.environment):
            return self.environment()
        gymnasium = require("gymnasium", "envs")
        import_robotics()
        horizon = {} if self.horizon is None else {"max_episode_steps": self.horizon}
        if self.environment.startswith("ogbench:"):
            return make_ogbench_maze(self.environment.removeprefix("ogbench:"), **horizon, **self.options)
        if self.environment.startswith("minari:"):
            dataset = require("minari", "envs").load_dataset(self.environment.removeprefix("minari:"))
            return dataset.recover_environment(eval_env=True, disable_env_checker=True, **horizon, **self.options)
        return gymnasium.make(self.environment, disable_env_checker=True, **horizon, **self.options)

    def state_of(self, observation: Any) -> Float32s:
        """Return the state a policy sees."""
        if self.state:
            return np.asarray(self.state(observation), dtype=np.float32)
        try:
            return join_leaves(observation, ("",) if self.keys is None else self.keys).astype(np.float32)
        except (KeyError, ValueError):  # there are others than the one unnamed array, or than these keys
            keys = choose_keys(leaves(observation), self.keys, source=self.name)
            return join_leaves(observation, keys).astype(np.float32)

    def preset(self, name: str) -> AgentConfig:
        """Return the settings called `name`."""
        if name not in self.presets:
            raise VMGError(f"The task {self.name} has no preset {name!r}. It has: {', '.join(self.presets)}.")
        return self.presets[name]

    def wish(self, goal: str, *, tolerance: float | None = None) -> Wish:
        """Return the wish to bring a named part of the state to a place, "position=1,2.5", or between bounds, "x=0..1".

        `tolerance`: how near a place is there; None: as near as goals named by the environment must be.
        """
        name, _, numbers = (part.strip() for part in goal.partition("="))
        columns, bounds = self.fields.get(name, ()), [_bounds(each) for each in numbers.split(",")]
        if len(bounds) != len(columns) or None in bounds:
            sizes = ", ".join(f"{field} ({len(columns)})" for field, columns in self.fields.items()) or "none"
            raise VMGError(
                f"{goal!r} is no goal of {self.name}: write FIELD=NUMBER,NUMBER,... or FIELD=LOW..HIGH,... with one of "
                f"its fields and as many numbers as it has: {sizes}."
            )
        low, high = zip(*(each for each in bounds if each), strict=True)
        if np.isnan((low, high)).any():
            raise VMGError(f"{goal!r} holds nan, which is nowhere: give a number, or -inf..inf where any will do.")
        if low != high:
            return within(low, high, columns=columns, words=f"{name} in {numbers}")
        if tolerance is None:
            named = (preset.goal for preset in self.presets.values())
            tolerance = next((each.tolerance for each in named if each and each.columns == columns), None)
        if tolerance is None:
            raise VMGError(f"Say how near to {goal!r} counts as there: give a tolerance, in the units of {name}.")
        return near(low, columns=columns, tolerance=tolerance, words=f"{name} at {numbers}, within {tolerance:g}")

    def asked_for(self, names: tuple[str, ...]) -> tuple[Wish, "Task"]:
        """Return the wish for these skills, and this task asked for them alone."""
        if self.skill is None:
            raise VMGError(f"The task {self.name} has no named skills. Give a goal or a reward instead.")
        skill, words = self.skill(names), " and ".join(names)
        asked = replace(
            self,
            name=f"{self.name}: {words}",
            environment=find_task(self.name).environment,
            options=skill.options,
            score_range=skill.score_range,
            protocol=f"Asked for {words} alone, without training anything again. {self.protocol}",
        )
        return skill.wish, asked


def find_task(name: str) -> Task:
    """Return the task of that name."""
    if name not in TASKS:
        raise VMGError(f"There is no task {name!r}. There are: {', '.join(TASKS)}.")
    return TASKS[name]


def task_of(data: str) -> Task:
    """Return the task a data set belongs to, judging by its id; a Minari set brings its own environment.

    A D4RL file of the kitchen has a smaller state than the environment: its task, of the same name, gives that state.
    """
    source, _, rest = data.partition(":")
    bare = rest.partition("?")[0]
    for task in (*TASKS.values(), *D4RL_KITCHENS):
        if any(fnmatch(f"{source}:{bare}", pattern) for pattern in (task.data, *task.also)):
            return replace(task, environment=data, options={}) if source == "minari" else task
    raise VMGError(f"No task is known for the data {data!r}. Train with --task NAME, one of: {', '.join(TASKS)}.")


def _bounds(text: str) -> tuple[float, float] | None:
    """Read "1.5", or "1..2"; None where these are no numbers."""
    low, _, high = text.partition("..")
    try:
        return float(low), float(high or low)
    except ValueError:
        return None


def far_goals(maze: str, least: int, seed: int) -> dict[str, Any]:
    """Start in the first corner; the goal is any cell at least `least` corridor cells away."""
    cells = maze_map(maze)
    free, distances = free_cells(cells), corridor_distances(cells)[0]
    far = np.flatnonzero(distances >= least)
    return {"reset_cell": free[0], "goal_cell": free[np.random.default_rng(seed).choice(far)]}


@dataclass(frozen=True)
class _FarGoals:
    maze: str
    least: int

    def __call__(self, seed: int) -> dict[str, Any]:
        return far_goals(self.maze, self.least, seed)


# --- the tasks --------------------------------------------------------------------------------------------------------


def _paper(radius: float, discount: float, subgoal_steps: int, search_steps: int | None) -> AgentConfig:
    """A row of the paper's table of settings (App. D)."""
    return AgentConfig(
        graph=GraphConfig(radius=radius),
        solve=SolveConfig(discount=discount, search_steps=search_steps),
        act=ActConfig(subgoal_steps=subgoal_steps),
    )


def _maze(config: AgentConfig, near_enough: float = 0.45) -> AgentConfig:
    """A maze names its goals by x and y, the first two numbers of the state, and has a radius that counts as there."""
    return replace(config, goal=GoalConfig(columns=(0, 1), tolerance=near_enough))


def _d4rl_files(*names: str) -> tuple[str, ...]:
    """Patterns of D4RL's files of these names, wherever they lie."""
    return tuple(f"d4rl:{folder}{name}.hdf5" for name in names for folder in ("", "*/"))


def _get_d4rl(name: str) -> str:
    return f"download {name}.hdf5 from D4RL's published files and pass d4rl:PATH"


def _along_recordings(config: AgentConfig, act: ActConfig) -> AgentConfig:
    """Follow recordings instead of edges."""
    solve = SolveConfig(discount=0.95, paths="recordings", ties="nearest")
    return replace(config, graph=replace(config.graph, recordings=True), solve=solve, act=act)


_RELATIVE = LearnConfig(margins="program", encoder_inputs="normalised", translator_inputs="relative")


# Picked by a rule on recordings of the medium maze with another seed, written after a look at the environment: the
# smallest radius of 0.8, 1, 1.2, 1.5, 2, 2.5 and 3 that covers 97 % of them, and as many edges ahead as fit into the
# translator's horizon (7.4 steps an edge).
_POINT = replace(
    _paper(2.0, 0.95, 4, None),
    learn=replace(_RELATIVE, goal_horizon=30, steps=20_000, checkpoint_every=10_000),
    solve=SolveConfig(discount=0.95, ties="nearest"),
)
# The data's own controller acts with noise of this spread.
_ANT = _along_recordings(
    replace(_paper(0.8, 0.95, 5, None), learn=_RELATIVE), ActConfig(subgoal_steps=5, keep_path=True, noise=0.2)
)


def _point_maze(maze: str, horizon: int, least: int) -> Task:
    return Task(
        name=f"pointmaze-{maze}",
        environment=ENVIRONMENTS[maze],
        options={"continuing_task": False},
        endless={"continuing_task": True},
        data=f"pointmaze:{maze}",
        get=f"nothing to download: pass pointmaze:{maze}, and it is made on the spot",
        horizon=horizon,
        keys=("observation",),
        begin=_FarGoals(maze, least),
        fields={"position": (0, 1), "velocity": (2, 3)},
        protocol=f"From one corner to goals at least {least} corridor cells away, named by the environment in each "
        f"episode; reached within 0.45 m in {horizon} steps counts.",
        presets={"ours": _maze(_POINT), "paper": _maze(_paper(0.8, 0.8, 1, None))},
    )


# FrankaKitchen's observation: robot joints 9 and their velocities 9, objects 21 and their velocities 20.
KITCHEN_FIELDS = {
    "robot": tuple(range(9)),
    "bottom burner": (20, 21),
    "top burner": (24, 25),
    "light switch": (26, 27),
    "slide cabinet": (28,),
    "hinge cabinet": (29, 30),
    "microwave": (31,),
    "kettle": tuple(range(32, 39)),
}
KITCHEN_POSITIONS = (*range(9), *range(18, 39))


# D4RL's files have the positions alone, in this order; its reader leaves out the goal that follows them.
D4RL_KITCHEN_FIELDS = {
    name: tuple(KITCHEN_POSITIONS.index(column) for column in columns) for name, columns in KITCHEN_FIELDS.items()
}


def kitchen_positions(observation: Mapping[str, Any]) -> Float32s:
    """Return the numbers of the environment's observation that D4RL's kitchen files hold."""
    return np.asarray(observation["observation"], dtype=np.float32)[list(KITCHEN_POSITIONS)]


def _kitchen_skill(names: tuple[str, ...], fields: Mapping[str, tuple[int, ...]] = KITCHEN_FIELDS) -> Skill:
    """All the objects named where the environment wants them; it counts one as done within 0.3 of there."""
    import_robotics()
    from gymnasium_robotics.envs.franka_kitchen import kitchen_env

    goals: Mapping[str, Any] = kitchen_env.OBS_ELEMENT_GOALS
    if unknown := [name for name in names if name not in goals]:
        raise VMGError(f"The kitchen has no {unknown[0]!r}. It has: {', '.join(goals)}.")
    tolerance = kitchen_env.BONUS_THRESH
    done = [near(goals[name], columns=fields[name], tolerance=tolerance, words=name) for name in names]
    return Skill(both(done), {"tasks_to_complete": list(names)}, (0.0, float(len(names))))


def _kitchen(kind: str) -> Task:
    paper = _paper(0.5, 0.95, 2, None)
    # The translator moves the robot, so it sees the robot: of velocities it copies the last action, and an object that
    # lies a little off its recorded place pulls it away from the path. Its decay is the largest that costs nothing on
    # episodes held out; three steps are as far ahead as its error there stays within a fifth of the smallest.
    learn = LearnConfig(
        translator_columns=KITCHEN_FIELDS["robot"],
        translator_inputs="raw relative",
        translator_decay=0.01,
        translator_memory=100_000,
    )
    ours = _along_recordings(replace(paper, learn=learn), ActConfig(subgoal_steps=3, keep_path=True))
    return Task(
        name=f"kitchen-{kind}",
        environment="FrankaKitchen-v1",
        options={"tasks_to_complete": ["microwave", "kettle", "light switch", "slide cabinet"]}
        if kind != "mixed"
        else {"tasks_to_complete": ["microwave", "kettle", "bottom burner", "light switch"]},
        endless={"terminate_on_tasks_completed": False},
        data=f"minari:D4RL/kitchen/{kind}-v2",
        also=(f"minari:*kitchen/{kind}-*",),
        get=f"minari download D4RL/kitchen/{kind}-v2",
        keys=("observation",),
        horizon=280,
        score_range=(0.0, 4.0),
        report=("episode_task_completions",),
        fields=KITCHEN_FIELDS,
        skill=_kitchen_skill,
        protocol="Four subtasks, each paid once, 280 steps; the score is the share of subtasks done. The state has the "
        "velocities of joints and objects, which D4RL's had not.",
        presets={"paper": paper, "ours": ours},
    )


def _d4rl_kitchen(kind: str) -> Task:
    """The same kitchen for an agent that learned from D4RL's own file, whose state is the 30 positions."""
    task = TASKS[f"kitchen-{kind}"]
    published = {
        "complete": "mini_kitchen_microwave_kettle_light_slider-v0",
        "partial": "kitchen_microwave_kettle_light_slider-v0",
        "mixed": "kitchen_microwave_kettle_bottomburner_light-v0",
    }[kind]
    return replace(
        task,
        data=f"d4rl:{published}.hdf5",
        also=_d4rl_files(published, f"kitchen[-_]{kind}-v*"),
        get=_get_d4rl(published),
        keys=None,
        state=kitchen_positions,
        fields=D4RL_KITCHEN_FIELDS,
        skill=partial(_kitchen_skill, fields=D4RL_KITCHEN_FIELDS),
        protocol="Four subtasks, each paid once, 280 steps; the score is the share of subtasks done. The state is "
        "D4RL's, positions alone, without its constant goal. The environment is FrankaKitchen-v1, another simulator "
        "than D4RL's, with less noise on the sensors.",
    )


def _ant_maze(kind: str) -> Task:
    maze = kind.partition("-")[0]
    name = {"umaze": "UMaze", "medium": "Medium", "large": "Large"}[maze]
    horizon = 700 if maze == "umaze" else 1000
    return Task(
        name=f"antmaze-{kind}",
        environment=f"AntMaze_{name}-v4",
        options={"continuing_task": False},
        endless={"continuing_task": True},
        data=f"minari:D4RL/antmaze/{kind}-v1",
        also=(f"minari:*antmaze/{kind}-v*",),
        get=f"minari download D4RL/antmaze/{kind}-v1",
        keys=("achieved_goal", "observation"),
        fields={"position": (0, 1), "body": tuple(range(2, 29))},
        horizon=horizon,
        protocol="The goal is drawn up to 1 m off its cell's centre and named by the environment in each episode "
        f"(D4RL keeps it fixed); reached within 0.45 m in {horizon} steps counts.",
        presets={"paper": _maze(_paper(0.8, 0.8, 1, None)), "ours": _maze(_ANT)},
    )


def _ogbench(body: str, maze: str, horizon: int = 1000) -> Task:
    """A maze of OGBench's. Its settings are those of the other mazes: nothing was looked at here."""
    name, near_enough = f"{body}maze-{maze}", 1.0 if body == "point" else 0.5
    kinds = ("navigate", "stitch", "explore")
    paper, ours = _paper(0.8, 0.8, 1, None), _POINT if body == "point" else _ANT
    return Task(
        name=f"ogbench-{name}",
        environment=f"ogbench:{name}-v0",
        endless={"terminate_at_goal": False},
        data=f"ogbench:{name}-navigate-v0.npz",
        also=tuple(f"ogbench:{folder}{name}-{kind}-v0.npz" for kind in kinds for folder in ("", "*/")),
        get=f"ogbench.download_datasets(['{name}-navigate-v0']) in Python, then pass ogbench:PATH",
        keys=("observation",),
        fields={"position": (0, 1)},
        horizon=horizon,
        begin=five_tasks,
        report=("task_id",),
        protocol=f"OGBench's five tasks in turn, episode by episode, each with its own start and goal; reached within "
        f"{near_enough:g} m in {horizon} steps counts.",
        presets={"paper": _maze(paper, near_enough), "ours": _maze(ours, near_enough)},
    )


def _adroit(tool: str, kind: str, radius: float, horizon: int, score_range: tuple[float, float]) -> Task:
    # Every demonstration has a pen to turn elsewhere, or a door standing elsewhere, so that none is worth following to
    # its end: there is nothing better here than the paper's own settings.
    paper = _paper(radius, 0.8, 2, 12)
    flipped = "" if tool == "pen" else " Today's environment flips the sign of one reward term of D4RL's."
    return Task(
        name=f"{tool}-{kind}",
        environment=f"AdroitHand{tool.capitalize()}-v1",
        data=f"minari:D4RL/{tool}/{kind}-v2",
        also=(f"minari:*{tool}/{kind}-v*", f"d4rl:*{tool}*{kind}*"),
        get=f"minari download D4RL/{tool}/{kind}-v2",
        horizon=horizon,
        score_range=score_range,
        protocol=f"Dense reward, {horizon} steps, scaled as D4RL does.{flipped}",
        presets={"paper": paper, "ours": paper},
    )


def _locomotion(body: str, kind: str, joints: int, score_range: tuple[float, float], differs: str = "") -> Task:
    # The paper gives no settings for locomotion. These are its row for pen and door, whose reward is dense as well.
    paper = _paper(0.3, 0.8, 2, 12)
    environment = {"halfcheetah": "HalfCheetah-v5", "hopper": "Hopper-v5", "walker2d": "Walker2d-v5"}[body]
    data = f"{body}_{kind.replace('-', '_')}-v2"
    return Task(
        name=f"{body}-{kind}",
        environment=environment,
        # The model with D4RL's friction of the feet, 0.9 and 1.9; v5's own has 1.9 for both.
        options={"xml_file": "walker2d.xml"} if body == "walker2d" else {},
        data=f"d4rl:{data}.hdf5",
        also=_d4rl_files(f"{body}[-_]{kind.replace('-', '[-_]')}-v[12]"),
        get=_get_d4rl(data),
        # Joints without the place along the track, then the velocities of all of them.
        fields={"height": (0,), "angle": (1,), "speed": (joints,), "positions": tuple(range(joints))},
        horizon=1000,
        score_range=score_range,
        protocol=f"Dense reward, 1000 steps, scaled as D4RL does. The environment is {environment} on MuJoCo 3, "
        f"where D4RL's was v2 on MuJoCo 2: the same observation, another simulator.{differs}",
        presets={"paper": paper, "ours": paper},
    )


def _all_tasks() -> Sequence[Task]:
    adroit = {
        "pen": (0.3, 100, (96.262799, 3076.8331017826877)),
        "hammer": (1.0, 200, (-274.856578, 12794.134825156867)),
        "door": (0.3, 200, (-56.512833, 2880.5693087298737)),
    }
    falls = " The step that falls is no longer paid for being healthy, 1 less in the return."
    bodies = {
        "halfcheetah": (8, (-280.178953, 12135.0), ""),
        "hopper": (5, (-20.272305, 3234.3), falls),
        "walker2d": (8, (1.629008, 4592.3), f"{falls} The feet have D4RL's friction, not v5's."),
    }
    ants = ("umaze", "umaze-diverse", "medium-play", "medium-diverse", "large-play", "large-diverse")
    return [
        _point_maze("umaze", 300, 4),
        _point_maze("medium", 600, 8),
        _point_maze("large", 800, 8),
        *(_kitchen(kind) for kind in ("complete", "partial", "mixed")),
        *(_ant_maze(kind) for kind in ants),
        *(_adroit(tool, kind, *facts) for tool, facts in adroit.items() for kind in ("human", "cloned")),
        *(
            _locomotion(body, kind, *facts)
            for kind in ("medium", "medium-replay", "medium-expert")
            for body, facts in bodies.items()
        ),
        *(_ogbench(body, maze) for body in ("point", "ant") for maze in ("medium", "large", "giant", "teleport")),
        *(_ogbench("humanoid", maze, steps) for maze, steps in (("medium", 2000), ("large", 2000), ("giant", 4000))),
    ]


def _with_scores(task: Task) -> Task:
    """Note what the paper reports for the task."""
    if task.name not in SCORES:
        return task
    mean, deviation, cloning = SCORES[task.name]
    return replace(task, paper=(mean, deviation), paper_bc=cloning)


TASKS: dict[str, Task] = {task.name: _with_scores(task) for task in _all_tasks()}
D4RL_KITCHENS = tuple(_d4rl_kitchen(kind) for kind in ("complete", "partial", "mixed"))
