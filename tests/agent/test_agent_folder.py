import json
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from acting_cases import agent, episodes

from vmg.agent.agent import Agent
from vmg.base.errors import VMGError
from vmg.base.files import write_npz
from vmg.goals import near
from vmg.graph import ROUTES, EdgeRoutes, add_edges
from vmg.networks.weights import read_tensors, write_tensors

ACT_IN_A_NEW_PROCESS = """
import sys
import numpy as np
import vmg

policy, observations = vmg.Agent.load(sys.argv[1]).policy(), np.load(sys.argv[2])
policy.act(observations[0])
assert not {"scipy", "rich"} & set(sys.modules), "one observation needs numpy alone"
np.save(sys.argv[3], policy.act(observations))
assert not {"jax", "numba", "optax", "gymnasium", "minari"} & set(sys.modules), "acting needs no training stack"
"""


@pytest.fixture
def folder(tmp_path):
    agent().save(tmp_path / "agent")
    return tmp_path / "agent"


def test_a_saved_agent_acts_the_same_in_a_new_process_without_jax(folder, tmp_path):
    observations = episodes().observations[::50]
    np.save(tmp_path / "observations.npy", observations)
    command = [sys.executable, "-c", ACT_IN_A_NEW_PROCESS, folder, tmp_path / "observations.npy", tmp_path / "out.npy"]
    subprocess.run([str(word) for word in command], check=True)
    assert (np.load(tmp_path / "out.npy") == agent().policy().act(observations)).all()


def test_saving_and_loading_changes_nothing(folder):
    loaded = Agent.load(folder)
    assert (loaded.config, loaded.data, loaded.seed) == (agent().config, agent().data, agent().seed)
    assert loaded.episodes is None
    for part in ("graph", "routes"):
        before, after = getattr(agent(), part), getattr(loaded, part)
        for each in fields(before):
            if each.name not in ("graph", "finals"):
                assert np.array_equal(getattr(before, each.name), getattr(after, each.name)), f"{part}.{each.name}"
    assert loaded.routes.graph is loaded.graph
    for name, array in agent().routes.finals.arrays().items():
        assert np.array_equal(loaded.routes.finals.arrays()[name], array), name
    assert loaded.graph.places.shape == (len(episodes().observations), 2)


def test_nothing_is_written_twice(folder):
    """States and goal columns are rows and columns of the recorded observations, which are there."""
    with np.load(folder / "graph.npz") as file:
        assert {name.partition(".")[0] for name in file.files} == {
            "features", "rows", "first_edge", "heads", "counts", "labels", "slots", "lengths", "radius",
            "observations", "made_by_weights", "sha256",
        }  # fmt: skip


def test_what_was_only_kept_to_plan_can_be_left_out(folder, tmp_path):
    """Then it acts the same, is smaller, and says what it needs where it is asked for a goal."""
    agent().save(tmp_path / "acting", keep="act")
    acting, observations = Agent.load(tmp_path / "acting"), episodes().observations[::50]
    assert (acting.policy().act(observations) == agent().policy().act(observations)).all()
    assert acting.graph.observations is acting.graph.places is None
    smaller, larger = ((each / "graph.npz").stat().st_size for each in (tmp_path / "acting", folder))
    assert smaller < 0.6 * larger
    with pytest.raises(VMGError, match=r"needs the episodes the graph was built from"):
        acting.plan(near([1.0, 1.0], columns=(0, 1), tolerance=0.45))


def test_a_folder_of_the_format_before_is_read(folder):
    """Every array stood in it as it is."""
    graph, content = agent().graph, json.loads((folder / "config.json").read_text())
    names = ("features", "states", "rows", "first_edge", "heads", "counts", "labels", "slots", "lengths", "radius")
    whole = {name: getattr(graph, name) for name in (*names, "places", "observations")}
    (folder / "solution.npz").unlink()
    write_npz(folder / "graph.npz", whole | {"made_by_weights": content["made_by_weights"]})
    (folder / "config.json").write_text(json.dumps(content | {"format": 2}))
    loaded = Agent.load(folder)
    for name, array in whole.items():
        assert np.array_equal(getattr(loaded.graph, name), array), name


