"""The explorer's pictures and its film, taken from the page itself in a browser.

vmg train pointmaze:umaze --out runs/maze --learn.steps 4000 --learn.hidden-units 128
vmg build runs/maze
vmg solve runs/maze
python docs/explorer_pictures.py runs/maze
"""

import io
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))
from benchmarks.explorer_page import explorer, opened  # noqa: E402

IMAGES = ROOT / "docs" / "images"
GOAL, OTHER, FORBIDDEN = (-0.8, -1.0), (1.0, 1.0), (-0.5, 1.0)
"""Places in the U-maze that are painted."""
FILM = 780
"""Pixels that the film is wide."""


def main(run: str) -> None:
    """Take every picture."""
    with tempfile.TemporaryDirectory() as profile, explorer(Path(run)) as url, opened(Path(profile)) as page:
        for dark in (False, True):
            name = "dark" if dark else "light"
            ready(page, url, 1300, dark)
            new_task(page)
            page.press("#tab-ask")
            page.click(*page.at_place(1.1, -1.0))
            page.appears("#view-ask ol.pieces")
            saved(shot(page), f"explorer-ask-{name}")
            page.press("#tab-play")
            saved(list(played(page))[-1], f"explorer-play-{name}")
        ready(page, url, 400, True)
        new_task(page)
        saved(shot(page), "explorer-phone")
        film(page, url)


def film(page: Any, url: str) -> None:
    """Paint a goal, watch it done."""
    ready(page, url, 1300, False)
    frames = [shot(page)] * 8
    page.press("#tab-task")
    left, top = page.at_place(*GOAL)
    for i in range(8):
        place = (left + 6 * i, top + 20 - 5 * i)
        page.drag([place, place])
        page.until("explorer.lastStroke && !explorer.solving")
        frames.append(shot(page))
    frames += [frames[-1]] * 8
    page.press("#view-task .main")
    frames += list(played(page))
    frames += [frames[-1]] * 14
    small = [frame.resize((FILM, FILM * frame.height // frame.width), Image.Resampling.LANCZOS) for frame in frames]
    file = IMAGES / "explorer-film.webp"
    small[0].save(file, save_all=True, append_images=small[1:], duration=110, loop=0, quality=45, minimize_size=True)


def ready(page: Any, url: str, width: int, dark: bool) -> None:
    """Open the page anew, without the hints of a first visit."""
    page.explore(url, width=width, dark=dark)
    page.evaluate("localStorage.setItem('vmg-explorer-hints', 'seen')")
    page.explore(url, width=width, dark=dark)
    page.until("explorer.pane.renderer.edges.settled")


def new_task(page: Any) -> None:
    """Paint a goal."""
    page.press("#tab-task")
    left, top = page.at_place(*GOAL)
    page.drag([(left, top), (left + 10, top + 10)])
    page.until("explorer.lastStroke && !explorer.solving")


def played(page: Any) -> Iterator[Image.Image]:
    """Play what is wanted, slowly, and yield what is seen."""
    page.evaluate("document.querySelector('#view-play select[aria-label=Speed]').value = '0.2'")
    page.press("#view-play .main")
    end = time.monotonic() + 120
    while not page.evaluate("document.getElementById('view-play').dataset.ended") and time.monotonic() < end:
        yield shot(page)
        time.sleep(1)
    yield shot(page)


def shot(page: Any) -> Image.Image:
    """What is on the screen now."""
    with tempfile.NamedTemporaryFile(suffix=".png") as file:
        page.screenshot(Path(file.name), whole=False)
        return Image.open(io.BytesIO(Path(file.name).read_bytes())).convert("RGB")


def saved(picture: Image.Image, name: str) -> None:
    """Write a picture for the pages."""
    picture.save(IMAGES / f"{name}.webp", quality=78, method=6)


if __name__ == "__main__":
    main(sys.argv[1])
