import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent, episodes

from vmg.act.policy import Policy
from vmg.agent import Agent
from vmg.errors import VMGError
from vmg.files import write_npz

ACT_IN_A_NEW_PROCESS = """
import sys
import numpy as np
import vmg

policy, observations = vmg.Policy(vmg.Agent.load(sys.argv[1])), np.load(sys.argv[2])
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
    assert (np.load(tmp_path / "out.npy") == Policy(agent()).act(observations)).all()


def test_saving_and_loading_changes_nothing(folder):
    loaded = Agent.load(folder)
    assert (loaded.config, loaded.data, loaded.seed) == (agent().config, agent().data, agent().seed)
    for part in ("graph", "solution"):
        before, after = getattr(agent(), part), getattr(loaded, part)
        for name in before.__dataclass_fields__:
            assert np.array_equal(getattr(before, name), getattr(after, name)), f"{part}.{name}"
    assert np.array_equal(loaded.places, agent().places)


def test_the_card_says_what_data_and_settings(folder):
    card = (folder / "README.md").read_text()
    for words in (
        "pointmaze:umaze",
        "3,000 steps",
        agent().data.digest,
        "| graph | radius | 0.3 |",
        "Not evaluated yet",
    ):
        assert words in card


def test_building_anew_forgets_the_old_solution_on_disk(folder):
    agent().build(episodes()).save(folder)
    assert Agent.load(folder).solution is None


def spoil_config(change):
    def spoil(folder):
        content = json.loads((folder / "config.json").read_text())
        change(content)
        (folder / "config.json").write_text(json.dumps(content))

    return spoil


def spoil_arrays(name, **changes):
    def spoil(folder):
        with np.load(folder / name) as file:
            arrays = dict(file)
        write_npz(folder / name, arrays | {key: change(arrays[key]) for key, change in changes.items()})

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
        (spoil_config(lambda c: c.update(format=99)), r"is not of format 1: another program or version wrote it"),
        (spoil_config(lambda c: c.pop("data")), r"has no entry 'data'"),
        (spoil_config(lambda c: c["config"].update(colour=1)), r"config has the unknown entry 'colour'"),
        (spoil_config(lambda c: c["config"]["graph"].update(radius="wide")), r"graph\.radius must be of the type"),
        (spoil_config(lambda c: c["data"].update(observation_size=5)), r"weights\.safetensors does not belong to this"),
        (lambda folder: (folder / "weights.safetensors").unlink(), r"weights\.safetensors does not exist"),
        (cut("weights.safetensors"), r"weights\.safetensors is not a readable safetensors file"),
        (cut("graph.npz"), r"graph\.npz is not a readable \.npz file"),
        (spoil_arrays("graph.npz", heads=lambda heads: heads + 10**6), r"graph\.npz is damaged"),
        (spoil_arrays("graph.npz", labels=lambda labels: labels[:-1]), r"graph\.npz is damaged"),
        (spoil_arrays("graph.npz", features=lambda f: f * np.nan), r"graph\.npz is damaged"),
        (spoil_arrays("solution.npz", hops=lambda hops: hops - 10**6), r"solution\.npz does not fit the graph"),
        (spoil_arrays("solution.npz", values=lambda values: values[1:]), r"solution\.npz does not fit the graph"),
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


def test_other_data_cannot_build_this_agents_graph():
    wider = replace(episodes(), observations=np.repeat(episodes().observations, 2, axis=1))
    with pytest.raises(VMGError, match=r"has observations of 8 numbers, but the agent learned from .* with 4"):
        agent().build(wider)
