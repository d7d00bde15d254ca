"""Agents whose graph is extended: equal to those that are built anew, with a word on what is new."""

from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent, episodes, follower
from test_extending import assert_same

from vmg.agent.agent import Agent
from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.graph import GraphConfig
from vmg.networks import embed_alike


def first_and_rest(n=9):
    whole = episodes()
    return whole.subset(range(n)), whole.subset(range(n, len(whole)))


@pytest.mark.parametrize("made", [agent, follower], ids=["edges", "recordings"])
@pytest.mark.parametrize("labelling", ["nearest", "online"])
def test_an_extended_agent_is_the_one_built_from_all(made, labelling):
    first, rest = first_and_rest()
    config = replace(made().config, graph=replace(made().config.graph, labelling=labelling))
    whole = replace(made(), config=config).build(episodes()).solve()
    grown = replace(made(), config=config).build(first).solve().extend(rest)
    assert_same(grown.built, whole.built)
    for name, array in whole.routes.arrays().items():
        assert np.array_equal(grown.routes.arrays()[name], array), name
    assert grown.weights is whole.weights


def test_a_loaded_agent_is_extended_too(tmp_path):
    first, rest = first_and_rest()
    agent().build(first).save(tmp_path)
    loaded = Agent.load(tmp_path)
    with pytest.raises(VMGError, match=r"a loaded agent does not have them: agent.extend\(episodes, earlier="):
        loaded.extend(rest)
    assert_same(loaded.extend(rest, earlier=first).built, agent().built)


def test_an_agent_that_is_extended_stays_as_it_was():
    first, rest = first_and_rest()
    before = agent().build(first).solve()
    graph, labels = before.built, before.built.labels.copy()
    before.extend(rest)
    assert before.graph is graph
    assert np.array_equal(graph.labels, labels)


def test_features_do_not_depend_on_the_rows_beside_them():
    rows, rng = episodes().observations, np.random.default_rng(0)
    whole = embed_alike(agent().weights, rows)
    for n in (1, 2, 7, 500):
        chosen = rng.integers(0, len(rows), n)
        assert embed_alike(agent().weights, rows[chosen]).tobytes() == whole[chosen].tobytes()


def test_what_is_new_is_said():
    first, rest = first_and_rest(3)
    before = agent().build(first)
    after = before.extend(rest)
    growth = after.growth_since(before)
    assert (growth.episodes, growth.steps) == (len(rest), rest.n_steps)
    assert growth.vertices == after.built.n_vertices - before.built.n_vertices
    assert growth.in_reach[1] >= growth.in_reach[0]
    assert growth.unlike > 0.1
    assert growth.time_to_train
    said = growth.summary()
    assert f"{growth.vertices:,} new vertices" in said
    assert "unlike anything before" in said
    assert "It is time to train again" in said
    assert set(growth.losses) == {"contrastive", "action", "translator"}
    assert list(growth.to_dict()["shorter"]) == [vars(way) for way in growth.shorter]


def test_the_same_again_is_nothing_new():
    first, _ = first_and_rest()
    before = agent().build(first)
    growth = before.extend(first).growth_since(before, held_out=first)
    assert (growth.vertices, growth.unlike, growth.reachable, growth.n_shorter) == (0, 0.0, 0, 0)
    assert not growth.time_to_train
    assert all(new == known for new, known in growth.losses.values())
    assert "Every new state is like one that was recorded before." in growth.summary()


@pytest.mark.filterwarnings("ignore:The radius")
def test_a_way_that_became_shorter_is_named():
    """Down a line of places, and then a step across it."""
    along, across = np.arange(8.0)[:, None], np.array([[0.0], [7.0]])

    def walks(points):
        n = len(points) - 1
        return Episodes(
            observations=np.pad(points, ((0, 0), (0, 3))), actions=np.zeros((n, 2)), rewards=np.zeros(n), lengths=[n],
            terminated=[False], truncated=[True],
        )  # fmt: skip

    config = replace(agent().config, graph=GraphConfig(radius=1e-3))
    before = replace(agent(), config=config).build(walks(along))
    growth = before.extend(walks(across)).growth_since(before)
    assert growth.vertices == 0
    assert (growth.edges, growth.n_shorter) == (1, 1)
    assert [(way.start, way.end, way.before, way.after) for way in growth.shorter] == [(0, 7, 7, 1)]
    assert "0 → 7 from 7 edges to 1" in growth.summary()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (
            {"observations": lambda e: e.observations[:, :3]},
            "has observations of 3 numbers, but the agent learned from",
        ),
        ({"actions": lambda e: e.actions[:, :1]}, "has actions of 1 numbers, but the agent learned from"),
        ({"fields": lambda e: {"position": (2, 3)}}, "position was 0, 1 and is 2, 3. Write them in the same order"),
    ],
)
def test_episodes_that_do_not_fit(spoil, sentence):
    first, rest = first_and_rest()
    changes = {name: change(rest) for name, change in spoil.items()}
    other = replace(rest, **({"fields": {}} | changes))
    with pytest.raises(VMGError, match=sentence):
        agent().build(first).extend(other)


def test_centroids_cannot_be_extended():
    first, rest = first_and_rest()
    config = replace(agent().config, graph=GraphConfig(merging="kmeans", clusters=20))
    with pytest.raises(VMGError, match="merged by k-means cannot be extended"):
        replace(agent(), config=config).build(first).extend(rest)
