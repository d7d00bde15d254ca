"""Every evaluated episode, noted as it ends, so that a killed evaluation goes on where it was.

RUN/evaluations/TASK_METHOD_seed_0.jsonl: first what was measured, then one line per episode; a kill cuts at most the
last one. Once all have ended they are in the order of their seeds, whoever ran them.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, TypeVar

from tyro.conf import arg

from vmg.base.errors import VMGError
from vmg.base.files import append, check_file, read_json, write_json, write_text
from vmg.base.locks import held
from vmg.base.settings import read_record
from vmg.base.versions import package_version
from vmg.data.counting import counted
from vmg.envs import Task
from vmg.envs.finding import task_file
from vmg.evaluation import Actor, EpisodeScore, Scores, evaluate
from vmg.evaluation.executors import THIS_MACHINE
from vmg.evaluation.together import Wanted, run_together
from vmg.runs.run import Run

On = Annotated[
    str,
    arg(
        name="on",
        aliases=("--executor",),
        help="Who does the work: `processes` on this machine, `here` in this one, `ray` (the cluster that this machine "
        "belongs to, or else a new one on it), `ray://HOST:PORT`, or an executor of an extension. It changes the time, "
        "not the scores.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """How an evaluation is done."""

    n_episodes: Annotated[int, arg(name="episodes")] = 100
    """Episodes for each agent, with the seeds first_seed, first_seed + 1, ..."""
    first_seed: int = 0
    """Seed of the first episode."""
    executor: On = "processes"
    workers: int | None = None
    """Processes; None: one per core. It changes the time, not the scores."""

    @property
    def seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.n_episodes)


TrialKind = TypeVar("TrialKind", bound=Trial)


@dataclass(frozen=True)
class Measured:
    """One model's evaluation: what must be the same for episodes noted before to count."""

    run: Run
    task: Task
    method: str
    seed: int
    settings: dict[str, Any]

    @property
    def path(self) -> Path:
        return _file(self.run, self.task.name, self.method, self.seed)

    @property
    def identity(self) -> dict[str, Any]:
        measured = {"data": self.run.all_data, "settings": self.settings, "protocol": self.task.protocol}
        file = task_file(self.run.task)
        if file and file.is_file():  # who changes it has another environment
            measured["task_file"] = sha256(file.read_bytes()).hexdigest()
        identity: dict[str, Any] = json.loads(json.dumps(measured | {"version": package_version()}))
        return identity

    def scores(self, actor: Actor, trial: Trial) -> Scores:
        """Evaluate, running only the episodes that are missing."""
        with self.noting() as note:
            return evaluate(
                actor, self.task, n_episodes=trial.n_episodes, first_seed=trial.first_seed, executor=trial.executor,
                workers=trial.workers, known=self._known(), on_episode=note, title=f"{self.method}, seed {self.seed}",
            )  # fmt: skip

    def _write(self, episodes: list[EpisodeScore]) -> None:
        in_order = sorted(episodes, key=lambda episode: episode.seed)
        write_text(self.path, "".join(map(_line, [self.identity, *map(asdict, in_order)])))

    def known_scores(self, trial: Trial) -> Scores | None:
        """Return what `scores` would without running an episode; None if episodes are missing."""
        known = {episode.seed: episode for episode in self._known()}
        if not all(seed in known for seed in trial.seeds):
            return None
        task = self.task
        return Scores(task.name, task.protocol, task.score_range, tuple(known[seed] for seed in trial.seeds))

    def missing(self, trial: Trial) -> list[int]:
        """Return the seeds of the episodes that are not noted yet."""
        known = {episode.seed for episode in self._known()}
        return [seed for seed in trial.seeds if seed not in known]

    @contextmanager
    def noting(self) -> Iterator[Callable[[EpisodeScore], None]]:
        """Yield what notes an episode; at the end they are in order."""
        with held(self.run.folder):
            self._write(self._known())
            with open(self.path, "ab", buffering=0) as file:
                yield lambda episode: append(file, _line(asdict(episode)))
            self._write(self._known())

    def _known(self) -> list[EpisodeScore]:
        """Return the episodes noted for just these settings."""
        first, *entries = _entries(self.path) or [None]
        return _episodes(entries, self.path) if first == self.identity else []


