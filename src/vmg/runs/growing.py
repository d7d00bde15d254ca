"""Growing: episodes that came later are added to a run, and to the graphs of all its agents.

RUN/added/0.npz, ...    the episodes        RUN/growth.json    what was new, for each addition and agent

What the run holds is written first; a graph that does not know all of it yet is extended by the next call.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

from vmg.agent.agent import Agent
from vmg.agent.card import write_card
from vmg.agent.extending import refuse_other_data
from vmg.agent.growth import Growth
from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.base.files import read_json, write_json
from vmg.data import load
from vmg.data.counting import counted
from vmg.data.episodes import Episodes, concatenate
from vmg.runs.additions import Addition, write_addition
from vmg.runs.run import Run, alone, load_run, save_run

NOTES = "growth.json"


@alone
def grow(run: Run, data: str | None = None) -> dict[int, Growth]:
    """Add a data set to a run, and extend the graphs that do not know all of its episodes; return what is new, by seed.

    Without data only what was stopped before goes on. Plans for the recorded rewards are renewed; scores of before are
    removed, since they were measured with other graphs.
    """
    if data is not None:
        add(run, replace(load(data, keys=run.keys), source=data))
    return catch_up(load_run(run.folder))


def add(run: Run, episodes: Episodes, *, online: bool = False) -> Run:
    """Write episodes to the run's folder, if they fit and are not there already; the graphs do not know them yet."""
    run = load_run(run.folder)
    refuse_other_data(Agent.load(run.agent_folder(run.seeds[0])), episodes)
    if any(each.digest == episodes.digest for each in run.added):
        say(f"{run.folder} has the {counted(len(episodes), 'episode')} of {episodes.source} already.")
        return run
    first = run.added[-1].end if run.added else len(run.learned_from()[0])
    write_addition(run.folder, len(run.added), episodes)
    run = replace(run, added=(*run.added, Addition.of(episodes, first, online=online)))
    save_run(run)
    return run


def catch_up(run: Run) -> dict[int, Growth]:
    """Extend every graph that does not know all episodes of the run, and note what is new."""
    found: dict[int, Growth] = {}
    if not run.added:
        raise VMGError(f"Nothing was added to {run.folder} yet: name the data to add, vmg grow {run.folder} DATA.")
    parts: Sequence[Episodes] = ()
    for seed in run.seeds:
        folder = run.agent_folder(seed)
        before = Agent.load(folder)
        if before.graph and len(before.graph.lengths) == run.added[-1].end:
            continue
        parts = parts or _parts(run)
        after = _extended(before, run, parts)
        if before.graph:
            found[seed] = after.growth_since(before, held_out=run.learned_from()[1])
            note(run, seed, found[seed])
        (folder / "scores.json").unlink(missing_ok=True)
        (run.folder / "scores.json").unlink(missing_ok=True)
        after.save(folder)
        write_card(folder)
    return found


def noted(run: Run) -> list[dict[str, Any]]:
    """Return what was new in each addition, as it was noted: its source, and a growth for each seed."""
    path = run.folder / NOTES
    if not path.exists():
        return []
    notes = read_json(path)
    if not isinstance(notes, list) or not all(isinstance(each, dict) and "growth" in each for each in notes):
        raise VMGError(f"{path} does not hold what was new in the episodes added. Delete it: it is only to be read.")
    return notes


def note(run: Run, seed: int, growth: Growth) -> None:
    """Note what was new; a note on the same additions is replaced."""
    notes: list[dict[str, Any]] = []
    with suppress(VMGError):  # one that cannot be read is written anew
        notes = noted(run)
    of = {"episodes": run.added[-1].end, "source": run.added[-1].source}
    here = next((note for note in notes if note.get("episodes") == of["episodes"]), None)
    if here is None:
        here = {**of, "growth": {}}
        notes.append(here)
    here["growth"][str(seed)] = growth.to_dict()
    write_json(run.folder / NOTES, notes)


def _parts(run: Run) -> list[Episodes]:
    """The episodes learned from, then every addition."""
    whole, ends = run.episodes()[0], [each.end for each in run.added]
    bounds = pairwise([0, run.added[0].first, *ends])
    return [whole.subset(range(start, end)) for start, end in bounds]


def _extended(agent: Agent, run: Run, parts: Sequence[Episodes]) -> Agent:
    """Extend a graph by the additions that it does not know; one that is not there, or was lost in a kill, is built."""
    task = run.task_or_none()
    fallen = task.fallen if task else None
    if agent.graph is None:
        say(f"{run.agent_folder(agent.seed)} has no graph yet: it is built from all episodes.")
        return agent.build(concatenate(parts), fallen=fallen).solve()
    known, n = len(agent.built.lengths), 0
    for number, part in enumerate(parts):
        n += len(part)
        if n == known:
            later = parts[number + 1 :]
            return agent.extend(concatenate(later), earlier=concatenate(parts[: number + 1]), fallen=fallen)
    raise VMGError(
        f"{run.agent_folder(agent.seed) / 'graph.npz'} knows {known:,} episodes, which are not those that the run was "
        f"trained on. Remove it, and build it anew: vmg build {run.folder}"
    )
