"""Studies as Markdown tables."""

from collections.abc import Iterator, Sequence
from typing import Any

from vmg.envs.disturbing import in_words
from vmg.studies.ogbench_tables import ogbench_tables
from vmg.studies.options import AS_CHOSEN
from vmg.studies.study import Result, markdown


def study_table(results: Sequence[Result]) -> str:
    """The Markdown table of a study's rows; what they hold tells which table it is."""
    measured = [row for row in results if "missing" not in row]
    header: Sequence[str]
    if any("others" in row for row in measured):
        header = ("the four subtasks", "logs that do them", "score", "95 % interval", "each model")
        return markdown(header, _other_lines(measured))
    if any("held_out_error" in row for row in measured):
        return markdown(("task", "setting", "seed", "updates", "error by steps ahead"), map(_error_line, measured))
    if any("skills" in row for row in measured):
        header = ("skill", "preset", "paper: before, after", "before", "after, 95 % interval", "each model")
        return markdown(header, _skill_lines(results))
    if results and all("published" in row for row in results):
        return ogbench_tables(results)
    for key, (header, line) in _KINDS.items():
        if any(key in row for row in measured):
            return markdown(header, (_without(row, len(header)) if "missing" in row else line(row) for row in results))
    if not all("preset" in row for row in results):
        return markdown(("task", "variant", "what is missing"), (_without(row, 3) for row in results))
    header = ("task", "preset", "paper", "VMG", "95 % interval", "each model", "BC", "GCBC", "how VMG's episodes ended")
    return markdown(header, map(_task_line, results))


def _without(row: Result, n: int) -> list[str]:
    return [row["task"], row.get("variant", row.get("fidelity", "")), row["missing"], *[""] * (n - 3)]


def _variant_line(row: Result) -> list[str]:
    score = f"{row['score']:.1f}"
    difference, graphs = row["difference"], row["graphs"]
    vertices = sum(graph["vertices"] for graph in graphs) / len(graphs)
    return [
        f"{row['task']}, `program`" if row.get("preset") == "program" else row["task"],
        f"**{row['variant']}**" if row["baseline"] else row["variant"],
        "" if row["paper"] is None else f"{row['paper']:g}",
        f"**{score}**" if row["baseline"] else score,
        _interval(row),
        ", ".join(f"{each:.1f}" for each in row["models"]),
        "baseline" if row["baseline"] else f"{difference['mean']:+.1f} ({_interval(difference, '+.1f')})",
        "" if row["baseline"] else "yes" if difference["within_spread"] else "no",
        f"{vertices:,.0f}",
    ]


def _ratio_line(row: Result) -> list[str]:
    paper = "" if row["paper"] is None else f"{row['paper']:g}"
    sizes = ", ".join(f"{graph['vertices']:,}" for graph in row["graphs"])
    return [row["task"], paper, f"**{row['ratio']:.1f}**", ", ".join(f"{each:.1f}" for each in row["models"]), sizes]


def _curves_line(row: Result) -> list[str]:
    cells = [row["task"], f"{row['steps'][-1]:,}"]
    for models in row["losses"].values():
        first, last = (sum(model[i] for model in models) / len(models) for i in (0, -1))
        cells.append(f"{first:.3g} → {last:.3g} ({', '.join(f'{model[-1]:.3g}' for model in models)})")
    return cells


def _fidelity_line(row: Result) -> list[str]:
    difference = row.get("difference")
    chosen = row.get("chosen")
    apart = f"{difference['mean']:+.1f} ({_interval(difference, '+.1f')})" if difference else ""
    best = f"{chosen['score']:.1f} ({', '.join(f'{each:.0f}' for each in chosen['models'])})" if chosen else ""
    models = ", ".join(f"{each:.0f}" for each in row["models"])
    score = f"**{row['score']:.1f}**, {_interval(row)}"
    return [row["task"], row["fidelity"], _paper(row["paper"]), score, models, apart, best]


def _disturbed_line(row: Result) -> list[str]:
    scores = row["scores"]
    models = ", ".join(f"{each:.0f}" for each in scores["VMG"]["models"])
    others = [_with_interval(scores[name]) if name in scores else "" for name in ("BC", "GCBC")]
    found = f"**{scores['VMG']['score']:.1f}** ({_interval(scores['VMG'])})"
    solved = row["preset"] if row["solved"] == AS_CHOSEN else f"{row['preset']}, {row['solved']}"
    return [row["task"], solved, in_words(row["disturbed"]) or "nothing", found, models, *others]


