"""Kills every command that writes, at random moments, calls it again, and compares what it leaves to the byte.

    python tests/trust/chaos.py --kills 500 --seed 0 --json build/trust/chaos.json

A case is a command in a folder that commands before it have made. In each round it is begun and stopped once or several
times, then called to its end; the folder must then be that of a run which nobody stopped. Half of the stops come after
a random time, half just before a random one of the operations on files that the command does. Most are SIGKILL, some
SIGTERM, some SIGINT, which must end in one line and exit code 130.

What may differ: TensorBoard's files, which are named by the time, and times that `vmg retask` measures.

Everything is imported once; a command is a fork of that process, so that it begins at once.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from stopping import Command

from vmg.base.versions import versions

DATA = "pointmaze:umaze?steps=600"
WALKS = "npz:../../../walks.npz"
"""Less data: where settings are tried, a command takes longest."""
LEARN = ["--learn.steps", "120", "--learn.checkpoint-every", "30", "--learn.hidden-units", "8"]
MORE = "pointmaze:umaze?steps=200"
TRIED = ["--settings", "learn.low-level.goal-horizon=3,5,8", "--search", "grid", "--rungs", "2"]
EPISODES = ["--episodes", "4", "--workers", "1"]
STUDY = ["--tasks", "pointmaze-umaze", "--data", "pointmaze-umaze=npz:data.npz", "--seeds", "0", "--steps", "40"]
LONGEST = 600.0
"""Seconds after which a command that nobody stopped is given up."""


@dataclass(frozen=True)
class Case:
    """A command, what it begins with, and how often it is stopped, compared with others."""

    name: str
    words: list[str]
    after: str = ""
    share: int = 1


CASES = [
    Case("data save", ["data", "save", DATA, "data.npz"], share=6),
    Case("train", ["train", DATA, "--out", "run", "--preset", "paper", "--seeds", "0", "1", *LEARN], share=4),
    Case("build", ["build", "run", "--graph.radius", "0.8"], "train", 8),
    Case("solve", ["solve", "run", "--solve.discount", "0.9"], "build", 8),
    Case("evaluate", ["evaluate", "run", "--act.subgoal-steps", "2", *EPISODES], "solve", 8),
    Case("evaluate in processes", ["evaluate", "run", "--episodes", "4", "--workers", "2"], "solve", 4),
    Case("build again", ["build", "run", "--graph.radius", "0.3"], "evaluate", 8),
    Case("solve again", ["solve", "run", "--solve.discount", "0.8"], "evaluate", 8),
    Case("grow", ["grow", "run", MORE], "solve", 4),
    Case("grow online", ["grow", "run", "--online", "3", "--every", "1"], "solve", 2),
    Case("sweep", ["sweep", WALKS, "--out", "sweep", *TRIED, *LEARN, "--workers", "1"]),
    Case("retask", ["retask", "run", "--goal", "position=1,1", *EPISODES], "solve", 6),
    Case("report", ["report", "run", "--films", "0", "--replays", "1"], "evaluate"),
    Case("draw", ["draw", "run", "--themes", "light", "--formats", "svg"], "evaluate"),
    Case("reproduce", ["reproduce", "auto", "--presets", "paper", "--out", "study", *EPISODES, *STUDY], "data save", 2),
    Case("train with settings from the data", ["train", WALKS, "--out", "run", *LEARN], share=3),
]


@dataclass
class Undisturbed:
    """What a case leaves when nobody stops it, how long it takes and how many operations on files it does."""

    folder: Path
    seconds: float
    operations: int


@dataclass
class Outcome:
    """What a share of the rounds came to."""

    kills: Counter = field(default_factory=Counter)
    signals: Counter = field(default_factory=Counter)
    rounds: int = 0
    files: int = 0
    failures: list[str] = field(default_factory=list)

    def fail(self, why: str) -> None:
        self.failures.append(why)
        say(why)

    def add(self, other: "Outcome") -> None:
        self.kills += other.kills
        self.signals += other.signals
        self.rounds += other.rounds
        self.files += other.files
        self.failures += other.failures


# --- rounds -----------------------------------------------------------------------------------------------------------


def undisturbed(case: Case, known: dict[str, Undisturbed], work: Path) -> Undisturbed:
    """Run a case without stopping it, twice: the first time compiles, and both must leave the same."""
    first, second = (_ran(case, known, work / each / _plain(case.name) / "here") for each in ("first", "second"))
    there, wanted = contents(first.folder), contents(second.folder)
    if different := [name for name in {*there, *wanted} if there.get(name) != wanted.get(name)]:
        raise SystemExit(f"{case.name} leaves another {different[0]} each time, undisturbed.")
    say(f"{case.name}: {second.seconds:.1f} s, {second.operations} operations on files")
    return second


def _ran(case: Case, known: dict[str, Undisturbed], place: Path) -> Undisturbed:
    folder = prepared(case, known, place)
    began, count = time.monotonic(), folder.parent / "operations"
    command = Command(case.words, folder, count=count)
    code = command.code(LONGEST)
    if code != 0:
        if code is None:
            command.send(signal.SIGKILL)
        raise SystemExit(f"{case.name} ended with {code} undisturbed: {command.said.read_text()}")
    return Undisturbed(folder, time.monotonic() - began, int(count.read_text()))


def prepared(case: Case, known: dict[str, Undisturbed], folder: Path) -> Path:
    """Make the folder that a case begins with."""
    shutil.rmtree(folder, ignore_errors=True)
    if case.after:
        shutil.copytree(known[case.after].folder, folder)
    else:
        folder.mkdir(parents=True)
    return folder


def one_round(case: Case, known: dict[str, Undisturbed], folder: Path, rng: random.Random, outcome: Outcome) -> None:
    """Stop a command up to some times, call it to its end, and compare."""
    prepared(case, known, folder)
    expected = known[case.name]
    for _ in range(rng.choice((1, 2, 3, 4))):
        number = rng.choices((signal.SIGKILL, signal.SIGTERM, signal.SIGINT), (8, 1, 2))[0]
        by_time = rng.random() < 0.5
        stop = (0, 0) if by_time else (number, rng.randint(1, expected.operations))
        command = Command(case.words, folder, stop)
        code = command.code(rng.uniform(0.0, 1.1) * expected.seconds if by_time else LONGEST)
        if code is None:
            command.send(number)
            code = command.code(LONGEST)
        _judge(case, command, number, code, outcome)
    command = Command(case.words, folder)
    code = command.code(LONGEST)
    outcome.rounds += 1
    if code != 0:
        outcome.fail(f"{case.name}: called again, it ended with {code}: {command.said.read_text()[-2000:]}")
        return
    there, wanted = contents(folder), contents(expected.folder)
    outcome.files += len(wanted)
    if different := sorted(name for name in {*there, *wanted} if there.get(name) != wanted.get(name)):
        outcome.fail(f"{case.name}: these files are not those of an undisturbed run: {different}")


def _judge(case: Case, command: Command, number: int, code: int | None, outcome: Outcome) -> None:
    """Note how a command ended that was to be stopped; one that had ended before is none that was killed."""
    said = command.said.read_text()
    if code == (130 if number == signal.SIGINT else -number):
        outcome.kills[case.name] += 1
        outcome.signals[signal.Signals(number).name] += 1
    elif code != 0:
        outcome.fail(f"{case.name}: {signal.Signals(number).name} ended in {code}: {said[-2000:]}")
    if "Traceback" in said or (code == 130 and said.count("Interrupted.") != 1):
        outcome.fail(f"{case.name}: {signal.Signals(number).name} was answered with: {said[-2000:]}")
    if left := command.left_behind():
        outcome.fail(f"{case.name}: {len(left)} processes outlived it")
        for pid in left:
            os.kill(pid, signal.SIGKILL)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, without what may differ."""
    files = (file for file in folder.rglob("*") if file.is_file() and "tensorboard" not in file.parts)
    return {str(file.relative_to(folder)): _without_times(file) for file in files}


