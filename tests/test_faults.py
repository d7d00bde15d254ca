"""Faults that were found once: hangs, wrong answers that were accepted, exceptions that were not ours."""

import json
import os
import shutil
import stat
import time

import numpy as np
import pytest

import vmg
from vmg.base.files import replacing
from vmg.graph.nearest import VertexIndex, squared_distances
from vmg.networks import save_weights


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    """Two small agents of the same sizes, saved."""
    folder = tmp_path_factory.mktemp("agents")
    episodes = vmg.load("pointmaze:umaze?steps=800")
    learn = vmg.LearnConfig(steps=20, hidden_units=8)
    config = vmg.AgentConfig(learn=learn, graph=vmg.GraphConfig(radius=0.1, goal_columns=(0, 1)))
    for agent in vmg.Agent.fit(episodes, config, seeds=[0, 1], show_progress=False):
        agent.build(episodes).solve().save(folder / str(agent.seed))
    return folder


@pytest.fixture
def agent(agents, tmp_path):
    return shutil.copytree(agents / "0", tmp_path / "agent")


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("weights.safetensors", "belongs to another agent"),
        ("graph.npz", "was built with other weights. Delete it and build"),
        ("solution.npz", "was made for another graph. Delete it and solve"),
    ],
)
def test_a_part_of_another_agent_of_the_same_sizes_is_refused(agents, agent, file, words):
    shutil.copy(agents / "1" / file, agent / file)
    with pytest.raises(vmg.VMGError, match=words):
        vmg.Agent.load(agent)


def test_the_cures_that_are_named_work(agents, agent):
    shutil.copy(agents / "1" / "graph.npz", agent / "graph.npz")
    (agent / "graph.npz").unlink()
    assert vmg.Agent.load(agent).graph is None


def test_files_have_the_mode_of_the_users_umask(agent):
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in agent.iterdir()}
    before = os.umask(0)
    os.umask(before)
    assert set(modes.values()) == {0o666 & ~before}, modes


def test_a_file_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "kept"
    path.write_text("before")
    refused = pytest.raises(vmg.VMGError, match=r"kept could not be written: .*; what was there before is kept")
    with refused, replacing(path) as beside:
        (beside / "no such file").write_text("half")
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize("scale", [1e-30, 1e-22, 1e-16, 1e-3, 1e8, 1e17])
def test_the_nearest_vertex_of_many_points_is_that_of_float32_at_any_scale(scale):
    rng = np.random.default_rng(0)
    vertices = (scale * rng.normal(size=(300, 1))).astype(np.float32)
    points = (scale * rng.normal(size=(200, 1))).astype(np.float32)
    with np.errstate(over="ignore"):
        expected = [squared_distances(vertices, point).argmin() for point in points]
        assert VertexIndex(vertices).nearest(points).tolist() == expected


def random_graph(seed, n=12):
    rng = np.random.default_rng(seed)
    features = rng.permutation(np.arange(n, dtype=np.float32))[rng.integers(0, n, 60)][:, None] * 10
    episodes = vmg.Episodes.from_list([(features, np.zeros((59, 1)), rng.normal(0, 1, 59).round(1), False, True)])
    return vmg.build(features, episodes, 1.0), episodes


@pytest.mark.filterwarnings("ignore:With a discount of")
@pytest.mark.parametrize("discount", [0.9999, 0.999999, 0.9999999])
def test_values_with_a_discount_near_one_end_in_time_and_are_right(discount):
    for seed in range(40):
        graph, episodes = random_graph(seed)
        rewards = vmg.reward(graph, episodes)
        began = time.perf_counter()
        values = vmg.solve(graph, rewards, discount).values
        assert time.perf_counter() - began < 5
        best = np.full(graph.n_vertices, -np.inf)
        np.maximum.at(best, graph.tails, rewards.edges + discount * values[graph.heads])
        left = np.diff(graph.first_edge) > 0
        assert np.abs(best - values)[left].max() <= 1e-9 * max(np.abs(values).max(), 1)


