"""What was done by mouse as code: Python, and the command that answers the same."""

from dataclasses import replace
from shlex import join

import numpy as np

from vmg.base.types import Float64s
from vmg.goals import Conjunction, Objective, Place, Stages
from vmg.goals.combinations import Either
from vmg.goals.measures import Region
from vmg.goals.vertices import InVertices, PaidInVertices
from vmg.runs.commands import command
from vmg.runs.requests import RECORDED, Request, avoided_edges
from vmg.view.explorer.graphs import Explored

Code = dict[str, str | None]
"""The Python, and the command where there is one."""


def plan_code(shown: Explored, request: Request, objective: Objective | Stages, *, with_data: bool) -> Code:
    """Return the code that makes a plan; `with_data`: it takes the recorded episodes."""
    python = _planning(shown, request, objective, with_run=with_data, with_data=with_data)
    return _code([*python, "print(plan)"], command(["retask", str(shown.run.folder)], request))


def played_code(
    shown: Explored, request: Request, objective: Objective | Stages, seed: int, *, with_data: bool
) -> Code:
    """Return the code that makes a plan and tries it in the episode of a seed."""
    python = _planning(shown, request, objective, with_run=True, with_data=with_data)
    tried = replace(request, n_episodes=1, first_seed=seed)
    task = "run.find_task()" if request.reward == RECORDED else "vmg.scored_by(run.find_task(), plan)"
    trying = _trying("plan.policy()", task, seed)
    return _code([*python, *trying], command(["retask", str(shown.run.folder)], tried))


def evaluated_code(shown: Explored, seed: int) -> Code:
    """Return the code that runs the episode of a seed in the task itself; the command films it, for the first agent."""
    python = [*_loading(shown, with_run=True), *_trying("agent.policy()", "run.find_task()", seed)]
    films = join(["vmg", "draw", str(shown.run.folder), "--films", str(seed)])
    return _code(python, films if shown.seed == shown.run.seeds[0] else None)


def _code(python: list[str], words: str | None) -> Code:
    return {"python": "\n".join(python) + "\n", "command": words}


def _loading(shown: Explored, *, with_run: bool) -> list[str]:
    agent = f"agent = vmg.Agent.load({str(shown.run.agent_folder(shown.seed))!r})"
    if not with_run:
        return ["import vmg", "", agent]
    run = f"run = load_run(Path({str(shown.run.folder)!r}))"
    return ["from pathlib import Path", "", "import vmg", "from vmg.runs import load_run", "", run, agent]


def _trying(policy: str, task: str, seed: int) -> list[str]:
    scores = f"scores = vmg.evaluate({policy}, {task}, n_episodes=1, first_seed={seed}, workers=1)"
    return [scores, "print(scores.episodes[0])"]


def _planning(
    shown: Explored, request: Request, objective: Objective | Stages, *, with_run: bool, with_data: bool
) -> list[str]:
    lines = _loading(shown, with_run=with_run)
    if edges := avoided_edges(request):
        lines = ["from dataclasses import replace", *lines]
        lines.append(f"agent = replace(agent, graph=vmg.graph.without_edges(agent.built, {edges}))")
    given = "objective, run.episodes()[0]" if with_data else "objective"
    return [*lines, *_wanting(objective), f"plan = agent.plan({given})"]


def _wanting(objective: Objective | Stages) -> list[str]:
    """The lines that say what is wanted."""
    first = objective.stages[0] if isinstance(objective, Stages) else objective
    lines, wanted = [], _expression(objective)
    if isinstance(objective, Conjunction):
        listed = ", ".join(map(_expression, objective.parts))
        pairs = ", ".join(f"(parts[{one}], parts[{other}])" for one, other in objective.before)
        lines, wanted = [f"parts = [{listed}]"], f"vmg.goals.all_of(parts{f', before=[{pairs}]' if pairs else ''})"
    for region in first.avoided:
        wanted += f".avoiding({_expression(region)})"
    wanted += ".staying()" if first.kind == "stay" else ""
    return [*lines, f"objective = {wanted}"]


def _expression(objective: Objective | Stages) -> str:
    """An objective in Python, but for what it avoids."""
    if isinstance(objective, Stages):
        return f"vmg.goals.in_order([{', '.join(map(_expression, objective.stages))}])"
    distance, pays = objective.distance, objective.rewards
    if isinstance(distance, Either):
        return f"vmg.goals.any_of([{', '.join(map(_expression, distance.parts))}])"
    if isinstance(distance, Place):
        place = f"{distance.numbers.tolist()}, columns={distance.columns}, tolerance={objective.tolerance!r}"
        return f"vmg.goals.near({place})"
    if isinstance(distance, Region):
        return f"vmg.goals.within({distance.low.tolist()}, {distance.high.tolist()}, columns={distance.columns})"
    if isinstance(distance, InVertices):
        return f"vmg.goals.in_vertices(agent.built, agent.weights, {_ranges(np.flatnonzero(distance.wanted))})"
    if isinstance(pays, PaidInVertices):
        return f"vmg.goals.paid_in_vertices(agent.built, agent.weights, {_pay(pays.pay)})"
    return "vmg.goals.recorded_rewards()"


def _ranges(vertices: np.ndarray) -> str:
    """Vertices as a list, those in a row as a range: [*range(3, 9), 12]."""
    runs = np.split(vertices, np.flatnonzero(np.diff(vertices) != 1) + 1)
    parts = [f"*range({run[0]}, {run[-1] + 1})" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return f"[{', '.join(parts)}]"


def _pay(pay: Float64s) -> str:
    """What vertices pay as a dict, those that pay the same together."""
    parts = [
        f"**dict.fromkeys({_ranges(np.flatnonzero(pay == number))}, {number!r})"
        for number in np.unique(pay[pay != 0]).tolist()
    ]
    return f"{{{', '.join(parts)}}}"
