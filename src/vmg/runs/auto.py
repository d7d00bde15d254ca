"""A run whose settings are chosen from its data: the preset `auto`.

auto.json    what was chosen, among what, and why        auto/    what was learned to find out; can be deleted
"""

from dataclasses import fields, is_dataclass, replace
from typing import Any

from vmg.agent import auto
from vmg.agent.auto import Chosen
from vmg.base.console import say
from vmg.base.files import write_json
from vmg.data.facts import DataFacts
from vmg.learn.config import LearnConfig
from vmg.runs import stages
from vmg.runs.run import Run, alone, load_run, save_run

AUTO = "auto"


@alone
def train(run: Run, *, on: str = "processes", workers: int | None = None) -> None:
    """Choose how to learn, learn, and choose the graph; called again after a kill, it goes on where it was.

    What the run's own settings of learning say other than the defaults stays as it is. `on` names who learns, once
    it is chosen how.
    """
    given, usual, chosen, task = run.config.learn, LearnConfig(), run.chosen(), run.task_or_none()
    if chosen is None:
        episodes, _ = run.episodes()
        if unchecked := run.check_task(DataFacts.of(episodes)):
            say(unchecked)
        say("Choosing settings from the data: what the low-level policy should see, how far ahead, how long to learn.")
        asked = None if given.steps == usual.steps else given.steps
        named = task.goal.columns if task and task.goal else ()
        chosen = auto.choose(episodes, run.folder / "auto", steps=asked, goal_columns=named, angles=given.angles)
        if asked:  # it was not chosen: a recipe must name it
            chosen = replace(
                chosen, config=replace(chosen.config, learn=replace(chosen.config.learn, steps=usual.steps))
            )
        _write(run, chosen)
    config = replace(chosen.config, learn=_changed(chosen.config.learn, given, usual))
    run = replace(run, config=task.with_goal_columns(config) if task else config)
    stages.train(run, on=on, workers=workers)
    if not any(choice.setting == "graph.radius" for choice in chosen.choices):
        whole = auto.complete(replace(chosen, config=run.config), [run.agent(run.seeds[0]).weights], run.episodes()[0])
        chosen = replace(whole, config=replace(whole.config, learn=chosen.config.learn))
        _write(run, chosen)
    save_run(replace(load_run(run.folder), config=replace(chosen.config, learn=run.config.learn)))
    say("Chosen from the data; the report shows what was tried:")
    for choice in chosen.choices:
        say(f"  {choice.setting} = {choice.value}. {choice.why}")


def _write(run: Run, chosen: Chosen) -> None:
    write_json(run.folder / "auto.json", chosen.to_dict())


def _changed(settings: Any, by: Any, start: Any) -> Any:
    """Return settings with what a record of their kind, or of one that builds on it, has other than at its start."""
    if isinstance(by, type(start)) and type(by) is not type(start):  # a kind that builds on the usual one
        common = settings if isinstance(by, type(settings)) else start
        chosen = {each.name: getattr(settings, each.name) for each in fields(common)}
        own, usual = vars(by), vars(type(by)())
        return type(by)(**chosen | {name: own[name] for name in own if own[name] != usual[name]})
    if not isinstance(settings, type(by)) or type(by) is not type(start):
        return by
    changes: dict[str, Any] = {}
    for each in fields(start):
        chosen, given, usual = (getattr(record, each.name) for record in (settings, by, start))
        if given != usual:
            changes[each.name] = _changed(chosen, given, usual) if is_dataclass(usual) else given
    return replace(settings, **changes)
