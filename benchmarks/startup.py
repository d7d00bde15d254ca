"""How long one waits at the beginning, each time in a fresh process."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.agents import synthetic_agent
from benchmarks.rows import Level, Row, check
from benchmarks.timing import compare
from vmg.act.policy import Policy
from vmg.types import Float32s


@dataclass(frozen=True)
class Size:
    """Steps and vertices of the agent that is loaded, and processes started for each row."""

    steps: int
    vertices: int
    rounds: int


SIZES: dict[Level, Size] = {
    "full": Size(124_000, 34_000, 9),
    "quick": Size(12_400, 3_400, 5),
    "tiny": Size(800, 200, 1),
}
NOTHING = ("-c", "pass")

_FIRST_ACTION = """
import json, sys
import numpy as np
from vmg import Agent, Policy
policy = Policy(Agent.load(sys.argv[1]))
action = policy.act(np.load(sys.argv[2]))
heavy = [name for name in ("jax", "numba", "optax") if name in sys.modules]
print(json.dumps({"action": action.tolist(), "heavy": heavy}))
"""


def measure(level: Level) -> Iterator[Row]:
    """Import, help, and the first action of a saved agent."""
    size = SIZES[level]
    yield _row("import vmg", ("-c", "import vmg; print(vmg.__doc__)"), "Value Memory Graph", size.rounds)
    yield _row("vmg --help", ("-m", "vmg.cli", "--help"), "usage: vmg", size.rounds)
    yield _first_action(size)


def _first_action(size: Size) -> Row:
    agent, episodes = synthetic_agent(size.steps, size.vertices)
    with tempfile.TemporaryDirectory() as folder:
        agent.save(folder)
        seen = Path(folder) / "observation.npy"
        np.save(seen, episodes.observations[7])
        found = compare(
            lambda: _said("-c", _FIRST_ACTION, folder, str(seen)), lambda: _said(*NOTHING), size.rounds
        )  # fmt: skip
    answer = json.loads(found.our_result)
    return Row(
        family="startup",
        name="first action of a saved agent",
        size=f"{agent.built.n_vertices:,} vertices",
        ours=found.ours,
        checked=_check_action(answer["action"], Policy(agent).act(episodes.observations[7]), answer["heavy"]),
        note=f"{size.rounds} fresh processes, of which Python itself {found.peer * 1e3:.0f} ms",
    )


def _check_action(action: list[float], ours: Float32s, heavy: list[str]) -> str:
    same = np.allclose(action, ours, atol=1e-6) and not heavy
    return check(same, "the action is this process's own, and neither JAX nor a compiler was imported")


def _row(name: str, arguments: tuple[str, ...], expected: str, rounds: int) -> Row:
    found = compare(lambda: _said(*arguments), lambda: _said(*NOTHING), rounds)
    return Row(
        family="startup",
        name=name,
        size="a fresh process",
        ours=found.ours,
        checked=check(expected in found.our_result, f"it says {expected!r}"),
        note=f"{rounds} fresh processes, of which Python itself {found.peer * 1e3:.0f} ms",
    )


def _said(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True).stdout
