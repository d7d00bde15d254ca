"""The tasks the package brings: their environments, presets and numbers, and D4RL's files as their data."""

import pickle
import sys
from dataclasses import replace

import h5py
import numpy as np
import pytest

pytest.importorskip("gymnasium_robotics")

import vmg
from vmg.base.errors import VMGError
from vmg.data import load
from vmg.data.mazes import corridor_distances, free_cells, maze_map
from vmg.envs import TASKS, TaskGoal, find_task, task_of
from vmg.envs.families.kitchen import KITCHEN_POSITIONS
from vmg.envs.families.mazes import far_goals
from vmg.envs.task import VARIANTS
from vmg.evaluation import evaluate
from vmg.studies.paper import SCORES

SIZES = {
    "pointmaze": 4,
    "kitchen": 59,
    "antmaze": 29,
    "pen": 45,
    "hammer": 46,
    "door": 39,
    "halfcheetah": 17,
    "hopper": 11,
    "walker2d": 17,
    "ogbench-pointmaze": 2,
    "ogbench-antmaze": 29,
    "ogbench-humanoidmaze": 69,
    "ogbench-cube-single": 28,
    "ogbench-cube-double": 37,
    "ogbench-scene": 40,
    "ogbench-puzzle-3x3": 55,
    "kitchen-d4rl": 60,
    "kitchen-d4rl-noise": 60,
    "kitchen-positions": 30,
    "antmaze-d4rl": 29,
}
DIFFERENT = {(task.environment, str(task.options), str(task.state)): name for name, task in TASKS.items()}
ALL = [task for tasks in (TASKS, VARIANTS) for _, task in tasks.items()]
MAIN = {"kitchen": (192.4, 154.5), "antmaze": (496.3, 100.2), "pen hammer door": (138.9, 104.7)}


def family(name):
    if name.startswith("ogbench"):
        return name if name in SIZES else name.rpartition("-")[0]
    first = name.partition("-")[0]
    return next(
        (form for form in SIZES if form != first and form.startswith(first) and name.endswith(form[len(first) :])),
        first,
    )


class RandomActor:
    """Acts at random, and insists on states of the data's size."""

    def __init__(self, episodes):
        self.episodes = episodes

    def begin(self, observation, objective):
        self.rng = np.random.default_rng(0)

    def act(self, state):
        assert state.shape == (self.episodes.observation_size,)
        return self.rng.uniform(-1, 1, self.episodes.action_size)


def record(env, steps, state_of):
    """Rows of a D4RL file: one episode of random actions."""
    rng, rows = np.random.default_rng(0), []
    state = state_of(env.reset(seed=0)[0])
    for _ in range(steps):
        action = rng.uniform(-1, 1, env.action_space.shape)
        observation, reward, terminated, _, _ = env.step(action)
        rows.append((state, action, reward, terminated, state_of(observation)))
        state = rows[-1][-1]
        if terminated:
            break
    names = ("observations", "actions", "rewards", "terminals", "next_observations")
    columns = zip(names, zip(*rows, strict=True), strict=True)
    fields = {name: np.array(values, dtype=np.float32) for name, values in columns}
    return fields | {"terminals": fields["terminals"] > 0, "timeouts": np.arange(len(rows)) == len(rows) - 1}


def write(path, fields):
    with h5py.File(path, "w") as file:
        for name, values in fields.items():
            file[name] = values
    return f"d4rl:{path}"


@pytest.mark.filterwarnings("ignore:.*is out of date:DeprecationWarning")  # AntMaze v4 has the data's 27 readings
@pytest.mark.parametrize("name", DIFFERENT.values())
def test_every_environment_gives_states_of_the_datas_size(name):
    task = find_task(name)
    env = task.make()
    assert env.spec.max_episode_steps == task.horizon
    env.reset(seed=0, options=dict(task.begin(0)) if task.begin else None)
    observation, *_ = env.step(np.zeros(env.action_space.shape, np.float32))
    size = SIZES[family(name)]
    assert task.state_of(observation).shape == (size,)
    assert all(0 <= column < size for columns in task.fields.values() for column in columns)
    env.close()


@pytest.mark.parametrize("task", ALL, ids=lambda task: task.data)
def test_every_task_has_its_presets_its_words_and_finds_its_data(task):
    assert set(task.presets) == {"paper", "program"}
    assert task.protocol
    assert task.get
    assert task_of(task.data).state is task.state
    assert task_of(task.data).name == task.name


