"""Growing online: act, record, extend, plan again. What is recorded is kept with the run, like any other log."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Annotated

from threadpoolctl import threadpool_limits
from tyro.conf import arg

from vmg.act.exploring import Exploration, Explorer
from vmg.agent.agent import Agent
from vmg.agent.growth import Growth
from vmg.base.console import progress_bar
from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.envs import Task
from vmg.evaluation.recording import record
from vmg.runs.growing import add, catch_up
from vmg.runs.run import Run, alone, load_run

FIRST_SEED = 10_000_000
"""Of recorded episodes: none that is evaluated has such a seed."""


@dataclass(frozen=True, kw_only=True)
class Online:
    """How episodes are recorded online."""

    n_episodes: Annotated[int, arg(name="online")] = 0
    """Let the agents act in the task until so many episodes have been recorded in all; 0: none."""
    explore: Exploration = "frontier"
    """Go to where the graph knows least and wander from there, or wander at random all the time."""
    every: int = 10
    """Episodes after which graphs and plans are renewed."""

    def __post_init__(self) -> None:
        if self.n_episodes < 0 or self.every < 1:
            raise VMGError(
                f"--online must be at least 0 and --every at least 1, not {self.n_episodes} and {self.every}."
            )


@alone
def grow_online(run: Run, online: Online) -> dict[int, Growth]:
    """Record episodes with the run's agents in turn until there are so many, and extend their graphs on the way.

    Called again, it goes on where it was; at most the episodes since the graphs were last extended are lost in a kill.
    """
    run = load_run(run.folder)
    if run.added:
        catch_up(run)
    task, before = _endless(run.find_task()), _agents(run)
    done = recorded_online(run)
    bar = progress_bar(f"Exploring {task.name}", online.n_episodes)
    with bar as advance, threadpool_limits(1), closing(task.make()) as env:
        while done < online.n_episodes:
            advance(done)
            agents = _agents(run)
            numbers = range(done, min(done + online.every, online.n_episodes))
            found = [record(_explorer(agents, i, online.explore), task, env, FIRST_SEED + i) for i in numbers]
            source = f"online:{task.name}, {online.explore}, {numbers.start} to {numbers.stop - 1}"
            run = add(run, Episodes.from_list(found, source=source, fields=agents[0].data.fields), online=True)
            catch_up(run)
            done = numbers.stop
    return _what_is_new(run, before)


def recorded_online(run: Run) -> int:
    """Return how many episodes the agents of a run have recorded themselves."""
    return sum(each.episodes for each in run.added if each.online)


def _agents(run: Run) -> list[Agent]:
    return [agent for _, agent in run.agents()]


def _explorer(agents: Sequence[Agent], number: int, kind: Exploration) -> Explorer:
    """Let the agents take turns: what one records, all learn from."""
    agent = agents[number % len(agents)]
    return Explorer(agent.body, agent.plan, kind, seed=(agent.seed, FIRST_SEED + number))


def _endless(task: Task) -> Task:
    """Return the task whose own goal ends nothing: there is more to see."""
    return replace(task, options={**task.options, **task.endless})


def _what_is_new(run: Run, before: Sequence[Agent]) -> dict[int, Growth]:
    """Tell what is new since this was called; for each addition it is noted."""
    episodes, held_out = run.episodes()
    found: dict[int, Growth] = {}
    for was, now in zip(before, _agents(run), strict=True):
        if len(now.built.lengths) > len(was.built.lengths):
            found[now.seed] = replace(now, episodes=episodes).growth_since(was, held_out=held_out)
    return found
