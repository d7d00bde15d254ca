"""Edges that nobody recorded: added to a graph they change nothing that was recorded, and routes pay their price."""

from itertools import pairwise

import numpy as np
import pytest
from extending import extension
from hypothesis import given, settings
from hypothesis import strategies as st
from learning_cases import SMALL, untrained
from strategies import labelled_episodes
from twins import brute_rewards, cheapest, exact_values, steps_of

import vmg
from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.graph import EDGE_SOURCES, Piece, add_edges, build, goal, iterate_values, reaching, reward, solve
from vmg.graph.routes.edges import edge_weights

pytestmark = pytest.mark.filterwarnings("ignore:The radius")
QUARTERS = st.integers(-4, 20).map(lambda quarters: quarters / 4)


@st.composite
def added(draw):
    """A graph, its episodes, and candidates (tail, head, steps, price); some are there already, some come twice."""
    graph, episodes = draw(labelled_episodes())
    ends = st.integers(0, graph.n_vertices - 1)
    candidate = st.tuples(ends, ends, st.sampled_from([0.5, 1.0, 7.0]), QUARTERS)
    return graph, episodes, draw(st.lists(candidate.filter(lambda each: each[0] != each[1]), max_size=12))


def grown(graph, kind, candidates):
    tails, heads, steps, prices = zip(*candidates, strict=True) if candidates else ([],) * 4
    return add_edges(graph, kind, tails, heads, steps=steps, prices=prices)


def pairs_of(graph):
    return list(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True))


@settings(max_examples=150, deadline=None)
@given(added(), st.integers(0, 12), st.sampled_from(["mean", "max", "sum", "rm", "rm_h", "rm_t"]))
def test_what_was_recorded_stays_and_what_is_added_has_its_price(case, cut, variant):
    before, episodes, candidates = case
    graph = grown(grown(before, "one", candidates[:cut]), "two", candidates[cut:])
    steps = list(steps_of(episodes, graph.labels))
    recorded = {(a, b) for a, b, _ in steps if a != b}
    new = {}  # the first of a kind counts
    for place, (tail, head, duration, price) in enumerate(candidates):
        if (tail, head) not in recorded:
            new.setdefault((tail, head), ("one" if place < cut else "two", duration, price))

    pairs = pairs_of(graph)
    assert pairs == sorted(recorded | set(new))
    number = {pair: edge for edge, pair in enumerate(pairs)}
    assert graph.slots.tolist() == [graph.n_edges + a if a == b else number[a, b] for a, b, _ in steps]
    assert graph.counts.tolist() == [
        *(sum((a, b) == pair for a, b, _ in steps) for pair in pairs),
        *before.counts[before.n_edges :].tolist(),
    ]

    expected = brute_rewards(episodes, graph.labels, variant)
    found = reward(graph, episodes, variant=variant)
    inside = found.slots[graph.n_edges :]
    half_tail, half_head = 0.5 * (variant not in ("rm", "rm_h")), 0.5 * (variant not in ("rm", "rm_t"))
    old_steps = dict(zip(pairs_of(before), before.edge_steps.tolist(), strict=True))
    for edge, (tail, head) in enumerate(pairs):
        known = graph.edge(edge)
        assert (known.tail, known.head) == (tail, head)
        if (tail, head) in recorded:
            assert found.edges[edge] == pytest.approx(expected[tail, head], abs=1e-12)
            assert (known.kind, known.steps, known.price) == ("recorded", old_steps[tail, head], 0)
            assert known.evidence == graph.counts[edge] > 0
        else:
            kind, duration, price = new[tail, head]
            assert found.edges[edge] == half_tail * inside[tail] + half_head * inside[head] - price
            assert (known.kind, known.steps, known.price, known.evidence) == (kind, duration, price, 0)


@settings(max_examples=100, deadline=None)
@given(added(), st.sampled_from([0.5, 0.9]))
def test_values_and_paths_go_along_added_edges_like_any_other(case, discount):
    graph, episodes, candidates = case
    graph = grown(graph, "mine", candidates)
    rewards, pairs = reward(graph, episodes), pairs_of(graph)
    worth = dict(zip(pairs, rewards.edges.tolist(), strict=True))
    exact = exact_values(graph.n_vertices, worth, discount, rewards.absorbing, 1.0, "loop")
    assert np.abs(iterate_values(graph, rewards, discount).values - exact).max() <= 1e-6 + 1e-9
    routes, weights = solve(graph, rewards, discount), edge_weights(rewards, graph, "rewards")
    weight_of = dict(zip(pairs, weights.tolist(), strict=True))
    for vertex in range(graph.n_vertices):
        hops = list(pairwise(routes.path(vertex)))
        best = cheapest(pairs, weights, rewards.absorbing, vertex, int(routes.targets[vertex]))
        assert (sum(weight_of[hop] for hop in hops), len(hops)) == best
        assert routes.cost(vertex) == pytest.approx(sum(graph.edge(graph.edge_number(*hop)).steps for hop in hops))
        kinds = [graph.edge(graph.edge_number(*hop)).kind for hop in hops]
        assert [piece.kind for piece in routes.pieces(vertex)].count("mine") == kinds.count("mine")


