"""The graph of a report, to hover over and zoom into: drawn by the explorer's own code, all of it in the page."""

import re
from base64 import b64encode
from html import escape
from pathlib import Path

import numpy as np

from vmg.view.explorer.frames import framed
from vmg.view.explorer.graphs import walls
from vmg.view.gallery import Gallery
from vmg.view.layout import Layout

STATIC = Path(__file__).parent / "explorer" / "static"
MOST_EDGES = 60_000
"""More would make the page large and nothing clearer."""
IMPORT = re.compile(r'^import .* from "\./(\w+\.js)";\n', re.MULTILINE)


def live_graph(gallery: Gallery) -> list[str]:
    """Return the graph as part of a page; nothing before it is solved."""
    if not gallery.layouts:
        return []
    shown = dict(sorted(gallery.layouts.items()))  # the floor, where there is one, before the graph
    edges, most = gallery.agent.built.n_edges, MOST_EDGES
    less = f" {most:,} of {edges:,} edges are shown." if edges > most else ""
    options = "".join(f'<option value="{name}">{escape(layout.title)}</option>' for name, layout in shown.items())
    return [
        f"<style>{(STATIC / 'report.css').read_text(encoding='utf-8')}</style>"
        '<figure class="live"><div class="pane"><canvas class="floor"></canvas><canvas class="graph"></canvas>'
        '<canvas class="overlay" tabindex="0" role="application" aria-label="The graph: arrow keys pan, plus and minus '
        f'zoom, 0 shows all"></canvas><select aria-label="Layout">{options}</select></div>'
        '<p class="tip" aria-live="polite"></p>'
        f"<p>Point at a vertex for its number, value and visits. Drag to move; click, then scroll to zoom.{less}</p>"
        f'<script type="text/plain">{b64encode(_packed(gallery, shown)).decode()}</script></figure>'
        f'<script type="module">{bundled("report.js")}</script>'
    ]


def _packed(gallery: Gallery, shown: dict[str, Layout]) -> bytes:
    """Return what the script draws: a fair part of the edges, values, visits, and places in every layout."""
    graph = gallery.agent.built
    chosen = np.linspace(0, graph.n_edges - 1, min(graph.n_edges, MOST_EDGES)).astype(np.int64)
    arrays: dict[str, np.ndarray] = {"tails": graph.tails[chosen], "heads": graph.heads[chosen]}
    arrays["values"] = gallery.plan.values
    arrays["visits"] = np.bincount(graph.labels, minlength=graph.n_vertices).astype(np.int32)
    for name, layout in shown.items():
        arrays |= {f"{name}.x": layout.points[:, 0], f"{name}.y": layout.points[:, 1]}
    places = [{"name": name, "floor": walls(each.floor) if each.floor else None} for name, each in shown.items()]
    return framed({"vertices": graph.n_vertices, "layouts": places}, arrays)


def bundled(name: str) -> str:
    """Return a module of the page with all that it imports, as one script."""
    parts: dict[str, str] = {}
    _gather(name, parts)
    return "\n".join(parts.values())


def _gather(name: str, parts: dict[str, str]) -> None:
    text = (STATIC / name).read_text(encoding="utf-8")
    for imported in IMPORT.findall(text):
        if imported not in parts:
            _gather(imported, parts)
    parts[name] = re.sub(r"^export ", "", IMPORT.sub("", text), flags=re.MULTILINE)
