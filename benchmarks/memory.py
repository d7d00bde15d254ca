"""Peak memory of a merge or clustering, in a process of its own: `python -m benchmarks.memory NAME FILE RADIUS N`."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.clusterings import CLUSTERINGS, merge
from vmg.base.types import Float32s

ROOT = Path(__file__).parents[1]
RESET = Path("/proc/self/clear_refs")
RUNS = {"ours": lambda features, radius, _: merge(features, radius)} | {each.name: each.run for each in CLUSTERINGS}


def peak_beyond(name: str, features: Float32s, radius: float, n_clusters: int) -> float:
    """Return the bytes it takes at its peak, beyond its input."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "features.npy"
        np.save(path, features)
        command = [sys.executable, "-m", "benchmarks.memory", name, str(path), str(radius), str(n_clusters)]
        return float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def main(name: str, path: str, radius: str, n_clusters: str) -> None:
    """Run once on a little of the data, so that everything is compiled and imported; then print the peak of a run."""
    features = np.load(path)
    RUNS[name](features[:200].copy(), float(radius), 20)
    RESET.write_text("5", encoding="utf-8")  # the peak so far is forgotten
    before = peak()
    RUNS[name](features, float(radius), int(n_clusters))
    sys.stdout.write(f"{peak() - before}\n")


def peak() -> int:
    """Return the most bytes that this process has held, since that was last forgotten."""
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(*sys.argv[1:])
