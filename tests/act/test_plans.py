"""Plans: an objective solved on a built graph, what they say of it, and what they cost and carry."""

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent, episodes, follower

from vmg.act.settings import ActConfig
from vmg.base.errors import VMGError
from vmg.envs import find_task
from vmg.goals import near, recorded_rewards, reward_function, step_rewards, where
from vmg.graph import reward
from vmg.graph.evidence import reaching

FIELDS = find_task("pointmaze-umaze").fields
CORNER = near([1.0, 1.0], columns=FIELDS["position"], tolerance=0.45)


def test_a_place_is_reached_where_the_routes_end_in_it():
    plan = agent().plan(CORNER)
    assert plan.can_reach.tolist() == plan.goal_vertices[plan.routes.targets].tolist()
    assert plan.rewarded_steps == int(CORNER.step_rewards(episodes()).sum())
    assert (plan.values is plan.routes.values, plan.graph is agent().graph, plan.stages) == (True, True, (plan,))
    assert "recorded steps are rewarded" in plan.in_words()


@pytest.mark.parametrize(("reward", "said"), [(0.0, "It pays nothing in any of the"), (-0.02, "recorded steps cost")])
def test_rewards_that_pay_nothing_are_said_to(reward, said):
    plan = agent().plan(reward_function(lambda o_t, a_t, o_tp1: np.full(len(o_t), reward)))
    assert said in plan.in_words()
    assert "rewarded" not in plan.in_words()


@pytest.mark.parametrize("objective", [recorded_rewards(), step_rewards(episodes().rewards)], ids=["own", "given"])
def test_planning_for_the_recorded_rewards_gives_the_agents_own_plan(objective):
    plan = agent().plan(objective)
    for name in ("values", "targets", "following"):
        assert (getattr(plan.routes, name) == getattr(agent().routes, name)).all()
    paying = agent().built.tails[reward(agent().built, episodes()).edges > 0]
    assert plan.can_reach[paying].all()
    assert (agent().routes.values[~plan.can_reach] == 0).all()
    assert plan.in_words().partition(".")[2] == agent().own_plan.in_words().partition(".")[2]


def test_a_predicate_over_named_parts_is_solved_for():
    fast = where(lambda at: np.linalg.norm(at["velocity"], axis=1) > 1.5, FIELDS, name="fast")
    plan = agent().plan(fast.staying())
    assert plan.known
    assert plan.objective.kind == "stay"
    reaching = agent().plan(fast)
    assert (reaching.goal_vertices == plan.goal_vertices).all()
    assert not np.array_equal(reaching.values, plan.values)


def test_many_plans_at_once_are_each_of_them_alone():
    objectives = [near(episodes().observations[row, :2], columns=(0, 1), tolerance=0.3) for row in range(0, 2000, 250)]
    together = agent().plan_many(objectives, workers=2)
    assert agent().plan_many([]) == []
    for objective, plan in zip(objectives, together, strict=True):
        alone = agent().plan(objective)
        assert plan.objective is objective
        assert (alone.routes.targets == plan.routes.targets).all()
        assert (alone.routes.following == plan.routes.following).all()


def test_a_place_nobody_went_to_is_said_with_the_one_that_stands_for_it():
    far = agent().plan(near([50, 50], columns=(0, 1), tolerance=0.1))
    assert not far.known
    assert "No recorded state fulfils it: the nearest," in str(far)
    leading = np.flatnonzero(far.can_reach & ~far.goal_vertices)
    answer = far.explain(agent().built.states[leading[0]])
    assert not answer.possible
    assert answer.nearest.distance == pytest.approx(far.distance if far.entered else far.tolerance)
    assert "What the policy tries" in str(answer)


def test_a_place_nobody_arrived_at_is_widened_and_said():
    """A state in which an episode starts, and a tolerance so small that nothing else is there."""
    starts = episodes().observations[episodes().first_observation[:-1]]
    plans = [agent().plan(near(start, columns=(0, 1, 2, 3), tolerance=1e-6)) for start in starts]
    unentered = [plan for plan in plans if not plan.entered]
    assert unentered
    for plan in unentered:
        assert plan.known
        assert plan.tolerance > 1e-6
        assert plan.can_reach.sum() > plan.goal_vertices.sum()
        assert f"the nearest that can be reached, {plan.tolerance:.3g} away, stands for it too" in str(plan)