def test_the_papers_numbers_add_up_to_its_totals():
    assert [name for name in TASKS if name not in SCORES] == [
        name for name in TASKS if family(name) == "pointmaze" or name.startswith("ogbench") or "-" in family(name)
    ]
    for families, totals in MAIN.items():
        rows = [scores for name, scores in SCORES.items() if family(name) in families.split()]
        assert (sum(row[0] for row in rows), sum(row[2] for row in rows)) == pytest.approx(totals)


@pytest.mark.parametrize("name", list(TASKS))
def test_a_graph_keeps_the_columns_in_which_its_task_names_goals(name):
    task = find_task(name)
    columns = task.goal.columns if task.goal else ()
    for preset in task.presets:
        assert task.preset(preset).graph.goal_columns == columns
    assert (task.goal is None) == (family(name) not in ("pointmaze", "antmaze") and not name.startswith("ogbench"))


def test_a_goal_that_cannot_be_is_refused():
    with pytest.raises(VMGError, match=r"tolerance must be a finite number of at least 0, not -1"):
        TaskGoal(columns=(0, 1), tolerance=-1.0)
    with pytest.raises(VMGError, match=r"kind must be one of 'reach', 'stay', not 'pass'"):
        TaskGoal(columns=(0, 1), tolerance=1.0, kind="pass")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("halfcheetah_medium-v2", "halfcheetah-medium"),
        ("folder/hopper_medium_replay-v2", "hopper-medium-replay"),
        ("/data/walker2d-medium-expert-v2", "walker2d-medium-expert"),
        ("kitchen_partial-v0", "kitchen-partial"),
        ("/data/kitchen-mixed-v0", "kitchen-mixed"),
        ("/data/kitchen_microwave_kettle_light_slider-v0", "kitchen-partial"),
        ("/data/mini_kitchen_microwave_kettle_light_slider-v0", "kitchen-complete"),
    ],
)
def test_d4rls_files_find_their_task(file, name):
    assert task_of(f"d4rl:{file}.hdf5").name == name


@pytest.mark.parametrize("body", ["halfcheetah", "hopper", "walker2d"])
def test_a_d4rl_file_of_locomotion_is_evaluated_in_its_task(tmp_path, body):
    named = find_task(f"{body}-medium-replay")
    env = named.make()
    data = write(tmp_path / f"{body}_medium_replay-v2.hdf5", record(env, 30, named.state_of))
    episodes, task = load(data), task_of(data)
    assert task == named
    assert (episodes.observations[0] == task.state_of(env.reset(seed=0)[0])).all()
    scores = evaluate(RandomActor(episodes), replace(task, horizon=30), n_episodes=2, workers=1)
    assert -5 < scores.score < 5  # acting at random scores 0, by definition
    env.close()


@pytest.mark.parametrize("tool", ["pen", "hammer", "door"])
def test_a_d4rl_file_of_a_cloned_hand_is_evaluated_in_its_task(tmp_path, tool):
    named = find_task(f"{tool}-cloned")
    env = named.make()
    data = write(tmp_path / f"{tool}-cloned-v1.hdf5", record(env, 20, named.state_of))
    episodes, task = load(data), task_of(data)
    env.close()
    assert task == named
    scores = evaluate(RandomActor(episodes), replace(task, horizon=20), n_episodes=1, workers=1)
    assert np.isfinite(scores.score)


@pytest.mark.parametrize("body", ["halfcheetah", "hopper", "walker2d"])
def test_the_speed_in_the_state_is_the_rewarded_one(body):
    task = find_task(f"{body}-medium")
    env = task.make()
    env.reset(seed=0)
    for _ in range(5):
        observation, _, _, _, info = env.step(np.full(env.action_space.shape, 0.5, np.float32))
    (speed,) = task.state_of(observation)[list(task.fields["speed"])]
    assert speed == pytest.approx(info["x_velocity"], abs=0.5)
    env.close()


