"""The tables of README and docs, made from the files under results/: run as a script, it writes them into the pages.

It also draws the figures of the ablations, into docs/images.
"""

import json
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

from cluster_tables import CLUSTER
from trust_tables import TRUST

from vmg.evaluation.scores import METHODS
from vmg.studies import study_table
from vmg.studies.ogbench_paper import PUBLISHED
from vmg.studies.reproduce import TITLES as ABLATIONS
from vmg.view.studies import study_figure
from vmg.view.style import save_figure

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))
from benchmarks.rows import Row  # noqa: E402
from benchmarks.suite import FAMILIES  # noqa: E402
from benchmarks.tables import markdown  # noqa: E402

BENCHMARKS = (
    ("training step, CPU", "PyTorch eager", ""),
    ("training step, CPU", "PyTorch compiled, fused Adam", ""),
    ("training step, GPU", "PyTorch eager", ""),
    ("training step, GPU", "PyTorch, CUDA graph", ""),
    ("merge", "naive Alg. 1", "100,000 "),
    ("merge", "naive, tuned", "100,000 "),
    ("merge", "Birch", "100,000 "),
    ("value iteration", "numpy", "100,000 "),
    ("value iteration", "networkx", "100,000 "),
    ("planning tables", "scipy", "1,000,000 "),
    ("re-solving, new rewards", "networkx", ""),
    ("decision", "networkx", "1 at once"),
    ("decision", "networkx", "1,024 at once"),
)
"""Name, peer, and how the size begins."""
TODAY = ("paper", "program", "auto")
BY_HAND = "by hand (version 0.1)"
"""Settings that people chose for each task; rows that were measured with them stay as evidence."""


def read(name: str) -> Any:
    return json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))


def demo() -> str:
    lines = ["| method | reached, % | 95 % interval | how episodes ended |", "|---|---|---|---|"]
    for method, (row,) in read("demo")["scores"].items():
        low, high = row["interval"]
        endings = ", ".join(f"{count} {how}" for how, count in row["endings"].items())
        name = f"**{method}**" if method == "VMG" else METHODS[method]
        lines.append(f"| {name} | {row['score']:.0f} | {low:.0f} – {high:.0f} | {endings} |")
    return "\n".join(lines)


def untouched() -> str:
    lines = ["| seeds 1000 to 1099 | VMG reached, % | 95 % interval |", "|---|---|---|"]
    for task in ("pointmaze-medium", "pointmaze-large"):
        total = read(f"{task}-untouched")["summary"]["VMG"]
        low, high = total["interval"]
        lines.append(f"| {task} | {total['score']:.0f} | {low:.0f} – {high:.0f} |")
    return "\n".join(lines)


