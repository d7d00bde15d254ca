"""The best checkpoint of a range, as the paper chooses it: on other episodes than those that are scored."""

from dataclasses import replace

import pytest

from vmg.envs import find_task
from vmg.runs import Run
from vmg.runs.notes import Trial
from vmg.runs.stages import train
from vmg.studies import checkpoints
from vmg.studies.checkpoints import best_checkpoints

pytest.importorskip("gymnasium_robotics")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    task = find_task("pointmaze-umaze")
    config = task.preset("paper")
    config = replace(config, learn=replace(config.learn, steps=60, checkpoint_every=20))
    run = Run("pointmaze:umaze?steps=2000", config, (0, 1), "pointmaze-umaze", folder=tmp_path_factory.mktemp("run"))
    train(run)
    return run


def chosen(run):
    task = replace(run.find_task(), horizon=30)
    return best_checkpoints(run, run.config, run.episodes()[0], task, Trial(n_episodes=1, executor="here"))


def test_each_model_is_scored_with_the_checkpoint_that_was_best_on_other_episodes(run, monkeypatch):
    monkeypatch.setattr(checkpoints, "CHOSEN", (20, 50))
    monkeypatch.setattr(checkpoints, "CHOOSING", 2)
    asked = []

    def scored(models, trial):
        asked.extend((measured.method, measured.seed, list(trial.seeds)) for measured, _ in models)
        best = {0: "VMG at 20", 1: "VMG at 40"}
        looks = [Score(measured.method == best[measured.seed]) for measured, _ in models]
        return original(models, trial) if trial.n_episodes == 1 else looks

    original = checkpoints.scores_together
    monkeypatch.setattr(checkpoints, "scores_together", scored)
    found = chosen(run)
    assert found["steps"] == [20, 40]
    assert len(found["models"]) == 2
    looks = [(f"VMG at {step}", seed, [1000, 1001]) for seed in (0, 1) for step in (20, 40)]
    assert asked == [*looks, ("VMG at 20", 0, [0]), ("VMG at 40", 1, [0])]


def test_without_a_checkpoint_in_the_range_none_is_chosen(run):
    assert chosen(run) is None


class Score:
    """A look at a checkpoint that went so well."""

    def __init__(self, score):
        self.score = float(score)
