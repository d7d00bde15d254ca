import json
import pickle
import weakref
from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent, episodes

from vmg.act.retask import want, want_many
from vmg.act.tasks import find_task
from vmg.errors import VMGError
from vmg.graph import reachable_from, reward
from vmg.wishes import by_function, by_rewards, near, where

FIELDS = find_task("pointmaze-umaze").fields
CORNER = near([1.0, 1.0], columns=FIELDS["position"], tolerance=0.45)


def test_wanting_a_place_is_the_goal_the_agent_knows():
    prospect = want(agent(), episodes(), CORNER)
    solution, found = agent().goal([1.0, 1.0])
    assert prospect.solution.targets.tolist() == solution.targets.tolist()
    assert (prospect.wanted == found.vertices).all()
    assert prospect.reaching.tolist() == found.vertices[solution.targets].tolist()
    assert prospect.paid_steps == int(CORNER.pays(episodes()).sum())
    assert "recorded steps are rewarded" in prospect.in_words()


def test_wanting_the_recorded_rewards_again_is_the_solution_of_the_data():
    prospect = want(agent(), episodes(), by_rewards(episodes().rewards))
    for name in ("values", "targets", "hops"):
        assert (getattr(prospect.solution, name) == getattr(agent().solved, name)).all()
    paying = agent().built.tails[reward(agent().built, episodes()).edges > 0]
    assert prospect.reaching[paying].all()
    assert (agent().solved.values[~prospect.reaching] == 0).all()


def test_a_predicate_over_named_parts_is_solved_for():
    fast = where(lambda at: np.linalg.norm(at["velocity"], axis=1) > 1.5, FIELDS, words="fast")
    prospect = want(agent(), episodes(), fast, kind="stay")
    assert prospect.known


def test_many_wishes_at_once_are_each_of_them_alone():
    wishes = [near(episodes().observations[row, :2], columns=(0, 1), tolerance=0.3) for row in range(0, 2000, 250)]
    together = want_many(agent(), episodes(), wishes)
    for wish, prospect in zip(wishes, together, strict=True):
        alone = want(agent(), episodes(), wish)
        assert (alone.solution.targets == prospect.solution.targets).all()
        assert (alone.solution.hops == prospect.solution.hops).all()


@pytest.fixture(scope="module", params=["edges", "recordings"])
def corner(request):
    """The corner wanted, with both kinds of paths."""
    config = agent().config
    recordings = request.param == "recordings"
    solve = replace(config.solve, paths=request.param)
    config = replace(config, solve=solve, graph=replace(config.graph, recordings=recordings))
    return want(replace(agent(), config=config).build(episodes()), episodes(), CORNER)


def test_an_explanation_tells_what_the_policy_will_do(corner):
    answers = [corner.explain(state) for state in episodes().observations[::100]]
    decisions = corner.policy().decide(episodes().observations[::100])
    for i, answer in enumerate(answers):
        assert answer.possible == bool(corner.reaching[answer.vertex])
        assert list(answer.path) == decisions[i].path
        assert answer.steps >= len(answer.path) - 1
        assert (answer.detour is None) == answer.possible
        if answer.possible:
            assert answer.vertex == decisions[i].vertex
            assert ("It can be done" in str(answer)) == bool(answer.pieces)
            assert all(f"episode {piece.episode}" in str(answer) for piece in answer.pieces[:4])
    assert len({len(answer.pieces) for answer in answers}) > 1
    json.dumps(answers[0].to_dict())


def test_the_pieces_of_an_explanation_are_recorded_and_lead_there(corner):
    graph, firsts = corner.agent.built, episodes().first_observation
    answer = max((corner.explain(state) for state in episodes().observations[::100]), key=lambda each: each.steps)
    last = answer.pieces[-1]
    assert corner.wanted[graph.labels[firsts[last.episode] + last.last + 1]]
    for piece in answer.pieces:
        rows = firsts[piece.episode] + np.arange(piece.first, piece.last + 2)
        assert set(graph.labels[rows].tolist()) <= set(answer.path)