def _without_times(file: Path) -> bytes:
    content = file.read_bytes()
    return re.sub(rb'"first_action_ms": [0-9.e-]+', b"", content) if file.parent.name == "retask" else content


def _plain(name: str) -> str:
    return name.replace(" ", "-").replace(",", "")


# --- all of it --------------------------------------------------------------------------------------------------------


def chaos(kills: int, seed: int, names: list[str], workers: int) -> dict:
    """Stop commands so often, and return what came of it."""
    began = time.monotonic()
    warm_up()
    with TemporaryDirectory(prefix="chaos-") as place:
        work = Path(place)
        save_walks(work / "walks.npz")
        cases = [case for case in CASES if not names or case.name in names]
        known: dict[str, Undisturbed] = {}
        for case in CASES:
            if any(case.name in (each.name, *_before(each)) for each in cases):
                known[case.name] = undisturbed(case, known, work)
        no_more_compiling()
        found = side_by_side(cases, known, work, kills, seed, workers)
    made_with = versions()
    made_with.pop("platform")
    return {
        "command": f"make chaos KILLS={kills} SEED={seed}",
        "seed": seed,
        "seconds": round(time.monotonic() - began, 1),
        "versions": made_with,
        "counts": {
            "commands stopped at a random moment": sum(found.kills.values()),
            **{f"of them vmg {name}": found.kills[name] for name in (case.name for case in cases)},
            **{f"stopped by {name}": count for name, count in sorted(found.signals.items())},
            "commands called again to their end": found.rounds,
            "files compared with those of an undisturbed run": found.files,
        },
        "failures": len(found.failures),
    }


