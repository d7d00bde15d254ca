"""How well each task is done where the world is not as recorded, with behaviour cloning beside it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from vmg.base.console import say
from vmg.envs import disturbances_of, read_disturbances
from vmg.envs.disturbing import Amounts
from vmg.runs.robustness import held_up, kinds
from vmg.runs.stages import baseline_actors
from vmg.studies.main import Line, described_line, has_baselines, missing_line, solved_agents
from vmg.studies.options import AS_CHOSEN, with_option
from vmg.studies.study import Results, Study, row_command


def measure_robustness(study: Study, table: Sequence[Line], write: Callable[[Results], None]) -> Results:
    """Measure every task undisturbed and under each disturbance; `write` is given all rows there are after each."""
    rows = Results()
    for line in table:
        say(f"{line.task.name}, preset {line.preset}.")
        if line.missing:
            rows.append(missing_line(line))
        else:
            for name in study.variants or (AS_CHOSEN,):
                changed = replace(line, run=with_option(line.run, name))
                _measure(changed, replace(study, variants=study.variants and (name,)), rows, write)
        write(rows)
    return rows


def _measure(line: Line, study: Study, rows: Results, write: Callable[[Results], None]) -> None:
    episodes, task = line.run.episodes()[0], line.run.find_task()
    agents = list(solved_agents(line.run, episodes))
    baselines = baseline_actors(line.run) if has_baselines(line, study) else {}
    asked = read_disturbances(study.disturb or tuple(disturbances_of(task)), task)
    described = described_line(line, study, episodes, task) | {"kinds": kinds(task, asked)}
    described["solved"] = (*study.variants, AS_CHOSEN)[0]
    for amounts in ({}, *asked):
        (held,) = held_up(line.run, task, agents, baselines, [amounts], study.trial)
        rows.append(described | {"command": _command(line, study, amounts)} | held.to_dict())
        write(rows)


def _command(line: Line, study: Study, amounts: Amounts) -> str:
    """The command that makes one row again, and the undisturbed one beside it."""
    words = "+".join(f"{name}={amount:g}" for name, amount in amounts.items())
    own = {
        "presets": (line.preset,),
        "baselines": has_baselines(line, study),
        "disturb": (words,) if words else study.disturb,
    }
    return row_command(line.table, study, line.task.name, **own)