def test_the_card_says_what_data_and_settings_and_how_to_use_it(folder):
    card = (folder / "README.md").read_text()
    for words in (
        "pointmaze:umaze",
        "3,000 steps",
        agent().data.digest,
        "| graph | radius | 0.3 |",
        "| learn | low_level.kind | translator |",
        "| learn | low_level.inputs | relative |",
        "Not evaluated yet",
    ):
        assert words in card
    code = card.partition("```python")[2].partition("```")[0].replace('"agent"', repr(str(folder)))
    acted = {"observation": episodes().observations[0]}
    exec(code, acted)
    assert (acted["action"] == agent().policy().act(episodes().observations[0])).all()


def test_building_anew_forgets_the_old_routes_on_disk(folder):
    agent().build(episodes()).save(folder)
    assert Agent.load(folder).routes is None


def test_scores_are_kept_as_long_as_the_settings_are_the_same(folder):
    scores = {"task": "x", "score": 5.0, "interval": [4.0, 6.0], "n_episodes": 2, "endings": {}, "protocol": "p"}
    (folder / "scores.json").write_text(json.dumps(scores))
    agent().save(folder)
    assert "**5.0**" in (folder / "README.md").read_text()
    config = replace(agent().config, act=replace(agent().config.act, noise=0.1))
    replace(agent(), config=config).save(folder)
    assert not (folder / "scores.json").exists()


def spoil_config(change):
    def spoil(folder):
        content = json.loads((folder / "config.json").read_text())
        change(content)
        (folder / "config.json").write_text(json.dumps(content))

    return spoil


def spoil_low_level(change):
    return spoil_config(lambda content: change(content["config"]["learn"]["low_level"]))


def spoil_arrays(name, **changes):
    def spoil(folder):
        with np.load(folder / name) as file:
            arrays = dict(file)
        write_npz(folder / name, arrays | {key: change(arrays[key]) for key, change in changes.items()})

    return spoil


def add_array(name, **more):
    def spoil(folder):
        with np.load(folder / name) as file:
            write_npz(folder / name, dict(file) | {key: np.array(value) for key, value in more.items()})

    return spoil


def cut(name):
    def spoil(folder):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])

    return spoil


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: (folder / "config.json").unlink(), r"is not an agent: there is no config\.json in it"),
        (lambda folder: (folder / "config.json").write_text("{"), r"config\.json is not readable as JSON"),
        (spoil_config(lambda c: c.update(format=99)), r"is not of format 3: another program or version wrote it"),
        (spoil_config(lambda c: c.pop("data")), r"has no entry 'data'"),
        (spoil_config(lambda c: c.update(seed=-1)), r"seed must be a whole number of at least 0, not -1"),
        (spoil_config(lambda c: c["config"].update(colour=1)), r"config has the unknown entry 'colour'"),
        (spoil_config(lambda c: c["config"]["graph"].update(radius="wide")), r"radius must be a number, not 'wide'"),
        (spoil_config(lambda c: c["config"]["graph"].update(radius=-1)), r"must be a finite number of at least 0, not"),
        (spoil_low_level(lambda low_level: low_level.pop("kind")), r"low_level must be an object that names its kind"),
        (spoil_low_level(lambda low_level: low_level.update(kind="x")), r"There is no low-level policy 'x'"),
        (spoil_config(lambda c: c["data"].update(observation_size=5)), r"weights\.safetensors does not belong to this"),
        (lambda folder: (folder / "weights.safetensors").unlink(), r"weights\.safetensors does not exist"),
        (cut("weights.safetensors"), r"weights\.safetensors is not a readable safetensors file"),
        (cut("graph.npz"), r"graph\.npz is not a readable \.npz file"),
        (spoil_arrays("graph.npz", heads=lambda heads: heads + 10**6), r"graph\.npz is damaged"),
        (spoil_arrays("graph.npz", labels=lambda labels: labels[:-1]), r"graph\.npz is damaged"),
        (spoil_arrays("graph.npz", **{"features.high": lambda f: f | 255}), r"graph\.npz is damaged"),
        (spoil_arrays("graph.npz", **{"features.low": lambda f: f[1:]}), r"the two halves of a table do not fit"),
        (add_array("graph.npz", places=np.zeros((3, 1), np.float32)), r"graph\.npz is damaged"),
        (add_array("graph.npz", colour=1), r"graph\.npz does not hold a graph"),
        (spoil_arrays("solution.npz", hops=lambda hops: hops - 10**6), r"solution\.npz does not fit the graph"),
        (spoil_arrays("solution.npz", hops=lambda hops: np.roll(np.arange(len(hops)), 1)), r"routes run in a circle"),
        (spoil_arrays("solution.npz", values=lambda values: values[1:]), r"solution\.npz does not fit the graph"),
        (add_array("solution.npz", kind="by air"), r"There is no kind of routes 'by air'\. There are: edges, "),
    ],
)  # fmt: skip
def test_a_damaged_or_foreign_folder_is_answered_with_a_sentence(folder, spoil, sentence):
    spoil(folder)
    with pytest.raises(VMGError, match=sentence):
        Agent.load(folder)