def _before(case: Case) -> list[str]:
    """Names of the cases that lead to one."""
    earlier = next((each for each in CASES if each.name == case.after), None)
    return [earlier.name, *_before(earlier)] if earlier else []


def side_by_side(
    cases: list[Case], known: dict[str, Undisturbed], work: Path, kills: int, seed: int, workers: int
) -> Outcome:
    """Share the rounds among forks of this process."""
    files = [work / f"outcome-{i}.json" for i in range(workers)]
    pids = []
    for i, file in enumerate(files):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                share = kills // workers + (i < kills % workers)
                found = rounds(cases, known, work / "rounds" / str(i) / "here", share, random.Random(f"{seed} {i}"))
                file.write_text(json.dumps(vars(found)))
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        pids.append(pid)
    total = Outcome()
    for pid, file in zip(pids, files, strict=True):
        if os.waitpid(pid, 0)[1]:
            raise SystemExit("A process that stops others ended early.")
        told = json.loads(file.read_text())
        total.add(Outcome(Counter(told.pop("kills")), Counter(told.pop("signals")), **told))
    return total


def rounds(cases: list[Case], known: dict[str, Undisturbed], folder: Path, kills: int, rng: random.Random) -> Outcome:
    """Do rounds until so many commands were stopped; every case has its share."""
    outcome, queue = Outcome(), []
    while sum(outcome.kills.values()) < kills:
        if not queue:
            queue = [case for case in cases for _ in range(case.share)]
            rng.shuffle(queue)
        one_round(queue.pop(), known, folder, rng, outcome)
    return outcome


def main() -> int:
    """Read the options, stop commands, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", nargs="*", default=[], choices=[case.name for case in CASES])
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = chaos(options.kills, options.seed, options.cases, options.workers)
    text = json.dumps(found, indent=2) + "\n"
    say(text)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(text)
    return 1 if found["failures"] else 0


def warm_up() -> None:
    """Import all that commands need, once; what JAX compiles is kept for the forks, which begin without it."""
    cache = TemporaryDirectory(prefix="chaos-compiled-")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = cache.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    _kept.append(cache)
    import gymnasium_robotics  # noqa: F401
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_svg
    import matplotlib.font_manager  # noqa: F401
    import tensorboard.summary.writer.event_file_writer  # noqa: F401

    import vmg
    from vmg.cli.main import COMMANDS

    for module in COMMANDS.values():
        __import__(module)
    line = vmg.Episodes.from_list([([[0.0], [1.0], [3.0]], [[1.0], [2.0]], [0.0, 1.0], False, True)])
    graph = vmg.build(line.observations, line, 1.0)
    vmg.solve(graph, vmg.reward(graph, line), 0.9)


def save_walks(file: Path) -> None:
    """Write some short random walks."""
    import numpy as np

    import vmg

    rng = np.random.default_rng(0)
    walks = [rng.normal(0, 0.1, (25, 2)).cumsum(0) for _ in range(8)]
    logs = [(walk, np.diff(walk, axis=0), np.zeros(24), False, True) for walk in walks]
    vmg.data.save(vmg.Episodes.from_list(logs), file)


def no_more_compiling() -> None:
    """What is stopped writes nothing to what JAX has compiled: others would read it cut."""
    import jax

    jax.config.update("jax_persistent_cache_min_compile_time_secs", 1e9)


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


_kept: list[TemporaryDirectory] = []

if __name__ == "__main__":
    sys.exit(main())
