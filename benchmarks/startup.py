"""How long one waits at the beginning, each time in a fresh process."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.agents import SIZES, Size, synthetic_agent
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.timing import compare
from vmg.base.types import Float32s

NOTHING = ("-c", "pass")

_FIRST_ACTION = """
import json, sys
import numpy as np
from vmg import Agent
policy = Agent.load(sys.argv[1]).policy()
action = policy.act(np.load(sys.argv[2]))
heavy = [name for name in ("jax", "numba", "optax") if name in sys.modules]
print(json.dumps({"action": action.tolist(), "heavy": heavy}))
"""


def measure(level: Level) -> Iterator[Row]:
    """Import, help, and the first action of a saved agent, each beside Python doing nothing."""
    size = SIZES[level]
    import_vmg = ("-c", "import vmg; print(vmg.__doc__)")
    bars = (Bar("at most", 0.3), Bar("at most", 0.4), Bar("at most", 1.0)) if level == "full" else (None, None, None)
    yield _row("import vmg", import_vmg, "Value Memory Graph", size.rounds, bars[0])
    yield _row("vmg --help", ("-m", "vmg", "--help"), "usage: vmg", size.rounds, bars[1])
    yield _row("vmg train --help", ("-m", "vmg", "train", "--help"), "usage: vmg train", size.rounds, None)
    yield _first_action(size, bars[2])


def _first_action(size: Size, bar: Bar | None) -> Row:
    agent, episodes = synthetic_agent(size.steps, size.vertices)
    with tempfile.TemporaryDirectory() as folder:
        agent.save(folder)
        seen = Path(folder) / "observation.npy"
        np.save(seen, episodes.observations[7])
        row = _row("first action of a saved agent", ("-c", _FIRST_ACTION, folder, str(seen)), "{", size.rounds, bar)
        answer = json.loads(_said("-c", _FIRST_ACTION, folder, str(seen)))
    checked = _check_action(answer["action"], agent.policy().act(episodes.observations[7]), answer["heavy"])
    return replace(row, size=f"a fresh process, {agent.built.n_vertices:,} vertices", checked=checked)


def _check_action(action: list[float], ours: Float32s, heavy: list[str]) -> str:
    same = np.allclose(action, ours, atol=1e-6) and not heavy
    return check(same, "the action is this process's own, and neither JAX nor a compiler was imported")


def _row(name: str, arguments: tuple[str, ...], expected: str, rounds: int, bar: Bar | None) -> Row:
    found = compare(lambda: _said(*arguments), lambda: _said(*NOTHING), rounds)
    return Row(
        family="startup",
        name=name,
        size="a fresh process",
        ours=found.ours,
        peer_name="Python alone",
        peer=found.peer,
        bar=bar,
        checked=check(expected in found.our_result, f"it says {expected!r}"),
        note=f"{rounds} fresh processes of each",
    )


def _said(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True).stdout