def line(*stretches):
    """Episodes along a line, from place to place in steps of 1; every place is a vertex."""
    walks = [np.arange(first, last + 1, dtype=np.float32)[:, None] for first, last in stretches]
    return Episodes.from_list(
        [(walk, np.ones((len(walk) - 1, 1)), np.zeros(len(walk) - 1), False, True) for walk in walks]
    )


@pytest.mark.parametrize(("price", "taken"), [(0.0, True), (1.9, True), (2.1, False), (1e9, False)])
def test_a_short_cut_is_taken_while_it_is_cheap(price, taken):
    """From 0 to 4 in four recorded steps, of which the last is paid, or at once: three unpaid steps against one."""
    episodes = line((0, 4))
    graph = add_edges(build(episodes.observations, episodes, 0.5), "jump", [0], [4], steps=6, prices=price)
    routes = solve(graph, goal(graph, 4 - episodes.observations[:, 0], 0.1).rewards, 0.95)
    assert routes.path(0) == ([0, 4] if taken else [0, 1, 2, 3, 4])
    assert routes.cost(0) == (6 if taken else 4)
    assert routes.pieces(0) == [Piece(None, 0, 5, "jump") if taken else Piece(0, 0, 3)]
    assert routes.path(1) == [1, 2, 3, 4]


def test_what_cannot_be_reached_otherwise_is_reached_at_any_price():
    episodes = line((0, 2), (5, 7))
    apart = build(episodes.observations, episodes, 0.5)
    graph = add_edges(apart, "bridge", [2], [3], steps=3, prices=1e5)
    there = np.arange(6) == 5
    assert reaching(apart, there).tolist() == [False] * 3 + [True] * 3
    assert reaching(graph, there).all()
    routes = solve(graph, goal(graph, np.abs(episodes.observations[:, 0] - 7), 0.1).rewards, 0.95)
    assert routes.path(0) == [0, 1, 2, 3, 4, 5]
    assert routes.pieces(0) == [Piece(0, 0, 1), Piece(None, 0, 2, "bridge"), Piece(1, 0, 1)]


def test_nothing_new_leaves_the_graph_as_it_is():
    episodes = line((0, 3))
    graph = build(episodes.observations, episodes, 0.5)
    assert add_edges(graph, "mine", [], [], steps=[], prices=[]) is graph
    assert add_edges(graph, "mine", [0, 1], [1, 2], steps=1, prices=0) is graph


JOINS = r"Edges of 'mine' must join two different vertices, 0 to 3, with one tail per head\."
NEEDS = r"Edges of 'mine' need finite prices and more than 0 steps, one of each for all or for each\."


@pytest.mark.parametrize(
    ("tails", "heads", "steps", "prices", "sentence"),
    [
        ([0, 1], [2, 1], 1, 0, JOINS),
        ([0], [4], 1, 0, JOINS),
        ([-1], [2], 1, 0, JOINS),
        ([0, 1], [2], 1, 0, JOINS),
        ([[0]], [[2]], 1, 0, JOINS),
        ([0.5], [2], 1, 0, JOINS),
        ([0], [2], 1, np.nan, NEEDS),
        ([0], [2], 1, np.inf, NEEDS),
        ([0], [2], np.nan, 0, NEEDS),
        ([0], [2], 0, 0, NEEDS),
        ([0, 0], [2, 3], [1, 2, 3], 0, NEEDS),
        ([0, 0], [2, 3], 1, [0], NEEDS),
    ],
)
def test_edges_that_cannot_be(tails, heads, steps, prices, sentence):
    episodes = line((0, 3))
    graph = build(episodes.observations, episodes, 0.5)
    with pytest.raises(VMGError, match=sentence):
        add_edges(graph, "mine", tails, heads, steps=steps, prices=prices)


# --- a source of edges from outside the package -----------------------------------------------------------------------