@pytest.mark.parametrize("kind", ["reach", "stay"])
def test_a_goal_that_every_recorded_state_fulfils_is_said_to_be_that(kind):
    plan = agent().plan(replace(near([0.0, 0.0], columns=(0, 1), tolerance=1e3), kind=kind))
    assert "(100 %) can reach it. Every recorded state fulfils it: there is nothing to do." in str(plan)
    assert "Nothing recorded leads there" not in str(plan)
    assert "Every recorded state" not in str(agent().plan(near([1.0, 1.0], columns=(0, 1), tolerance=0.45)))


def test_an_objective_that_only_costs_can_be_done_from_everywhere():
    effort = agent().plan(reward_function(lambda o_t, a_t, o_tp1: -np.linalg.norm(a_t, axis=1)))
    assert effort.can_reach.all()
    assert not effort.has_goal
    assert effort.explain(episodes().observations[0]).possible


def test_bad_objectives_are_answered_with_a_sentence():
    never = where(lambda at: at["position"][:, 0] > 99, FIELDS, name="beyond the maze")
    with pytest.raises(VMGError, match=r"No recorded state fulfils 'beyond the maze'"):
        agent().plan(never)
    with pytest.raises(VMGError, match=r"The graph was built from 3\d+ observations, but .* has"):
        agent().plan(CORNER, episodes().subset([0, 1]))
    with pytest.raises(VMGError, match=r"must be numbers|one row per step"):
        agent().plan(reward_function(lambda o_t, a_t, o_tp1: o_t[:3, 0]))


# --- what a plan costs, and what it carries ---------------------------------------------------------------------------


def kept_bytes(routes):
    """What routes hold alive beyond their graph, before anything is followed."""
    arrays = {**vars(routes), **vars(routes.finals)}
    return sum(array.nbytes for name, array in arrays.items() if name != "graph" and hasattr(array, "nbytes"))


def test_a_plan_kept_alive_is_16_bytes_per_vertex_and_along_recordings_12_and_a_bit_per_observation():
    graph, n_rows = agent().built, len(episodes().observations)
    plan = agent().plan(CORNER)
    leading_in = int((plan.goal_vertices[graph.heads] & ~plan.goal_vertices[graph.tails]).sum())
    finals = sum(array.nbytes for array in vars(plan.routes.finals).values())
    assert kept_bytes(plan.routes) == 16 * graph.n_vertices + finals
    along, inside = follower().plan(CORNER).routes, int(plan.goal_vertices.sum())
    assert along.graph is follower().graph
    ends = 4 * len(along.stops) + finals
    assert kept_bytes(along) <= 12 * graph.n_vertices + (n_rows + 7) // 8 + 8 * (leading_in + inside) + ends


def test_the_table_along_recordings_is_made_when_it_is_followed_and_not_sent():
    plan = follower().plan(CORNER)
    before = kept_bytes(plan.routes)
    assert "table" not in vars(plan.routes)
    plan.policy().act(episodes().observations[0])
    assert plan.routes.table is plan.routes.table
    sent = pickle.loads(pickle.dumps(plan.routes))
    assert kept_bytes(sent) == before
    assert (sent.table.following == plan.routes.table.following).all()


@pytest.mark.parametrize("make", [agent, follower], ids=["edges", "recordings"])
@pytest.mark.parametrize("objective", [CORNER, recorded_rewards()], ids=["a place", "rewards"])
def test_a_plan_sent_to_another_process_acts_the_same_and_leaves_the_episodes_behind(make, objective):
    plan, observations = make().plan(objective), episodes().observations[::37]
    assert plan.recorded.episodes is episodes()
    sent = pickle.loads(pickle.dumps(plan))
    assert sent.recorded is None
    assert sent.objective.name == objective.name
    assert (sent.policy().act(observations) == plan.policy().act(observations)).all()
    assert (make().policy().act(observations, sent) == plan.policy().act(observations)).all()
    with pytest.raises(VMGError, match=r"This plan was sent to another process, without the recorded episodes"):
        _ = sent.rewarded_steps


