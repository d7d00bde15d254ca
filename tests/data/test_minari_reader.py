import numpy as np
import pytest
from random_episodes import assert_same, make_episodes

from vmg.base.errors import VMGError
from vmg.data import DataWarning, load, make_environment, read_minari
from vmg.data.keys import choose_keys, is_goal, join_leaves, leaves

minari = pytest.importorskip("minari")
from gymnasium import spaces  # noqa: E402
from minari.data_collector import EpisodeBuffer  # noqa: E402


@pytest.fixture(autouse=True)
def minari_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


def box(*shape, dtype=np.float32):
    return spaces.Box(-np.inf, np.inf, shape, dtype)


def buffer(observations, episode, actions=None):
    ends = np.arange(len(episode)) == len(episode) - 1
    return EpisodeBuffer(
        observations=observations,
        actions=episode.actions if actions is None else actions,
        rewards=list(episode.rewards),
        terminations=list(ends & episode.terminated),
        truncations=list(ends & episode.truncated),
    )


def create(name, buffers, observation_space, action_space=None, **options):
    with pytest.warns(UserWarning, match="`eval_env` is set to None|env_spec is None"):
        minari.create_dataset_from_buffers(
            name,
            buffers,
            observation_space=observation_space,
            action_space=action_space or box(2),
            algorithm_name="random",  # without this and the next four, Minari warns
            author="nobody",
            author_email="nobody@example.org",
            code_permalink="https://example.org",
            description="random numbers",
            **options,
        )


@pytest.fixture
def episodes():
    return make_episodes(5, [3, 1, 4])


def goals(episodes):
    """Goal observations: position 2, goal 2, three readings."""
    space = spaces.Dict({"achieved_goal": box(2), "desired_goal": box(2), "observation": box(3)})
    buffers = [
        buffer(
            {
                "achieved_goal": episode.observations[:, :2] + 1,
                "desired_goal": episode.observations[:, :2] * 0,
                "observation": episode.observations,
            },
            episode,
        )
        for episode in episodes
    ]
    return buffers, space


def test_box_observations(episodes):
    create("test/box-v0", [buffer(episode.observations, episode) for episode in episodes], box(3))
    assert_same(read_minari("test/box-v0"), episodes)
    assert_same(load("minari:test/box-v0"), episodes)
    with pytest.raises(VMGError, match="the observation is one plain vector: leave keys out"):
        read_minari("test/box-v0", keys=["observation"])


def test_keys_can_name_parts_of_leaves(episodes):
    create("test/parts-v0", *goals(episodes))
    parts = read_minari("test/parts-v0", keys=["observation[1:3]", "achieved_goal[:1]"])
    assert np.array_equal(parts.observations[:, :2], episodes.observations[:, 1:3])
    assert np.array_equal(parts.observations[:, 2], episodes.observations[:, 0] + 1)
    create("test/box-parts-v0", [buffer(episode.observations, episode) for episode in episodes], box(3))
    assert np.array_equal(read_minari("test/box-parts-v0", keys=["[2:]"]).observations, episodes.observations[:, 2:])
    for absent in ("observation[1:4]", "observation[3:]", "observation[2:2]"):
        with pytest.raises(VMGError, match=r"asks for numbers that are not there: that leaf has 3, 0 to 2"):
            read_minari("test/parts-v0", keys=[absent])


def test_goal_observations_start_with_the_achieved_goal(episodes):
    create("test/goal-v0", *goals(episodes))
    read = read_minari("test/goal-v0")
    expected = np.concatenate([episodes.observations[:, :2] + 1, episodes.observations], axis=1)
    np.testing.assert_array_equal(read.observations, expected)
    assert_same(read_minari("test/goal-v0", keys=["observation"]), episodes)
    assert_same(load("minari:test/goal-v0", keys=("observation",)), episodes)


def test_unknown_keys_are_answered_with_those_there_are(episodes):
    create("test/goal-v0", *goals(episodes))
    with pytest.raises(VMGError, match=r"no 'speed'. Choose keys from: achieved_goal, desired_goal, observation"):
        read_minari("test/goal-v0", keys=["observation", "speed"])
    with pytest.raises(VMGError, match="at least one key"):
        read_minari("test/goal-v0", keys=[])


