"""Environments whose processes die or hang: they are replaced, and the scores are those of undisturbed episodes."""

import os
import signal
import time
from dataclasses import replace
from functools import partial

import pytest
from evaluation_cases import LINE, Line, Walker

from vmg.base.errors import VMGError
from vmg.evaluation import evaluate
from vmg.evaluation.executors import processes


class Faulty(Line):
    """Goes wrong in the third step of some episodes, in each of them so many times; a folder keeps count."""

    def __init__(self, how, folder, times=1, seeds=(1, 4)):
        self.how, self.folder, self.times, self.seeds = how, folder, times, seeds

    def reset(self, *, seed=None, options=None):
        self.seed = seed
        return super().reset(seed=seed)

    def step(self, action):
        if self.time == 2 and self.seed in self.seeds:
            before = list(self.folder.glob(f"{self.seed}.*"))
            if len(before) < self.times:
                (self.folder / f"{self.seed}.{len(before)}").touch()
                self.how()
        return super().step(action)


def leave():
    os._exit(7)


def be_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def hang():
    time.sleep(1000)


def faulty(*arguments, **options):
    return replace(LINE, environment=partial(Faulty, *arguments, **options))


@pytest.mark.parametrize("how", [leave, be_killed])
def test_a_process_that_dies_is_replaced_and_every_episode_counts_once(how, tmp_path, capsys):
    ran = []
    scores = evaluate(Walker(), faulty(how, tmp_path), n_episodes=6, workers=2, on_episode=ran.append)
    assert scores == evaluate(Walker(), LINE, n_episodes=6, workers=1)
    assert sorted(episode.seed for episode in ran) == list(range(6))
    assert {file.name for file in tmp_path.iterdir()} == {"1.0", "4.0"}
    assert "is run again" in " ".join(capsys.readouterr().err.split())


def test_a_process_that_hangs_is_replaced(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(processes, "LEAST", 3.0)
    monkeypatch.setattr(processes, "MOST", 3.0)
    slow = faulty(hang, tmp_path, seeds=(3,))
    assert evaluate(Walker(), slow, n_episodes=4, workers=2) == evaluate(Walker(), LINE, n_episodes=4, workers=1)
    assert "was silent for" in capsys.readouterr().err


class Thoughtful(Walker):
    """Takes longer for an episode than a process may be silent, but not for a step."""

    def act(self, state):
        time.sleep(0.8)
        return super().act(state)


def test_a_slow_environment_is_waited_for(monkeypatch, capsys):
    monkeypatch.setattr(processes, "LEAST", 4.0)
    monkeypatch.setattr(processes, "SLOW", 0)
    scores = evaluate(Thoughtful(), LINE, n_episodes=2, workers=2)
    assert max(episode.steps for episode in scores.episodes) * 0.8 > 4
    assert "silent" not in capsys.readouterr().err


def test_an_episode_that_always_ends_its_process_is_said(tmp_path):
    with pytest.raises(VMGError, match=r"of seed 1 was killed by SIGKILL; that was the last of 3 .* --on here"):
        evaluate(Walker(), faulty(be_killed, tmp_path, times=99, seeds=(1,)), n_episodes=3, workers=2)