IN_ANOTHER_PROCESS = """
import pickle
import sys
from pathlib import Path
import numpy as np

plan = pickle.loads(Path(sys.argv[1]).read_bytes())
observations = np.load(sys.argv[2])
np.save(sys.argv[3], [plan.policy().act(each) for each in observations])
assert plan.recorded is None
assert not {"jax", "numba", "scipy", "rich", "gymnasium"} & set(sys.modules), "a plan is followed with numpy alone"
"""


@pytest.mark.parametrize("make", [agent, follower], ids=["edges", "recordings"])
def test_in_another_process_a_plan_is_followed_with_numpy_alone(make, tmp_path):
    plan, observations = make().build(episodes()).plan(CORNER), episodes().observations[::300]
    files = [tmp_path / name for name in ("plan", "observations.npy", "actions.npy")]
    files[0].write_bytes(pickle.dumps(plan))
    np.save(files[1], observations)
    subprocess.run([sys.executable, "-c", IN_ANOTHER_PROCESS, *map(str, files)], check=True)
    assert (np.load(files[2]) == [plan.policy().act(each) for each in observations]).all()


def test_episodes_are_not_among_what_is_sent():
    plan, policy = agent().plan(CORNER), agent().policy()
    policy.begin(None, CORNER)
    policy.act(episodes().observations[0])
    assert episodes().actions.tobytes() in pickle.dumps(episodes())
    assert episodes().actions.tobytes() not in pickle.dumps((plan, policy, agent()))
    settings = replace(agent().config.graph, goal_columns=())
    bare = replace(agent(), config=replace(agent().config, graph=settings)).build(episodes()).solve()
    assert episodes().observations.tobytes() not in pickle.dumps((bare, bare.own_plan, bare.policy()))


def test_a_policy_sent_in_the_middle_of_an_episode_goes_on_where_it_was():
    """Whatever it kept to is found again by its plan, not by where that lay in memory."""
    policy = follower().policy(ActConfig(subgoal_steps=3, keep_path=True, noise=0.1))
    policy.begin(episodes().observations[0], CORNER)
    for observation in episodes().observations[:10]:
        policy.act(observation)
    sent = pickle.loads(pickle.dumps(policy))
    assert [id(each.plan) for each in sent._followers.values()] == list(sent._followers) == [id(sent.plan)]
    for observation in episodes().observations[10:30]:
        assert (sent.act(observation) == policy.act(observation)).all()


def test_an_agent_sent_to_another_process_plans_for_goals_in_its_columns():
    sent = pickle.loads(pickle.dumps(agent()))
    assert sent.episodes is None
    observations = episodes().observations[::37]
    assert (sent.plan(CORNER).policy().act(observations) == agent().plan(CORNER).policy().act(observations)).all()


def test_building_anew_forgets_the_routes_and_keeps_the_episodes():
    again = agent().build(episodes())
    assert (again.routes, again.episodes is episodes()) == (None, True)
    assert (again.solve().routes.following == agent().routes.following).all()
    assert (replace(again, episodes=None).solve(episodes()).routes.values == agent().routes.values).all()


def right(observations):
    """How far right it is, and the corner counts double."""
    return observations[:, 0] + (observations[:, 1] > 0.5)


CHANGE = reward_function(lambda o_t, a_t, o_tp1: right(o_tp1) - right(o_t), name="further right")


def test_what_is_paid_for_a_change_and_taken_back_is_planned_as_being_there():
    """A merged vertex holds states from before and after, and would pay on every round."""
    lowest = right(episodes().observations).min()
    there = reward_function(lambda o_t, a_t, o_tp1: right(o_tp1) - lowest, name="right")
    plan, beside = agent().plan(CHANGE), agent().plan(there)
    lost = 1 - plan.body.solving.discount
    np.testing.assert_allclose(plan.values, lost * beside.values, rtol=1e-4, atol=1e-5)
    assert (plan.routes.targets == beside.routes.targets).all()
    paid = CHANGE.step_rewards(episodes())
    assert (plan.rewarded_steps, plan.charged_steps) == ((paid > 0).sum(), (paid < 0).sum())  # as it was asked for


PAID_ON_LEAVING = {
    "a change": lambda o_t, a_t, o_tp1: right(o_tp1) - right(o_t),
    "a change with a cost": lambda o_t, a_t, o_tp1: right(o_tp1) - right(o_t) - 0.1 * (a_t**2).sum(1),
    "a change, and each step away costs": lambda o_t, a_t, o_tp1: right(o_tp1) - right(o_t) - (right(o_tp1) < 0.3),
    "where it was": lambda o_t, a_t, o_tp1: right(o_t),
}