def test_nested_observations(episodes):
    space = spaces.Dict(
        {
            "achieved_goal": spaces.Dict({"kettle": box(1), "light switch": box(2)}),
            "hands": spaces.Tuple((box(2), box(1))),
            "observation": box(3),
        }
    )
    buffers = [
        buffer(
            {
                "achieved_goal": {"kettle": episode.observations[:, :1], "light switch": episode.observations[:, 1:]},
                "hands": (episode.observations[:, :2] + 1, episode.observations[:, 2:]),
                "observation": episode.observations,
            },
            episode,
        )
        for episode in episodes
    ]
    create("test/nested-v0", buffers, space)
    assert_same(read_minari("test/nested-v0"), episodes)  # a dict of goals is not part of the state
    assert_same(read_minari("test/nested-v0", keys=["achieved_goal.kettle", "achieved_goal.light switch"]), episodes)
    hands = read_minari("test/nested-v0", keys=["hands.0", "hands.1"])
    np.testing.assert_array_equal(hands.observations, episodes.observations + np.float32([1, 1, 0]))


def test_early_end_marks_count(episodes):
    marked = buffer(episodes[0].observations, episodes[0])
    marked.terminations[:] = [True, False, False]
    marked.truncations[:] = [False, False, False]
    create("test/early-v0", [marked], box(3))
    read = read_minari("test/early-v0")
    assert (read.lengths.tolist(), read.terminated.tolist(), read.truncated.tolist()) == ([3], [True], [False])


def test_discrete_actions_are_refused(episodes):
    actions = [np.array([0, 1, 1]), np.array([0]), np.array([1, 0, 1, 1])]
    buffers = [buffer(e.observations, e, a) for e, a in zip(episodes, actions, strict=True)]
    create("test/discrete-v0", buffers, box(3), spaces.Discrete(2))
    with pytest.raises(VMGError, match="the actions are of the kind Discrete"):
        read_minari("test/discrete-v0")


def test_images_are_left_out_and_said_and_refused_as_keys(episodes):
    space = spaces.Dict({"camera": spaces.Box(0, 255, (32, 32, 3), np.uint8), "arm": box(3)})
    buffers = [
        buffer({"camera": np.zeros((len(e) + 1, 32, 32, 3), np.uint8), "arm": e.observations}, e) for e in episodes
    ]
    create("test/image-v0", buffers, space)
    with pytest.raises(VMGError, match=r"leaf 'camera' is images of the shape \(32, 32, 3\)"):
        read_minari("test/image-v0", keys=["camera"])
    with pytest.warns(DataWarning, match="camera is left out: images"):
        read = read_minari("test/image-v0")
    assert_same(read, episodes)
    assert read.left_out == {"camera": "images, 32 × 32 × 3"}
    assert_same(read_minari("test/image-v0", keys=["arm"]), episodes)


def test_numbers_that_are_not_finite_are_placed(episodes):
    broken = episodes[2].observations.copy()
    broken[1, 2] = np.nan
    create("test/nan-v0", [buffer(episodes[0].observations, episodes[0]), buffer(broken, episodes[2])], box(3))
    with pytest.raises(VMGError, match="minari:test/nan-v0: observations of episode 1, row 1, column 2, is nan"):
        read_minari("test/nan-v0")


def test_a_set_brings_the_environment_it_names_for_evaluation():
    swings = make_episodes(5, [3, 1], observation_size=3, action_size=1)
    buffers = [buffer(episode.observations, episode) for episode in swings]
    create("test/swing-v0", buffers, box(3), box(1), eval_env="Pendulum-v1")
    env = make_environment("minari:test/swing-v0", max_episode_steps=7)
    assert (env.spec.id, env.spec.max_episode_steps) == ("Pendulum-v1", 7)


def test_absent_sets_come_with_the_command_that_fetches_them():
    with pytest.raises(VMGError, match="minari download D4RL/door/human-v2"):
        read_minari("D4RL/door/human-v2")
    with pytest.raises(VMGError, match="minari download D4RL/door/human-v2"):
        make_environment("minari:D4RL/door/human-v2")


