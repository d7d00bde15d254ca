"""Routes along recordings: the kernel equals a slow obvious twin, and a path switches only where that is worth it."""

import pickle
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.graph import RecordingRoutes, SolveConfig, build, goal, iterate_values, reward, solve
from vmg.graph.routes import FinalStates
from vmg.graph.routes.recordings import STEP, slot_costs, switch_costs
from vmg.graph.solving import solve_edges


def recorded(seed: int, n_episodes: int = 4, length: int = 8):
    """Random walks on a line of whole and half places: many states are merged, many ties."""
    rng = np.random.default_rng(seed)
    walks = [np.cumsum(rng.choice([-0.5, 0.5, 1.0], length + 1)) for _ in range(n_episodes)]
    episodes = Episodes.from_list(
        [(walk[:, None], np.zeros((length, 1)), rng.integers(0, 3, length), False, True) for walk in walks]
    )
    return episodes, build(episodes.observations, episodes, 0.6, recordings=True)


def step_costs(graph, rewards):
    """What following the recording from each observation costs, below 0 where it ends."""
    costs = np.full(len(graph.labels), -1)
    costs[graph.arrivals - 1] = slot_costs(graph, rewards, "rewards")[graph.slots]
    return costs


def slow_costs(graph, steps, switches, targets, ends, absorbing, final):
    """Bellman-Ford over observations and vertices, one node each; routes end at final rows where a vertex has any."""
    n_rows = len(graph.labels)
    cost = np.full(n_rows + graph.n_vertices, np.inf)
    somewhere = np.isin(graph.labels, graph.labels[final])
    cost[:n_rows][ends[graph.labels] & (final | ~somewhere)] = 0
    moves = []
    for row, vertex in enumerate(graph.labels):
        if not ends[vertex] or somewhere[row]:
            moves += [(row, n_rows + vertex, switches[row]), (n_rows + vertex, row, switches[row])]
            after = graph.labels[row + 1] if steps[row] >= 0 else -1
            leaves = after != vertex
            kept = (ends[vertex] or absorbing[vertex]) and leaves
            if steps[row] >= 0 and not kept and targets[after] == targets[vertex]:
                moves.append((row, row + 1, steps[row]))
    for _ in range(len(cost)):
        for here, there, price in moves:
            cost[here] = min(cost[here], price + cost[there])
    return cost[:n_rows]


@pytest.mark.filterwarnings("ignore:Nothing reaches this goal")
@given(seed=st.integers(0, 10_000), nearest=st.booleans(), with_goal=st.booleans(), with_finals=st.booleans())
@settings(max_examples=60, deadline=None)
def test_paths_along_recordings_equal_a_slow_twin(seed, nearest, with_goal, with_finals):
    episodes, graph = recorded(seed)
    ties = "nearest" if nearest else "index"
    if with_goal:
        rewards = goal(graph, np.abs(episodes.observations[:, 0] - episodes.observations[-1, 0]), 0.1).rewards
    else:
        rewards = reward(graph, episodes)
    final = np.zeros(len(graph.labels), bool)
    if with_finals:
        final[np.random.default_rng(seed).random(len(final)) < 0.3] = True
    routes = solve_to(graph, rewards, final, SolveConfig(discount=0.9, paths="recordings", switch_cost=2.0, ties=ties))
    plain = solve(graph, rewards, 0.9, ties=ties)
    values = iterate_values(graph, rewards, 0.9).values
    np.testing.assert_array_equal(routes.values, values)
    np.testing.assert_allclose(values[routes.targets], values[plain.targets], rtol=2e-6)

    steps, switches = step_costs(graph, rewards), switch_costs(graph.offsets, 2.0)
    ends = routes.targets == np.arange(graph.n_vertices)
    groups = np.unique(np.round(values[plain.targets], 4), return_inverse=True)[1] if nearest else plain.targets
    expected = slow_costs(graph, steps, switches, groups, ends, rewards.absorbing, final)
    np.testing.assert_allclose(routes.table.costs, expected / STEP, rtol=1e-6)
    for row in range(len(graph.labels)):
        assert walked(routes, graph, row, steps, switches) == pytest.approx(expected[row] / STEP)


