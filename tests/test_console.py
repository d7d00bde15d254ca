"""What a log gets where there is no terminal: plain lines, neither too many nor too few."""

import os
import subprocess
import sys
from itertools import pairwise

import pytest

from vmg.base.console import ProgressLines, duration, progress_bar


@pytest.mark.parametrize("seconds_per_step", [0.001, 0.05, 1.0, 40.0])
def test_lines_come_by_tenths_or_half_minutes_but_never_in_a_flood(seconds_per_step, capsys):
    now = [0.0]
    advance = ProgressLines("Counting", 1000, clock=lambda: now[0])
    said_at = []
    for step in range(1001):
        advance(step, "on we go")
        if capsys.readouterr().err:
            said_at.append((now[0], step))
        now[0] += seconds_per_step
    gaps = [later[0] - sooner[0] for sooner, later in pairwise(said_at)]
    assert all(gap >= 5 - 1e-6 for gap in gaps)
    assert all(gap <= max(30, seconds_per_step) + seconds_per_step + 1e-6 for gap in gaps)
    assert bool(said_at) == (seconds_per_step >= 0.05)


def test_a_line_says_how_far_how_long_and_what(capsys):
    now = [0.0]
    advance = ProgressLines("Training 2 models", 800_000, clock=lambda: now[0])
    advance(200_000)  # from an earlier call, which says nothing about the speed of this one
    now[0] = 60.0
    advance(400_000, "translator 0.1")
    said = capsys.readouterr().err
    assert said == "Training 2 models: 400,000 of 800,000 (50 %), about 2 min left, translator 0.1\n"


def test_times_are_said_in_words():
    assert [duration(each) for each in (8.4, 300, 12_600)] == ["8 s", "5 min", "3.5 h"]


def test_nothing_is_shown_where_nothing_is_wanted(capsys):
    with progress_bar("Silent", 10, show=False) as advance:
        advance(10)
    assert capsys.readouterr().err == ""


def test_a_log_without_a_terminal_gets_lines():
    script = (
        "import vmg.base.console as console\n"
        "console.SAY_AFTER = console.SAY_SOONEST = 0.0\n"
        "with console.progress_bar('Working', 4) as advance:\n"
        "    for i in range(5): advance(i)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ})
    assert "Working: 2 of 4 (50 %)" in done.stderr
    assert "\r" not in done.stderr
    assert "\x1b" not in done.stderr
