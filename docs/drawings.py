"""The drawings of docs/method.md. `python docs/drawings.py` writes them into docs/images; a test holds them to it.

Each is one small SVG file that follows the reader's light or dark colours. Every number in them is computed here.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import cos, hypot, pi, sin
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

import vmg
from vmg.base.types import Float64s
from vmg.graph import iterate_values
from vmg.view.style import STYLES, Style, Theme, value_colours

IMAGES = Path(__file__).parent / "images"
Point = tuple[float, float]

SIZE, SMALL = 16, 14
SCALE, LEFT, BOTTOM = 74.0, 96.0, 352.0
"""Pixels per unit of the worked example, and where its origin lies."""


class Drawing:
    """SVG elements in drawing order. Colours are named; the reader's theme decides which they are."""

    def __init__(self, width: int, height: int, words: str) -> None:
        self.width, self.height, self.words = width, height, words
        self.elements: list[str] = []
        self.used: set[str] = set()

    def circle(
        self, at: Point, radius: float, fill: str = "", line: str = "", width: float = 1.5, dash: str = ""
    ) -> None:
        """Draw a circle."""
        self._add("circle", f'cx="{_n(at[0])}" cy="{_n(at[1])}" r="{_n(radius)}"', fill, line, width, dash)

    def box(self, at: Point, width: float, height: float, fill: str = "paper", line: str = "ink") -> None:
        """Draw a box around a point, its corners rounded."""
        x, y = at[0] - width / 2, at[1] - height / 2
        place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="8"'
        self._add("rect", place, fill, line, 1.5, "")

    def line(self, points: Sequence[Point], line: str = "ink", width: float = 1.5, dash: str = "") -> None:
        """Draw a line through points."""
        path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self._add("polyline", f'points="{path}"', "", line, width, dash)

    def arrow(
        self, start: Point, end: Point, line: str = "ink", width: float = 1.5, dash: str = "", gaps: Point = (0, 0)
    ) -> None:
        """Draw an arrow that leaves so much of a gap at its two ends."""
        length = hypot(end[0] - start[0], end[1] - start[1])
        x, y = (end[0] - start[0]) / length, (end[1] - start[1]) / length
        head = 6 + 1.6 * width
        start = (start[0] + gaps[0] * x, start[1] + gaps[0] * y)
        tip = (end[0] - gaps[1] * x, end[1] - gaps[1] * y)
        back = (tip[0] - head * x, tip[1] - head * y)
        self.line([start, back], line, width, dash)
        side = 0.42 * head
        corners = [tip, (back[0] - side * y, back[1] + side * x), (back[0] + side * y, back[1] - side * x)]
        self._add("polygon", 'points="' + " ".join(f"{_n(a)},{_n(b)}" for a, b in corners) + '"', line, "", 0, "")

    def loop(self, at: Point, radius: float, line: str = "ink") -> None:
        """Draw an arrow from a vertex onto itself, above it."""
        turn = [(at[0] + 15 * cos(t), at[1] - radius - 13 - 15 * sin(t)) for t in np.linspace(-0.3 * pi, 1.12 * pi, 24)]
        self.line(turn[:-1], line)
        self.arrow(turn[-2], (at[0] - 9, at[1] - radius - 1), line)

    def text(
        self, at: Point, words: str, *, anchor: str = "middle", fill: str = "ink", size: int = SIZE, bold: bool = False
    ) -> None:
        """Write a line; the point is in the middle of its height."""
        weight = ' font-weight="bold"' if bold else ""
        place = f'x="{_n(at[0])}" y="{_n(at[1] + 0.35 * size)}" text-anchor="{anchor}" font-size="{size}"{weight}'
        self.used.add(fill)
        self.elements.append(f'<text {place} class="f-{fill}">{escape(words)}</text>')

    def label(self, at: Point, words: str, width: float, *, fill: str = "ink") -> None:
        """Write on a patch of paper, over a line."""
        self._add(
            "rect",
            f'x="{_n(at[0] - width / 2)}" y="{_n(at[1] - 11)}" width="{_n(width)}" height="22"',
            "paper",
            "",
            0,
            "",
        )
        self.text(at, words, fill=fill, size=SMALL)

    def svg(self) -> str:
        """Return the file's text."""
        rules = "".join(_rules(self.used, "light"))
        dark = "".join(_rules(self.used, "dark"))
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img" font-family="system-ui, sans-serif">',
                f"<title>{escape(self.words)}</title>",
                f"<style>{rules}@media (prefers-color-scheme: dark){{{dark}}}</style>",
                f'<rect width="{self.width}" height="{self.height}" rx="8" class="f-paper"/>',
                *self.elements,
                "</svg>\n",
            ]
        )

    def _add(self, kind: str, place: str, fill: str, line: str, width: float, dash: str) -> None:
        self.used |= {name for name in (fill, line) if name}
        classes = " ".join(filter(None, [f"f-{fill}" if fill else "", f"s-{line}" if line else ""]))
        rest = "" if fill else ' fill="none"'
        rest += f' stroke-width="{_n(width)}"' if line else ""
        rest += f' stroke-dasharray="{dash}"' if dash else ""
        self.elements.append(f'<{kind} {place} class="{classes}"{rest}/>')