def test_a_d4rl_file_of_the_kitchen_is_evaluated_in_its_task(tmp_path):
    named = find_task("kitchen-partial")
    env = named.make()

    def with_goal(observation):
        return np.concatenate([observation["observation"][list(KITCHEN_POSITIONS)], np.zeros(30)])

    data = write(tmp_path / "kitchen_partial-v0.hdf5", record(env, 10, with_goal))
    episodes, task = load(data), pickle.loads(pickle.dumps(task_of(data)))
    first = env.reset(seed=0)[0]
    assert episodes.observation_size == 30
    assert (episodes.observations[0] == task.state_of(first)).all()
    for name in ("microwave", "kettle"):
        achieved = first["achieved_goal"][name]
        assert task.state_of(first)[list(task.fields[name])] == pytest.approx(achieved, abs=0.05)
    scores = evaluate(RandomActor(episodes), replace(task, horizon=10), n_episodes=2, workers=1)
    assert (scores.task, scores.score) == ("kitchen-partial", 0.0)
    objective, asked = task.asked_for(("microwave",))
    state = task.state_of(first)[None].copy()
    assert not objective.reached(state)[0]
    state[0, list(asked.fields["microwave"])] = -0.75
    assert objective.reached(state)[0]
    env.close()


def test_far_goals_are_far_and_the_same_for_the_same_seed():
    cells = maze_map("medium")
    free, distances = free_cells(cells).tolist(), corridor_distances(cells)
    drawn = [far_goals("medium", 8, seed) for seed in range(50)]
    for options in drawn:
        start, goal = options["reset_cell"].tolist(), options["goal_cell"].tolist()
        assert start == [1, 1]
        assert distances[free.index(start), free.index(goal)] >= 8
    assert len({tuple(options["goal_cell"]) for options in drawn}) > 5
    assert (far_goals("medium", 8, 7)["goal_cell"] == drawn[7]["goal_cell"]).all()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("minari:D4RL/kitchen/partial-v2", "kitchen-partial"),
        ("minari:lab/kitchen/complete-v0", "kitchen-complete"),
        ("minari:D4RL/antmaze/umaze-v1", "antmaze-umaze"),
        ("minari:D4RL/antmaze/umaze-diverse-v1", "antmaze-umaze-diverse"),
        ("minari:D4RL/pen/human-v2", "pen-human"),
        ("pointmaze:large?steps=5", "pointmaze-large"),
    ],
)
def test_data_finds_its_task(data, name):
    assert task_of(data).name == name


def test_unknown_tasks_are_answered_with_a_sentence():
    with pytest.raises(
        VMGError, match=r"No task is known for the data 'npz:x\.npz'\. Name one with --task: file\.py:NAME"
    ):
        task_of("npz:x.npz")
    with pytest.raises(VMGError, match=r"There is no task 'chess', and no environment.*one of: pointmaze-umaze"):
        find_task("chess")
    with pytest.raises(VMGError, match=r"has no preset 'ours'\. It has: paper, program\."):
        find_task("pointmaze-umaze").preset("ours")


@pytest.mark.parametrize("name", ["pointmaze-medium", "kitchen-partial", "pen-human", "door-human", "hammer-human"])
def test_environments_of_tasks_start_and_end_as_the_task_says(name):
    task = find_task(name)
    env = task.make()
    observation, _ = env.reset(seed=0)
    assert task.state_of(observation).dtype == np.float32
    assert env.spec.max_episode_steps == task.horizon
    env.close()


def test_any_environment_of_gymnasium_s_is_a_task():
    task = find_task("Pendulum-v1")
    assert (task.name, task.environment, task.horizon) == ("Pendulum-v1", "Pendulum-v1", 200)
    env = task.make()
    assert env.observation_space.shape == (3,)
    env.close()
    assert find_task("gymnasium:Pendulum-v1").horizon == 200  # the module is imported first
    assert find_task("PointMaze_UMaze-v3").environment == "PointMaze_UMaze-v3"  # of gymnasium-robotics


def test_what_is_no_environment_is_said_with_what_is_alike():
    with pytest.raises(
        VMGError, match=r"There is no task 'Pendulumm-v1', and no environment:.*Did you mean: `Pendulum`"
    ):
        find_task("Pendulumm-v1")
    with pytest.raises(VMGError, match=r"no_such_module_at_all"):
        find_task("no_such_module_at_all:Thing-v0")


def test_an_id_is_taken_for_one_where_gymnasium_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    assert find_task("Pendulum-v1").environment == "Pendulum-v1"
    with pytest.raises(VMGError, match="needs the package 'gymnasium'"):
        find_task("Pendulum-v1").make()


def test_an_environment_that_cannot_be_made_is_said_with_the_cure():
    with pytest.raises(VMGError, match=r"cannot be made:.*Name one that can with --task"):
        vmg.Task(name="odd", environment="NoSuchThing-v0").make()