def scores_together(models: Sequence[tuple[Measured, Callable[[], Actor]]], trial: Trial) -> list[Scores]:
    """Evaluate several models with one set of workers, running only the episodes that are missing.

    Workers read models from this machine's files; where they are on others, one model is evaluated after the other.
    """
    known = [measured.known_scores(trial) for measured, _ in models]
    if all(known):  # nothing is written, so that others may read beside this
        return [_found(each) for each in known]
    if trial.executor not in THIS_MACHINE:
        return [measured.known_scores(trial) or measured.scores(make(), trial) for measured, make in models]
    wanted = [Wanted(make, measured.task, measured.missing(trial)) for measured, make in models]
    with ExitStack() as stack:
        notes = [stack.enter_context(measured.noting()) for measured, _ in models]
        if any(each.seeds for each in wanted):
            for model, episode in run_together(wanted, executor=trial.executor, workers=trial.workers):
                notes[model](episode)
    return [_found(measured.known_scores(trial)) for measured, _ in models]


def _found(scores: Scores | None) -> Scores:
    if scores is None:
        raise VMGError("Some episodes were not brought back by whoever ran them: evaluate again.")
    return scores


def larger_trial(run: Run, task: Task, trial: TrialKind, methods: Collection[str]) -> TrialKind | None:
    """Return the trial that scores.json is of, if it has all episodes and methods of this one and more, in its task."""
    try:
        scores = run.scores()
    except VMGError:  # it is written anew
        return None
    if scores is None or (scores["task"], scores["protocol"]) != (task.name, task.protocol):
        return None
    if not isinstance(first := scores.get("first_seed"), int) or not set(methods) <= set(scores["scores"]):
        return None
    larger = replace(trial, first_seed=first, n_episodes=scores["scores"]["VMG"][0]["n_episodes"])
    holds = first <= trial.first_seed and trial.seeds.stop <= larger.seeds.stop
    return larger if holds and larger.n_episodes > trial.n_episodes else None


def noted_with_more(file: Path, content: Mapping[str, Any]) -> str:
    """Say that a request's file has the same, measured with more episodes, and keeps that; nothing where it has not."""
    try:
        noted = read_json(file) if file.exists() else {}
    except VMGError:  # it is written anew
        return ""
    here = json.loads(json.dumps({name: content[name] for name in (*_SAME, "summary")}))
    if not isinstance(noted, dict) or any(noted.get(name) != here[name] for name in _SAME):
        return ""
    episodes, now = ((each["summary"] or {}).get("episodes", 0) for each in (noted, here))
    return f"{file} keeps what {counted(episodes, 'episode')} per agent scored." if episodes > now else ""


_SAME = ("wanted", "kind", "data", "settings")
"""What makes two requests the same, whether they are tried or not."""


def episodes_of(run: Run, task_name: str, method: str, seed: int) -> list[EpisodeScore]:
    """Return every episode noted last for a model, whatever its settings, in the order of their seeds."""
    path = _file(run, task_name, method, seed)
    return sorted(_episodes(_entries(path)[1:], path), key=lambda episode: episode.seed)


def remembered(path: Path, of: dict[str, Any], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what was made of this before with this version, as the file remembers it, or make it and note it there."""
    identity = json.loads(json.dumps(of | {"version": package_version()}))
    known = read_json(path) if path.exists() else []
    if not isinstance(known, list) or not all(isinstance(entry, dict) for entry in known):
        raise _damaged(path, VMGError("it holds no list of what was made"))
    for entry in known:
        if entry.get("of") == identity and isinstance(made := entry.get("made"), dict):
            return made
    made = make()
    write_json(path, [*known, {"of": identity, "made": made}])
    return made


def _file(run: Run, task_name: str, method: str, seed: int) -> Path:
    name = re.sub(r"[^\w.-]", "", f"{task_name}_{method}_seed_{seed}".replace(": ", "_").replace(" ", "-"))
    return run.folder / "evaluations" / f"{name}.jsonl"


def _line(entry: dict[str, Any]) -> str:
    return json.dumps(entry) + "\n"


def _episodes(entries: list[Any], path: Path) -> list[EpisodeScore]:
    try:
        return [read_record(EpisodeScore, entry, place=f"line {i}") for i, entry in enumerate(entries, 2)]
    except VMGError as error:
        raise _damaged(path, error) from error


def _entries(path: Path) -> list[Any]:
    """Return the lines of a file of notes; the last one is left out if a kill has cut it."""
    if not path.exists():
        return []
    try:
        check_file(path)  # a pipe may never end
        whole = path.read_text(encoding="utf-8").splitlines(keepends=True)
        if whole and not whole[-1].endswith("\n"):
            whole.pop()
        return [json.loads(line) for line in whole]
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, why: Exception) -> VMGError:
    return VMGError(f"{path} is not readable: {str(why).removesuffix('.')}. Delete it, and evaluate again.")
