"""The benchmark of more workers, at a size where only its scores mean something, and the tables made of it."""

import shutil
from pathlib import Path

import cluster_tables
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A folder of results in which nothing is measured yet."""
    monkeypatch.syspath_prepend(str(ROOT))
    shutil.copy(ROOT / "results" / "benchmarks-gpu.json", tmp_path)
    monkeypatch.setattr(cluster_tables, "RESULTS", tmp_path)
    return tmp_path


def test_the_tables_come_from_what_was_measured(results):
    from benchmarks.workers import Options, main

    assert cluster_tables.workers() == cluster_tables.arithmetic() == cluster_tables.NOT_YET
    file = results / "cluster" / "one.json"
    main(Options(workers=(1, 2), on=("here",), task="pointmaze-umaze", episodes=3, rounds=1, json=file))
    (found,) = cluster_tables.measured()
    assert [row["workers"] for row in found["rows"]] == [1, 2]
    assert all(0 < row["first"] < row["seconds"] for row in found["rows"])
    assert found["rows"][0]["faster"] == 1
    assert cluster_tables.workers().count("evaluation, pointmaze-umaze, 3 episodes") == 2
    assert found["command"] in cluster_tables.workers()
    assert cluster_tables.arithmetic().count("steps/s") == 2


def test_rates_are_of_what_comes_after_the_first_episode():
    row = {"what": "evaluation, x, 11 episodes", "steps": 1100, "seconds": 7.0, "first": 2.0}
    assert cluster_tables.rate(row) == pytest.approx(1000 / 5)
    assert cluster_tables.in_words(7200) == "2.0 h"
    assert cluster_tables.in_words(10 * 86400) == "10.0 days"
