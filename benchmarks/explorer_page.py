"""How fast the explorer's page is in a browser: `python -m benchmarks.explorer_page --json results/explorer.json`.

The page is served by `vmg explore` in a process of its own and opened in Chromium without a screen. The renderers draw
one made graph: ours, Plotly's from its wheel and deck.gl from pydeck's wheel, where these two are installed.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import vmg.view.explorer
from benchmarks.explorer import SIZES, make_run
from benchmarks.machine import describe_machine
from vmg.base.console import say
from vmg.base.files import write_json

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "tests" / "view"), str(ROOT / "tests" / "explorer")]
from explorer_page import Page  # noqa: E402

COMMAND = "python -m benchmarks.explorer_page"
STATIC = Path(vmg.view.explorer.__file__).parent / "static"
WHEELS = {
    "plotly": ("Plotly, scattergl", "plotly.js", "plotly/package_data/plotly.min.js"),
    "deck": ("deck.gl, from pydeck", "deck.js", "pydeck/nbextension/static/index.js"),
}
"""Page, name, script, and where a wheel has it."""
STROKES = 15
LONGEST = 60
"""Seconds that a renderer is waited for."""
WHOLE = "explorer.pane.renderer.vertices.settled && explorer.pane.renderer.edges.settled"
STROKE = """(async () => {{
    explorer.wanted.clear();
    explorer.wanted.paint("goal", explorer.pane.verticesAt({x}, {y}, 26));
    await explorer.solve(performance.now());
    return [explorer.lastStroke.all, explorer.lastStroke.server, explorer.wanted.painted.size];
}})()"""
PANNING = """new Promise(done => {
    const {pane} = explorer, began = performance.now();
    let k = 0;
    const next = () => {
        if (k === 120 || performance.now() - began > 15000) return done([k, performance.now() - began]);
        pane.camera.pan(8 * Math.sin(k / 8), 5 * Math.cos(k / 8));
        pane.moved();
        k += 1;
        requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
})"""


def main() -> None:
    """Measure all sizes and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, required=True, help="file to write")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="vertices")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for row in measured(Path(folder), given.sizes):
            say(str(row))
            rows.append(row)
            write_json(given.json, {"machine": describe_machine(), "rows": rows})


def measured(folder: Path, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield every row, as soon as it is known."""
    yield from (page_row(folder, vertices) for vertices in sizes)
    for vertices in sizes:
        yield from renderer_rows(folder, vertices)


def page_row(folder: Path, vertices: int) -> dict[str, Any]:
    """Open the page on a run of this size, paint on it and pan."""
    run, _ = make_run(folder / str(vertices), vertices)
    with explorer(run) as url, opened(folder / f"profile-{vertices}") as page:
        page.explore(f"{url}#layout=pca", width=1300)  # computes what is computed once per run, not per page
        began = time.perf_counter()
        page.explore(f"{url}#layout=pca", width=1300)
        page.until(WHOLE, 120)
        first = time.perf_counter() - began
        page.evaluate(STROKE.format(x=300, y=300))  # compiles what was not compiled
        begun = cpu_seconds(page)
        strokes = [page.evaluate(STROKE.format(x=250 + 40 * i, y=250 + 30 * (i % 9))) for i in range(STROKES)]
        painted = cpu_seconds(page)
        page.until(WHOLE, 120)
        still = cpu_seconds(page)
        frames, milliseconds = page.evaluate(PANNING)
        panned = cpu_seconds(page)
        edges = page.evaluate("explorer.facts.edges")
        return {
            "command": COMMAND,
            "what": "page",
            "vertices": page.evaluate("explorer.facts.vertices"),
            "edges": edges,
            "first_picture_s": round(first, 2),
            "stroke_ms": round(statistics.median(all for all, _, _ in strokes)),
            "stroke_server_ms": round(statistics.median(server for _, server, _ in strokes)),
            "frames_per_second": round(1000 * frames / milliseconds),
            "stroke_browser_cpu_ms": round(1000 * (painted - begun) / STROKES),
            "frame_browser_cpu_ms": round(1000 * (panned - still) / frames),
            "load": load(),
        }


def renderer_rows(folder: Path, vertices: int) -> Iterator[dict[str, Any]]:
    """Draw one made graph with every renderer that is here."""
    files = folder / "renderers"
    shutil.copytree(ROOT / "benchmarks" / "renderers", files, dirs_exist_ok=True)
    shutil.copytree(STATIC, files / "static", dirs_exist_ok=True)
    for page, (name, script, source) in {"ours": ("ours", "", ""), **WHEELS}.items():
        if source:
            package, _, rest = source.partition("/")
            found = find_spec(package)
            if found is None or found.origin is None:
                say(f"{name} is not installed: pip install {package}")
                continue
            shutil.copyfile(Path(found.origin).parent / rest, files / script)
        with website(files) as url, opened(folder / f"profile-{page}-{vertices}") as tab:
            tab.visit(f"{url}{page}.html?vertices={vertices}&edges={5 * vertices}", width=1300)
            first, fps = timed(tab)
        yield {
            "command": COMMAND,
            "what": "renderer",
            "renderer": name,
            "vertices": vertices,
            "edges": 5 * vertices,
            "first_picture_s": first,
            "frames_per_second": fps,
            "load": load(),
        }


def timed(tab: Page) -> tuple[float | None, float | None]:
    """Seconds to the first picture, and frames per second; None for what does not come in time."""
    end = time.monotonic() + LONGEST
    while not (found := tab.evaluate("window.fps ? [window.first, window.fps] : null")):
        if time.monotonic() > end:
            first = tab.evaluate("window.first ?? null")
            return first and round(first, 2), None
        time.sleep(0.2)
    return round(found[0], 2), round(found[1], 2 if found[1] < 1 else 1)


@contextmanager
def explorer(run: Path) -> Iterator[str]:
    """Serve a run with `vmg explore`; yields its address."""
    command = [sys.executable, "-m", "vmg", "explore", str(run), "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            url = next(found[0] for line in process.stderr if (found := re.search(r"http://\S+", line)))
            wait_for(url)
            yield url
        finally:
            process.terminate()


def wait_for(url: str, seconds: float = 120.0) -> None:
    """Wait until a server answers."""
    end = time.monotonic() + seconds
    while True:
        try:
            urlopen(url).close()
        except URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


@contextmanager
def website(folder: Path) -> Iterator[str]:
    """Serve a folder; yields its address."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def opened(profile: Path) -> Iterator[Page]:
    """Yield a browser."""
    page = Page(profile)
    try:
        yield page
    finally:
        page.close()


def cpu_seconds(page: Page) -> float:
    """How long the browser has computed, all its processes together: less a matter of what else runs than time is."""
    return sum(float(process["cpuTime"]) for process in page.of_browser("SystemInfo.getProcessInfo")["processInfo"])


def load() -> float:
    """How many processes wanted a core in the last minute, these included."""
    return round(os.getloadavg()[0], 1)


if __name__ == "__main__":
    main()
