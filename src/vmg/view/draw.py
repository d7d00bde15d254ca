"""Pictures and films of a run as files, for papers and slides."""

from collections.abc import Sequence
from pathlib import Path

from vmg.base.console import progress_bar
from vmg.base.errors import VMGError
from vmg.runs.run import Run
from vmg.view.figures import draw_figures
from vmg.view.film import make_film, save_film
from vmg.view.gallery import Gallery, gather
from vmg.view.radii import score_by_radius
from vmg.view.style import Theme, save_figure


def draw_run(
    run: Run,
    folder: Path | None = None,
    *,
    themes: Sequence[Theme] = ("light", "dark"),
    formats: Sequence[str] = ("png", "svg"),
    films: Sequence[int] = (),
    seed: int = 0,
) -> list[Path]:
    """Write every figure there is material for, and a film of each episode asked for by its seed."""
    folder = folder or run.folder / "figures"
    gallery = gather(run, seed=seed)
    files: list[Path] = []
    for theme in themes:
        figures = draw_figures(gallery, theme)
        with progress_bar(f"Drawing, {theme}", len(figures)) as advance:
            for number, (name, figure) in enumerate(figures.items(), 1):
                for kind in formats:
                    files.append(folder / f"{name}_{theme}.{kind}")
                    save_figure(figure, files[-1])
                advance(number)
    for episode in films:
        files += _filmed(gallery, episode, folder)
    return files


def measure_radii(run: Run, radii: Sequence[float], *, n_episodes: int, workers: int | None = None) -> None:
    """Score the first agent at these radii; the run's pictures and report show them from then on."""
    if radii:
        agent = run.agent(run.seeds[0])
        score_by_radius(run, agent, run.episodes()[0], radii, n_episodes=n_episodes, workers=workers)


def _filmed(gallery: Gallery, episode: int, folder: Path) -> list[Path]:
    if gallery.task is None or not gallery.layouts:
        raise VMGError(f"{gallery.run.folder} cannot be filmed yet: it needs a task and a solved graph (`vmg solve`).")
    film = make_film(gallery.agent, gallery.task, gallery.layout, episode)
    files = [folder / f"film_seed_{episode}.{kind}" for kind in ("mp4", "gif")]
    for file in files:
        save_film(film, file)
    return files
