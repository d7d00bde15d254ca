"""Generated edges: found as a slow twin finds them, priced, kept, and never through the walls of a maze."""

from dataclasses import replace

import numpy as np
import pytest
from learning_cases import SMALL, untrained, walk

import vmg
from vmg.agent.generating import STEPS, Imagination, find_links
from vmg.agent.graph_file import graph_arrays, graph_of
from vmg.agent.soundness import is_sound
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.data.mazes import cell_at, maze_map
from vmg.graph import build, reachable_from
from vmg.networks import embed
from vmg.networks.mlp import mlp


def imagination(episodes, learn, weights):
    features = embed(weights, episodes.observations)
    act = learn.low_level.actor(weights)
    return Imagination(weights, act, DataFacts.of(episodes), features, episodes.observations)


def slow_miss(imagined, episodes, x, y):
    """Ten steps from row x towards row y, one after the other."""
    low, high = episodes.actions.min(0), episodes.actions.max(0)
    f, goal, networks = imagined.features[x], imagined.features[y], imagined.weights
    action = imagined.act(episodes.observations[[x]], episodes.observations[[y]])[0]
    for left in range(STEPS, 0, -1):
        f = f + mlp(networks["action_encoder"], np.concatenate([f, np.clip(action, low, high)]))
        if left > 1:
            action = mlp(networks["action_decoder"], np.concatenate([f, (goal - f) / (left - 1)]))
    return np.linalg.norm(goal - f)


@pytest.mark.parametrize("seed", range(6))
def test_links_are_those_of_a_slow_twin(seed):
    episodes = walk(seed, n_episodes=2, length=13)
    imagined = imagination(episodes, SMALL, untrained(episodes, SMALL, seed))
    graph = build(imagined.features, episodes, float(np.median(np.abs(np.diff(imagined.features, axis=0)))))
    firsts = [start + t for start in (0, 14) for t in range(4)]
    reach = np.median([np.linalg.norm(imagined.features[x + STEPS] - imagined.features[x]) for x in firsts])
    bar = np.quantile([slow_miss(imagined, episodes, x, x + STEPS) for x in firsts], 0.9)
    joined, best = set(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)), {}
    for x in range(28):
        for y in range(28):
            pair = int(graph.labels[x]), int(graph.labels[y])
            near = np.linalg.norm(imagined.features[y] - imagined.features[x]) < reach
            miss = slow_miss(imagined, episodes, x, y)
            if near and pair[0] != pair[1] and pair not in joined and miss <= bar:
                best[pair] = min(best.get(pair, (np.inf, 0, 0)), (miss, x, y))
    links = find_links(graph, imagined, episodes)
    pairs = zip(graph.labels[links.first].tolist(), graph.labels[links.second].tolist(), strict=True)
    assert best
    assert dict(zip(pairs, zip(*(each.tolist() for each in links), strict=True), strict=True)) == {
        pair: (x, y) for pair, (_, x, y) in best.items()
    }


def agents(episodes, price):
    """An agent with networks that never learned, and the same with generated edges."""
    config = vmg.AgentConfig(learn=SMALL, graph=vmg.GraphConfig(radius=0.1, recordings=True))
    plain = vmg.Agent(config, DataFacts.of(episodes), 0, untrained(episodes, SMALL))
    return plain, replace(plain, config=replace(config, graph=replace(config.graph, generated=price)))


def test_they_are_priced_and_kept_beside_the_recorded_ones_and_found_again_when_extended():
    episodes = walk(0)
    plain, generous = agents(episodes, 0.25)
    before, after = plain.build(episodes).graph, generous.build(episodes).graph
    assert before.unrecorded is None
    assert after.unrecorded.sources == ("generated",)
    made = set(after.unrecorded.edges.tolist())
    for number in range(after.n_edges):
        edge = after.edge(number)
        assert (edge.kind == "generated") == (number in made) == (edge.evidence == 0)
        assert edge.price == (0.25 if number in made else 0.0)
        assert edge.steps >= (STEPS if number in made else 1)
    assert after.n_edges == before.n_edges + len(made)
    kept = graph_of(graph_arrays(after), ())
    assert is_sound(kept)
    assert (kept.edge_prices == after.edge_prices).all()
    extended = generous.build(episodes.subset(range(5))).extend(episodes.subset(range(5, 8))).graph
    assert (extended.heads == after.heads).all()
    assert (extended.unrecorded.edges == after.unrecorded.edges).all()


def test_without_an_action_decoder_nothing_can_be_imagined():
    episodes = walk(0)
    _, generous = agents(episodes, 0.0)
    blind = replace(generous.config, learn=replace(SMALL, action_decoder=False))
    with pytest.raises(vmg.VMGError, match=r"learned without: build its graph without them"):
        replace(generous, config=blind).build(episodes)


def test_short_recordings_have_no_links():
    episodes = walk(0, length=STEPS - 1)
    assert agents(episodes, 0.0)[1].build(episodes).graph.unrecorded is None


def pieces(maze, steps, length, share):
    """Some short pieces of what was recorded in a maze, which hardly touch."""
    rng, parts = np.random.default_rng(0), []
    for each in vmg.load(f"pointmaze:{maze}?steps={steps}"):
        for start in range(0, len(each) - length, length + 1):
            if rng.random() < share:
                seen, done = slice(start, start + length + 1), slice(start, start + length)
                parts.append((each.observations[seen], each.actions[done], each.rewards[done], False, True))
    return Episodes.from_list(parts, source=f"pieces of {maze}")


def crossing(maze, begin, end):
    """Say which straight ways from place to place pass a wall, by the floor plan."""
    walls = np.array([[cell == 1 for cell in row] for row in maze_map(maze)])
    places = np.linspace(begin, end, 100)
    rows, columns = np.moveaxis(cell_at(maze_map(maze), places), -1, 0)
    return walls[rows, columns].any(0)


def test_in_a_maze_more_can_be_reached_and_no_link_leads_through_a_wall():
    episodes = pieces("umaze", 8_000, 40, 0.4)
    learn = vmg.LearnConfig(
        encoder_inputs="normalised", margins="program", hidden_units=32, batch_size=64, steps=800, checkpoint_every=800,
        low_level=vmg.Translator(inputs="raw relative"),
    )  # fmt: skip
    (plain,) = vmg.Agent.fit(episodes, vmg.AgentConfig(learn=learn, graph=vmg.GraphConfig(radius=0.6)))
    generous = replace(plain, config=replace(plain.config, graph=replace(plain.config.graph, generated=1.0)))
    shares = []
    for agent in (plain, generous):
        graph = agent.build(episodes).graph
        shares.append(np.mean([reachable_from(graph, vertex).mean() for vertex in range(0, graph.n_vertices, 5)]))
    made = graph.unrecorded.edges
    assert len(made) > 20
    assert shares[1] > 1.2 * shares[0]
    assert not crossing("umaze", graph.states[graph.tails[made], :2], graph.states[graph.heads[made], :2]).any()
    assert crossing("umaze", np.array([[-1.0, 1.0]]), np.array([[-1.0, -1.0]])).all()  # the wall is there
