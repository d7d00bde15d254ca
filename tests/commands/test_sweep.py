"""Sweeps: what is tried, who goes on, and that neither a kill nor another executor changes it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from maze_settings import TASK, little_maze

from vmg.agent.settings import AgentConfig
from vmg.base.errors import VMGError
from vmg.cli.main import main
from vmg.cli.sweep import _start
from vmg.evaluation import EXECUTORS
from vmg.runs import Run, save_run
from vmg.runs.spaces import changed, draws, given_up, read_choices
from vmg.runs.sweeping import KEEP, rungs

pytest.importorskip("optuna", reason="the extra `sweep` is not installed")

SETTINGS = ("learn.learning-rate=1e-4..1e-2:log", "learn.batch-size=10..200", "learn.low-level.inputs=raw,relative",
            "act.keep-path=true,false", "solve.search-steps=None,3")  # fmt: skip
GRID = ("graph.radius=0.5,1,2", "learn.contrastive=true,false")


@given(st.integers(0, 1000), st.integers(1, 10), st.integers(0, 5))
def test_a_seed_draws_the_same_settings_and_more_come_after_them(seed, n, more):
    choices = read_choices(SETTINGS, AgentConfig())
    drawn = draws(choices, "random", n, seed)
    assert len(drawn) == n
    assert draws(choices, "random", n + more, seed)[:n] == drawn
    for draw in drawn:
        config = changed(AgentConfig(), draw)
        assert 1e-4 <= config.learn.learning_rate <= 1e-2
        assert type(config.learn.batch_size) is int
        assert 10 <= config.learn.batch_size <= 200
        assert config.solve.search_steps in (None, 3)


@given(st.integers(0, 1000))
def test_a_grid_is_tried_whole_and_once(seed):
    drawn = draws(read_choices(GRID, AgentConfig()), "grid", None, seed)
    tried = {(draw["graph.radius"], draw["learn.contrastive"]) for draw in drawn}
    assert tried == {(radius, contrastive) for radius in (0.5, 1.0, 2.0) for contrastive in (True, False)}
    assert len(drawn) == 6


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30, unique=True))
def test_the_best_go_on_and_at_most_a_third(values):
    hopeless = given_up(values, 1 / KEEP)
    left = sorted(value for value, gone in zip(values, hopeless, strict=True) if not gone)
    assert left == sorted(values)[: len(left)]
    assert 1 <= len(left) <= max(1, len(values) // KEEP + 1)


@given(st.integers(1, 10**6), st.integers(1, 6))
def test_the_last_rung_is_the_end(steps, n):
    found = rungs(steps, n)
    assert found[-1] == steps
    assert len(found) <= n
    assert found == sorted(set(found))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ((), "A sweep needs settings to try"),
        (("learn.margin",), "does not say what to try"),
        (("margin=1,2",), r"There is no setting margin: do you mean learn\.margin\?"),
        (("learn.nothing=1,2",), r"There is no setting learn\.nothing: there are learn\.metric_dimension"),
        (("learn.low-level=1,2",), r"learn\.low_level is not one setting but several"),
        (("learn.margin=-1,2",), r"cannot be tried: margin must be a finite number above 0"),
        (("learn.margin=2..1",), "is no range of numbers"),
        (("learn.margin=0..1:log",), "is no range of numbers"),
        (("learn.contrastive=0..1",), "is no range of numbers"),
        (("learn.margin=1,2", "learn.margin=3,4"), "is named twice"),
    ],
)
def test_what_cannot_be_tried_is_said(settings, said):
    with pytest.raises(VMGError, match=said):
        read_choices(settings, AgentConfig())


def test_a_grid_of_ranges_is_refused():
    with pytest.raises(VMGError, match=r"A grid needs values for learn\.margin: .*--search random"):
        draws(read_choices(["learn.margin=1..2"], AgentConfig()), "grid", None, 0)


DATA = "pointmaze:umaze?steps=600"
LITTLE = ["--learn.steps", "9", "--learn.hidden-units", "8", "--rungs", "2"]
HORIZONS = ["--settings", "learn.low-level.goal-horizon=1,2,9", "--search", "grid"]


def swept(folder, *options):
    """Do a sweep; return its exit code and what it has written."""
    code = main(["sweep", DATA, "--out", str(folder), *LITTLE, *options])
    return code, json.loads((folder / "sweep.json").read_text()) if (folder / "sweep.json").exists() else None


@EXECUTORS.register("in-turn")
def in_turn(work, jobs, workers):
    with work.open() as do:
        yield from map(do, jobs)


@EXECUTORS.register("fails-later")
def fails_later(work, jobs, workers):
    """Does the first rung alone."""
    if len(jobs) < 3:
        raise VMGError("The cluster is gone.")
    yield from in_turn(work, jobs, workers)


def test_a_sweep_that_was_stopped_ends_as_one_that_was_not(tmp_path):
    code, whole = swept(tmp_path / "whole", *HORIZONS, "--on", "in-turn")
    assert code == 0
    assert [len(candidate["values"]) for candidate in whole["candidates"]].count(2) == 1
    best = min(whole["candidates"], key=lambda candidate: candidate["values"]["3"])
    assert whole["best"] == best
    code, begun = swept(tmp_path / "stopped", *HORIZONS, "--on", "fails-later")
    assert code == 2
    assert all(list(candidate["values"]) == ["3"] for candidate in begun["candidates"])
    assert swept(tmp_path / "stopped", *HORIZONS, "--on", "in-turn") == (0, whole)
    assert swept(tmp_path / "stopped", *HORIZONS) == (0, whole)  # and once more, from what is known
    assert main(["info", str(tmp_path / "stopped" / "candidates" / best["run"])]) == 0
    assert swept(tmp_path / "stopped", *HORIZONS, "--seed", "1")[0] == 2  # another sweep


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--settings", "learn.margin=1,2"], "does not change what the low-level policy learns"),
        (["--settings", "graph.radius=1,2"], "Choose --objective score"),
        (["--settings", "learn.steps=1,2"], "it says how long all candidates learn"),
        ([*HORIZONS, "--validation", "0"], "some episodes must be held out: --validation 0.1"),
        ([*HORIZONS, "--rungs", "0"], "at least one rung"),
    ],
)
def test_a_sweep_that_can_tell_nothing_is_refused(options, said, tmp_path, capsys):
    assert main(["sweep", DATA, "--out", str(tmp_path / "sweep"), *LITTLE, *options]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "sweep").exists()


def test_scores_decide_where_they_are_asked_to(tmp_path):
    tried = ["--settings", "act.subgoal-steps=1,3", "graph.radius=0.1,0.05", "--search", "grid"]
    judged = ["--objective", "score", "--rungs", "1", "--learn.steps", "3", "--episodes", "1", "--on", "in-turn"]
    code, found = swept(tmp_path / "sweep", *tried, *judged)
    assert code == 0
    values = [candidate["values"]["3"] for candidate in found["candidates"]]
    assert found["best"]["values"]["3"] == max(values)
    assert len(values) == 4


def test_a_sweep_starts_from_the_defaults_or_from_the_settings_of_a_run(tmp_path):
    save_run(Run(DATA, little_maze(batch_size=7), folder=tmp_path / "run"))
    assert _start(None, None, TASK) == TASK.with_goal_columns(AgentConfig())
    assert _start(None, None, None) == AgentConfig()
    assert _start("paper", None, TASK) == TASK.preset("paper")
    assert _start(None, str(tmp_path / "run"), TASK) == little_maze(batch_size=7)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--preset", "auto"], "`vmg train` does. Try others than it chose with --start RUN"),
        (["--preset", "paper", "--start", "run"], "leave out --preset or --start"),
        (["--start", "nowhere"], "nowhere is not a run"),
        (["--preset", "ours"], "has no preset 'ours'. It has: paper, program."),
    ],
)
def test_a_start_that_cannot_be_is_said(options, said, tmp_path, capsys):
    assert main(["sweep", DATA, "--out", str(tmp_path / "sweep"), *HORIZONS, *options]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
