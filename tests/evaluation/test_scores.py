"""Scores of one model and of several: what is summed up is what numpy says by hand."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vmg.base.statistics import bootstrap_interval
from vmg.evaluation import EpisodeScore, Scores, Summary
from vmg.evaluation.scores import FAILURES, JAM, LYING, METHODS, in_words, last_fall, paired_difference

HOW = ("success", "time out", "terminated")


def model(seed, n=40, told=True):
    """Scores of a model, with returns from 0 to 8 that score 0 to 100."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(1, 300, n), rng.uniform(0, 8, n), rng.choice(HOW, n)
    episodes = [
        EpisodeScore(i, steps, reward, ended == "success" if told else None, ended)
        for i, (steps, reward, ended) in enumerate(zip(*(each.tolist() for each in columns), strict=True))
    ]
    return Scores("x", "protocol", (0.0, 8.0), tuple(episodes))


def by_hand(scores):
    rewards, success, steps = (
        np.array([[getattr(e, name) for e in each.episodes] for each in scores])
        for name in ("reward", "success", "steps")
    )
    return 100 * rewards / 8, success, rewards, steps


def test_scores_are_normalised_and_their_interval_holds_the_mean():
    episodes = tuple(EpisodeScore(seed, 10, float(seed % 5), None, "time out") for seed in range(50))
    scores = Scores("x", "", (0.0, 4.0), episodes)
    assert scores.score == pytest.approx(50.0)
    low, high = scores.interval
    assert low < 50 < high
    assert scores.interval == Scores("x", "", (0.0, 4.0), episodes).interval
    assert scores.success_rate is None
    assert scores.to_dict()["endings"] == {"time out": 50}
    json.dumps(scores.to_dict())


def test_an_episode_failed_only_where_the_environment_says_so():
    for success, failed in ((True, False), (False, True), (None, False)):
        assert EpisodeScore(0, 1, 0.0, success, "time out").failed is failed


def test_an_interval_over_models_is_wider_when_models_differ():
    alike, apart = [[0.0, 100.0] * 20] * 4, [[0.0] * 40, [0.0] * 40, [100.0] * 40, [100.0] * 40]
    narrow, wide = (np.ptp(bootstrap_interval(models)) for models in (alike, apart))
    assert wide > 2 * narrow
    assert bootstrap_interval([[3.0, 3.0]]) == (3.0, 3.0)


def test_a_summary_of_several_models_is_what_numpy_says():
    scores = [model(seed) for seed in range(3)]
    summary, (points, success, returns, steps) = Summary.of(scores), by_hand(scores)
    assert summary.score == pytest.approx(points.mean())
    assert summary.success_rate == pytest.approx(100 * success.mean())
    assert summary.mean_return == pytest.approx(returns.mean())
    assert summary.mean_steps == pytest.approx(steps.mean())
    assert summary.interval == pytest.approx(bootstrap_interval(points.tolist()))
    assert summary.interval[0] < summary.score < summary.interval[1]
    content = json.loads(json.dumps(summary.to_dict()))
    assert content["models"] == pytest.approx(points.mean(1).tolist())
    assert content["episodes"] == 40
    assert content["score"] == summary.score


def test_endings_of_several_models_add_up():
    scores = [model(seed) for seed in range(3)]
    endings = Summary.of(scores).endings
    assert endings == {how: sum(e.ended == how for each in scores for e in each.episodes) for how in endings}
    assert set(endings) == set(HOW)
    assert sum(endings.values()) == 3 * 40
    told = in_words(endings, {})
    assert all(f"{count} {how}" in told for how, count in endings.items())


def test_a_summary_of_one_model_is_that_models_scores():
    one = model(0)
    summary = Summary.of([one])
    for name in ("score", "interval", "success_rate", "mean_return", "endings"):
        assert getattr(summary, name) == getattr(one, name), name