def test_where_no_recorded_way_leads_on_the_nearest_vertex_with_one_is_taken(corner):
    """An end of an episode leads nowhere; the policy goes on as from the nearest vertex that is not cut off."""
    graph = corner.agent.built
    cut_off = np.flatnonzero(~corner.reaching)
    assert len(cut_off) > 0
    decisions = corner.policy().decide(graph.states[cut_off])
    ways = np.flatnonzero(corner.reaching)
    for vertex, taken, distance in zip(cut_off, decisions.vertices, decisions.distances, strict=True):
        gaps = np.linalg.norm(graph.features[ways] - graph.features[vertex], axis=1)
        assert taken == ways[np.argmin(gaps)]
        assert distance == pytest.approx(gaps.min(), rel=1e-3, abs=1e-3)
    assert corner.wanted[decisions.targets].all()
    assert not decisions.off_graph.any()


def test_what_no_recorded_way_leads_to_is_said_with_the_nearest_that_can_be_reached(corner):
    graph = corner.agent.built
    vertex = int(np.flatnonzero(~corner.reaching)[0])
    answer = corner.explain(graph.states[vertex])
    assert not answer.possible
    there = reachable_from(graph, vertex)[graph.labels]
    distances = np.linalg.norm(episodes().observations[:, :2] - [1.0, 1.0], axis=1)
    assert answer.nearest.distance == pytest.approx(distances[there].min(), rel=1e-5)
    row = episodes().first_observation[answer.nearest.episode] + answer.nearest.step
    assert (episodes().observations[row] == answer.nearest.observation).all()
    assert "No recorded way leads from here" in str(answer)
    assert f"{answer.nearest.distance:.3g} away from it: where episode {answer.nearest.episode} was" in str(answer)


def test_a_place_nobody_went_to_is_said_with_the_one_that_stands_for_it():
    far = want(agent(), episodes(), near([50, 50], columns=(0, 1), tolerance=0.1))
    assert not far.known
    assert "No recorded state fulfils it: the nearest," in str(far)
    leading = np.flatnonzero(far.reaching & ~far.wanted)
    answer = far.explain(agent().built.states[leading[0]])
    assert not answer.possible
    assert answer.nearest.distance == pytest.approx(far.distance if far.entered else far.tolerance)
    assert "What the policy tries" in str(answer)


def test_a_place_nobody_arrived_at_is_widened_and_said():
    """A state in which an episode starts, and a tolerance so small that nothing else is there."""
    starts = episodes().observations[episodes().first_observation[:-1]]
    wishes = [near(start, columns=(0, 1, 2, 3), tolerance=1e-6) for start in starts]
    prospects = [want(agent(), episodes(), wish) for wish in wishes]
    unentered = [prospect for prospect in prospects if not prospect.entered]
    assert unentered
    for prospect in unentered:
        assert prospect.known
        assert prospect.tolerance > 1e-6
        assert prospect.reaching.sum() > prospect.wanted.sum()
        assert f"the nearest that can be reached, {prospect.tolerance:.3g} away, stands for it too" in str(prospect)


def test_a_wish_that_only_costs_can_be_done_from_everywhere():
    effort = want(agent(), episodes(), by_function(lambda o_t, a_t, o_tp1: -np.linalg.norm(a_t, axis=1)))
    assert effort.reaching.all()
    assert effort.explain(episodes().observations[0]).possible


def kept_bytes(solution):
    """What a solution holds alive beyond its graph."""
    along = solution.along
    more = (along.changes, along.slots, along.costs) if along else (solution.ends, solution.passed)
    return sum(array.nbytes for array in (solution.values, solution.leads, *more))


def test_a_solution_kept_alive_is_16_bytes_a_vertex_and_along_recordings_12_and_a_bit_an_observation(corner):
    graph, n_rows = corner.agent.built, len(episodes().observations)
    leading_in = int((corner.wanted[graph.heads] & ~corner.wanted[graph.tails]).sum())
    if corner.solution.along is None:
        assert kept_bytes(corner.solution) == 16 * graph.n_vertices
    else:
        assert corner.solution.passed is graph.labels
        assert corner.solution.ends is None
        assert corner.solution.along.graph is graph
        assert kept_bytes(corner.solution) <= 12 * graph.n_vertices + (n_rows + 7) // 8 + 8 * leading_in


