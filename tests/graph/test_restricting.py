"""A graph without some of its recordings, and what is left to do from every recorded observation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import labelled_episodes
from twins import costs_to_end

from vmg.graph import goal, kernels, reaching, reward, solve
from vmg.graph.restricting import without

pytestmark = pytest.mark.filterwarnings("ignore:Nothing reaches this goal", "ignore:The radius")
NEVER = kernels.orders.NEVER


@st.composite
def restricted(draw):
    """A graph, its episodes, and the same without some observations and steps; at least one observation is left."""
    graph, episodes = draw(labelled_episodes())
    n = len(graph.labels)
    rows = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    rows[draw(st.integers(0, n - 1))] = False
    steps = np.array(draw(st.lists(st.booleans(), min_size=len(graph.slots), max_size=len(graph.slots))), bool)
    whole = draw(st.booleans())
    return graph, episodes, rows, steps, whole, without(graph, rows, steps=steps, whole_vertices=whole)


def kept_steps(graph, rows, steps, whole):
    """The steps that are left, and the observations that are not, one by one."""
    if whole:
        barred = {graph.labels[row] for row in np.flatnonzero(rows)}
        rows = np.array([label in barred for label in graph.labels])
    kept = [not gone and not rows[at] and not rows[at - 1] for gone, at in zip(steps, graph.arrivals, strict=True)]
    return np.array(kept, bool), rows


@settings(max_examples=100, deadline=None)
@given(restricted())
def test_edges_are_those_of_the_steps_that_are_left(case):
    graph, _, rows, steps, whole, less = case
    kept, rows = kept_steps(graph, rows, steps, whole)
    tails, heads = graph.labels[graph.arrivals - 1][kept], graph.labels[graph.arrivals][kept]
    pairs = sorted({(a, b) for a, b in zip(tails.tolist(), heads.tolist(), strict=True) if a != b})
    assert list(zip(less.tails.tolist(), less.heads.tolist(), strict=True)) == pairs
    assert less.counts.sum() == kept.sum()
    assert (less.leaving >= 0).sum() == kept.sum()
    assert (less.leaving[graph.arrivals - 1] >= 0).tolist() == kept.tolist()
    assert sorted(less.members[1].tolist()) == np.flatnonzero(~rows).tolist()
    assert less.edge_steps.shape == (less.n_edges,)
    used = np.unique(graph.labels[~rows])
    if len(used):
        assert np.isin(less.nearest_vertices(graph.features), used).all()


@settings(max_examples=100, deadline=None)
@given(restricted())
def test_rewards_and_reach_are_those_of_what_is_left(case):
    graph, episodes, rows, steps, whole, less = case
    kept, _ = kept_steps(graph, rows, steps, whole)
    paid = reward(less, episodes.rewards, variant="rm")
    for edge, pair in enumerate(zip(less.tails, less.heads, strict=True)):
        on = kept & (graph.labels[graph.arrivals - 1] == pair[0]) & (graph.labels[graph.arrivals] == pair[1])
        assert paid.edges[edge] == pytest.approx(episodes.rewards[on].mean())
    wanted = np.zeros(graph.n_vertices, bool)
    wanted[0] = True
    assert (reaching(less, wanted) <= reaching(graph, wanted)).all()


@settings(max_examples=60, deadline=None)
@given(restricted())
def test_leaving_out_nothing_changes_nothing_and_leaving_out_twice_is_leaving_out_both(case):
    graph, _, rows, steps, whole, less = case
    nothing = np.zeros(len(graph.labels), bool)
    same = without(graph, nothing, whole_vertices=whole)
    assert (same.heads.tolist(), same.slots.tolist()) == (graph.heads.tolist(), graph.slots.tolist())
    distances = np.abs(graph.labels - graph.labels[-1]).astype(float)
    plain, again = (solve(each, goal(each, distances, 0.0).rewards, 0.9) for each in (graph, same))
    assert (plain.following == again.following).all()
    twice = without(without(graph, nothing, steps=steps, whole_vertices=whole), rows, whole_vertices=whole)
    assert (twice.heads.tolist(), twice.leaving.tolist()) == (less.heads.tolist(), less.leaving.tolist())


@st.composite
def ways(draw):
    """Recordings in few vertices, with the costs of steps, switches and ends; below 0 and NEVER stand for none."""
    n_rows, n = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    numbers = st.lists(st.integers(-2, 9), min_size=n_rows, max_size=n_rows).map(np.array)
    labels = np.array(draw(st.lists(st.integers(0, n - 1), min_size=n_rows, max_size=n_rows)), np.int32)
    ends = draw(numbers)
    return labels, draw(numbers), draw(numbers), np.where(ends < 5, NEVER, ends), n


@settings(max_examples=300, deadline=None)
@given(ways())
def test_what_is_left_is_what_the_slow_way_finds(case):
    labels, steps, switches, ends, n = case
    costs, reached, best, best_end = kernels.orders.costs_to_end(labels, steps, switches, ends, n)
    assert costs.tolist() == [NEVER if cost is None else cost for cost in costs_to_end(labels, steps, switches, ends)]
    assert (ends[reached[costs < NEVER]] < NEVER).all()
    for vertex in range(n):
        own = [x for x in range(len(labels)) if labels[x] == vertex and switches[x] >= 0 and costs[x] < NEVER]
        assert best[vertex] <= min((costs[x] + switches[x] for x in own), default=NEVER)
        assert (best[vertex] < NEVER) == (best_end[vertex] >= 0)
