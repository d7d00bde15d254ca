"""`vmg draw`: figures and films as files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vmg.base.console import say, show
from vmg.cli.options import RunFolder, as_text, parsed
from vmg.runs import load_run
from vmg.view.draw import draw_run, measure_radii


@dataclass(frozen=True)
class Draw:
    """Draw a run: the graph, an episode on it, losses, distributions, the radius, a change of values. Needs `view`."""

    run: RunFolder
    """The run's folder."""
    out: Path | None = None
    """Folder of the pictures; None: `figures` in the run's."""
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    """Colours: light for print, dark for screens."""
    formats: tuple[Literal["png", "svg"], ...] = ("png", "svg")
    """Kinds of picture files."""
    films: tuple[int, ...] = ()
    """Seeds of episodes to film, as .mp4 and .gif."""
    radii: tuple[float, ...] = ()
    """Radii to build and score the first agent at; kept in radii.json."""
    radius_episodes: int = 20
    """Episodes to score each radius with."""
    workers: int | None = None
    """Processes that score; None: one per core."""
    seed: int = 0
    """Seed of the layout."""
    json: bool = False
    """Print JSON."""


def run(arguments: list[str]) -> None:
    """Write the pictures."""
    options = parsed(Draw, "draw", arguments)
    drawn = load_run(options.run)
    if not options.radii and (options.radius_episodes, options.workers) != (Draw.radius_episodes, Draw.workers):
        say("The options --radius-episodes and --workers do nothing without --radii.")
    measure_radii(drawn, options.radii, n_episodes=options.radius_episodes, workers=options.workers)
    files = draw_run(
        drawn, options.out, themes=options.themes, formats=options.formats, films=options.films, seed=options.seed
    )
    if options.json:
        show(as_text([str(file) for file in files]))
    say(f"Wrote {len(files)} files: {files[0].parent}" if files else "There is nothing to draw yet.")
