"""The report of a run: one page with data, training, graph, scores, failures, films and the way to make it again."""

from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from vmg.act.evaluation import EpisodeScore
from vmg.agent import Agent, versions
from vmg.console import progress_bar
from vmg.data import summarise as summarise_data
from vmg.data.summary import Range
from vmg.errors import VMGError
from vmg.files import read_json, write_text
from vmg.graph import summarise
from vmg.runs import Run
from vmg.view import page
from vmg.view.episodes import DONE
from vmg.view.failures import Diagnosis, diagnose
from vmg.view.film import make_film, save_film
from vmg.view.gallery import Gallery, draw, gather, is_failure
from vmg.view.graphs import ending
from vmg.view.recipe import commands_of

METHODS = {"VMG": "VMG", "BC": "behaviour cloning", "GCBC": "goal-conditioned behaviour cloning"}
VECTORS = ("training", "scores", "histograms", "radius")
"""Figures with little in them, which stay sharp at any size."""
VIEWERS = ("matplotlib", "umap-learn", "imageio-ffmpeg")


def write_report(run: Run, file: Path | None = None, *, films: int = 2, replays: int = 8) -> Path:
    """Write the report of a run, by default to report.html in its folder, and return where it is."""
    file = file or run.folder / "report.html"
    gallery = gather(run, replays=replays)
    drawn = _Drawn(gallery)
    sections = {
        "The data": _data(gallery),
        "Training": _training(gallery, drawn),
        "The graph": _graph(gallery, drawn),
        "Scores": _scores(gallery, drawn),
        "Where and why episodes failed": _failures(gallery, drawn),
        "An episode, step by step": _episode(gallery, drawn, films),
        "A new task for the same graph": _change(gallery, drawn),
        "How to make this run again": _recipe(gallery),
    }
    write_text(file, page.document(f"Run {run.folder.resolve().name}", _lead(gallery), sections))
    return file


class _Drawn:
    """Figures embedded in both themes, ready for the page by their names."""

    def __init__(self, gallery: Gallery) -> None:
        self.embedded: dict[str, tuple[str, str]] = {}
        light, dark = draw(gallery, "light"), draw(gallery, "dark")
        with progress_bar("Drawing the figures, light and dark", len(light)) as advance:
            for name in light:
                vector = name in VECTORS
                self.embedded[name] = (
                    page.embedded(light[name], vector=vector),
                    page.embedded(dark[name], vector=vector),
                )
                advance(len(self.embedded))

    def pictures(self, captions: dict[str, str], *, wide: bool = False) -> str:
        found = {name: caption for name, caption in captions.items() if name in self.embedded}
        return page.pictures(*(page.picture(*self.embedded[n], caption, wide=wide) for n, caption in found.items()))


def _lead(gallery: Gallery) -> list[str]:
    run, agent = gallery.run, gallery.agent
    large: dict[str, str] = {}
    if gallery.scores:
        overall = gallery.scores["summary"]["VMG"]
        low, high = overall["interval"]
        large[f"score; 95 % interval {low:.1f} – {high:.1f}"] = f"{overall['score']:.1f}"
        large["episodes scored"] = f"{sum(row['n_episodes'] for row in gallery.scores['scores']['VMG']):,}"
    large["models, one a seed"] = str(len(run.seeds))
    if agent.graph:
        large["vertices"] = f"{agent.graph.n_vertices:,}"
        large["edges"] = f"{agent.graph.n_edges:,}"
    large["recorded steps"] = f"{agent.data.steps:,}"
    task = gallery.task.name if gallery.task else "no task"
    made = datetime.now(UTC).strftime("%d %B %Y")
    return [page.paragraph(f"{task}, learned from {run.data}. Written on {made}."), page.facts(large)]