def test_the_table_of_a_solution_lives_while_it_is_followed(corner):
    before = kept_bytes(corner.solution)
    policy = corner.policy()
    policy.act(episodes().observations[0])
    if corner.solution.along is None:
        assert not policy._ways
        return
    followed = weakref.ref(policy._ways[0])
    policy.act(episodes().observations[1])
    assert policy._ways[0].hops is corner.solution.hops
    assert (pickle.loads(pickle.dumps(corner.solution)).hops == corner.solution.hops).all()
    del policy
    assert followed() is None
    assert kept_bytes(corner.solution) == before


@pytest.mark.parametrize(
    ("goal", "tolerance", "held"),
    [
        ("position=1,1", None, [1.1, 1.2, 9, 9]),
        ("position = 1, 1", 0.05, [1.01, 1.02, 9, 9]),
        ("velocity=0,-1", 0.1, [9, 9, 0.05, -1.05]),
        ("position=-1..1,0..2", None, [-0.9, 1.9, 9, 9]),
        ("position=-inf..inf,0..2", None, [-99, 1.9, 9, 9]),
    ],
)
def test_a_goal_is_named_by_a_part_of_the_state(goal, tolerance, held):
    wish = find_task("pointmaze-umaze").wish(goal, tolerance=tolerance)
    away = np.array(held) + 3
    assert wish.holds(np.array([held, away], np.float32)).tolist() == [True, False]
    assert wish.words.startswith(goal.partition("=")[0].strip())


@pytest.mark.parametrize(
    ("goal", "sentence"),
    [
        ("place=1,1", r"'place=1,1' is no goal of pointmaze-umaze: write FIELD=NUMBER.*position \(2\), velocity \(2\)"),
        ("position=1", r"is no goal of"),
        ("position=1,east", r"is no goal of"),
        ("position", r"is no goal of"),
        ("position=2..1,0..1", r"low no higher than high"),
        (
            "position=nan,1",
            r"'position=nan,1' holds nan, which is nowhere: give a number, or -inf\.\.inf where any will",
        ),
        ("position=0..nan,1..2", r"holds nan, which is nowhere"),
        ("position=inf,1", r"are finite numbers, not \[inf, 1\.0\]"),
        ("velocity=0,0", r"Say how near to 'velocity=0,0' counts as there: give a tolerance, in the units of velocity"),
    ],
)
def test_a_goal_that_is_none_is_answered_with_a_sentence(goal, sentence):
    with pytest.raises(VMGError, match=sentence):
        find_task("pointmaze-umaze").wish(goal)


def test_bad_wishes_are_answered_with_a_sentence():
    never = where(lambda at: at["position"][:, 0] > 99, FIELDS, words="beyond the maze")
    with pytest.raises(VMGError, match=r"No recorded state fulfils 'beyond the maze'"):
        want(agent(), episodes(), never)
    with pytest.raises(VMGError, match=r"The graph was built from 3\d+ observations, but .* has"):
        want(agent(), episodes().subset([0, 1]), CORNER)
    with pytest.raises(VMGError, match=r"must be numbers|rows"):
        want(agent(), episodes(), by_function(lambda o_t, a_t, o_tp1: o_t[:3, 0]))
    with pytest.raises(VMGError, match=r"has no named skills"):
        find_task("pointmaze-umaze").asked_for(("fly",))
    with pytest.raises(VMGError, match=r"The kitchen has no 'toaster'\. It has: "):
        find_task("kitchen-partial").asked_for(("toaster",))


def test_kitchen_skills_are_what_the_environment_counts_as_done():
    wish, task = find_task("kitchen-partial").asked_for(("microwave", "kettle"))
    env = task.make()
    observation, info = env.reset(seed=0)
    assert sorted(info["tasks_to_complete"]) == ["kettle", "microwave"]
    state = task.state_of(observation)[None].copy()
    assert not wish.holds(state)[0]
    for name, columns in (("microwave", (31,)), ("kettle", tuple(range(32, 39)))):
        state[0, list(columns)] = observation["desired_goal"][name]
        achieved = observation["achieved_goal"][name]
        assert task.state_of(observation)[list(columns)] == pytest.approx(achieved, abs=0.05)
    assert wish.holds(state)[0]
    env.close()
