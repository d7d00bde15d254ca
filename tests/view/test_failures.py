"""Why an episode failed is read off its decisions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from viewing_cases import TASK, episode

from vmg.evaluation import EpisodeScore
from vmg.view.failures import diagnose
from vmg.view.gallery import some_failures


def decided(vertices, values, *, off_graph=False, ahead=3):
    """An episode that was at these vertices, whose values are given, with this many edges ahead at its end."""
    first = episode().decisions[0]
    path = list(range(ahead + 1))
    decisions = tuple(
        replace(first, vertex=vertex, off_graph=off_graph, path=path, target=path[-1]) for vertex in vertices
    )
    plan = episode().plan
    plan = replace(plan, routes=replace(plan.routes, values=np.asarray(values, dtype=np.float64)))
    states = np.repeat(episode().states[:1], len(vertices), axis=0)
    score = replace(episode().score, success=False, ended="time out", steps=len(vertices), stalled=None)
    return replace(episode(), decisions=decisions, plan=plan, states=states, score=score)


WAY = np.arange(60)


@pytest.mark.parametrize(
    ("failed", "kind", "words"),
    [
        (decided(WAY, WAY, off_graph=True), "off the graph", "100 % of its last 20 steps"),
        (decided(WAY, WAY, ahead=0), "nothing better ahead", "no recorded way leads on"),
        (decided([*range(30), *[7] * 30], WAY), "stuck", "in vertex 7: the actions did not carry it to the subgoal"),
        (decided(WAY, -np.abs(WAY - 20)), "going round", "nearest to its aim in step 20"),
        (decided(WAY, WAY), "out of time", "3 edges were left"),
    ],
)
def test_each_kind_of_failure_is_told_from_the_others(failed, kind, words):
    found = diagnose(failed, TASK.goal)
    assert found.kind == kind
    assert words in found.why
    assert "from the goal" in found.where


CASES = [
    decided(WAY, WAY, off_graph=True),
    decided(WAY, WAY, ahead=0),
    decided([*range(30), *[7] * 30], WAY),
    decided(WAY, -np.abs(WAY - 20)),
    decided(WAY, WAY),
]


@given(st.sampled_from(CASES), st.integers(0, 300), st.none() | st.integers(0, 50))
def test_the_page_and_its_table_judge_alike(failed, stalled, fell):
    failed = replace(failed, score=replace(failed.score, stalled=stalled, fell=fell))
    found, counted = diagnose(failed, TASK.goal), failed.score.failure
    assert found.kind.partition(":")[0] == counted
    assert ("still getting on" in found.why) <= (counted == "late")


def test_what_never_stopped_at_the_end_but_jammed_before_is_said_to_have_jammed():
    failed = decided(WAY, WAY)
    found = diagnose(replace(failed, score=replace(failed.score, stalled=140)), TASK.goal)
    assert found.kind == "jam: no progress"
    assert found.why.startswith("For 140 steps in a row it came to no vertex worth more than all before; 3 edges")


def test_a_fall_comes_before_everything_else():
    failed = decided(WAY, WAY, off_graph=True)
    found = diagnose(replace(failed, score=replace(failed.score, fell=17)), TASK.goal)
    assert found.kind == "fall"
    assert "It fell in step 17" in found.why


def test_open_subtasks_are_named():
    failed = replace(decided(WAY, WAY), to_do=("kettle", "light switch"))
    assert diagnose(failed, TASK.goal).why.endswith("Still to do: kettle, light switch.")


def test_without_a_goal_the_end_is_told_by_its_vertex():
    assert diagnose(decided(WAY, WAY)).where == "vertex 59, worth 59"


def test_of_failed_episodes_the_first_of_each_kind_are_looked_at_before_others():
    kinds = ["late", "late", "jam", "late", "fall", "jam"]
    facts = {"late": {"stalled": 0}, "jam": {"stalled": 200}, "fall": {"fell": 1}}
    failures = [EpisodeScore(seed, 9, 0.0, False, "time out", **facts[kind]) for seed, kind in enumerate(kinds)]
    assert [episode.seed for episode in some_failures(failures, 4)] == [0, 2, 4, 1]
    assert [episode.seed for episode in some_failures(failures, 2)] == [0, 2]
    assert some_failures([], 4) == some_failures(failures, 0) == []