def metric() -> Drawing:
    """The metric space and what its losses pull and push."""
    drawing = Drawing(640, 460, "One action in the metric space, and what the losses pull together and push apart")
    f, predicted, following = (205.0, 235.0), (340.0, 190.0), (384.0, 158.0)
    near, far, unit = (300.0, 290.0), (560.0, 250.0), 150.0
    drawing.circle(predicted, unit, fill="soft", line="faint", dash="5 5")
    drawing.line([predicted, (predicted[0] + unit * cos(0.2), predicted[1] + unit * sin(0.2))], "faint")
    drawing.text((428, 192), "√m", fill="faint")
    drawing.arrow(f, predicted, "ink", 2.5, gaps=(9, 10))
    drawing.arrow(predicted, following, "lines2", 2.5, gaps=(9, 9))
    drawing.arrow(near, (near[0] - 26, near[1] + 65), "lines1", 2.5, gaps=(9, 0))
    for at, colour in ((f, "ink"), (following, "lines2"), (near, "lines1"), (far, "faint")):
        drawing.circle(at, 7, fill=colour)
    drawing.circle(predicted, 7, fill="paper", line="ink", width=2.5)
    drawing.text((184, 238), "f = Enc_s(s)", anchor="end")
    drawing.text((268, 196), "Δf")
    drawing.text((338, 164), "f + Δf", anchor="end")
    drawing.text((398, 150), "f′", anchor="start", fill="lines2")
    drawing.text((316, 290), "f′ⱼ", anchor="start", fill="lines1")
    drawing.text((560, 280), "f′ⱼ far enough:", fill="faint", size=SMALL)
    drawing.text((560, 299), "left alone", fill="faint", size=SMALL)
    for row, (words, colour) in enumerate(
        [
            ("pulled: the arrow of an action ends at the next state, D²(f + Δf, f′) → 0", "lines2"),
            ("pushed: other next states stay away, max(m − D²(f + Δf, f′ⱼ), 0) → 0", "lines1"),
            ("kept short, max(‖Δf‖ − m, 0) → 0; and Dec_a(f, Δf) tells the action", "ink"),
        ]
    ):
        drawing.circle((30, 388 + 25 * row), 5, fill=colour)
        drawing.text((44, 388 + 25 * row), words, anchor="start", size=SMALL)
    return drawing


