"""Arriving: what a policy heads for where its routes end is a recorded state, and fulfils what is wanted."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from acting_cases import agent, episodes, follower
from hypothesis import given
from hypothesis import strategies as st
from two_link_arm import HAND, Arm, hand, random_joints, random_motion

from vmg.act.arriving import AROUND, BEST_PAID, LONG, NEARLY, PATIENCE, around, best_paid, moved_towards
from vmg.act.settings import ActConfig
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.goals import Place, near, reward_function, where, within
from vmg.graph import GraphConfig, SolveConfig
from vmg.graph.evidence import reaching
from vmg.graph.routes import finals as final_states
from vmg.graph.routes.finals import some_of
from vmg.learn import LearnConfig
from vmg.networks import Translator, encode, translate

CORNER = near([1.0, 1.0], columns=(0, 1), tolerance=0.45)
REGION = within([0.5], [1.5], columns=(1,))
FAST = where(lambda at: np.linalg.norm(at["velocity"], axis=1) > 1.5, {"velocity": (2, 3)}, name="fast")
PAID = reward_function(lambda o_t, a_t, o_tp1: (o_tp1[:, 0] > 0.9).astype(float), name="to the right")
BOTH = pytest.mark.parametrize("make", [agent, follower], ids=["edges", "recordings"])


# --- which recorded states are final ----------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("objective", [CORNER, REGION, FAST], ids=lambda each: each.name)
def test_final_states_are_recorded_and_fulfil_the_goal_in_every_vertex_of_it(make, objective):
    plan = make().plan(objective)
    finals = plan.routes.finals
    assert (finals.states == episodes().observations[finals.rows]).all()
    assert objective.reached(finals.states).all()
    assert set(plan.graph.labels[finals.rows]) == set(np.flatnonzero(plan.goal_vertices))
    np.testing.assert_allclose(finals.features, encode(make().weights, finals.states), atol=1e-5)
    assert ((finals.shortfalls >= 0) & (finals.shortfalls <= 1)).all()


def test_a_goal_that_no_state_fulfils_is_headed_for_from_the_nearest_one():
    """The place itself where it is beside the recorded ones; no farther than those lie apart where it is not."""
    distances = np.linalg.norm(episodes().observations[:, :2] - 50, axis=1)
    far = agent().plan(near([50, 50], columns=(0, 1), tolerance=0.1)).routes.finals
    assert far.rows.tolist() == [np.argmin(distances)]
    assert 0 < np.linalg.norm(far.states[0] - episodes().observations[far.rows[0]]) < 2
    right = episodes().observations[np.argmax(episodes().observations[:, 0]), :2] + np.float32([0.05, 0.0])
    beside = agent().plan(near(right, columns=(0, 1), tolerance=0.01)).routes.finals
    np.testing.assert_allclose(beside.states[0, :2], right, atol=1e-4)


@given(st.integers(0, 1000), st.floats(-0.2, 0.2), st.floats(-0.2, 0.2))
def test_a_state_is_moved_with_all_that_the_place_decides(seed, x, y):
    """Columns that others decide stay true to them, the others stay as they are on average."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-1, 1, (50, 2))
    repeated = places @ np.array([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0]])
    states = np.hstack([places, repeated, np.full((50, 1), 7.0)]).astype(np.float32)
    wanted = states[0, :2] + np.array([x, y])
    moved = moved_towards(Place((0, 1), wanted), states[0], states[1:])
    np.testing.assert_allclose(moved[:2], wanted, atol=1e-4)
    np.testing.assert_allclose(moved[2:5], wanted @ np.array([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0]]), atol=1e-3)
    assert moved[5] == pytest.approx(7.0)


def test_where_only_vertices_are_kept_their_states_are_final():
    bare = replace(agent(), graph=replace(agent().graph, observations=None), episodes=None)
    finals, plan = bare.plan(CORNER).routes.finals, agent().plan(CORNER)
    assert (finals.rows == agent().built.rows[plan.goal_vertices]).all()
    assert (finals.states == agent().built.states[plan.goal_vertices]).all()