def walked(routes, graph, row, steps, switches):
    """What following the table from an observation costs; it ends, and at the observation's target."""
    total, hops = 0, 0
    while routes.table.following[row] != row:
        following = routes.table.following[row]
        if following == row + 1 and steps[row] >= 0:
            on_foot = steps[row]
            same = graph.labels[row] == graph.labels[following]
            total += min(on_foot, switches[row] + switches[following]) if same else on_foot
        else:
            assert graph.labels[following] == graph.labels[row]
            total += switches[row] + switches[following]
        row, hops = following, hops + 1
        assert hops <= 2 * len(graph.labels)
    assert routes.targets[graph.labels[row]] == graph.labels[row]
    own = np.intersect1d(routes.stops, np.flatnonzero(graph.labels == graph.labels[row]))
    assert not len(own) or row in own  # in a vertex with final states a route ends at one of them
    return total / STEP


def solve_to(graph, rewards, final, config):
    """Routes that end at these rows, where a vertex has any."""
    rows = np.flatnonzero(final).astype(np.int32)
    if not len(rows):
        return solve_edges(graph, rewards, config)
    recorded = graph.recordings
    finals = FinalStates(rows, recorded.observations[rows], recorded.features[rows], np.zeros(len(rows), np.float32))
    return solve_edges(graph, rewards, config, finals)


@given(
    seed=st.integers(0, 10_000),
    nearest=st.booleans(),
    price=st.sampled_from([0.0, 0.5, 2.0, 30.0]),
    ended=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_the_table_made_from_what_is_kept_is_the_walk_itself(seed, nearest, price, ended):
    """Row by row from the switches alone: where each leads, and what it costs, to the last bit."""
    episodes, graph = recorded(seed)
    rewards, ties = reward(graph, episodes), "nearest" if nearest else "index"
    final = np.random.default_rng(seed).random(len(graph.labels)) < (0.3 if ended else 0.0)
    config = SolveConfig(discount=0.9, paths="recordings", switch_cost=price, ties=ties)
    routes = solve_to(graph, rewards, final, config)
    steps, switches = step_costs(graph, rewards), switch_costs(graph.offsets, price)
    switching = np.unpackbits(routes.switches)
    for row in range(len(graph.labels)):
        here, total, rows = row, 0, [row]
        while routes.starts[graph.labels[here]] >= 0 and here not in routes.stops:
            following = routes.starts[graph.labels[here]] if switching[here] else here + 1
            total += switches[here] + switches[following] if switching[here] else steps[here]
            here = following
            rows.append(here)
        assert routes.route(row) == rows
        assert routes.ahead(np.array([row]), 3)[0] == rows[min(3, len(rows) - 1)]
        assert routes.table.costs[row] == np.float32(total / STEP)
        assert routes.targets[graph.labels[here]] == graph.labels[here]
        assert routes.ends(np.array([row]))[0] == routes.targets[graph.labels[row]]
        assert routes.path_from(row) == [key for key, _ in groupby(graph.labels[rows].tolist())]
    for vertex in range(graph.n_vertices):
        assert routes.targets[vertex] == routes.path(vertex)[-1]


@given(seed=st.integers(0, 10_000), price=st.sampled_from([0.0, 2.0]))
@settings(max_examples=40, deadline=None)
def test_routes_are_the_same_again_from_what_is_kept_or_sent_of_them(seed, price):
    episodes, graph = recorded(seed)
    final = np.random.default_rng(seed).random(len(graph.labels)) < 0.2
    config = SolveConfig(discount=0.9, paths="recordings", switch_cost=price)
    routes = solve_to(graph, reward(graph, episodes), final, config)
    table, targets = routes.table, routes.targets
    sent = pickle.loads(pickle.dumps(routes))
    assert not {"table", "targets"} & set(vars(sent))  # made again where they are read
    for again in (sent, RecordingRoutes.from_arrays(graph, routes.arrays())):
        assert (again.values == routes.values).all()
        assert (again.targets == targets).all()
        for one, other in zip(again.table, table, strict=True):
            assert (one == other).all()
        if routes.finals:
            for name, array in routes.finals.arrays().items():
                assert (again.finals.arrays()[name] == array).all()


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_a_vertex_is_entered_where_gap_and_route_cost_least(seed):
    episodes, graph = recorded(seed)
    routes = solve(graph, reward(graph, episodes), 0.9, paths="recordings", switch_cost=2.0)
    rng = np.random.default_rng(seed)
    vertices = rng.integers(0, graph.n_vertices, 5).astype(np.int32)
    features = rng.normal(size=(5, 1)).astype(np.float32)
    for feature, vertex, row in zip(features, vertices, routes.enter(features, vertices), strict=True):
        own = np.flatnonzero(graph.labels == vertex)
        gaps = np.abs(graph.recordings.features[own, 0] - feature[0])
        costs = 2.0 * gaps / graph.step_length + routes.table.costs[own]
        assert row in own
        assert costs[own == row] == pytest.approx(costs.min(), rel=1e-5)
        assert (routes.states(np.array([row])) == episodes.observations[row]).all()
        assert routes.vertices(np.array([row])) == [vertex]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("hops", lambda hops: hops + 1),
        ("hops", lambda hops: hops[1:]),
        ("changes", lambda switches: switches * 0 + 255),
        ("changes", lambda switches: switches[:-1]),
        ("slots", lambda slots: np.array([-1])),
        ("stops", lambda stops: np.array([-1])),
        ("final_rows", lambda rows: rows + 1000),
        ("final_states", lambda states: states[:, 1:]),
        ("costs", lambda costs: np.array([2001 * STEP])),
        ("values", lambda values: values[1:]),
    ],
)
def test_damaged_routes_are_refused(name, change):
    episodes, graph = two_recordings()
    rewards = goal(graph, np.abs(episodes.observations[:, 0] - 6.0), 0.1).rewards
    final = np.abs(episodes.observations[:, 0] - 6.0) < 0.1
    arrays = solve_to(graph, rewards, final, SolveConfig(paths="recordings", switch_cost=1.0)).arrays()
    RecordingRoutes.from_arrays(graph, arrays)
    with pytest.raises(VMGError, match=r"do not fit the (graph|recordings)|run in a circle"):
        RecordingRoutes.from_arrays(graph, {**arrays, name: change(arrays[name])})


