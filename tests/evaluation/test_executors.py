"""Who runs the episodes changes nothing but the time: here, in processes, or where an extension runs them."""

import os
import subprocess
import sys

import pytest
from acting_cases import agent
from evaluation_cases import LINE, Line, Walker

import vmg
from vmg.base.errors import VMGError
from vmg.envs import Task, find_task
from vmg.evaluation import EXECUTORS, evaluate
from vmg.evaluation.evaluation import EpisodeWork

BACKWARDS = '''
"""An executor in a file of one's own: the last episode first."""

from vmg.evaluation import EXECUTORS

asked = []


@EXECUTORS.register("backwards")
def run_backwards(work, jobs, workers):
    asked.append((list(jobs), workers))
    with work.open() as do:
        for job in reversed(jobs):
            yield do(job)


@EXECUTORS.register("forgetful")
def run_all_but_one(work, jobs, workers):
    yield from run_backwards(work, jobs[1:], workers)
'''


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    file = tmp_path_factory.mktemp("extension") / "my_executors.py"
    file.write_text(BACKWARDS)
    return file


def test_the_number_of_workers_changes_nothing():
    task = find_task("pointmaze-umaze")
    alone = evaluate(agent().policy(), task, n_episodes=4, workers=1)
    together = evaluate(agent().policy(), task, n_episodes=4, workers=2)
    assert alone == together
    assert alone == evaluate(agent().policy(), task, n_episodes=4, executor="here")


def test_an_executor_of_ones_own_is_named_and_used(extension, monkeypatch):
    monkeypatch.setenv("VMG_EXTENSIONS", str(extension))
    ran = []
    scores = vmg.evaluate(Walker(), LINE, n_episodes=5, executor="backwards", workers=7, on_episode=ran.append)
    assert scores == evaluate(Walker(), LINE, n_episodes=5, workers=1)
    assert [episode.seed for episode in ran] == [4, 3, 2, 1, 0]
    assert sys.modules["my_executors"].asked[-1] == ([0, 1, 2, 3, 4], 7)
    known = scores.episodes[:2]
    assert vmg.evaluate(Walker(), LINE, n_episodes=5, executor="backwards", workers=1, known=known) == scores
    assert sys.modules["my_executors"].asked[-1] == ([2, 3, 4], 1)


def test_an_executor_that_loses_episodes_is_said(extension, monkeypatch):
    monkeypatch.setenv("VMG_EXTENSIONS", str(extension))
    with pytest.raises(VMGError, match=r"The executor 'forgetful' has not brought back .* seeds \[0\]"):
        vmg.evaluate(Walker(), LINE, n_episodes=3, executor="forgetful")


def test_an_executor_that_is_not_there_is_said():
    with pytest.raises(VMGError, match=r"There is no executor 'abacus'\. There are: here, processes"):
        evaluate(Walker(), LINE, n_episodes=2, executor="abacus")
    assert {"here", "processes"} <= set(EXECUTORS)


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(VMGError, match=r"The executor 'here' exists already"):
        EXECUTORS.add("here", lambda work, jobs, workers: iter(()))


def test_a_function_that_cannot_travel_is_said():
    task = Task(name="mine", environment=lambda: Line(), keys=("place",))
    with pytest.raises(VMGError, match=r"cannot be sent to other processes .* or workers=1\."):
        evaluate(Walker(), task, n_episodes=2, workers=2)


def test_processes_that_die_are_said():
    task = Task(name="mine", environment=os.abort)
    with pytest.raises(VMGError, match=r"could not start or died\. In a script, evaluate under"):
        evaluate(Walker(), task, n_episodes=2, workers=2)


class Stumbles(Walker):
    def act(self, state):
        raise RuntimeError("one foot in front of the other")


@pytest.mark.parametrize("workers", [1, 2])
def test_what_goes_wrong_in_an_episode_is_heard_of(workers):
    with pytest.raises(RuntimeError, match="one foot in front of the other"):
        evaluate(Stumbles(), LINE, n_episodes=3, workers=workers)


def test_a_script_without_its_guard_is_told_so_however_large_its_policy(tmp_path):
    """Workers run such a script again and die of it; nothing may wait for them."""
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, vmg\n"
        "class Large:\n"
        "    ballast = None\n"
        "    def begin(self, observation, objective): pass\n"
        "    def act(self, state): return np.zeros(2)\n"
        "actor = Large()\n"
        "actor.ballast = np.zeros(1_000_000)\n"
        "vmg.evaluate(actor, vmg.find_task('pointmaze-umaze'), n_episodes=2, workers=2)\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert "evaluate under `if __name__" in ended.stderr


class Counted(EpisodeWork):
    opened = 0

    def open(self):
        Counted.opened += 1
        return super().open()


def test_the_work_is_opened_once_and_closed_at_the_end():
    results = list(EXECUTORS.find("here")(Counted(Walker(), LINE), [3, 4], None))
    assert (Counted.opened, [each.seed for each in results]) == (1, [3, 4])