def main() -> str:
    """The paper's tasks: settings from the data beside the paper's, also in D4RL's form, and cloning."""
    rows = _rows_of_tasks()
    in_d4rl_form = {(row["task"], row["fidelity"]): row for row in read("fidelity")}
    header = ["task", "VMG, `auto`", "95 % interval", "each of the five models", "VMG, `paper`"]
    header += [f"VMG, `{preset}`, D4RL's form" for preset in ("paper", "program")] + ["BC", "GCBC", "the paper"]
    lines = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    for task, of in rows.items():
        found = of["auto"]["scores"]["VMG"]
        low, high = found["interval"]
        mean, deviation = of["auto"]["paper"]
        as_paper = of.get("paper", {})
        cells = [
            task,
            f"**{found['score']:.1f}**",
            f"{low:.1f} – {high:.1f}",
            ", ".join(f"{score:.1f}" for score in found["models"]),
            _last_and_chosen(as_paper.get("scores", {}).get("VMG"), as_paper),
            *(_last_and_chosen(row, row) for row in (in_d4rl_form.get((task, each)) for each in ("paper", "program"))),
            *(f"{_baseline(of, method)['score']:.1f}" for method in ("BC", "GCBC")),
            f"{mean} ± {deviation}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main_in_short() -> str:
    lines = ["| task | VMG, here | VMG, published | BC | GCBC |", "|---|---|---|---|---|"]
    for task, of in _rows_of_tasks().items():
        scores = (of["auto"]["scores"]["VMG"], _baseline(of, "BC"), _baseline(of, "GCBC"))
        here, *cloned = (f"{each['score']:.1f}" for each in scores)
        lines.append(f"| {' | '.join((task, here, str(of['auto']['paper'][0]), *cloned))} |")
    return "\n".join(lines)


def _rows_of_tasks() -> dict[str, dict[str, Any]]:
    """The rows of each of the paper's tasks that was measured, by preset."""
    found: dict[str, dict[str, Any]] = {row["task"]: {} for row in read("auto") if row.get("paper", [None])[0]}
    for row in (*read("main"), *read("auto"), *read("by-hand")["rows"]):
        if row["task"] in found:
            found[row["task"]][row["preset"]] = row
    return found


def _baseline(of: dict[str, Any], method: str) -> Any:
    """How well a baseline did beside settings from the data or, where that was not measured, beside those by hand."""
    return (of["by hand"]["scores"] | of["auto"]["scores"])[method]


def _last_and_chosen(last: Any, row: Any) -> str:
    """A preset's score with the last checkpoint and, where it was measured, with the one chosen there."""
    if not row:
        return "–"
    chosen = f", {row['chosen']['score']:.1f}" if row.get("chosen") else ""
    return f"{last['score']:.1f}{chosen}"


def auto() -> str:
    """What the data chose beside what was chosen by hand, task by task."""
    others = (*read("main"), *read("by-hand")["rows"])
    scores = {(row["task"], row["preset"]): row["scores"]["VMG"]["score"] for row in others}
    lines = [f"| task | `auto` | 95 % interval | each model | {BY_HAND} | `paper` |", "|---|---|---|---|---|---|"]
    for row in read("auto"):
        found, task = row["scores"]["VMG"], row["task"]
        low, high = found["interval"]
        models = ", ".join(f"{score:.0f}" for score in found["models"])
        beside = (f"{scores[task, each]:.1f}" if (task, each) in scores else "" for each in ("by hand", "paper"))
        name = row.get("set", task)  # where a task has several data sets
        lines.append(
            f"| {name} | **{found['score']:.1f}** | {low:.1f} – {high:.1f} | {models} | {' | '.join(beside)} |"
        )
    return "\n".join(lines)


def kitchen_mixed() -> str:
    """The four subtasks that no log shows together, asked for at once."""
    found = read("kitchen-mixed")["summary"]
    low, high = found["interval"]
    models = ", ".join(f"{score:.1f}" for score in found["models"])
    cells = (f"**{found['score']:.1f}**", f"{low:.1f} – {high:.1f}", models, f"{found['success_rate']:.0f}")
    header = "| score | 95 % interval | each model | all four done, % of the episodes |"
    return "\n".join([header, "|---|---|---|---|", f"| {' | '.join(cells)} |"])


def fidelity() -> str:
    """From the paper to the published program; a sentence where it was not measured yet."""
    if not _measured("fidelity"):
        return "Not measured yet: `vmg reproduce fidelity` measures it."
    return study_table(read("fidelity")).rstrip()


def ogbench() -> str:
    """Our scores beside those of others; the published ones alone where ours were not measured yet."""
    measured = {row["task"]: row for row in read("ogbench")}
    unmeasured = {"preset": "auto", "missing": ""}
    rows = [measured.get(name, {"task": name, "published": each, **unmeasured}) for name, each in PUBLISHED.items()]
    return study_table(rows).rstrip()


def robustness() -> str:
    """Scores under disturbances; a sentence where they were not measured yet."""
    if not _measured("robustness"):
        return "Not measured yet: `vmg reproduce robustness` measures it."
    return study_table(read("robustness")).rstrip()


def options() -> str:
    """Scores of low-level policies and ways beside what was chosen; a sentence where they were not measured yet."""
    if not _measured("options"):
        return "Not measured yet: `vmg reproduce robustness --variants` measures them."
    return study_table(read("options")).rstrip()


def grow() -> str:
    """Scores from a part of the data, online; a sentence where they were not measured yet."""
    if not _measured("grow"):
        return "Not measured yet: `vmg reproduce grow` measures it."
    return study_table(read("grow")).rstrip()


def every_row() -> str:
    rows = (row for of in _rows_of_tasks().values() for row in of.values())
    return study_table([_named(row) for row in rows]).rstrip()


def _named(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose preset is there today, or is said to be version 0.1's."""
    return row if row["preset"] in TODAY else row | {"preset": BY_HAND}


def decay() -> str:
    """Held-out errors of the translator five steps ahead, early and late in training, for each decay."""
    rows = read("decay")
    decays = sorted({row["value"] for row in rows})
    lines = [f"| task | {' | '.join(f'decay {each:g}' for each in decays)} |", "|---" * (1 + len(decays)) + "|"]
    for task in dict.fromkeys(row["task"] for row in rows):
        errors = {(row["value"], row["updates"]): row["held_out_error"]["5"] for row in rows if row["task"] == task}
        cells = (f"{errors[each, 10_000]:.3f} → {errors[each, 400_000]:.3f}" for each in decays)
        lines.append(f"| {task} | {' | '.join(cells)} |")
    return "\n".join(lines)


def memory() -> str:
    """Held-out errors of the translator's last weights and of their average, three models each."""
    rows = read("memory")
    lines = ["| task | steps ahead | last weights, each model | their average |", "|---|---|---|---|"]
    for task in dict.fromkeys(row["task"] for row in rows):
        for ahead in rows[0]["held_out_error"]:
            of = lambda n, t=task, k=ahead: ", ".join(  # noqa: E731
                f"{row['held_out_error'][k]:.3f}" for row in rows if (row["task"], row["value"]) == (t, n)
            )
            lines.append(f"| {task} | {ahead} | {of(1)} | {of(100_000)} |")
    return "\n".join(lines)


def skills() -> str:
    return study_table([_named(row) for row in read("skills")]).rstrip()


def other_tasks() -> str:
    rows = read("other-tasks")
    settings = "Settings chosen from the data:" if rows[0]["preset"] in TODAY else f"Settings {BY_HAND}:"
    return f"{settings}\n\n{study_table(rows).rstrip()}"


def new_task() -> str:
    lines = [
        "| task | wanted | settings | models, episodes each | done, % | 95 % interval | steps | first action, ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in (read("new-task"), read("new-task-in-turn"), *read("new-task-kitchen")):
        (low, high), agents = row["summary"]["interval"], row["agents"]
        cells = (
            row["task"],
            row["wanted"],
            _settings_of(row["command"]),
            f"{len(agents)}, {agents[0]['scores']['n_episodes']}",
            f"**{row['summary']['score']:.0f}**",
            f"{low:.0f} – {high:.0f}",
            f"{row['summary']['mean_steps']:.0f}",
            ", ".join(f"{agent['first_action_ms']:.0f}" for agent in agents),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _settings_of(command: str) -> str:
    """Whose settings the runs have that a command makes."""
    if command.startswith("vmg demo"):
        return "the demo's"
    return BY_HAND if "--presets ours" in command else "`auto`"


def benchmarks() -> str:
    lines = ["| work | size | peer | times faster |", "|---|---|---|---|"]
    rows = (*read("benchmarks")["rows"], *read("benchmarks-gpu")["rows"])
    for name, peer, size in BENCHMARKS:
        (row,) = (r for r in rows if (r["name"], r["peer_name"]) == (name, peer) and r["size"].startswith(size))
        times = f"{row['ratio']:,.0f}" if row["ratio"] > 100 else f"{row['ratio']:.3g}"
        lines.append(f"| {name} | {row['size']} | {peer} | {times} |")
    return "\n".join(lines)


def speed(family: str) -> str:
    """The rows of one family of benchmarks; those for a GPU, for data that do not fit and for growth have own files."""
    file, command = ("benchmarks-gpu", "make bench-gpu") if family.startswith("gpu") else ("benchmarks", "make bench")
    if family in ("scale", "stream"):
        file = "benchmarks-scale"
    elif family in ("kinds", "extend", "cores", "files"):
        file = f"benchmarks-{family}"
    rows = [Row.of(row) for row in read(file)["rows"] if row["family"] == family.replace("_", " ")]
    return markdown(rows) if rows else f"Not measured yet: `{command}` measures it."


def _measured(name: str) -> bool:
    return (ROOT / "results" / f"{name}.json").exists()


def explorer_page() -> str:
    """First picture, stroke to colours and panning, by size."""
    lines = [
        "| vertices | edges | first picture, s | stroke to colours, ms | on the server, ms | panning, frames/s "
        "| computing per stroke, per frame, ms | load |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in read("explorer")["rows"]:
        if row["what"] == "page":
            cells = (
                f"{row['vertices']:,}",
                f"{row['edges']:,}",
                f"{row['first_picture_s']:.1f}",
                f"{row['stroke_ms']:,}",
                f"{row['stroke_server_ms']:,}",
                f"{row['frames_per_second']}",
                f"{row['stroke_browser_cpu_ms']:,}, {row['frame_browser_cpu_ms']:,}",
                f"{row['load']:.0f}",
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def explorer_server() -> str:
    """Answers, strokes and memory of the explorer's server, by size."""
    lines = [
        "| vertices | edges | first answer, s | stroke to values, ms | beside a forbidden region, ms | work for it, ms "
        "| memory, MB | after plans | memory then, MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in read("explorer-server")["rows"]:
        cells = (
            f"{row['vertices']:,}",
            f"{row['edges']:,}",
            f"{row['first_answer_s']:.1f}",
            f"{row['stroke_ms']['median']:,.0f}",
            f"{row['stroke_beside_forbidden_ms']['median']:,.0f}",
            f"{row['stroke_cpu_ms']:,.0f}",
            f"{row['memory_mb']['after_strokes']:,}",
            f"{row['plans']:,}",
            f"{row['memory_mb']['after_plans']:,}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def explorer_renderers() -> str:
    """Every renderer on one made graph, by size."""
    lines = ["| vertices, edges | renderer | first picture, s | panning, frames/s | load |", "|---|---|---|---|---|"]
    for row in read("explorer")["rows"]:
        if row["what"] == "renderer":
            first, speed = row["first_picture_s"], row["frames_per_second"]
            cells = (
                f"{row['vertices']:,}, {row['edges']:,}",
                f"**{row['renderer']}**" if row["renderer"] == "ours" else row["renderer"],
                "over 60" if first is None else f"{first:.1f}",
                "–" if speed is None else f"{speed:.2g}" if speed < 10 else f"{speed:.0f}",
                f"{row['load']:.0f}",
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def ablation(name: str) -> str:
    """Its table and its figure; a sentence where it was not measured yet."""
    if not _measured(name):
        return f"Not measured yet: `vmg reproduce {name}` measures it."
    figure = f"![{ABLATIONS[name]}](images/{picture(name).name})"
    return f"{study_table(read(name))}\n{figure}"


def sensitivity() -> str:
    """For each task, how far its models lie apart, and which of all variants differ by more than that explains."""
    rows = [row for name in ABLATIONS if _measured(name) for row in read(name) if "difference" in row]
    lines = ["| task | baseline, each model | variants | within the spread | beyond it |", "|---|---|---|---|---|"]
    for task in dict.fromkeys(row["task"] for row in rows):
        own = {row["variant"]: row for row in rows if row["task"] == task and not row["baseline"]}
        beyond = [row for row in own.values() if not row["difference"]["within_spread"]]
        beyond.sort(key=lambda row: row["difference"]["mean"])
        baseline = next(row for row in rows if row["task"] == task and row["baseline"])
        cells = (
            task,
            ", ".join(f"{score:.1f}" for score in baseline["models"]),
            str(len(own)),
            str(len(own) - len(beyond)),
            "; ".join(f"{row['variant']} {row['difference']['mean']:+.1f}" for row in beyond),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) if len(lines) > 2 else "Not measured yet."


def picture(name: str) -> Path:
    return ROOT / "docs" / "images" / f"ablation-{name}.png"


TABLES = {
    "demo": demo,
    "untouched": untouched,
    "main": main,
    "main_in_short": main_in_short,
    "auto": auto,
    "kitchen_mixed": kitchen_mixed,
    "every_row": every_row,
    "fidelity": fidelity,
    "robustness": robustness,
    "options": options,
    "grow": grow,
    "ogbench": ogbench,
    "benchmarks": benchmarks,
    "new_task": new_task,
    "decay": decay,
    "memory": memory,
    "skills": skills,
    "other_tasks": other_tasks,
    "sensitivity": sensitivity,
    "explorer_page": explorer_page,
    "explorer_server": explorer_server,
    "explorer_renderers": explorer_renderers,
} | {name: partial(ablation, name) for name in ABLATIONS}
SPEEDS = {f"speed_{family}": partial(speed, family) for family in (*FAMILIES, "gpu", "gpu_parts", "gpu_tried")}
TABLES |= SPEEDS
TABLES |= TRUST
TABLES |= CLUSTER
PAGES = {
    ROOT / "README.md": ("main_in_short",),
    ROOT / "docs" / "results.md": (
        "main",
        "demo",
        "untouched",
        "auto",
        "kitchen_mixed",
        "skills",
        "other_tasks",
        "decay",
        "memory",
        "every_row",
    ),
    ROOT / "docs" / "new-task.md": ("new_task",),
    ROOT / "docs" / "explorer-api.md": ("explorer_server",),
    ROOT / "docs" / "explorer.md": ("explorer_page", "explorer_renderers"),
    ROOT / "docs" / "differences.md": ("fidelity",),
    ROOT / "docs" / "ogbench.md": ("ogbench",),
    ROOT / "docs" / "robustness.md": ("robustness", "options"),
    ROOT / "docs" / "grow.md": ("grow",),
    ROOT / "docs" / "ablations.md": (*ABLATIONS, "sensitivity"),
    ROOT / "docs" / "benchmarks.md": ("benchmarks", *SPEEDS),
    ROOT / "docs" / "promises.md": tuple(TRUST),
    ROOT / "docs" / "cluster.md": tuple(CLUSTER),
}


def filled(page: Path) -> str:
    """The page with every table made anew between its two marks."""
    text = page.read_text(encoding="utf-8")
    for name in PAGES[page]:
        pattern, make = rf"(<!-- table: {name} -->\n)(?:.*?\n)??(<!-- end of table -->)", TABLES[name]
        text, found = re.subn(pattern, lambda m, make=make: f"{m[1]}{make()}\n{m[2]}", text, flags=re.DOTALL)
        assert found == 1, f"{page} has no place for the table {name!r}"
    return text


def draw_ablations() -> None:
    for name in ABLATIONS:
        if _measured(name):
            save_figure(study_figure(read(name)), picture(name))


if __name__ == "__main__":
    draw_ablations()
    for page in PAGES:
        page.write_text(filled(page), encoding="utf-8")
