"""The tables of the study ogbench: scores beside those of others, and what stands behind ours."""

from collections.abc import Sequence

from vmg.evaluation.scores import in_words
from vmg.runs.auto import AUTO
from vmg.studies.ogbench_paper import METHODS, best_published
from vmg.studies.study import Result, markdown


def ogbench_tables(results: Sequence[Result]) -> str:
    """Scores beside those of others, then what stands behind ours; data sets that are not measured have the first."""
    peers = [method for method in METHODS if any(method in row.get("peers", {}) for row in results)]
    header = ("data set", "VMG", "95 % interval", *peers, "best published, on OGBench's own file")
    scores = markdown(header, (_scores(row, peers) for row in results))
    measured = [row for row in results if "missing" not in row]
    if not measured:
        return scores
    header = (
        "data set", "each model", "each of the five tasks", "how episodes ended", "steps / planned", "off graph %",
        "s to train, per model", "ms to plan", "ms to decide", "vertices", *(f"{peer}, GPU s" for peer in peers),
    )  # fmt: skip
    return f"{scores}\n{markdown(header, (_details(row, peers) for row in measured))}"


def _scores(row: Result, peers: Sequence[str]) -> list[str]:
    method, mean, deviation = best_published(row["task"])
    published = f"{method} {mean:g} ± {deviation:g}"
    if "missing" in row:
        return [_name(row), "not measured yet", *[""] * (1 + len(peers)), published]
    beside = (_with_interval(row["peers"][peer]) if peer in row["peers"] else "" for peer in peers)
    return [_name(row), f"**{row['score']:.1f}**", _interval(row), *beside, published]


def _details(row: Result, peers: Sequence[str]) -> list[str]:
    training, off_graph = row["training"], row["off_graph"]
    vertices = sum(graph["vertices"] for graph in row["graphs"]) / len(row["graphs"])
    return [
        _name(row),
        ", ".join(f"{score:.0f}" for score in row["models"]),
        ", ".join(f"{score:.0f}" for score in row["by_task"].values()),
        in_words(row["endings"], row["failures"]),
        "" if row["pace"] is None else f"{row['pace']:.2f}",
        "" if off_graph is None else f"{100 * off_graph:.1f}",
        f"{training['seconds'] / training['models']:.0f}" if training else "",
        f"{row['plan_ms']:.0f}",
        f"{row['decide_ms']:.2f}",
        f"{vertices:,.0f}",
        *(f"{row['peers'][peer]['gpu_seconds']:.0f}" if peer in row["peers"] else "" for peer in peers),
    ]


def _name(row: Result) -> str:
    return str(row["task"]) if row["preset"] == AUTO else f"{row['task']}, `{row['preset']}`"


def _interval(summary: Result) -> str:
    low, high = summary["interval"]
    return f"{low:.1f} – {high:.1f}"


def _with_interval(summary: Result) -> str:
    return f"{summary['score']:.1f} ({_interval(summary)})"
