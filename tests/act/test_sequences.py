"""Objectives in order: one plan after the other, each followed until its objective is reached."""

import numpy as np
import pytest
from acting_cases import agent, episodes, follower

from vmg.act.sequence import SequencePlan, explain_stages, next_stage
from vmg.base.errors import VMGError
from vmg.envs import find_task
from vmg.evaluation import evaluate, scored_by
from vmg.goals import in_order, near, recorded_rewards

MAZE = find_task("pointmaze-umaze")
PLACES = [(1.0, 1.0), (-1.0, -1.0), (-1.0, 1.0)]


def to_place(place):
    return near(place, columns=(0, 1), tolerance=0.45)


def sequence(places=PLACES, planner=agent) -> SequencePlan:
    return planner().plan(in_order([to_place(place) for place in places]))


def state_at(place):
    states = episodes().observations
    return states[np.argmin(np.linalg.norm(states[:, :2] - place, axis=1))]


@pytest.mark.parametrize("planner", [agent, follower], ids=["edges", "recordings"])
def test_it_heads_for_the_first_objective_that_is_not_reached(planner):
    plan = sequence(planner=planner)
    policy = plan.policy()
    for place, following in zip(PLACES, [1, 2, 2], strict=True):
        there = state_at(place)
        assert policy.act(there) == pytest.approx(plan.stages[following].policy().act(there))
    policy.begin()
    far = state_at(PLACES[1])
    assert policy.act(far) == pytest.approx(plan.stages[0].policy().act(far))


def test_each_stage_is_the_plan_for_its_objective_alone():
    plan = sequence()
    for place, stage in zip(PLACES, plan.stages, strict=True):
        alone = agent().plan(to_place(place))
        assert (stage.routes.following == alone.routes.following).all()
        assert stage.in_words() == alone.in_words()
        assert stage.in_words() in str(plan)
    assert plan.objective.name == ", then ".join(stage.objective.name for stage in plan.stages)


def test_a_sequence_of_one_is_its_plan():
    plan, alone = sequence(PLACES[:1]), agent().plan(to_place(PLACES[0]))
    observations = episodes().observations[::50]
    policy = plan.policy()
    assert [policy.act(each).tolist() for each in observations] == [
        alone.policy().act(each).tolist() for each in observations
    ]


def test_stages_are_explained_each_from_where_the_one_before_ends():
    plan, first = sequence(), episodes().observations[0]
    answers = plan.explain(first)
    assert [answer.path for answer in answers] == [answer.path for answer in explain_stages(plan.stages, first)]
    for stage, before, after in zip(plan.stages[1:], answers, answers[1:], strict=False):
        assert after.vertex == before.path[-1]
        assert after.path == stage.explain(plan.stages[0].graph.states[before.path[-1]]).path


def test_objectives_that_are_reached_are_passed_in_order():
    objectives = [to_place((0.0, 0.0)), to_place((0.2, 0.0)), to_place((5.0, 5.0)), to_place((0.0, 0.0))]
    here = np.zeros(4, np.float32)
    assert next_stage(objectives, 0, here) == 2
    assert next_stage(objectives, 3, here) == 4
    assert next_stage([recorded_rewards()], 0, here) == 0


def test_staying_is_said_of_every_stage():
    stages = in_order([to_place(place) for place in PLACES]).staying()
    assert {stage.kind for stage in stages.stages} == {"stay"}


def test_a_sequence_in_the_maze_is_done_in_turn_by_any_number_of_processes():
    plan = sequence(PLACES[:2])
    task = scored_by(MAZE, plan)
    alone = evaluate(plan.policy(), task, n_episodes=2, workers=1)
    assert alone == evaluate(plan.policy(), task, n_episodes=2, workers=2)
    assert all(0 <= episode.report["reached"] <= 2 for episode in alone.episodes)
    assert all(episode.reward == episode.report["reached"] for episode in alone.episodes)


def test_what_cannot_be_done_in_order_is_said():
    with pytest.raises(VMGError, match=r"Only objectives that can be reached can follow one another"):
        in_order([recorded_rewards(), to_place(PLACES[0])])
    with pytest.raises(VMGError, match=r"the list of objectives is empty"):
        in_order([])