BRIDGES = '''
"""From the end of each episode to the beginning of the next."""

import numpy as np

from vmg.graph import EDGE_SOURCES, add_edges


@EDGE_SOURCES.register("bridges")
def bridges(graph, episodes):
    firsts = np.cumsum(episodes.lengths + 1) - episodes.lengths - 1
    tails, heads = graph.labels[firsts[1:] - 1], graph.labels[firsts[1:]]
    return add_edges(graph, "bridges", tails, heads, steps=3, prices=0.25)
'''
SOURCES = ("recorded", "bridges")


@pytest.fixture
def bridges(tmp_path):
    with extension(tmp_path / "bridges_between_episodes.py", BRIDGES, EDGE_SOURCES):
        yield


@pytest.fixture
def episodes():
    return line((0, 4), (10, 14))


def built(episodes, *, recordings=False, paths="edges"):
    """An agent with networks that never learned: they embed, and that is enough."""
    graph = vmg.GraphConfig(radius=0.0, edges=SOURCES, recordings=recordings)
    config = vmg.AgentConfig(learn=SMALL, graph=graph, solve=vmg.SolveConfig(paths=paths))
    agent = vmg.Agent(config, DataFacts.of(episodes), 0, untrained(episodes, SMALL))
    return agent.build(episodes)


@pytest.mark.usefixtures("bridges")
def test_a_foreign_source_is_named_when_a_graph_is_built(episodes):
    graph = vmg.build(episodes.observations, episodes, 0.5, edges=SOURCES)
    assert pairs_of(graph) == [(v, v + 1) for v in range(9)]
    known = graph.edge(4)
    assert (known.kind, known.steps, known.evidence, known.price) == ("bridges", 3, 0, 0.25)
    assert {graph.edge(edge).kind for edge in range(9) if edge != 4} == {"recorded"}


@pytest.mark.usefixtures("bridges")
def test_an_agent_plans_over_a_foreign_edge_says_so_and_is_saved_with_it(episodes, tmp_path):
    agent = built(episodes).solve()
    agent.save(tmp_path / "agent")
    loaded = vmg.Agent.load(tmp_path / "agent")
    assert loaded.config == agent.config
    for one in (agent, loaded):
        objective = vmg.goals.near([14.0], columns=(0,), tolerance=0.1)
        answer = one.plan(objective, episodes).explain(episodes.observations[0])
        assert answer.possible
        assert answer.pieces == (Piece(0, 0, 3), Piece(None, 0, 2, "bridges"), Piece(1, 0, 3))
        assert answer.steps == 4 + 3 + 4
        assert "an edge of the kind 'bridges', about 3 steps" in answer.in_words()
    for name in ("edges", "kinds", "steps", "prices"):
        assert (getattr(loaded.graph.unrecorded, name) == getattr(agent.graph.unrecorded, name)).all()
    assert loaded.graph.unrecorded.sources == ("bridges",)
    assert loaded.routes.path(0) == agent.routes.path(0)
    assert (loaded.policy().act(episodes.observations) == agent.policy().act(episodes.observations)).all()


@pytest.mark.usefixtures("bridges")
def test_routes_along_recordings_refuse_edges_that_were_not_recorded(episodes):
    agent = built(episodes, recordings=True, paths="recordings")
    with pytest.raises(VMGError, match=r"follow recorded steps alone, but this graph has edges of other kinds"):
        agent.plan(vmg.goals.near([14.0], columns=(0,), tolerance=0.1))


@pytest.mark.usefixtures("bridges")
@pytest.mark.parametrize(
    ("sources", "sentence"),
    [
        (("recorded", "tunnels"), r"edges must be a list in which each is one of 'recorded', 'bridges', not .*tunnels"),
        (("bridges", "recorded"), r"The first source of edges must be 'recorded', and none named twice"),
        (("recorded", "bridges", "recorded"), r"none named twice, not \('recorded', 'bridges', 'recorded'\)"),
        ((), r"The first source of edges must be 'recorded'"),
    ],
)
def test_sources_that_cannot_be(episodes, sources, sentence):
    with pytest.raises(VMGError, match=sentence):
        vmg.build(episodes.observations, episodes, 0.5, edges=sources)


def test_without_its_extension_a_saved_agent_says_which_source_is_missing(episodes, tmp_path):
    with extension(tmp_path / "bridges_for_a_while.py", BRIDGES, EDGE_SOURCES):
        built(episodes).save(tmp_path / "agent")
    with pytest.raises(
        VMGError, match=r"config\.graph\.edges must be .* one of 'recorded', not \('recorded', 'bridges'\)"
    ):
        vmg.Agent.load(tmp_path / "agent")
