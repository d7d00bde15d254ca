"""Sections of the report about the run itself: data, training, graph, a change of task, and how to make it again."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from vmg.agent.agent import Agent
from vmg.agent.card import made_with_versions
from vmg.base.errors import VMGError
from vmg.base.settings import check_entries, read_entries
from vmg.base.versions import versions
from vmg.data import summarise as summarise_data
from vmg.data.counting import counted
from vmg.data.summary import Range
from vmg.graph import summarise
from vmg.runs.commands import evaluate_command, run_commands
from vmg.runs.growing import noted
from vmg.runs.run import Run
from vmg.runs.stages import EvaluateTrial
from vmg.view import page
from vmg.view.gallery import Gallery
from vmg.view.tables import settings_rows

_SUMMED_UP = {"score": float, "interval": tuple[float, float], "episodes": int, "success_rate": float | None}
VIEWERS = ("matplotlib", "umap-learn", "imageio-ffmpeg")


def data(gallery: Gallery) -> list[str]:
    """Say what the data is, and what looks suspicious in it."""
    if gallery.episodes is None:
        facts = asdict(gallery.agent.data).items()
        return [
            page.note(
                f"The data could not be opened here, so this is what the agent remembers: {gallery.missing['data']}"
            ),
            page.listed((name.replace("_", " "), str(value)) for name, value in facts),
        ]
    summary = summarise_data(gallery.episodes)
    rewarded = f"{_percent(summary.rewarded_steps)}, in {_percent(summary.rewarded_episodes)} of the episodes"
    rows = [
        ("source", summary.source),
        ("episodes", f"{summary.episodes:,}"),
        ("steps", f"{summary.steps:,}; an episode has {_from_to(summary.lengths)}"),
        ("an observation", counted(summary.observation_size, "number")),
        ("an action", f"{counted(summary.action_size, 'number')}, {_from_to(summary.actions)}"),
        ("return of an episode", f"{_from_to(summary.returns)}, mean {summary.returns.mean:.3g}"),
        ("rewarded steps", rewarded),
        ("held out", _held_out(gallery.run)),
        ("SHA-256 of the content", summary.digest),
    ]
    found = [page.note(sentence) for sentence in summary.suspicious]
    return [page.listed(rows), page.heading("Worth a look"), *(found or [page.paragraph("Nothing suspicious.")])]


def growth(gallery: Gallery) -> list[str]:
    """Say which episodes came later, and what was new in them."""
    if not gallery.run.added:
        return []
    header = ("added", "episodes", "steps", "new vertices", "unlike any before, %", "newly in reach", "shorter ways")
    newest = {note["episodes"]: next(iter(note["growth"].values())) for note in noted(gallery.run)}
    rows = [
        [each.source, f"{each.episodes:,}", f"{each.steps:,}", *_news(newest.get(each.end))]
        for each in gallery.run.added
    ]
    again = any(new["time_to_train"] for new in list(newest.values())[-1:])
    advice = [page.note("It is time to train again: what came last is not what the networks know.")] if again else []
    return [page.heading("Episodes that came later"), page.table(header, rows), *advice]


def _news(growth: dict[str, Any] | None) -> list[str]:
    """What was new in one addition; it is not noted where the graph was built from all of them."""
    if growth is None:
        return ["–"] * 4
    unlike = f"{100 * growth['unlike']:.1f}"
    return [f"{growth['vertices']:,}", unlike, f"{growth['reachable']:,}", f"{growth['n_shorter']:,}"]


def training(gallery: Gallery) -> list[str]:
    """Say how the models were trained."""
    learn, models = gallery.run.config.learn, len(gallery.run.seeds)
    words = (
        f"{counted(models, 'model')}, {counted(learn.steps, 'update')} with batches of {learn.batch_size}; "
        f"{learn.hidden_units} hidden units, a metric space of {learn.metric_dimension} dimensions. "
        "The last checkpoint is used."
    )
    missing = [] if gallery.losses else [page.note(gallery.missing["training"])]
    return [page.paragraph(words), *_chosen(gallery.run), *missing]


def _chosen(run: Run) -> list[str]:
    """Say which settings the data chose, and show what was tried."""
    chosen = run.chosen()
    if chosen is None:
        return []
    rows = [(choice.setting, f"{choice.value}. {choice.why}") for choice in chosen.choices]
    tried = [
        (choice.setting, value, f"{number:.3g}", choice.judged_by)
        for choice in chosen.choices
        for value, number in choice.tried
    ]
    return [
        page.heading("Settings chosen from the data"),
        page.listed(rows),
        page.folded("What was tried", page.table(("setting", "value", "less is better", "what it is"), tried)),
    ]


def graph(gallery: Gallery) -> list[str]:
    """Say how large every model's graph is."""
    if "graph" in gallery.missing:
        return [page.note(gallery.missing["graph"])]
    header = ("seed", "vertices", "edges", "parts", "in the largest, %", "dead ends", "steps per edge", "radius")
    rows = [_graph_row(gallery.run.agent(seed)) for seed in gallery.run.seeds]
    return [page.table(header, rows), page.paragraph(f"Drawn here: the model of seed {gallery.agent.seed}.")]