def _grow_line(row: Result) -> list[str]:
    explored = {"none": "–", "whole": "–", "frontier": "at the frontier", "random": "at random"}[row["explore"]]
    networks = "trained again" if row["again"] and row["online"] else "as they were"
    sizes = ", ".join(f"{each:,}" for each in row["vertices"])
    models = ", ".join(f"{each:.0f}" for each in row["models"])
    part = f"{100 * row['share']:g} %, {row['data']['steps']:,} steps"
    online = str(row["online"]) if row["online"] else "–"
    score = f"**{row['score']:.1f}**"
    return [row["task"], part, explored, online, networks, score, _interval(row), models, sizes]


_KINDS: dict[str, tuple[tuple[str, ...], Any]] = {
    "fidelity": (
        ("task", "what is changed", "paper", "last checkpoint, 95 % interval", "each model", "difference from `paper`",
         "best of 500,000 to 800,000 updates, chosen there as in the paper"),
        _fidelity_line,
    ),
    "disturbed": (
        ("task", "preset", "disturbed by", "VMG, 95 % interval", "each model", "BC", "GCBC"),
        _disturbed_line,
    ),
    "variant": (
        ("task", "variant", "paper", "ours", "95 % interval", "each model", "difference from the baseline",
         "within the spread", "vertices"),
        _variant_line,
    ),
    "explore": (
        ("task", "data to begin with", "explored", "episodes online", "networks", "score", "95 % interval",
         "each model", "vertices"),
        _grow_line,
    ),
    "ratio": (("task", "paper", "environment steps per graph step", "each model", "vertices of each"), _ratio_line),
    "losses": (
        ("task", "updates", "contrastive: first → last (each)", "action", "translator"),
        _curves_line,
    ),
}  # fmt: skip
"""By what a row has: the table's header, and a row's line."""


def _task_line(row: Result) -> list[str]:
    front = [row["task"], row["preset"], _paper(row["paper"])]
    if "missing" in row:
        return [*front, row["missing"], *[""] * 5]
    scores = row["scores"]
    vmg = scores["VMG"]
    chosen = f" (checkpoint chosen there: {row['chosen']['score']:.1f})" if row.get("chosen") else ""
    cells = [f"**{vmg['score']:.1f}**{chosen}", _interval(vmg), ", ".join(f"{each:.1f}" for each in vmg["models"])]
    others = [_with_interval(scores[name]) if name in scores else "" for name in ("BC", "GCBC")]
    return [*front, *cells, *others, ", ".join(f"{count} {how}" for how, count in vmg["endings"].items())]


def _skill_lines(results: Sequence[Result]) -> Iterator[list[str]]:
    for row in results:
        if "missing" in row:
            yield ["", row["preset"], "", "", row["missing"], ""]
            continue
        for skill, scores in row["skills"].items():
            before, after = scores["before"], scores["after"]
            models = ", ".join(f"{each:.0f}" for each in after["models"])
            paper = ", ".join(f"{each:g}" for each in scores["paper"])
            yield [
                skill,
                row["preset"],
                paper,
                f"{before['score']:.1f}",
                f"**{after['score']:.1f}**, {_interval(after)}",
                models,
            ]


def _other_lines(results: Sequence[Result]) -> Iterator[list[str]]:
    for row in results:
        for other in row["others"]:
            models = ", ".join(f"{each:g}" for each in other["models"])
            score = f"**{other['score']:.1f}**"
            yield [", ".join(other["subtasks"]), str(other["recorded"]), score, _interval(other), models]


def _error_line(row: Result) -> list[str]:
    errors = ", ".join(f"{ahead}: {error:.3f}" for ahead, error in row["held_out_error"].items())
    return [row["task"], f"{row['setting']} {row['value']:g}", str(row["seed"]), f"{row['updates']:,}", errors]


def _interval(summary: Result, form: str = ".1f") -> str:
    low, high = summary["interval"]
    return f"{low:{form}} – {high:{form}}"


def _with_interval(summary: Result) -> str:
    return f"{summary['score']:.1f} ({_interval(summary)})"


def _paper(reported: Sequence[float | None] | None) -> str:
    if reported is None or reported[0] is None:
        return ""
    mean, deviation = reported
    return f"{mean:g}" if deviation is None else f"{mean:g} ± {deviation:g}"
