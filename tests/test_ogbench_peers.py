"""OGBench's methods learn here as they do by its own loop: the same batches, the same weights.

Needs a checkout of github.com/seohongpark/ogbench, named by OGBENCH_REPOSITORY, and flax, distrax and ml_collections.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

for name in ("flax", "distrax", "ml_collections"):
    pytest.importorskip(name)
if "OGBENCH_REPOSITORY" not in os.environ:
    pytest.skip("OGBENCH_REPOSITORY names no checkout of OGBench", allow_module_level=True)

ROOT, REPOSITORY = Path(__file__).parents[1], Path(os.environ["OGBENCH_REPOSITORY"])
SMALL = {"batch_size": 16, "actor_hidden_dims": (8, 8), "value_hidden_dims": (8, 8)}
UPDATES, SEEDS = 5, (3, 4)


@pytest.fixture(autouse=True)
def _found(monkeypatch):
    for place in (ROOT, REPOSITORY / "impls"):
        monkeypatch.syspath_prepend(str(place))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng, file = np.random.default_rng(0), tmp_path_factory.mktemp("peers") / "antmaze-medium-stitch-v0.npz"
    ends = np.arange(1, 301) % 50 == 0
    np.savez(file, observations=rng.normal(size=(300, 29)), actions=rng.uniform(-1, 1, (300, 8)), terminals=ends)
    return file


def by_its_own_loop(file, config, seed):
    """Learn as OGBench's main.py does: sample a batch, update, again."""
    from agents import agents
    from ogbench.utils import load_dataset
    from utils import datasets

    data = load_dataset(file, compact_dataset=True)
    data = getattr(datasets, config["dataset_class"])(datasets.Dataset.create(**data), config)
    agent = agents[config["agent_name"]].create(
        seed, data.dataset["observations"][:1], data.dataset["actions"][:1], config
    )
    np.random.seed([seed, 0])  # noqa: NPY002
    drawn = data.sample(UPDATES * config["batch_size"])
    for batch in zip(*(np.split(drawn[name], UPDATES) for name in drawn), strict=True):
        agent, _ = agent.update(dict(zip(drawn, batch, strict=True)))
    return agent


@pytest.mark.parametrize("method", ["hiql", "qrl", "crl", "gciql"])
def test_models_learn_side_by_side_as_they_do_by_its_own_loop(file, method):
    import jax
    from benchmarks.ogbench_peers import PeerActor, learn, settings_of

    config = settings_of(REPOSITORY, "antmaze-medium-stitch", method) | SMALL
    learned = learn(file, config, SEEDS, UPDATES)
    for seed, weights in zip(SEEDS, learned.models, strict=True):
        agent = by_its_own_loop(file, config, seed)
        for ours, theirs in zip(jax.tree.leaves(weights), jax.tree.leaves(agent.network.params), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-5)
        state, goal = np.random.default_rng(1).normal(size=(2, 29)).astype(np.float32)
        actor = PeerActor(str(REPOSITORY), config, learned.sizes, weights)
        actor.begin({"wanted_observation": goal}, None)
        theirs = agent.sample_actions(state, goal, seed=jax.random.PRNGKey(5), temperature=0.0)
        np.testing.assert_allclose(actor.act(state), np.clip(theirs, -1, 1), atol=1e-3)


def test_settings_are_those_of_its_commands():
    from benchmarks.ogbench_peers import settings_of

    giant, medium = (settings_of(REPOSITORY, f"antmaze-{maze}-stitch", "hiql") for maze in ("giant", "medium"))
    assert (giant["discount"], medium["discount"]) == (0.995, 0.99)
    assert giant["actor_p_randomgoal"] == giant["actor_p_trajgoal"] == 0.5
    with pytest.raises(SystemExit, match="0 commands for hiql on antmaze-tiny"):
        settings_of(REPOSITORY, "antmaze-tiny", "hiql")
    assert "agents.hiql" in sys.modules
