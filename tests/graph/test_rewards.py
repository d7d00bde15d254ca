import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import labelled_episodes
from twins import brute_rewards

from vmg.base.errors import VMGError
from vmg.data import Episodes
from vmg.graph import build, goal, reward, solve
from vmg.graph.evidence import reaching
from vmg.graph.rewards import ENOUGH, find_goal

pytestmark = pytest.mark.filterwarnings("ignore:Nothing reaches this goal")
VARIANTS = ["mean", "max", "sum", "rm", "rm_h", "rm_t"]


@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=50, deadline=None)
@given(labelled_episodes())
def test_rewards_are_the_equations(variant, case):
    graph, episodes = case
    expected = brute_rewards(episodes, graph.labels, variant)
    edges = zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)
    assert reward(graph, episodes, variant=variant).edges == pytest.approx([expected[e] for e in edges], abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(labelled_episodes())
def test_the_sums_of_all_slots_are_the_reward_of_the_data(case):
    graph, episodes = case
    total = np.bincount(graph.slots, episodes.rewards, len(graph.counts)).sum()
    assert total == pytest.approx(episodes.rewards.sum())


@settings(max_examples=50, deadline=None)
@given(labelled_episodes(), st.floats(-5, 5, allow_subnormal=False))
def test_mean_rewards_are_linear_in_the_rewards(case, factor):
    graph, episodes = case
    scaled = reward(graph, factor * episodes.rewards).edges
    assert scaled == pytest.approx(factor * reward(graph, episodes).edges, abs=1e-9)


def goal_vertices(graph, distances, tolerance):
    """Those that hold a state within the tolerance, or that of the nearest."""
    within = distances <= tolerance
    return {int(v) for v in (graph.labels[within] if within.any() else graph.labels[[np.argmin(distances)]])}


@settings(max_examples=100, deadline=None)
@given(labelled_episodes(), st.integers(0, 6))
def test_a_goal_pays_for_arriving_and_absorbs(case, where):
    graph, episodes = case
    distances = np.abs(episodes.observations[:, 0] - where)
    for kind in ("reach", "stay"):
        found = goal(graph, distances, 0.5, kind=kind)
        nearest = distances.min()
        holders = goal_vertices(graph, distances, found.tolerance)
        assert found.known == (nearest <= 0.5)
        assert found.distance == nearest
        assert set(np.flatnonzero(found.vertices).tolist()) == holders
        arrivals = found.vertices[graph.labels][episodes.step_observation + 1]
        assert (found.rewards.edges == reward(graph, arrivals).edges).all()
        assert (found.rewards.absorbing == (found.vertices if kind == "reach" else False)).all()


@settings(max_examples=100, deadline=None)
@given(labelled_episodes(), st.integers(0, 6), st.sampled_from([0.5, 0.95]))
def test_no_vertex_is_worth_more_than_a_goal_it_can_reach(case, where, discount):
    graph, episodes = case
    found = goal(graph, np.abs(episodes.observations[:, 0] - where), 0.5)
    routes = solve(graph, found.rewards, discount)
    worth = routes.values[found.vertices]
    assert np.ptp(worth) == 0
    assert (routes.values <= worth[0] * (1 + 1e-9) + 1e-6).all()
    assert found.rewards.loop >= 1


@settings(max_examples=100, deadline=None)
@given(labelled_episodes(), st.integers(0, 6))
def test_a_goal_nothing_enters_is_widened_to_the_nearest_that_enough_lead_to(case, where):
    graph, episodes = case
    distances = np.abs(episodes.observations[:, 0] - where)
    found = goal(graph, distances, 0.5)
    edges = list(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True))

    def entered(tolerance):
        inside = goal_vertices(graph, distances, tolerance)
        return any(tail not in inside and head in inside for tail, head in edges)

    def leading(tolerance):
        inside = goal_vertices(graph, distances, tolerance)
        for _ in range(graph.n_vertices):
            inside = inside | {tail for tail, head in edges if head in inside}
        return len(inside) / graph.n_vertices

    assert found.entered == entered(0.5)
    wider = [each for each in [0.5, *sorted({max(0.5, each) for each in distances.tolist()})] if entered(each)]
    enough = [each for each in wider if leading(each) >= ENOUGH]
    assert found.tolerance == (0.5 if found.entered else next(iter(enough or wider), 0.5))


@pytest.mark.filterwarnings("ignore:The radius")
def test_a_goal_that_only_a_piece_of_its_own_leads_to_is_widened_until_others_do():
    """A hundred places in a row; beyond them two more, next to which somebody came from elsewhere."""
    walked, beside, come = np.arange(100.0), [102.0, 103.0], [110.0, 103.5]
    observations = np.concatenate([walked, beside, come])[:, None].astype(np.float32)
    rest = np.zeros((101, 1)), np.zeros(101), [99, 1, 1], np.zeros(3, bool), np.ones(3, bool)
    episodes = Episodes(observations, *rest)
    graph = build(observations, episodes, 0.2)
    found = find_goal(graph, np.abs(observations[:, 0] - 102), 0.1, kind="reach", variant="mean")
    assert (found.entered, found.tolerance) == (False, 3.0)
    assert found.vertices[graph.labels[99]]
    assert reaching(graph, found.vertices).mean() > 0.9


def test_a_goal_nothing_reaches_is_said():
    graph, _ = labelled_example()
    with pytest.warns(UserWarning, match=r"no recorded step leads from elsewhere to it\. Choose a goal that"):
        assert goal(graph, [0.1, 5, 7], 0.5).vertices.tolist() == [True, False, False]
    with pytest.warns(UserWarning, match=r"to it\. What lies within 5 is the goal instead"):
        assert goal(graph, [0.1, 7, 5], 0.5).vertices.tolist() == [True, False, True]
    with pytest.warns(UserWarning, match=r"to the nearest recorded state, which is 2 away from it and stands for it"):
        goal(graph, [2, 5, 7], 0.5)


def test_bad_rewards_are_answered_with_a_sentence():
    graph, episodes = labelled_example()
    with pytest.raises(VMGError, match=r"The graph knows 2 steps, but the rewards have the shape \(3,\)\."):
        reward(graph, np.zeros(3))
    with pytest.raises(VMGError, match=r"The reward of step 1 is not a finite number\."):
        reward(graph, [0, np.inf])
    with pytest.raises(VMGError, match=r"variant must be one of 'mean', 'max', .* 'rm_t', not 'median'"):
        reward(graph, episodes, variant="median")
    with pytest.raises(VMGError, match=r"The graph knows 3 observations, but the distances have the shape \(2,\)\."):
        goal(graph, np.zeros(2), 0.5)
    with pytest.raises(VMGError, match=r"'reach', 'stay', not 'leave'"):
        goal(graph, np.zeros(3), 0.5, kind="leave")


def labelled_example():
    from vmg.data.episodes import Episodes
    from vmg.graph import build

    points = np.array([[0.0], [10.0], [20.0]], np.float32)
    episodes = Episodes.from_list([(points, np.zeros((2, 1)), [0, 1], False, True)])
    with pytest.warns(UserWarning, match="keeps every state"):
        return build(points, episodes, 1.0), episodes