def test_damaged_sets_are_named(episodes, minari_folder):
    create("test/box-v0", [buffer(episode.observations, episode) for episode in episodes], box(3))
    file = next(minari_folder.rglob("*.hdf5"))
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(VMGError, match="minari:test/box-v0: the set is damaged or incomplete"):
        read_minari("test/box-v0")
    next(minari_folder.rglob("data/metadata.json")).write_text("{")
    with pytest.raises(VMGError, match="damaged or incomplete"):
        read_minari("test/box-v0")


def test_an_environment_observation_becomes_the_same_state_as_in_the_data():
    observation = {"observation": np.arange(3.0), "achieved_goal": np.array([7.0, 8]), "desired_goal": np.zeros(2)}
    keys = choose_keys(leaves(observation))
    assert keys == ("achieved_goal", "observation")
    assert join_leaves(observation, keys).tolist() == [7, 8, 0, 1, 2]
    batch = {name: np.stack([value, value + 1]) for name, value in observation.items()}
    assert join_leaves(batch, keys, batch=True)[1].tolist() == [8, 9, 1, 2, 3]
    plain = np.arange(3.0)
    assert join_leaves(plain, choose_keys(leaves(plain))) is not None
    assert join_leaves(plain, choose_keys(leaves(plain))).tolist() == [0, 1, 2]


def test_without_an_observation_every_leaf_counts_but_goals_and_images():
    assert choose_keys(["b", "a.c", "a.b"]) == ("a.b", "a.c", "b")
    shapes = {"arm": (3,), "achieved_goal": (2,), "desired_goal": (2,), "target": (2,), "camera": (8, 8, 3)}
    assert choose_keys(shapes) == ("achieved_goal", "arm")
    assert choose_keys({name: np.zeros(shape) for name, shape in shapes.items()}) == ("achieved_goal", "arm")
    assert choose_keys(shapes, ["desired_goal"]) == ("desired_goal",)
    with pytest.raises(VMGError, match=r"only goals, images and other arrays. Choose with keys from: camera, goal"):
        choose_keys({"camera": (8, 8, 3), "goal": (2,)})


@pytest.mark.parametrize(
    "name", ["goal", "desired_goal", "goal_x", "env.goal", "desired_hand", "target", "a.target", "Goal"]
)
def test_names_of_goals(name):
    assert is_goal(name)


@pytest.mark.parametrize(
    "name", ["achieved_goal", "observation", "target_joints", "goalkeeper", "achieved_goal.kettle"]
)
def test_names_of_no_goals(name):
    assert not is_goal(name)


def test_what_is_left_out_is_listed(episodes):
    create("test/goal-v0", *goals(episodes))
    assert read_minari("test/goal-v0").left_out == {"desired_goal": "a goal, 2 numbers"}
    part = read_minari("test/goal-v0", keys=["observation[0:1]", "desired_goal"])
    assert part.left_out == {"achieved_goal": "2 numbers", "observation": "2 of its 3 numbers"}
    assert part.subset([0]).left_out == part.left_out


def test_single_numbers_become_vectors_of_one(episodes):
    narrow = [buffer(e.observations[:, 0], e, e.actions[:, 0]) for e in episodes]
    create("test/scalar-v0", narrow, box(), box())
    read = read_minari("test/scalar-v0")
    np.testing.assert_array_equal(read.observations, episodes.observations[:, :1])
    np.testing.assert_array_equal(read.actions, episodes.actions[:, :1])


def test_keys_name_the_columns_they_make(episodes):
    buffers, space = goals(episodes)
    create("test/named-v0", buffers, space)
    assert read_minari("test/named-v0").fields == {"achieved_goal": (0, 1), "observation": (2, 3, 4)}
    parts = read_minari("test/named-v0", keys=["observation[1:3]", "desired_goal"])
    assert parts.fields == {"observation[1:3]": (0, 1), "desired_goal": (2, 3)}
    create("test/plain-v0", [buffer(episode.observations, episode) for episode in episodes], box(3))
    assert read_minari("test/plain-v0").fields == {}