def merging() -> Drawing:
    """The worked example's states, the circles of its vertices, and which state made each."""
    episodes, graph = _example()
    drawing = Drawing(640, 490, "Ten recorded states become six vertices: one within the radius of a vertex joins it")
    for vertex in range(graph.n_vertices):
        drawing.circle(_place(graph.features[vertex]), SCALE * graph.radius, fill="soft", line="faint", width=1)
    drawing.line([_place((0, 0)), _place((-1 / 2**0.5, -1 / 2**0.5))], "faint")
    drawing.text((74, 396), "radius", anchor="start", fill="faint", size=SMALL)
    for episode, colour, dash in ((episodes[0], "lines0", ""), (episodes[1], "lines1", "7 4")):
        places = [_place(point) for point in episode.observations]
        for start, end in pairwise(places):
            drawing.arrow(start, end, colour, 2, dash, gaps=(8, 9))
    made, below = {int(row) for row in graph.rows}, {1, 5, 7, 9}
    for row, point in enumerate(episodes.observations):
        colour, at = "lines0" if row < 4 else "lines1", _place(point)
        drawing.circle(at, 7, fill=colour if row in made else "paper", line=colour, width=2.5)
        shift = (15, 20) if row in below else (-14, -14)
        drawing.text((at[0] + shift[0], at[1] + shift[1]), f"o{_sub(row)}", fill=colour, size=SMALL)
    for vertex in range(graph.n_vertices):
        x, y = _place(graph.features[vertex])
        drawing.text((x, y + (SCALE + 15 if y > 200 else -SCALE - 13)), f"vertex {vertex}", bold=True, size=SMALL)
    drawing.circle((350, 472), 6, fill="ink", line="ink", width=2)
    drawing.text((362, 472), "makes a vertex", anchor="start", size=SMALL)
    drawing.circle((486, 472), 6, fill="paper", line="ink", width=2)
    drawing.text((498, 472), "joins the nearest", anchor="start", size=SMALL)
    drawing.line([(24, 472), (58, 472)], "lines0", 2)
    drawing.text((66, 472), "episode A", anchor="start", fill="lines0", size=SMALL)
    drawing.line([(170, 472), (204, 472)], "lines1", 2, "7 4")
    drawing.text((212, 472), "episode B", anchor="start", fill="lines1", size=SMALL)
    return drawing


def rewards() -> Drawing:
    """How what is earned inside a vertex is shared between the edges that touch it."""
    episodes, graph = _example()
    earned = vmg.reward(graph, episodes)
    assert earned.slots is not None
    own, inside = earned.slots[: graph.n_edges], earned.slots[graph.n_edges :]
    steps = episodes.rewards[graph.slots == graph.n_edges + 4]
    words = "An edge earns all that its own steps earn, and half of what the steps inside its two vertices earn"
    drawing = Drawing(640, 330, words)
    centres = {1: (92.0, 150.0), 4: (320.0, 150.0), 5: (548.0, 150.0)}
    for vertex, at in centres.items():
        drawing.circle(at, 78, fill="soft", line="faint", width=1)
        drawing.text((at[0], 44), f"vertex {vertex}", bold=True)
    three = [(276.0, 166.0), (320.0, 112.0), (362.0, 172.0)]
    for start, end in pairwise(three):
        drawing.arrow(start, end, "lines1", 2.5, gaps=(9, 10))
    for at in (*three, (76.0, 166.0), (108.0, 134.0), centres[5]):
        drawing.circle(at, 6, fill="lines1" if at in three else "ink")
    drawing.text((284, 128), _number(steps[0]), fill="lines1", bold=True)
    drawing.text((356, 134), _number(steps[1]), fill="lines1", bold=True)
    drawing.text((320, 204), f"mean {_number(inside[4])}", fill="lines1", size=SMALL)
    drawing.text((92, 204), "no step inside", fill="faint", size=SMALL)
    drawing.text((548, 204), "no step inside", fill="faint", size=SMALL)
    drawing.arrow((292, 234), (214, 272), "lines1", 2)
    drawing.arrow((348, 234), (426, 272), "lines1", 2)
    drawing.text((320, 268), "half each way", fill="lines1", size=SMALL)
    for x, middle, tail, head in ((156, 206, 1, 4), (484, 434, 4, 5)):
        edge = int(np.flatnonzero((graph.tails == tail) & (graph.heads == head))[0])
        drawing.arrow(centres[tail], centres[head], "ink", 2.5, gaps=(84, 84))
        drawing.text((middle, 132), _number(own[edge]))
        drawing.text((middle, 174), "one step", fill="faint", size=SMALL)
        parts = f"½·{_number(inside[tail])} + {_number(own[edge])} + ½·{_number(inside[head])}"
        drawing.text((x, 300), f"R_G({tail}→{head}) = {parts} = {_number(earned.edges[edge])}")
    return drawing