@pytest.mark.parametrize("function", PAID_ON_LEAVING.values(), ids=PAID_ON_LEAVING)
def test_a_plan_pays_on_arriving_what_is_paid_on_leaving(function):
    """The discounted sum over a recording is the same, but for what its two ends are worth."""
    plan, discount = agent().plan(reward_function(function)), 0.9
    leaving = plan.objective.rewards.paid_on_leaving(episodes())
    assert (leaving == 0).any()
    paid = plan.objective.step_rewards(episodes())
    planned = plan.recorded.planned_rewards(plan.objective, discount)
    for first, start, length in zip(
        episodes().first_step, episodes().first_observation, episodes().lengths, strict=False
    ):
        fading = discount ** np.arange(length)
        ends = discount**length * leaving[start + length] - leaving[start]
        sums = (fading @ each[first : first + length] for each in (planned, paid))
        np.testing.assert_allclose(next(sums) - next(sums), ends, atol=1e-4)


def test_leaving_is_worth_nothing_where_the_usual_is_paid():
    """A rare prize and a rarer penalty: what is usual lies between them."""
    low, high = np.quantile(episodes().observations[:, 0], [0.05, 0.85])

    def level(observations):
        return 3.0 * (observations[:, 0] > high) - 2.0 * (observations[:, 0] < low)

    change = agent().plan(reward_function(lambda o_t, a_t, o_tp1: level(o_tp1) - level(o_t)))
    leaving = change.objective.rewards.paid_on_leaving(episodes())
    np.testing.assert_allclose(leaving, -level(episodes().observations))


def test_a_prize_that_is_taken_back_and_a_cost_for_each_step_away_is_fetched_and_kept():
    """On its way through the vertex that holds states from before and after, the prize must not be paid again."""
    far = float(np.quantile(episodes().observations[:, 0], 0.9))

    def prize(o_t, a_t, o_tp1):
        return 10.0 * (o_tp1[:, 0] > far) - 10.0 * (o_t[:, 0] > far) - 0.02 * (o_tp1[:, 0] <= far)

    plan = agent().plan(reward_function(prize))
    graph, targets = agent().graph, plan.routes.targets
    fetched = np.zeros(graph.n_vertices, bool)
    fetched[graph.labels[episodes().observations[:, 0] > far]] = True
    leading = reaching(graph, fetched)
    assert fetched.any()
    assert fetched[targets[leading]].all()
    paid = (plan.objective.step_rewards(episodes()) > 0).sum()
    assert f" {paid:,} of {len(graph.slots):,} recorded steps are rewarded, " in plan.in_words()


@pytest.mark.parametrize(
    "function",
    [
        lambda o_t, a_t, o_tp1: right(o_tp1),
        lambda o_t, a_t, o_tp1: np.abs(right(o_tp1) - right(o_t)),
        lambda o_t, a_t, o_tp1: np.maximum(right(o_tp1) - right(o_t), 0),
        lambda o_t, a_t, o_tp1: right(o_t) * (a_t**2).sum(1),
        lambda o_t, a_t, o_tp1: np.zeros(len(o_t)),
    ],
    ids=["a place", "both ways", "kept", "by what is done", "nothing"],
)
def test_other_rewards_are_planned_as_they_are_paid(function):
    plan = agent().plan(reward_function(function))
    beside = agent().plan(step_rewards(plan.objective.step_rewards(episodes())))
    assert (plan.values == beside.values).all()


def test_a_function_that_bears_only_steps_is_planned_as_it_pays():
    def careful(o_t, a_t, o_tp1):
        assert len(o_t) == episodes().n_steps, "these are not the recorded steps"
        return right(o_tp1) - right(o_t)

    plan = agent().plan(reward_function(careful))
    assert (plan.values == agent().plan(step_rewards(CHANGE.step_rewards(episodes()))).values).all()


def test_a_change_that_is_paid_in_a_wrong_shape_is_refused_as_any_other():
    column = reward_function(lambda o_t, a_t, o_tp1: (right(o_tp1) - right(o_t))[:, None])
    with pytest.raises(VMGError, match="shape"):
        agent().plan(column)