def test_a_pickle_in_a_folder_is_never_run(folder):
    np.savez(folder / "graph.npz", features=np.array([{"a": 1}], dtype=object))
    with pytest.raises(
        VMGError, match=r"graph\.npz is not a readable \.npz file: .* pickled objects, which are never opened"
    ):
        Agent.load(folder)


@pytest.mark.parametrize("columns", [[0, 1, 3, 2], [0, 1], [0, 1, 2, 7]])
def test_a_translator_of_other_columns_than_the_settings_name_is_refused(folder, columns):
    """In the file, of the same number or fewer; or in the settings: either way the networks would see other numbers."""
    path = folder / "weights.safetensors"
    tensors, metadata = read_tensors(path)
    write_tensors(path, tensors | {"translator_input.columns": np.array(columns, np.int32)}, metadata)
    with pytest.raises(VMGError, match=r"translator_input\.columns are not the columns of an observation that its se"):
        Agent.load(folder)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [([3, 2, 1, 0], r"are not the columns of an observation that its settings name"), ([0, 1], r"translator\.w0 is")],
)
def test_settings_of_other_columns_than_the_translator_sees_are_refused(folder, columns, sentence):
    spoil_low_level(lambda low_level: low_level.update(columns=columns))(folder)
    with pytest.raises(VMGError, match=sentence):
        Agent.load(folder)


def test_other_data_cannot_build_this_agents_graph():
    wider = replace(episodes(), observations=np.repeat(episodes().observations, 2, axis=1))
    with pytest.raises(VMGError, match=r"has observations of 8 numbers, but the agent learned from .* with 4"):
        agent().build(wider)


def test_edges_that_nobody_recorded_are_kept_with_the_graph(tmp_path):
    """Their prices, steps and sources come back, and the agent acts the same."""
    graph, there = agent().built, agent().built.tails.astype(np.int64) * agent().built.n_vertices + agent().built.heads
    wanted = [(0, head) for head in range(1, 9) if head not in there.tolist()]
    graph = add_edges(graph, "by hand", *zip(*wanted, strict=True), steps=4, prices=0.25)
    shorter = replace(agent(), graph=graph).solve()
    shorter.save(tmp_path)
    loaded = Agent.load(tmp_path)
    assert loaded.graph.unrecorded.sources == ("by hand",)
    for name in ("edges", "kinds", "steps", "prices"):
        assert np.array_equal(getattr(loaded.graph.unrecorded, name), getattr(graph.unrecorded, name))
    observations = episodes().observations[::50]
    assert (loaded.policy().act(observations) == shorter.policy().act(observations)).all()


class Detour(EdgeRoutes):
    """Routes of another kind, as an extension brings them."""

    kind = "edges, with detours"


def test_routes_of_another_kind_are_saved_with_its_name(tmp_path):
    ROUTES.add(Detour.kind, Detour)
    routes = agent().routes
    mine = replace(agent(), routes=Detour(**{each.name: getattr(routes, each.name) for each in fields(routes)}))
    mine.save(tmp_path)
    loaded = Agent.load(tmp_path)
    assert type(loaded.routes) is Detour
    observations = episodes().observations[::50]
    assert (loaded.policy().act(observations) == agent().policy().act(observations)).all()