def two_recordings():
    """The first arrives at 6 in seven steps; the second starts beside it and jumps ahead: a short cut over a gap."""
    slow = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    fast = np.array([20.0, 1.4, 5.4, 30.0])
    episodes = Episodes.from_list(
        [(walk[:, None], np.zeros((len(walk) - 1, 1)), np.zeros(len(walk) - 1), False, True) for walk in (slow, fast)]
    )
    return episodes, build(episodes.observations, episodes, 0.5, recordings=True)


@pytest.mark.parametrize(("price", "short"), [(0.0, True), (1.0, True), (30.0, False)])
def test_a_short_cut_is_taken_only_while_changing_recordings_is_cheap(price, short):
    episodes, graph = two_recordings()
    rewards = goal(graph, np.abs(episodes.observations[:, 0] - 6.0), 0.1).rewards
    path = solve(graph, rewards, 0.95, paths="recordings", switch_cost=price).path(int(graph.labels[0]))
    places = graph.states[path, 0].tolist()
    assert places == ([0, 1, 5, 6] if short else [0, 1, 2, 3, 4, 5, 6])


def test_a_graph_without_recordings_says_what_to_do():
    episodes, _ = two_recordings()
    graph = build(episodes.observations, episodes, 0.5)
    with pytest.raises(VMGError, match=r"vmg build RUN --graph\.recordings"):
        solve(graph, reward(graph, episodes), 0.9, paths="recordings")


@pytest.mark.parametrize(
    "options", [{"search_steps": 3}, {"search": "greedy"}, {"switch_cost": -1.0}, {"switch_cost": np.inf}]
)
def test_recordings_take_no_limited_search(options):
    episodes, graph = two_recordings()
    with pytest.raises(VMGError, match=r"search without a limit|switch_cost must be a number in \[0, 1e\+06\]"):
        solve(graph, reward(graph, episodes), 0.9, paths="recordings", **options)


def test_without_rewards_the_path_has_the_fewest_steps():
    episodes, graph = two_recordings()
    steps = step_costs(graph, reward(graph, episodes))
    assert set(steps.tolist()) == {STEP, -1}
    assert (steps == -1).sum() == len(episodes)