def in_order_of_index():
    """The agent whose ties do not go to the nearest, as in the presets of the paper."""
    config = agent().config
    config = replace(config, solve=replace(config.solve, ties="index"))
    return replace(agent(), config=config).build(episodes())


def test_the_best_paid_states_are_final_where_rewards_are_wanted():
    finals = in_order_of_index().plan(PAID).routes.finals
    assert (finals.states[:, 0] > 0.9).all()
    graded = in_order_of_index().plan(reward_function(lambda o_t, a_t, o_tp1: o_tp1[:, 0])).routes.finals
    arrivals = episodes().observations[agent().built.arrivals, 0]
    assert (graded.states[:, 0] >= arrivals.max() - BEST_PAID * np.ptp(arrivals) - 1e-5).all()
    assert agent().plan(reward_function(lambda o_t, a_t, o_tp1: np.ones(len(a_t)))).routes.finals is None


def how_right(o_t, a_t, o_tp1):
    """Pays for being at the right: some places are paid nearly as well as the best."""
    return o_tp1[:, 0]


def test_of_places_that_are_paid_nearly_as_well_the_nearest_is_headed_for():
    plan = agent().plan(reward_function(how_right))
    pay = np.full(len(episodes().observations), episodes().observations[:, 0].min())
    pay[agent().built.arrivals] = episodes().observations[agent().built.arrivals, 0]
    missing = around((pay.max() - pay) / np.ptp(pay), agent().built.lengths, LONG)
    least = np.array([missing[agent().built.labels == vertex].min() for vertex in range(agent().built.n_vertices)])
    best = least <= least.min() + NEARLY * (1 - least.min())
    assert 1 < best.sum() < agent().built.n_vertices / 4
    assert set(plan.graph.labels[plan.routes.finals.rows]) <= set(np.flatnonzero(best))
    assert best[plan.routes.targets[reaching(plan.graph, best)]].all()


def test_what_is_paid_in_single_steps_is_no_place_to_stay_in():
    """A prize for passing a line: it is no better to stay beside it than elsewhere."""

    def passing(o_t, a_t, o_tp1):
        return ((o_t[:, 0] < 0) & (o_tp1[:, 0] >= 0)).astype(float)

    body, recorded = agent().plan(PAID).body, agent().plan(PAID).recorded
    assert best_paid(body, recorded, episodes().relabel(passing).rewards)[1] is None
    assert best_paid(body, recorded, episodes().relabel(how_right).rewards)[1] is not None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=40), st.integers(1, 12))
def test_some_of_many_are_the_best_of_each_vertex(members, most):
    labels, shortfalls = (np.array(each) for each in zip(*members, strict=True))
    rows = np.arange(len(labels)) * 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(final_states, "MOST", most)
        chosen = some_of(rows, labels.astype(np.int32), shortfalls.astype(np.float64))
    assert len(chosen) == min(len(rows), max(most, len(set(labels))))
    taken = np.isin(rows, chosen)
    for vertex in set(labels):
        own = labels == vertex
        assert (own & taken).any()
        assert shortfalls[own & taken].max() <= min(shortfalls[own & ~taken], default=np.inf)


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=12), min_size=1, max_size=4))
def test_what_is_around_a_state_is_the_mean_in_its_own_episode(walks):
    lengths = np.array([len(walk) - 1 for walk in walks])
    expected = [np.mean(walk[max(i - AROUND, 0) : i + AROUND + 1]) for walk in walks for i in range(len(walk))]
    np.testing.assert_allclose(around(np.concatenate(walks), lengths), expected, atol=1e-12)


# --- what is headed for -----------------------------------------------------------------------------------------------