def _data(gallery: Gallery) -> list[str]:
    known = gallery.agent.data
    if gallery.episodes is None:
        return [
            page.note(
                f"The data could not be opened here, so this is what the agent remembers: {gallery.missing['data']}"
            ),
            page.listed((name.replace("_", " "), str(value)) for name, value in asdict(known).items()),
        ]
    summary = summarise_data(gallery.episodes)
    rows = [
        ("source", summary.source),
        ("episodes", f"{summary.episodes:,}"),
        ("steps", f"{summary.steps:,}; an episode has {_from_to(summary.lengths)}"),
        ("an observation", f"{summary.observation_size} numbers"),
        ("an action", f"{summary.action_size} numbers, {_from_to(summary.actions)}"),
        ("return of an episode", f"{_from_to(summary.returns)}, mean {summary.returns.mean:.3g}"),
        ("rewarded steps", f"{100 * summary.paid_steps:.3g} %, in {100 * summary.paid_episodes:.3g} % of the episodes"),
        ("held out", _held_out(gallery.run)),
        ("SHA-256 of the content", summary.digest),
    ]  # fmt: skip
    found = [page.note(sentence) for sentence in summary.suspicious]
    return [page.listed(rows), page.heading("Worth a look"), *(found or [page.paragraph("Nothing suspicious.")])]


def _held_out(run: Run) -> str:
    return f"{100 * run.validation:g} % of all episodes; they are not counted here" if run.validation else "nothing"


def _from_to(numbers: Range) -> str:
    return f"{numbers.smallest:,.4g} to {numbers.largest:,.4g}"


def _training(gallery: Gallery, drawn: _Drawn) -> list[str]:
    learn = gallery.run.config.learn
    models = len(gallery.run.seeds)
    words = (
        f"{models} model{'s' * (models > 1)}, {learn.steps:,} updates with batches of {learn.batch_size}; "
        f"{learn.hidden_units} hidden units, a metric space of {learn.metric_dimension} dimensions. "
        "The last checkpoint is used."
    )
    if not gallery.losses:
        return [page.paragraph(words), page.note(gallery.missing["training"])]
    captions = {"training": "The losses that are optimised; dashed where episodes were held out."}
    return [page.paragraph(words), drawn.pictures(captions)]


def _graph(gallery: Gallery, drawn: _Drawn) -> list[str]:
    if "graph" in gallery.missing:
        return [page.note(gallery.missing["graph"])]
    seen = "for the goal of the episode shown below" if gallery.episode and gallery.episode.goal is not None else ""
    rows = [_graph_row(Agent.load(gallery.run.agent_folder(seed))) for seed in gallery.run.seeds]
    header = ("seed", "vertices", "edges", "parts", "in the largest, %", "dead ends", "steps an edge", "radius")
    captions = {
        "graph": f"Vertices by value {seen or 'for the recorded rewards'}; a line for each edge.",
        "floor": "The same vertices where their states lie on the floor.",
    }
    numbers = {
        "histograms": "How values, edge rewards and recorded steps are spread, for the recorded rewards.",
        "radius": "The size of the graph against the radius, and the score where it was measured "
        f"(vmg draw {gallery.run.folder} --radii ... measures more).",
    }
    parts = [page.table(header, rows), page.paragraph(f"Drawn here: the model of seed {gallery.agent.seed}.")]
    return [*parts, drawn.pictures(captions), drawn.pictures(numbers)]


def _graph_row(agent: Agent) -> list[str]:
    if agent.graph is None:
        return [str(agent.seed), *["–"] * 7]
    facts = summarise(agent.graph)
    return [
        str(agent.seed), f"{facts.vertices:,}", f"{facts.edges:,}", f"{facts.components:,}",
        f"{100 * facts.largest_component:.1f}", f"{facts.dead_ends:,}", f"{facts.steps_per_edge:.1f}",
        f"{agent.graph.radius:g}",
    ]  # fmt: skip