def change(gallery: Gallery) -> list[str]:
    """Say what another task takes."""
    if gallery.change is None:
        return [page.note("There is no solved graph yet.")]
    return [
        page.paragraph(
            "Nothing was trained again: the edges got other rewards and the graph was solved anew, in milliseconds."
        )
    ]


def asked(gallery: Gallery) -> list[str]:
    """List what was asked of the run with `vmg retask`: whether it can be done, and how well it was done."""
    notes = [_asked(file) for file in sorted((gallery.run.folder / "retask").glob("*.json"))]
    found = sorted((note for note in notes if note), key=lambda note: str(note["wanted"]))
    if not found:
        return []
    header = ("wanted", "kind", "from a start", "episodes", "score", "95 % interval", "success, %")
    commands = "\n".join(note["command"] for note in found)
    return [
        page.heading("Asked of this run"),
        page.table(header, map(_asked_row, found)),
        page.folded("The commands", page.code(commands)),
    ]


def _asked(file: Path) -> dict[str, Any] | None:
    """Read what came of a request; None of a file that is no such note, so that the others can be shown."""
    try:
        note = read_entries(file, {"wanted": str, "kind": str, "command": str, "agents": tuple[Mapping[str, Any], ...]})
        if note.get("summary") is not None:
            check_entries(note["summary"], _SUMMED_UP, place=file)
    except VMGError:
        return None
    return note


def _asked_row(note: dict[str, Any]) -> list[str]:
    answers = [answer for agent in note["agents"] for answer in agent.get("from_a_start") or []]
    leads = all(isinstance(answer, Mapping) and answer.get("possible") for answer in answers)
    can = "–" if not answers else "it can be done" if leads else "no recorded way"
    if not (found := note.get("summary")):
        return [note["wanted"], note["kind"], can, "only asked", "–", "–", "–"]
    (low, high), share = found["interval"], found["success_rate"]
    interval, success = f"{low:.1f} – {high:.1f}", "–" if share is None else f"{share:.0f}"
    return [note["wanted"], note["kind"], can, str(found["episodes"]), f"{found['score']:.1f}", interval, success]


def recipe(gallery: Gallery) -> list[str]:
    """Give the commands, versions and settings that make the run again."""
    run = gallery.run
    made = run.agent_folder(gallery.agent.seed)
    then, now = made_with_versions(made) if (made / "versions.json").exists() else {}, versions(*VIEWERS)
    rows = [(name, then.get(name, "–"), now.get(name, "–")) for name in dict.fromkeys([*then, *now])]
    return [
        page.code("\n".join([*_commands(gallery), f"vmg report {run.folder}"])),
        page.paragraph(
            "The graphs and their scores were made with the versions on the left, this page with those on the right."
        ),
        page.table(("", "the run", "this page"), rows),
        page.folded("Every setting", page.table(("stage", "setting", "value"), settings_rows(run.config))),
    ]


def _held_out(run: Run) -> str:
    return f"{100 * run.validation:g} % of all episodes; they are not counted here" if run.validation else "nothing"


def _from_to(numbers: Range) -> str:
    return f"{numbers.smallest:,.4g} to {numbers.largest:,.4g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _graph_row(agent: Agent) -> list[str]:
    if agent.graph is None:
        return [str(agent.seed), *["–"] * 7]
    facts = summarise(agent.graph)
    return [
        str(agent.seed), f"{facts.vertices:,}", f"{facts.edges:,}", f"{facts.components:,}",
        f"{100 * facts.largest_component:.1f}", f"{facts.dead_ends:,}", f"{facts.steps_per_edge:.1f}",
        f"{agent.graph.radius:g}",
    ]  # fmt: skip


def _commands(gallery: Gallery) -> list[str]:
    """The commands that make the run, its scores, and every other episode in the page's tables."""
    last = _last_trial(gallery)
    if last is None:
        return run_commands(gallery.run, None)
    noted = {episode.seed for episode in gallery.outcomes["VMG"].get(gallery.agent.seed, [])}
    others = [
        replace(last, first_seed=seeds[0], n_episodes=len(seeds))
        for seeds in _in_a_row(sorted(noted - set(last.seeds)))
    ]
    *made, scored = run_commands(gallery.run, last)
    return [*made, *(evaluate_command(gallery.run, each) for each in others), scored]


def _last_trial(gallery: Gallery) -> EvaluateTrial | None:
    """How the run was evaluated last, if it was; scores of an older version do not say from which seed on."""
    if gallery.scores is None:
        return None
    noted = gallery.outcomes["VMG"].get(gallery.agent.seed, [])
    first = gallery.scores.get("first_seed")
    return EvaluateTrial(
        n_episodes=gallery.scores["scores"]["VMG"][0]["n_episodes"],
        first_seed=first if isinstance(first, int) else min((episode.seed for episode in noted), default=0),
        baselines=len(gallery.outcomes) > 1,
    )


def _in_a_row(numbers: Sequence[int]) -> list[list[int]]:
    """Numbers in order, in parts that follow one another without a gap."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return parts