def test_success_is_unknown_where_no_environment_says_it():
    assert Summary.of([model(seed, told=False) for seed in range(2)]).success_rate is None
    mixed = Summary.of([model(0), model(1, told=False)])
    assert mixed.success_rate == model(0).success_rate


def test_a_difference_is_taken_model_by_model_and_episode_by_episode():
    scores, baseline = [model(seed) for seed in (0, 1)], [model(seed) for seed in (2, 3)]
    found = paired_difference(scores, baseline)
    paired = by_hand(scores)[0] - by_hand(baseline)[0]
    assert found["mean"] == pytest.approx(paired.mean())
    assert found["interval"] == pytest.approx(list(bootstrap_interval(paired.tolist())))
    assert found["within_spread"] == (found["interval"][0] <= 0 <= found["interval"][1])
    same = paired_difference(scores, scores)
    assert same == {"mean": 0.0, "interval": [0.0, 0.0], "within_spread": True}


def went(success, *, fell=None, stalled=None, planned=None, steps=200, task_id=1):
    """An episode that went so."""
    return EpisodeScore(
        0,
        steps,
        float(bool(success)),
        success,
        "",
        {"task_id": task_id},
        {},
        planned=planned,
        stalled=stalled,
        fell=fell,
    )


@pytest.mark.parametrize(
    ("episode", "why"),
    [
        (went(False, fell=3, stalled=JAM), "fall"),
        (went(False, stalled=JAM), "jam"),
        (went(False, stalled=JAM - 1), "late"),
        (went(False), None),
        (went(True, fell=3, stalled=JAM), None),
        (went(None, stalled=JAM), None),
    ],
)
def test_why_an_episode_failed(episode, why):
    assert episode.failure == why


@given(st.lists(st.tuples(st.sampled_from([True, False, None]), st.none() | st.integers(0, 300)), min_size=1))
def test_failures_of_all_models_are_counted_where_they_are_known(courses):
    scores = Scores("x", "", (0.0, 1.0), tuple(went(success, stalled=stalled) for success, stalled in courses))
    expected = {"jam": 0, "late": 0}
    for success, stalled in courses:
        if success is False and stalled is not None:
            expected["jam" if stalled >= JAM else "late"] += 1
    assert scores.failures == {kind: n for kind, n in expected.items() if n}
    both = Summary.of([scores, scores])
    assert both.failures == {kind: 2 * n for kind, n in scores.failures.items()}
    assert list(both.failures) == [kind for kind in FAILURES if kind in both.failures]


@given(st.lists(st.booleans(), max_size=80))
def test_a_fall_is_lying_for_long_up_to_the_end(lying):
    step = last_fall(np.array(lying, bool))
    if step is None:
        assert len(lying) < LYING or not all(lying[-LYING:])
    else:
        assert all(lying[step:])
        assert len(lying) - step >= LYING
        assert step == 0 or not lying[step - 1]


def test_the_pace_is_of_those_that_arrived():
    episodes = went(True, planned=100.0), went(True, planned=300.0, steps=400), went(False, planned=1.0), went(True)
    assert Scores("x", "", (0.0, 1.0), episodes).pace == pytest.approx(600 / 400)
    assert Scores("x", "", (0.0, 1.0), (went(False, planned=1.0),)).pace is None


def test_scores_are_told_by_what_episodes_noted():
    episodes = went(True, task_id=2), went(False, task_id=1), went(False, task_id=2)
    assert Scores("x", "", (0.0, 1.0), episodes).by("task_id") == {"1": 0.0, "2": 50.0}


def test_failures_are_told_beside_the_endings():
    told = in_words({"success": 7, "time out": 3}, {"fall": 2, "jam": 1})
    assert told == "7 success, 3 time out (2 falls, 1 jam)"


def test_methods_have_names_in_words():
    assert list(METHODS) == ["VMG", "BC", "GCBC"]
    assert METHODS["GCBC"] == "goal-conditioned behaviour cloning"