def _scores(gallery: Gallery, drawn: _Drawn) -> list[str]:
    if gallery.scores is None:
        return [page.note(f"Not evaluated yet: vmg evaluate {gallery.run.folder}")]
    rows = [_score_row(method, row) for method, models in gallery.scores["scores"].items() for row in models]
    header = ("method", "seed", "score", "95 % interval", "episodes", "how they ended")
    captions = {
        "scores": "Intervals are bootstrapped over models and episodes, or over episodes where there is one model."
    }
    parts = [
        page.paragraph(gallery.scores["protocol"]),
        drawn.pictures(captions),
        page.table(header, rows),
    ]
    if not (gallery.run.agent_folder(gallery.agent.seed) / "scores.json").exists():
        parts.append(page.note("The run's settings have changed since it was scored: evaluate it again."))
    return [*parts, page.heading("Every episode"), *_every_episode(gallery)]


def _score_row(method: str, row: dict[str, Any]) -> list[str]:
    low, high = row["interval"]
    endings = ", ".join(f"{count} {how}" for how, count in row["endings"].items())
    name = METHODS.get(method, method)
    return [name, str(row["seed"]), f"{row['score']:.1f}", f"{low:.1f} – {high:.1f}", str(row["n_episodes"]), endings]


def _every_episode(gallery: Gallery) -> list[str]:
    parts = [
        page.paragraph("A box for each: ✓ a success, a number the subtasks done, ✗ neither. The pointer tells more.")
    ]
    rows = []
    for method, models in gallery.outcomes.items():
        for seed, episodes in models.items():
            parts.append(page.paragraph(f"{METHODS.get(method, method)}, seed {seed}"))
            parts.append(page.outcomes(_mark(episode) for episode in episodes))
            rows += [
                (method, str(seed), str(e.seed), e.ended, str(e.steps), f"{e.reward:.4g}", _report(e)) for e in episodes
            ]
    header = ("method", "model", "episode's seed", "ended", "steps", "return", "noted")
    return [*parts, page.folded(f"All {len(rows):,} episodes as a table", page.table(header, rows))]


def _mark(episode: EpisodeScore) -> tuple[str, bool | None, str]:
    done = len(episode.report.get(DONE, ()))
    mark = "✓" if episode.success else str(done) if done else "✗" if episode.success is False else "·"
    story = f"seed {episode.seed}: {episode.ended} after {episode.steps} steps, return {episode.reward:.4g}"
    return mark, episode.success, f"{story} {_report(episode)}".strip()


def _report(episode: EpisodeScore) -> str:
    return "; ".join(", ".join(value) if isinstance(value, list) else str(value) for value in episode.report.values())


def _failures(gallery: Gallery, drawn: _Drawn) -> list[str]:
    noted = [episode for episodes in gallery.outcomes.get("VMG", {}).values() for episode in episodes]
    if not noted:
        return [page.note("No episodes were run yet.")]
    failed = [episode for episode in noted if is_failure(episode)]
    parts = [page.paragraph(f"{len(failed):,} of {len(noted):,} episodes of VMG failed, over all models.")]
    parts += _subtasks(gallery, noted)
    if not gallery.failed:
        return parts
    found = [diagnose(gallery.agent, episode) for episode in gallery.failed]
    parts.append(page.paragraph(_looked_at(gallery, found)))
    parts.append(
        page.listed((f"seed {each.seed}: {each.kind}", f"{each.why} It ended at {each.where}.") for each in found)
    )
    if "replay" in gallery.missing:
        parts.append(page.note(gallery.missing["replay"]))
    where = {"failures_graph": "Where they ended, on the graph.", "failures_floor": "Where they ended, on the floor."}
    return [*parts, drawn.pictures(where)]


def _looked_at(gallery: Gallery, found: list[Diagnosis]) -> str:
    counts = ", ".join(f"{count} {kind}" for kind, count in Counter(each.kind for each in found).most_common())
    return (
        f"{len(found)} of the failed episodes of the model of seed {gallery.agent.seed}, run again and looked at "
        f"step by step: {counts}."
    )