def test_values_that_float64_cannot_hold_to_the_tolerance_are_said():
    graph, episodes = random_graph(0)
    with pytest.warns(UserWarning, match=r"With a discount of 0\.9999999 values reach .* lower the discount"):
        vmg.solve(graph, vmg.reward(graph, 1e6 * episodes.rewards), 0.9999999)


def test_a_subgoal_far_beyond_any_route_is_its_end_at_once(agents):
    agent = vmg.Agent.load(agents / "0")
    vertices = np.arange(agent.built.n_vertices, dtype=np.int32)
    began = time.perf_counter()
    far = agent.routes.ahead(vertices, 10**9)
    assert time.perf_counter() - began < 5
    assert np.array_equal(agent.routes.vertices(far), agent.routes.targets)
    with pytest.raises(vmg.VMGError, match="subgoal_steps must be"):
        vmg.ActConfig(subgoal_steps=10**18)


@pytest.mark.parametrize(
    "wrong", ["text", None, [], [[]], [["a"]], {"x": 1}, [1, [2]], 1e300, np.zeros((2, 3, 4)), [np.nan] * 4]
)
def test_an_observation_that_is_none_is_said(agents, wrong):
    policy = vmg.Agent.load(agents / "0").policy()
    for ask in (policy.act, policy.decide):
        with pytest.raises(vmg.VMGError):
            ask(wrong)
    with pytest.raises(vmg.VMGError):
        policy.act([1e300, 0, 0, 0])


@pytest.mark.parametrize("wrong", ["0", None, -1, 10**9, 1.5, True])
def test_a_vertex_that_is_none_is_said(agents, wrong):
    with pytest.raises(vmg.VMGError, match="A vertex of this graph is a whole number"):
        vmg.Agent.load(agents / "0").routes.path(wrong)


@pytest.mark.parametrize(
    "wrong", [[1], [None], ["text"], [([[0.0], [1.0]], [[0.0]], [0.0])], [([[0.0], [1, 2]], [[0.0]], [0.0], 0, 1)]]
)
def test_episodes_that_are_none_are_said(wrong):
    with pytest.raises(vmg.VMGError):
        vmg.Episodes.from_list(wrong)


@pytest.mark.parametrize("wrong", [None, 3, b"x"])
def test_a_folder_that_is_none_is_said(wrong):
    with pytest.raises(vmg.VMGError, match="folder must be a path"):
        vmg.Agent.load(wrong)


def paths(value, at=()):
    """Every place in a JSON value."""
    yield at
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from paths(value[key], (*at, key))


WRONG = [None, True, -1, 10**30, 1e308, float("nan"), "text", [], ["x"], [[0]], {}, {"kind": 3}]


def test_a_changed_entry_of_the_settings_loads_or_is_said(agent):
    file = agent / "config.json"
    whole, tried = json.loads(file.read_text()), 0
    for at in list(paths(whole))[1:]:
        for wrong in WRONG:
            changed = json.loads(json.dumps(whole))
            place = changed
            for key in at[:-1]:
                place = place[key]
            place[at[-1]] = wrong
            file.write_text(json.dumps(changed))
            tried += 1
            try:
                loaded = vmg.Agent.load(agent)
            except vmg.VMGError:
                continue
            loaded.policy().act(np.zeros(4, np.float32))
    assert tried > 500


def test_a_changed_array_of_the_graph_loads_or_is_said(agent):
    file = agent / "graph.npz"
    with np.load(file) as arrays:
        whole = {name: arrays[name] for name in arrays.files}
    (agent / "solution.npz").unlink()
    for name, array in whole.items():
        for changed in (
            array[..., None],
            array.ravel()[:0],
            array.astype("U4"),
            array[:1] if array.ndim else array + 1 if array.dtype.kind in "if" else array,
        ):
            np.savez(file, **{**whole, name: changed})
            try:
                loaded = vmg.Agent.load(agent)
            except vmg.VMGError:
                continue
            assert loaded.graph is not None


def test_weights_that_do_not_fit_are_said(agent):
    loaded = vmg.Agent.load(agent)
    save_weights(agent / "weights.safetensors", {**loaded.weights, "state_encoder": {}})
    with pytest.raises(vmg.VMGError, match="does not hold a model"):
        vmg.Agent.load(agent)
