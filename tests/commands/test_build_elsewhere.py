"""Graphs that are built by several cores or machines: the files of a build by one, byte for byte."""

import pickle

import numpy as np
import pytest
from learning_cases import untrained

import vmg
from vmg.agent.agent import Agent
from vmg.base.errors import VMGError
from vmg.cli.main import main
from vmg.data.facts import DataFacts
from vmg.evaluation import EXECUTORS
from vmg.graph import merging, shards
from vmg.networks import embed_alike, encoder
from vmg.runs import Run, embedding, save_run


def sent(thing):
    """What arrives on another machine."""
    return pickle.loads(pickle.dumps(thing))


@EXECUTORS.register("last-first")
def on_another_machine(work, jobs, workers):
    assert workers == 4
    with sent(work).open() as do:
        for job in reversed(jobs):
            assert job.name
            yield sent(do(sent(job)))


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A run of an agent that has not learned anything; everything is cut into small parts."""
    for module, name, size in ((embedding, "ROWS", 50), (merging, "SHARD", 20), (shards, "AT_ONCE", 7)):
        monkeypatch.setattr(module, name, size)
    monkeypatch.setattr(encoder, "ROWS_ALIKE", 16)
    places = np.random.default_rng(0).normal(size=(9, 41, 2)).cumsum(1)
    episodes = vmg.Episodes.from_list([(each, np.diff(each, axis=0), np.zeros(40), False, True) for each in places])
    vmg.data.save(episodes, tmp_path / "walks.npz")
    learn = vmg.LearnConfig(hidden_units=8, metric_dimension=3, batch_size=16, steps=1)
    config = vmg.AgentConfig(learn=learn, graph=vmg.GraphConfig(radius=0.05))
    run = Run(data=f"npz:{tmp_path / 'walks.npz'}", config=config, folder=tmp_path / "run")
    save_run(run)
    Agent(config, DataFacts.of(episodes), 0, untrained(episodes, learn, 0)).save(run.agent_folder(0))
    return run


def built(run, *options) -> bytes:
    graph = run.agent_folder(0) / "graph.npz"
    graph.unlink(missing_ok=True)
    assert main(["build", str(run.folder), *options]) == 0
    return graph.read_bytes()


def test_the_graph_is_that_of_one_core(made):
    one = built(made, "--on", "here")
    assert Agent.load(made.agent_folder(0)).built.n_vertices > 40
    assert built(made) == one
    assert built(made, "--workers", "5") == one
    assert built(made, "--on", "last-first", "--workers", "4") == one


def test_only_what_is_sent_is_cut_out_of_observations_on_disk(made, tmp_path):
    observations = made.episodes()[0].observations
    np.save(tmp_path / "observations.npy", observations)
    weights = Agent.load(made.agent_folder(0)).weights
    mapped = np.load(tmp_path / "observations.npy", mmap_mode="r")
    found = embedding.embedding_on("last-first", 4)(weights, mapped)
    assert found.tobytes() == embed_alike(weights, observations).tobytes()
    assert type(embedding._Pieces(mapped)[0].observations) is np.ndarray


def test_an_executor_that_is_none_is_refused(made):
    with pytest.raises(VMGError, match=r"There is no executor .nobody"):
        embedding.embedding_on("nobody", None)