def slow_goal(plan, observation, decision, ahead):
    """What the low-level policy should be given: the nearest final state, or the subgoal of the route."""
    finals, graph = plan.routes.finals, plan.graph
    feature = encode(plan.body.weights, observation[None])[0]
    gaps = np.linalg.norm(finals.features - feature, axis=1)
    gaps = np.sqrt(gaps**2 + (graph.radius * finals.shortfalls) ** 2)
    ending = graph.labels[finals.rows]
    at_end = plan.routes.vertices(ahead)[0] == decision.target
    if plan.has_goal:
        at_end &= plan.goal_vertices[decision.target]
    else:
        nexts = graph.heads[graph.first_edge[decision.target] : graph.first_edge[decision.target + 1]]
        at_end &= bool({decision.target, *nexts.tolist()} & set(ending.tolist()))
    nearer = gaps.min() <= np.linalg.norm(plan.routes.features(ahead)[0] - feature)
    there = plan.has_goal and plan.objective.reached(observation[None])[0]
    if at_end or nearer or there:
        return finals.states[gaps.argmin()], ending[gaps.argmin()]
    return plan.routes.states(ahead)[0], plan.routes.vertices(ahead)[0]


@BOTH
@pytest.mark.parametrize("objective", [CORNER, REGION, PAID], ids=lambda each: each.name)
def test_decisions_equal_a_slow_twin(make, objective):
    plan, steps = make().plan(objective), make().config.act.subgoal_steps
    low, high = make().data.action_low, make().data.action_high
    straight = 0
    for observation in episodes().observations[::61]:
        decisions = plan.policy().decide(observation)
        ahead = plan.routes.ahead(decisions.entries, steps)
        state, vertex = slow_goal(plan, observation, decisions[0], ahead)
        assert decisions.subgoals[0] == vertex
        straight += vertex != plan.routes.vertices(ahead)[0]
        action = np.clip(translate(make().weights, observation[None], state[None]), low, high)
        np.testing.assert_allclose(decisions.actions, action, atol=1e-5)
    assert straight


@BOTH
def test_what_must_be_kept_off_is_not_cut_across(make):
    """With a region to avoid, a final state is headed for at the end of the route alone."""
    plan = make().plan(CORNER.avoiding(within([0.4, -1.5], [0.6, -0.5], columns=(0, 1))))
    for observation in episodes().observations[::61]:
        decisions = plan.policy().decide(observation)
        ahead = plan.routes.ahead(decisions.entries, make().config.act.subgoal_steps)
        if decisions.subgoals[0] != plan.routes.vertices(ahead)[0] and not CORNER.reached(observation[None])[0]:
            assert plan.routes.vertices(ahead)[0] == decisions.targets[0]


@BOTH
def test_in_the_goals_vertex_but_not_there_it_tries_one_final_state_after_the_other(make):
    """Whoever stands still is given other states that fulfil the goal, each of them once before any again."""
    plan = make().plan(CORNER)
    graph, observations = plan.graph, episodes().observations
    beside = plan.goal_vertices[graph.labels] & ~CORNER.reached(observations)
    observation = observations[np.flatnonzero(beside)[0]]
    policy = plan.policy(replace(make().config.act, keep_path=False))
    tried = []
    for decision in range(6 * PATIENCE):
        action = policy.act(observation)
        if decision % PATIENCE == 0:
            tried.append(tuple(action))
    assert len(set(tried)) == len(tried)
    policy.begin()
    assert tuple(policy.act(observation)) == tried[0]


@BOTH
def test_who_is_there_stays_there_and_is_told_so(make):
    """In a state that fulfils the goal, one that fulfils it is headed for, however long that lasts."""
    plan = make().plan(CORNER)
    rows = np.flatnonzero(CORNER.reached(episodes().observations))[::17]
    for row in rows:
        policy, observation = plan.policy(), episodes().observations[row]
        actions = {tuple(policy.act(observation)) for _ in range(2 * PATIENCE)}
        assert len(actions) == 1
        assert plan.goal_vertices[policy.decide(observation).subgoals[0]]
        assert "It is there already." in str(plan.explain(observation))


