"""Scores of one model and of several: what is summed up is what numpy says by hand."""

import json

import numpy as np
import pytest

from vmg.base.statistics import bootstrap_interval
from vmg.evaluation import EpisodeScore, Scores, Summary
from vmg.evaluation.scores import METHODS, in_words, paired_difference

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
    told = in_words(endings)
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


def test_methods_have_names_in_words():
    assert list(METHODS) == ["VMG", "BC", "GCBC"]
    assert METHODS["GCBC"] == "goal-conditioned behaviour cloning"
