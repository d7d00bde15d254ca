"""The report of a run: one page with data, training, graph, scores, failures, films and the way to make it again."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

from vmg.base.console import progress_bar
from vmg.base.files import write_text
from vmg.runs.run import Run
from vmg.view import outcomes, page, sections
from vmg.view.figures import FIGURES
from vmg.view.figures.base import CHANGE, DATA, EPISODE, FAILURES, GRAPH, RECIPE, SCORES, TRAINING
from vmg.view.gallery import Gallery, gather
from vmg.view.live_graph import live_graph

Parts: TypeAlias = Callable[[Gallery], list[str]]


@dataclass(frozen=True)
class Section:
    """What stands in a section of the report above its figures, and below."""

    above: Parts
    below: Parts | None = None


def write_report(run: Run, file: Path | None = None, *, films: int = 2, replays: int = 8) -> Path:
    """Write the report of a run, by default to report.html in its folder, and return where it is."""
    file = file or run.folder / "report.html"
    gallery = gather(run, replays=replays)
    drawn = _drawn(gallery)
    known = _sections(films)
    last = {RECIPE: known.pop(RECIPE)}
    own = {name: Section(lambda _: []) for name in drawn if name not in {*known, *last}}
    written = {
        name: _written(section, gallery, drawn.get(name, [])) for name, section in {**known, **own, **last}.items()
    }
    write_text(file, page.document(f"Run {run.folder.resolve().name}", _lead(gallery), written))
    return file


def _sections(films: int) -> dict[str, Section]:
    return {
        DATA: Section(sections.data, sections.growth),
        TRAINING: Section(sections.training),
        GRAPH: Section(lambda gallery: [*sections.graph(gallery), *live_graph(gallery)]),
        SCORES: Section(outcomes.protocol, outcomes.scores),
        FAILURES: Section(outcomes.failures),
        EPISODE: Section(outcomes.nothing_to_show, partial(outcomes.episode, films=films)),
        CHANGE: Section(sections.change, sections.asked),
        RECIPE: Section(sections.recipe),
    }


def _written(section: Section, gallery: Gallery, figures: list[str]) -> list[str]:
    below = section.below(gallery) if section.below else []
    return [*section.above(gallery), *([page.pictures(*figures)] if figures else []), *below]


def _drawn(gallery: Gallery) -> dict[str, list[str]]:
    """Draw every figure in both themes, ready for the page, by section."""
    found: dict[str, list[str]] = {}
    figures = FIGURES.items()
    with progress_bar("Drawing the figures, light and dark", len(figures)) as advance:
        for number, (_, figure) in enumerate(figures, 1):
            light = figure.draw(gallery, "light")
            caption = "" if light is None else figure.caption_for(gallery)
            if caption:
                both = (light, figure.draw(gallery, "dark"))
                images = tuple(page.embedded(each, vector=figure.vector) for each in both)
                found.setdefault(figure.section, []).append(page.picture(images, caption, wide=figure.wide))
            advance(number)
    return found


def _lead(gallery: Gallery) -> list[str]:
    run, agent = gallery.run, gallery.agent
    large: dict[str, str] = {}
    if gallery.scores:
        overall = gallery.scores["summary"]["VMG"]
        low, high = overall["interval"]
        large[f"score; 95 % interval {low:.1f} – {high:.1f}"] = f"{overall['score']:.1f}"
        large["episodes scored"] = f"{sum(row['n_episodes'] for row in gallery.scores['scores']['VMG']):,}"
    large["model" if len(run.seeds) == 1 else "models, one per seed"] = str(len(run.seeds))
    if agent.graph:
        large["vertices"] = f"{agent.graph.n_vertices:,}"
        large["edges"] = f"{agent.graph.n_edges:,}"
    large["recorded steps"] = f"{agent.data.steps:,}"
    task = gallery.task.name if gallery.task else "no task"
    made = datetime.now(UTC).strftime("%d %B %Y")
    return [page.paragraph(f"{task}, learned from {run.data}. Written on {made}."), page.facts(large)]
