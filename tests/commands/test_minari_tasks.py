"""Minari sets that belong to no task here are evaluated in the environment that they record."""

import json
import warnings

import gymnasium
import numpy as np
import pytest

from vmg.base.errors import VMGError
from vmg.cli.main import main
from vmg.data.mazes import import_robotics
from vmg.envs import task_of

minari = pytest.importorskip("minari")
from minari.data_collector import EpisodeBuffer  # noqa: E402

LITTLE = ["--learn.steps", "60", "--learn.hidden-units", "16", "--learn.encoder-inputs", "normalised"]


def record(name, env_id, n_episodes=6):
    """Record random actions, and the environment they were taken in."""
    import_robotics()
    env = gymnasium.make(env_id, max_episode_steps=60)
    env.action_space.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of authors and licences that are not named
        minari.create_dataset_from_buffers(name, [episode(env, seed) for seed in range(n_episodes)], env=env)
    env.close()


def episode(env, seed):
    seen, actions, rewards, ended = [env.reset(seed=seed)[0]], [], [], False
    while not ended:
        actions.append(env.action_space.sample())
        observation, reward, terminated, truncated, _ = env.step(actions[-1])
        seen.append(observation)
        rewards.append(reward)
        ended = terminated or truncated
    flags = [False] * (len(actions) - 1)
    together = {key: np.array([each[key] for each in seen]) for key in seen[0]} if isinstance(seen[0], dict) else seen
    return EpisodeBuffer(
        observations=together if isinstance(together, dict) else np.array(together),
        actions=np.array(actions),
        rewards=rewards,
        terminations=[*flags, terminated],
        truncations=[*flags, truncated],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("minari")
    patch.setenv("MINARI_DATASETS_PATH", str(folder / "sets"))
    record("own/pendulum-v0", "Pendulum-v1")
    record("own/maze-v0", "PointMaze_UMaze-v3")
    yield folder
    patch.undo()


def walk(folder, data, run):
    assert main(["train", data, "--out", str(run), "--preset", "paper", *LITTLE]) == 0
    for stage in ("build", "solve"):
        assert main([stage, str(run)]) == 0
    assert main(["evaluate", str(run), "--episodes", "2", "--workers", "1"]) == 0
    return json.loads((run / "scores.json").read_text())


@pytest.mark.filterwarnings("ignore:The radius 0.5 keeps every state")
def test_a_set_is_evaluated_in_the_environment_it_records(folder, capsys):
    scores = walk(folder, "minari:own/pendulum-v0", folder / "pendulum")
    assert "Next: vmg evaluate" in capsys.readouterr().err
    assert scores["task"] == "minari:own/pendulum-v0"
    low, high = scores["scores"]["VMG"][0]["score_range"]
    assert low < high < 0  # a pendulum is paid less than nothing


@pytest.mark.filterwarnings("ignore:Nothing reaches this goal", "ignore:The radius")
def test_the_goals_of_its_environment_are_planned_for(folder):
    walk(folder, "minari:own/maze-v0", folder / "maze")
    config = json.loads((folder / "maze" / "run.json").read_text())["config"]
    assert config["graph"]["goal_columns"] == [0, 1]


def test_a_set_that_records_no_environment_says_so_with_the_cure(folder):
    env = gymnasium.make("Pendulum-v1", max_episode_steps=20)
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        minari.create_dataset_from_buffers("own/bare-v0", [episode(env, 0)], **spaces)
    env.close()
    with pytest.raises(VMGError, match=r"of minari:own/bare-v0 cannot be made:.*Name one that can with --task"):
        task_of("minari:own/bare-v0").make()