def values() -> Drawing:
    """The worked example solved: values, the target, the path to it, and the subgoal on it."""
    episodes, graph = _example()
    earned = vmg.reward(graph, episodes)
    solved, routes = iterate_values(graph, earned, 0.5), vmg.solve(graph, earned, 0.5)
    path = routes.path(0)
    subgoal = int(routes.vertices(routes.ahead(np.array([0], np.int32), 2))[0])
    drawing = Drawing(
        640, 476, "The graph solved: each vertex with its value, the path from vertex 0 to the best, and the subgoal"
    )
    at = [_place(feature) for feature in graph.features]
    on_path = set(pairwise(path))
    for tail, head, reward in zip(graph.tails.tolist(), graph.heads.tolist(), earned.edges, strict=True):
        on = (tail, head) in on_path
        drawing.arrow(at[tail], at[head], "trail" if on else "edge", 5 if on else 1.8, gaps=(27, 29))
        middle = ((at[tail][0] + at[head][0]) / 2, (at[tail][1] + at[head][1]) / 2)
        drawing.label(middle, _number(reward), 34)
    for vertex, place in enumerate(at):
        if solved.looping[vertex]:
            drawing.loop(place, 24, "edge")
        drawing.circle(place, 24, fill="paper", line=f"value{_level(solved.values, vertex)}", width=6)
        drawing.text(place, str(vertex), bold=True)
        beside = (place[0] + 16 * (vertex == 4), place[1] + (-42 if vertex == 3 else 42))  # clear of the arrows
        drawing.text(beside, f"V = {_number(solved.values[vertex])}", size=SMALL)
    drawing.text((at[0][0], at[0][1] - 42), "here: v_c", fill="trail", bold=True)
    drawing.text((at[subgoal][0] - 18, at[subgoal][1] - 44), "subgoal, 2 edges on", fill="trail", bold=True)
    end = at[path[-1]]
    drawing.text((end[0], end[1] - 72), "target: v*", fill="trail", bold=True)
    drawing.text((320, 432), "On the edges: R_G. Discount ½.", size=SMALL)
    drawing.text((320, 454), "A dead end loops; each round pays its best incoming R_G.", size=SMALL)
    return drawing


def recordings() -> Drawing:
    """A path along recordings: on along one, over to another inside a vertex, on along that one."""
    drawing = Drawing(
        640, 400, "A path follows one recording, changes to another inside a vertex, and pays for the gap"
    )
    a = [(52.0, 96.0), (116.0, 122.0), (182.0, 138.0), (246.0, 162.0), (306.0, 152.0), (372.0, 104.0), (440.0, 74.0)]
    b = [
        (64.0, 330.0),
        (134.0, 318.0),
        (204.0, 286.0),
        (262.0, 252.0),
        (322.0, 222.0),
        (390.0, 210.0),
        (458.0, 222.0),
        (524.0, 196.0),
        (586.0, 176.0),
    ]
    centre = (302.0, 190.0)
    drawing.circle(centre, 68, fill="soft", line="faint", width=1)
    for walk, colour, dash in ((a, "lines0", ""), (b, "lines2", "7 4")):
        for start, end in pairwise(walk):
            drawing.arrow(start, end, colour, 1.8, dash, gaps=(6, 7))
        for at in walk:
            drawing.circle(at, 5, fill=colour)
    drawing.line(a[:5], "trail", 7)
    drawing.line([a[4], centre, b[4]], "trail", 4, "3 5")
    drawing.line(b[4:], "trail", 7)
    for at in (*a[:5], *b[4:]):
        drawing.circle(at, 5, fill="paper", line="trail", width=2)
    drawing.circle(centre, 5, fill="ink")
    drawing.text((centre[0] - 12, centre[1] + 2), "f_v", anchor="end", size=SMALL)
    drawing.text((a[4][0] - 2, a[4][1] - 16), "f", size=SMALL)
    drawing.text((b[4][0] + 4, b[4][1] + 19), "f′", anchor="start", size=SMALL)
    drawing.text((52, 68), "here", fill="trail", bold=True)
    drawing.text((586, 148), "target", fill="trail", bold=True)
    drawing.text((452, 66), "recording A", anchor="start", fill="lines0", size=SMALL)
    drawing.text((64, 354), "recording B", fill="lines2", size=SMALL)
    drawing.text((234, 116), "vertex v", anchor="middle", fill="faint", size=SMALL)
    drawing.text((336, 286), "to change costs", anchor="start", size=SMALL)
    drawing.text((336, 308), "switch_cost · (‖f − f_v‖ + ‖f′ − f_v‖) / ℓ", anchor="start", size=SMALL)
    drawing.text((336, 340), "to go on costs 0 to 1 a step:", anchor="start", size=SMALL)
    drawing.text((336, 362), "the less, the more the step earns", anchor="start", size=SMALL)
    return drawing


