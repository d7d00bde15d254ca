"""The README's tables, made from the files under results/: run as a script, it writes them into the README."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
METHODS = {"VMG": "**VMG**", "BC": "behaviour cloning", "GCBC": "goal-conditioned behaviour cloning"}
PAPER = {"kitchen-partial": "68.8 ± 11.9", "kitchen-complete": "73.0 ± 6.7"}
BENCHMARKS = (
    ("training step, CPU", "PyTorch eager"),
    ("training step, CPU", "PyTorch eager, fused Adam"),
    ("merge", "naive Alg. 1"),
    ("merge", "naive, tuned"),
    ("merge", "Birch"),
    ("value iteration", "numpy"),
    ("re-solving, new rewards", "networkx"),
    ("decision, one observation", "networkx"),
    ("decision, 1,024 observations", "networkx"),
)


def read(name: str) -> dict:
    return json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))


def demo() -> str:
    lines = ["| method | reached, % | 95 % interval | how episodes ended |", "|---|---|---|---|"]
    for method, (row,) in read("demo")["scores"].items():
        low, high = row["interval"]
        endings = ", ".join(f"{count} {how}" for how, count in row["endings"].items())
        lines.append(f"| {METHODS[method]} | {row['score']:.0f} | {low:.0f} – {high:.0f} | {endings} |")
    return "\n".join(lines)


def untouched() -> str:
    lines = ["| seeds 1000 to 1099 | VMG reached, % | 95 % interval |", "|---|---|---|"]
    for task in ("pointmaze-medium", "pointmaze-large"):
        total = read(f"{task}-untouched")["summary"]["VMG"]
        low, high = total["interval"]
        lines.append(f"| {task} | {total['score']:.0f} | {low:.0f} – {high:.0f} |")
    return "\n".join(lines)


def kitchen() -> str:
    lines = ["| task | VMG | 95 % interval | each of the five models | paper (three models) |", "|---|---|---|---|---|"]
    for task, paper in PAPER.items():
        found = read(task)
        each = ", ".join(f"{row['score']:.1f}" for row in found["scores"]["VMG"])
        total = found["summary"]["VMG"]
        low, high = total["interval"]
        lines.append(f"| {task} | **{total['score']:.1f}** | {low:.1f} – {high:.1f} | {each} | {paper} |")
    return "\n".join(lines)


def benchmarks() -> str:
    lines = ["| work | size | peer | times faster |", "|---|---|---|---|"]
    rows = read("benchmarks")["rows"]
    for name, peer in BENCHMARKS:
        size = "100,000 × 10-d" if name == "merge" else ""
        (row,) = (r for r in rows if (r["name"], r["peer_name"]) == (name, peer) and r["size"].startswith(size))
        times = f"{row['ratio']:,.0f}" if row["ratio"] > 100 else f"{row['ratio']:.3g}"
        lines.append(f"| {name} | {row['size']} | {peer} | {times} |")
    return "\n".join(lines)


TABLES = {"demo": demo, "untouched": untouched, "kitchen": kitchen, "benchmarks": benchmarks}


def filled(text: str) -> str:
    """The README with every table made anew between its two marks."""
    for name, make in TABLES.items():
        pattern = rf"(<!-- table: {name} -->\n).*?(\n<!-- end of table -->)"
        text, found = re.subn(pattern, lambda m, make=make: m[1] + make() + m[2], text, flags=re.DOTALL)
        assert found == 1, f"README.md has no place for the table {name!r}"
    return text


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(filled(readme.read_text(encoding="utf-8")), encoding="utf-8")
