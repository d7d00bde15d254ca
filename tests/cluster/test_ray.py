"""Work on a Ray cluster of two nodes on this machine: the numbers of one machine, whoever dies on the way."""

import json
import os
import time
from functools import partial
from threading import Thread

import numpy as np
import pytest
from evaluation_cases import LINE, Walker
from test_workers import be_killed, faulty

from vmg.base.errors import VMGError
from vmg.cli.main import main
from vmg.evaluation import EXECUTORS, evaluate
from vmg.evaluation.executors.ray import RAY
from vmg.networks import embed_alike
from vmg.networks.mlp import initial_layers
from vmg.runs import embedding

ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
# Ray forks only to begin another program at once; what JAX says of that, where it was imported before, is no matter.
pytestmark = pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")


def started(start, **options):
    """Start something of Ray's; a machine that is busy may be too slow for its patience of 30 s, but not twice."""
    try:
        return start(**options)
    except Exception:
        return start(**options)


@pytest.fixture(scope="module")
def cluster():
    """A head of one core, to which this process is connected."""
    from ray.cluster_utils import Cluster

    os.environ.update(RAY)
    head = {"num_cpus": 1, "include_dashboard": False, "include_log_monitor": False}
    found = started(Cluster, initialize_head=True, head_node_args=head)
    ray.init(address=found.address, log_to_driver=False, logging_level="ERROR")
    yield found
    ray.shutdown()
    found.shutdown()


@pytest.fixture(scope="module")
def node(cluster):
    """A second node, of two cores."""
    return started(cluster.add_node, num_cpus=2, include_log_monitor=False)


@pytest.fixture
def other_node(cluster):
    """One that comes later."""
    return started(cluster.add_node, num_cpus=1, include_log_monitor=False)


class Slow(Walker):
    """Takes its time, so that there is something to disturb."""

    def act(self, state):
        time.sleep(0.05)
        return super().act(state)


class Stumbles(Walker):
    def act(self, state):
        raise VMGError("It stumbled.")


def free_cores() -> float:
    return ray.available_resources().get("CPU", 0)


def wait_for(condition) -> None:
    """Wait until the cluster says so: it hears of its nodes a little later."""
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_scores_are_those_of_this_process(node):
    scores = evaluate(Walker(), LINE, n_episodes=7, executor="ray")
    assert scores == evaluate(Walker(), LINE, n_episodes=7, executor="here")
    wait_for(lambda: free_cores() == 3)


def test_features_are_those_of_this_machine_to_the_bit(node, monkeypatch):
    monkeypatch.setattr(embedding, "ROWS", 300)
    rows = np.random.default_rng(0).normal(size=(1000, 4)).astype(np.float32)
    scaling = {"mean": np.zeros(4, np.float32), "std": np.ones(4, np.float32)}
    weights = {"encoder_input": scaling, "state_encoder": initial_layers(np.random.default_rng(0), (4, 8, 8, 3))}
    assert embedding.embedding_on("ray", 2)(weights, rows).tobytes() == embed_alike(weights, rows).tobytes()


def test_a_worker_that_dies_is_replaced_and_every_episode_counts_once(node, tmp_path, capsys):
    ran = []
    disturbed = faulty(be_killed, tmp_path)
    scores = evaluate(Walker(), disturbed, n_episodes=6, executor="ray", workers=2, on_episode=ran.append)
    assert scores == evaluate(Walker(), LINE, n_episodes=6, executor="here")
    assert sorted(episode.seed for episode in ran) == list(range(6))
    assert "A worker of the cluster died: the episode of seed" in " ".join(capsys.readouterr().err.split())


def test_an_episode_that_always_ends_its_worker_is_said(node, tmp_path):
    disturbed = faulty(be_killed, tmp_path, times=99, seeds=(1,))
    with pytest.raises(VMGError, match=r"did the episode of seed 1 died: .* last of 3 that tried.*--on here"):
        evaluate(Walker(), disturbed, n_episodes=3, executor="ray", workers=2)


def test_what_goes_wrong_in_an_episode_is_heard_of_as_it_was(node):
    with pytest.raises(VMGError, match=r"It stumbled") as raised:
        evaluate(Stumbles(), LINE, n_episodes=3, executor="ray")
    assert (type(raised.value), str(raised.value)) == (VMGError, "It stumbled.")
    assert "It was raised by a worker on" in "".join(raised.value.__notes__)


def test_an_interrupt_ends_all_workers(node):
    def interrupted(episode):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(Slow(), LINE, n_episodes=50, executor="ray", on_episode=interrupted)
    wait_for(lambda: free_cores() == 3)


def test_an_address_is_for_executors_that_have_one():
    assert isinstance(EXECUTORS.find("ray://somewhere"), partial)
    with pytest.raises(VMGError, match=r"The executor 'here' takes no address"):
        EXECUTORS.find("here://somewhere")
    with pytest.raises(VMGError, match=r"lacks its address: write ray://HOST"):
        EXECUTORS.find("ray://")


def test_a_node_that_dies_in_the_middle_costs_no_episode(cluster, node):
    ran = []

    def note(episode):
        ran.append(episode.seed)
        if len(ran) == 4:
            cluster.remove_node(node, allow_graceful=False)

    scores = evaluate(Slow(), LINE, n_episodes=30, executor="ray", on_episode=note)
    assert scores == evaluate(Walker(), LINE, n_episodes=30, executor="here")
    assert sorted(ran) == list(range(30))


def study(out, on):
    """The rows of a small table, without what names the machine's packages."""
    data = "pointmaze-umaze=pointmaze:umaze?steps=400"
    options = ["--tasks", "pointmaze-umaze", "--presets", "paper", "--data", data, "--no-baselines", "--choose"]
    size = ["--seeds", "0", "1", "--steps", "30", "--episodes", "2"]
    assert main(["reproduce", "auto", *options, *size, "--on", on, "--out", str(out)]) == 0
    return json.loads((out / "auto.json").read_text())


def test_a_study_that_loses_a_node_while_it_learns_has_the_rows_of_one_machine(cluster, other_node, tmp_path):
    def kill_when_learning():
        wait_for(lambda: list(tmp_path.glob("ray/*/*/training/parts/seed_1/learning.json")))
        cluster.remove_node(other_node, allow_graceful=False)

    killer = Thread(target=kill_when_learning)
    killer.start()
    rows = study(tmp_path / "ray", "ray")
    killer.join()
    assert rows == study(tmp_path / "here", "here")
