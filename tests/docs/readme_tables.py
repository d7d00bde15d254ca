"""The tables of README and docs, made from the files under results/: run as a script, it writes them into the pages."""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
METHODS = {"VMG": "**VMG**", "BC": "behaviour cloning", "GCBC": "goal-conditioned behaviour cloning"}
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


def read(name: str) -> Any:
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


def main() -> str:
    lines = ["| task | VMG | 95 % interval | each of the five models | updates | paper |", "|---|---|---|---|---|---|"]
    for row in read("main"):
        vmg = row["scores"]["VMG"]
        low, high = vmg["interval"]
        each = ", ".join(f"{score:.1f}" for score in vmg["models"])
        mean, deviation = row["paper"]
        updates = f"{row['settings']['learn']['steps']:,}"
        cells = (
            row["task"],
            f"**{vmg['score']:.1f}**",
            f"{low:.1f} – {high:.1f}",
            each,
            updates,
            f"{mean} ± {deviation}",
        )
        lines.append(f"| {' | '.join(cells)} |")
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


TABLES = {"demo": demo, "untouched": untouched, "main": main, "benchmarks": benchmarks}
PAGES = {
    ROOT / "README.md": ("demo", "untouched", "main", "benchmarks"),
    ROOT / "docs" / "results.md": ("main",),
}


def filled(page: Path) -> str:
    """The page with every table made anew between its two marks."""
    text = page.read_text(encoding="utf-8")
    for name in PAGES[page]:
        pattern, make = rf"(<!-- table: {name} -->\n).*?(\n<!-- end of table -->)", TABLES[name]
        text, found = re.subn(pattern, lambda m, make=make: m[1] + make() + m[2], text, flags=re.DOTALL)
        assert found == 1, f"{page} has no place for the table {name!r}"
    return text


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page), encoding="utf-8")
