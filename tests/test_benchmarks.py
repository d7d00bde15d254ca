"""The benchmark suite at sizes where only its equalities mean something; nothing here is timed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = {
    "training": 2, "kinds": 8, "stream": 1, "merge": 9, "growth": 3, "extend": 2, "scale": 8, "cores": 3, "files": 9,
    "values": 5, "resolve": 5, "decisions": 3, "evaluation": 2, "startup": 4
}  # fmt: skip
PEERS = {
    "training": ["torch"],
    "stream": ["torch"],
    "merge": ["sklearn", "faiss"],
    "values": ["networkx"],
    "resolve": ["networkx"],
    "decisions": ["networkx"],
    "evaluation": ["gymnasium_robotics"],
}


@pytest.fixture(autouse=True)
def _benchmarks_are_found(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.parametrize("family", ROWS)
def test_both_sides_compute_the_same(family):
    for peer in PEERS.get(family, []):
        pytest.importorskip(peer, reason=f"{peer}, a peer of these rows, is not installed (extra `bench`)")
    from benchmarks.rows import Row
    from benchmarks.suite import FAMILIES, run
    from benchmarks.tables import markdown, table

    assert set(FAMILIES) == set(ROWS)
    rows = run("tiny", [family])
    assert len(rows) == ROWS[family] == table(rows, "tiny").row_count
    assert markdown(rows).count("\n") == len(rows) + 1
    for row in rows:
        assert row.family == family
        assert row.ours is not None
        assert row.ours >= 0
        assert row.holds is None
        assert row.checked or "another clustering" in row.note or row.unit == "MiB", row
        assert Row.of(json.loads(json.dumps(row.to_dict()))) == row


def test_command_prints_the_table_and_writes_json(tmp_path):
    file = tmp_path / "rows.json"
    command = [sys.executable, "-m", "benchmarks", "--tiny", "--rows", "growth", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for heading in ("row", "size", "ours", "peer", "times better", "bar", "holds", "edges, fixed room"):
        assert heading in done.stdout
    content = json.loads(file.read_text(encoding="utf-8"))
    assert content["level"] == "tiny"
    assert {"cores", "threads", "versions", "python"} <= content["machine"].keys()
    assert {"numpy", "numba", "jax"} <= content["machine"]["versions"].keys()
    assert [row["name"].partition(",")[0] for row in content["rows"]] == ["merge", "edges", "rewards"]
    assert content["rows"][0]["ratio"] == pytest.approx(content["rows"][0]["peer"] / content["rows"][0]["ours"])


def test_gpu_rows_run_where_there_is_none(monkeypatch):
    for missing in ("torch", "tyro", "threadpoolctl", "h5py", "gymnasium"):
        monkeypatch.setitem(sys.modules, missing, None)  # a machine with a GPU has what learning needs, and little else
    from benchmarks.gpu import measure
    from benchmarks.suite import announced

    rows = list(announced("gpu", measure, "tiny"))
    assert [row.family for row in rows] == ["gpu", *["gpu parts"] * 4, *["gpu tried"] * 2, "gpu"]
    assert all(row.ours for row in rows[:-1])
    assert "torch" in rows[-1].note


def test_flops_of_a_step_are_what_the_compiler_counts():
    import jax
    from benchmarks.generators import kitchen_like
    from benchmarks.gpu import flops
    from benchmarks.our_training import OurTraining

    from vmg.learn.stacking import separate

    training = OurTraining(kitchen_like(400, seed=0))
    sample = training.sample(seed=0)
    gradient = jax.grad(lambda weights: training.loss(weights, sample)[0])
    counted = jax.jit(gradient).lower(separate(training.initial, {})[0]).compile().cost_analysis()["flops"]
    assert 1 <= counted / flops(training.learner.episodes) < 1.1


def test_curves_show_ours_and_each_peer_over_the_amount_of_work():
    pytest.importorskip("matplotlib")
    from benchmarks.curves import draw

    measured = json.loads((ROOT / "results" / "benchmarks.json").read_text(encoding="utf-8"))
    rows = [row for row in measured["rows"] if row["family"] in ("growth", "decisions")]
    figure = draw("benchmarks-graph", rows, "light")
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["Decisions"]
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["ours", "networkx", "ours, 99th percentile"]
    assert draw("benchmarks-gpu", rows, "dark") is None


def test_row_whose_peer_is_missing_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    from benchmarks.suite import run
    from benchmarks.tables import notes

    rows = run("tiny", ["decisions"])
    assert [row.ours for row in rows] == [None]
    assert "networkx" in notes(rows)
    assert "the extra 'bench'" in notes(rows)


@pytest.mark.parametrize(
    ("unit", "ours", "kind", "limit", "holds"),
    [
        ("s", 2.0, "at most", 2.0, True),
        ("s", 2.1, "at most", 2.0, False),
        ("s", 2.0, "times the peer", 5.0, True),
        ("s", 2.1, "times the peer", 5.0, False),
        ("steps/s", 20.0, "times the peer", 2.0, True),
        ("steps/s", 19.0, "times the peer", 2.0, False),
        ("steps/s", 20.0, "at least", 20.0, True),
        ("steps/s", 19.0, "at least", 20.0, False),
    ],
)
def test_bars(unit, ours, kind, limit, holds):
    from benchmarks.rows import Bar, Row

    row = Row(family="any", name="any", unit=unit, ours=ours, peer=10.0, bar=Bar(kind, limit))
    assert row.holds is holds


def test_what_differs_is_never_told():
    from benchmarks.rows import NotTheSameError, check

    with pytest.raises(NotTheSameError, match="the values are equal"):
        check(False, "the values are equal")


def test_named_generator_is_deterministic_and_about_as_dense_as_promised():
    import numpy as np
    from benchmarks.generators import RADIUS, recorded_graph, revisiting_walks

    from vmg.graph import merge_greedily

    features = revisiting_walks(5_000, 10, seed=3)
    assert np.array_equal(features, revisiting_walks(5_000, 10, seed=3))
    assert 0.15 < len(merge_greedily(features, RADIUS).rows) / len(features) < 0.22
    graph = recorded_graph(100, 400, seed=0)
    assert (graph.n_vertices, graph.n_edges) == (100, 400)
    assert (np.diff(graph.first_edge)[::50] == 0).all()