# --- an arm whose columns repeat each other ---------------------------------------------------------------------------

LEARN = LearnConfig(
    hidden_units=64,
    steps=4000,
    checkpoint_every=4000,
    encoder_inputs="normalised",
    low_level=Translator(inputs="relative"),
)


@lru_cache
def motion():
    return random_motion(300, 30)


@lru_cache
def learned() -> Agent:
    return Agent.fit(motion(), AgentConfig(learn=LEARN))[0]


@lru_cache
def arm_agent(radius: float, paths: str) -> Agent:
    along = paths == "recordings"
    config = AgentConfig(
        learn=LEARN,
        graph=GraphConfig(radius=radius, recordings=along),
        solve=SolveConfig(paths=paths),
        act=ActConfig(subgoal_steps=6 if along else 2, keep_path=along),
    )
    return replace(learned(), config=config).build(motion())


def hands(policy, seed: int = 3) -> np.ndarray:
    """Let ten arms follow a policy for 150 steps; where their hands were."""
    arms = Arm(random_joints(10, np.random.default_rng(seed)))
    policy.begin()
    seen = [arms.observe()]
    for _ in range(150):
        seen.append(arms.act(policy.act(seen[-1])))
    return np.stack(seen)[:, :, HAND]


PLACES = hand(random_joints(8, np.random.default_rng(5)))
EVERYWHERE = pytest.mark.parametrize("radius", [1.0, 2.0])
ALONG = pytest.mark.parametrize("paths", ["edges", "recordings"])


@EVERYWHERE
@ALONG
def test_an_arm_brings_its_hand_where_it_is_wanted(radius, paths):
    """A goal on the hand alone: with joints of another pose it would be one that cannot exist."""
    found = []
    for place in PLACES:
        plan = arm_agent(radius, paths).plan(near(place, columns=HAND, tolerance=0.1))
        distances = np.linalg.norm(hands(plan.policy()) - place, axis=2)
        found.append(((distances <= 0.1).any(0).mean(), (distances[-20:] <= 0.1).mean()))
    reached, stayed = np.mean(found, axis=0)
    assert reached >= 0.95
    assert stayed >= 0.6


@EVERYWHERE
@ALONG
def test_an_arm_goes_where_it_is_paid_and_stays(radius, paths):
    found = []
    for place in PLACES:
        plan = arm_agent(radius, paths).plan(reward_function(_InBin(place)))
        distances = np.linalg.norm(hands(plan.policy()) - place, axis=2)
        found.append(((distances <= 0.15).any(0).mean(), (distances[-20:] <= 0.15).mean()))
    arrived, stayed = np.mean(found, axis=0)
    assert arrived >= 0.9
    assert stayed >= 0.5


class _InBin:
    def __init__(self, place):
        self.place = place

    def __call__(self, o_t, a_t, o_tp1):
        return (np.linalg.norm(o_tp1[:, HAND] - self.place, axis=1) <= 0.15).astype(float)


@ALONG
def test_what_is_said_of_an_arm_is_true_of_the_state_asked_about(paths):
    """Wherever the arm is: "there" is said where the hand is there, and only there."""
    objective = near(PLACES[0], columns=HAND, tolerance=0.1)
    plan = arm_agent(2.0, paths).plan(objective)
    joints = np.vstack(
        [random_joints(60, np.random.default_rng(1)), motion().observations[plan.routes.finals.rows, :2]]
    )
    said = set()
    for state in Arm(joints[::3]).observe():
        answer = plan.explain(state)
        assert answer.reached == bool(objective.reached(state[None])[0])
        assert ("It is there already." in str(answer)) == answer.reached
        if not answer.reached and answer.possible:
            assert ("It can be done" in str(answer)) == bool(answer.pieces)
        said.add((answer.reached, bool(answer.pieces)))
    assert len(said) > 1