def _subtasks(gallery: Gallery, noted: list[EpisodeScore]) -> list[str]:
    """Say how often each subtask was done, where there are any."""
    if gallery.episode is None or not any(DONE in episode.report for episode in noted):
        return []
    names = [*(name for name, _ in gallery.episode.subtasks), *gallery.episode.to_do]
    counts = Counter(name for episode in noted for name in episode.report.get(DONE, ()))
    rows = [(name, f"{counts[name]:,}", f"{100 * counts[name] / len(noted):.0f} %") for name in names]
    return [page.table(("subtask", "episodes that did it", "share"), rows)]


def _episode(gallery: Gallery, drawn: _Drawn, films: int) -> list[str]:
    if gallery.episode is None:
        return [page.note("There is nothing to show before the run is solved and evaluated.")]
    captions = {
        "episode_graph": f"Seed {gallery.episode.score.seed} on the graph: its way from vertex to vertex, and its end.",
        "episode_floor": "The same episode on the floor.",
    }
    steps = [(name, str(step)) for name, step in gallery.episode.subtasks]
    subtasks = [page.table(("subtask", "done in step"), steps)] if steps else []
    return [drawn.pictures(captions), *subtasks, page.heading("Films"), *_films(gallery, films)]


def _films(gallery: Gallery, films: int) -> list[str]:
    """Film the episode shown and the first that failed; both kinds of file stay in the run's folder."""
    assert gallery.episode is not None
    assert gallery.task is not None
    folder, parts = gallery.run.folder / "films", []
    for episode in [gallery.episode, *gallery.failed][:films]:
        seed = episode.score.seed
        try:
            made = make_film(gallery.agent, gallery.task, gallery.layout, seed)
        except VMGError as error:
            return [page.note(str(error))]
        for kind in ("mp4", "gif"):
            save_film(made, folder / f"seed_{seed}.{kind}")
        caption = f"Seed {seed}: {ending(made.episode)}. Also as films/seed_{seed}.gif in the run's folder."
        parts.append(page.film((folder / f"seed_{seed}.mp4").read_bytes(), caption))
    return [page.pictures(*parts)]


def _change(gallery: Gallery, drawn: _Drawn) -> list[str]:
    if gallery.change is None:
        return [page.note("There is no solved graph yet.")]
    words = "Nothing was trained again: the edges got other rewards and the graph was solved anew, in milliseconds."
    names = ("change_floor",) if "floor" in gallery.layouts else ("change_graph",)
    caption = f"{gallery.change.names[0]}. {gallery.change.names[1]}. Each side from its least to its most value."
    return [page.paragraph(words), drawn.pictures(dict.fromkeys(names, caption), wide=True)]


def _recipe(gallery: Gallery) -> list[str]:
    run, noted = gallery.run, gallery.outcomes.get("VMG", {}).get(gallery.agent.seed, [])
    measured = gallery.scores["scores"]["VMG"][0]["n_episodes"] if gallery.scores else None
    commands = commands_of(
        run,
        episodes=measured,
        first_seed=min((episode.seed for episode in noted), default=0),
        baselines=len(gallery.outcomes) > 1,
    )
    made = run.agent_folder(gallery.agent.seed) / "versions.json"
    then, now = read_json(made) if made.exists() else {}, versions() | _viewers()
    rows = [(name, then.get(name, "–"), now.get(name, "–")) for name in dict.fromkeys([*then, *now])]
    settings = [
        (stage, name, str(value))
        for stage, values in run.config.to_dict().items()
        for name, value in (values or {}).items()
    ]
    return [
        page.code("\n".join([*commands, f"vmg report {run.folder}"])),
        page.paragraph(
            "The graphs and their scores were made with the versions on the left, this page with those on the right."
        ),
        page.table(("", "the run", "this page"), rows),
        page.folded("Every setting", page.table(("stage", "setting", "value"), settings)),
    ]


def _viewers() -> dict[str, str]:
    found: dict[str, Any] = {}
    for name in VIEWERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