def decision() -> Drawing:
    """One decision from observation to action."""
    drawing = Drawing(640, 240, "One decision: observation, feature, vertex, path, subgoal, action")
    top = [
        (84.0, 66.0, "observation"),
        (244.0, 66.0, "feature"),
        (404.0, 66.0, "vertex v_c"),
        (556.0, 66.0, "path to v*"),
    ]
    bottom = [(556.0, 186.0, "subgoal’s state"), (306.0, 186.0, "action")]
    boxes = [*top, *bottom]
    verbs = ["encode", "nearest", "look up", "subgoal_steps on", "translate"]
    for (x0, y0, _), (x1, y1, _), verb in zip(boxes[:-1], boxes[1:], verbs, strict=True):
        across = y0 == y1
        gaps = (59.0, 62.0) if across else (23.0, 26.0)
        gaps = (71.0, 62.0) if verb == "translate" else gaps
        drawing.arrow((x0, y0), (x1, y1), "ink", 2, gaps=gaps)
        if across:
            drawing.text(((x0 + x1) / 2, y0 + (24 if verb == "translate" else -34)), verb, fill="trail", size=SMALL)
        else:
            drawing.text((x0 - 12, (y0 + y1) / 2), verb, anchor="end", fill="trail", size=SMALL)
    drawing.line([(84, 90), (84, 140), (404, 140)], "faint", 1.5, "5 5")
    drawing.arrow((404, 140), (404, 182), "faint", 1.5, "5 5")
    drawing.text((96, 126), "the translator sees the observation too", anchor="start", fill="faint", size=SMALL)
    for x, y, words in boxes:
        drawing.box((x, y), 142 if len(words) > 12 else 116, 44, fill="soft", line="faint")
        drawing.text((x, y), words)
    return drawing


DRAWINGS = {each.__name__: each for each in (metric, merging, rewards, values, recordings, decision)}


def _example() -> tuple[vmg.Episodes, vmg.MemoryGraph]:
    """The worked example of docs/method.md."""
    a = [(0, 0), (0.5, 0), (2, 0), (4, 0)]
    b = [(0, 3), (2, 0.5), (4, 3), (4.5, 3), (4, 3.5), (6, 3)]
    idle = np.zeros((5, 1))
    walks: list[Any] = [(a, idle[:3], [0, 0, 1], False, True), (b, idle, [0, 0, 2, 4, 0], False, True)]
    episodes = vmg.Episodes.from_list(walks)
    return episodes, vmg.build(episodes.observations, episodes, radius=1.0)


def _place(point: Sequence[float]) -> Point:
    return LEFT + SCALE * float(point[0]), BOTTOM - SCALE * float(point[1])


def _number(value: float) -> str:
    return f"{value:.3g}"


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _sub(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _level(values: Float64s, vertex: int) -> int:
    """Where a value lies in the range of all, in ten parts."""
    return round(10 * float((values[vertex] - values.min()) / np.ptp(values)))


def _rules(names: set[str], theme: Theme) -> list[str]:
    style = STYLES[theme]
    return [
        f".f-{name}{{fill:{_colour(style, name)}}}.s-{name}{{stroke:{_colour(style, name)}}}"
        for name in sorted({*names, "paper"})
    ]


def _colour(style: Style, name: str) -> str:
    """Return a theme's colour: a field of its style, one of its lines, a value of 0 to 10, or shaded paper."""
    if name == "soft":
        return "#f1f1f1" if style is STYLES["light"] else "#23262d"
    if name.startswith("lines"):
        return style.lines[int(name.removeprefix("lines"))]
    if name.startswith("value"):
        red, green, blue, _ = value_colours(style)(int(name.removeprefix("value")) / 10)
        return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"
    return str(getattr(style, name))


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for name, draw in DRAWINGS.items():
        (IMAGES / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")
