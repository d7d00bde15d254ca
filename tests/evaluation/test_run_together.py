"""Episodes of several models run by one set of workers are those that each runs alone."""

from dataclasses import replace

import pytest
from evaluation_cases import LINE, Walker

import vmg
from vmg.base.errors import VMGError
from vmg.evaluation import EXECUTORS, evaluate
from vmg.evaluation.together import Wanted, run_together
from vmg.runs import Run
from vmg.runs.notes import Measured, Trial, scores_together

SHORT = replace(LINE, name="short line", horizon=4)
MODELS = ((LINE, range(3)), (SHORT, range(0)), (SHORT, range(2, 5)))


@pytest.mark.parametrize(("executor", "workers"), [("here", None), ("processes", 2)])
def test_each_model_is_evaluated_in_its_own_task(executor, workers):
    wanted = [Wanted(Walker, task, seeds) for task, seeds in MODELS]
    found = list(run_together(wanted, executor=executor, workers=workers))
    for i, (task, seeds) in enumerate(MODELS):
        own = sorted((score for model, score in found if model == i), key=lambda score: score.seed)
        first, n = (seeds[0], len(seeds)) if seeds else (0, 0)
        alone = evaluate(Walker(), task, first_seed=first, n_episodes=n, executor="here").episodes if n else ()
        assert tuple(own) == alone


@pytest.mark.parametrize("executor", ["here", "elsewhere"])
def test_what_was_noted_is_neither_made_nor_run_again(tmp_path, monkeypatch, executor):
    monkeypatch.setitem(EXECUTORS._found, "elsewhere", EXECUTORS.find("here"))
    trial, made = Trial(n_episodes=4, executor=executor), []

    def maker(name):
        def make():
            made.append(name)
            return Walker()

        return make

    run = Run("made up", vmg.AgentConfig(), folder=tmp_path)
    first, second = (Measured(run, LINE, "VMG", seed, {}) for seed in (0, 1))
    first.scores(Walker(), trial)
    models = [(first, maker("first")), (second, maker("second"))]
    found = scores_together(models, trial)
    assert found == [evaluate(Walker(), LINE, n_episodes=4, executor="here")] * 2
    assert scores_together(models, trial) == found
    assert made == ["second"]


def test_episodes_that_do_not_come_back_are_missed(tmp_path, monkeypatch):
    monkeypatch.setitem(EXECUTORS._found, "lazy", lambda work, jobs, workers: iter(()))
    measured = Measured(Run("made up", vmg.AgentConfig(), folder=tmp_path), LINE, "VMG", 0, {})
    with pytest.raises(VMGError, match="not brought back"):
        scores_together([(measured, Walker)], Trial(n_episodes=1, executor="lazy"))
