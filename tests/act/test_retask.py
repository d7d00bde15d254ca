from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent, episodes

from vmg.act.policy import Policy
from vmg.act.retask import explain, want, want_many
from vmg.act.tasks import find_task
from vmg.errors import VMGError
from vmg.graph import reward
from vmg.wishes import by_function, by_rewards, near, where

FIELDS = find_task("pointmaze-umaze").fields
CORNER = near([1.0, 1.0], columns=FIELDS["position"], tolerance=0.45)


def test_wanting_a_place_is_the_goal_the_agent_knows():
    prospect = want(agent(), episodes(), CORNER)
    solution, found = agent().goal([1.0, 1.0])
    assert prospect.solution.targets.tolist() == solution.targets.tolist()
    assert prospect.goal is not None
    assert (prospect.goal.vertices == found.vertices).all()
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
    assert not prospect.rewards.absorbing.any()
    assert prospect.goal is not None
    assert prospect.goal.known


def test_many_wishes_at_once_are_each_of_them_alone():
    wishes = [near(episodes().observations[row, :2], columns=(0, 1), tolerance=0.3) for row in range(0, 2000, 250)]
    together = want_many(agent(), episodes(), wishes)
    for wish, prospect in zip(wishes, together, strict=True):
        alone = want(agent(), episodes(), wish)
        assert (alone.solution.targets == prospect.solution.targets).all()
        assert (alone.solution.hops == prospect.solution.hops).all()


def test_an_explanation_tells_what_the_policy_will_do():
    prospect = want(agent(), episodes(), CORNER)
    start = episodes().observations[0]
    decision = Policy(replace(agent(), solution=prospect.solution)).decide(start, prospect.solution)[0]
    answer = explain(agent(), prospect, start)
    assert answer.possible == prospect.reaching[decision.vertex]
    assert answer.vertex == decision.vertex
    assert list(answer.path) == decision.path
    assert answer.steps >= len(answer.path) - 1
    assert "It can be done" in answer.in_words()
    assert all(f"episode {piece.episode}" in answer.in_words() for piece in answer.pieces)


def test_what_no_recorded_way_leads_to_is_said():
    prospect = want(agent(), episodes(), CORNER)
    cut_off = np.flatnonzero(~prospect.reaching)
    assert len(cut_off) > 0
    answer = explain(agent(), prospect, agent().built.states[cut_off[0]])
    assert not answer.possible
    assert "No recorded way leads from here" in answer.in_words()
    far = want(agent(), episodes(), near([50, 50], columns=(0, 1), tolerance=0.1))
    assert "No recorded state fulfils it: the nearest," in far.in_words()


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
