"""Films: an episode in the environment beside the same episode on the graph."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from vmg.agent.agent import Agent
from vmg.base.console import progress_bar
from vmg.base.errors import VMGError, require
from vmg.base.files import replacing
from vmg.data.counting import counted
from vmg.envs import Task
from vmg.view.episodes import Frame, Watched, watch
from vmg.view.graphs import draw_graph, ending
from vmg.view.layout import Layout
from vmg.view.style import Style, Theme, styled

FRAMES = 100
"""A film has about this many frames; longer episodes go faster."""
SECONDS = 10.0
"""How long a film of that many frames runs."""
INCHES, DPI = (9.6, 5.76), 100  # both sides of the picture are multiples of 16 pixels, as the codec likes
GIF_WIDTH = 720


@dataclass(frozen=True, eq=False)
class Film:
    """The frames of a film, how fast they run, and the episode they show."""

    episode: Watched
    frames: Sequence[Frame]
    per_second: float


def make_film(agent: Agent, task: Task, layout: Layout, seed: int, *, theme: Theme = "light") -> Film:
    """Run the episode of this seed and film it: the environment, and the path ahead and the vertex of the moment."""
    every = max(1, ceil((task.horizon or FRAMES) / FRAMES))
    with progress_bar(f"Running the episode of seed {seed}, frame by frame", 1):
        episode = watch(agent, task, seed, frame_every=every)
    frames = []
    with progress_bar(f"Filming seed {seed}", len(episode.frames)) as advance:
        for frame in _frames(layout, episode, theme):
            frames.append(frame)
            advance(len(frames))
    return Film(episode, frames, FRAMES / SECONDS)


def save_film(film: Film, file: Path) -> None:
    """Write a film as .mp4 (H.264, for browsers and slides) or .gif (for where films cannot be)."""
    if file.suffix == ".gif":
        _save_gif(film, file)
    elif file.suffix == ".mp4":
        _save_mp4(film, file)
    else:
        raise VMGError(f"Films are written as .mp4 or .gif, not as {file.name!r}.")


def _save_mp4(film: Film, file: Path) -> None:
    """Hand the frames to ffmpeg; one thread and no dates, so that the same frames give the same file."""
    height, width = film.frames[0].shape[:2]
    ffmpeg = require("imageio_ffmpeg", "view").get_ffmpeg_exe()
    given = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {film.per_second:g} -i -"
    wanted = "-c:v libx264 -pix_fmt yuv420p -crf 22 -movflags +faststart -threads 1"
    exactly = "-fflags +bitexact -flags:v +bitexact -map_metadata -1 -f mp4"
    with replacing(file) as beside:
        command = [ffmpeg, "-loglevel", "error", "-y", *f"{given} {wanted} {exactly}".split(), str(beside)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stderr is not None
            with suppress(BrokenPipeError):  # then it says why, below
                for frame in _held_at_the_end(film):
                    process.stdin.write(np.ascontiguousarray(frame).data)
            process.stdin.close()
            said = process.stderr.read().decode(errors="replace").strip()
        if process.returncode != 0:
            raise VMGError(f"ffmpeg could not write {file}: {said or process.returncode}")


def _save_gif(film: Film, file: Path) -> None:
    image = require("PIL.Image", "view")
    height, width = film.frames[0].shape[:2]
    size = (GIF_WIDTH, round(GIF_WIDTH * height / width))
    small = [image.fromarray(frame).resize(size) for frame in film.frames[::2]]
    colours = small[-1].quantize(256, method=image.Quantize.FASTOCTREE)  # keeps the few bright ones
    small = [frame.quantize(palette=colours, dither=image.Dither.NONE) for frame in small]
    durations = [round(2000 / film.per_second)] * (len(small) - 1) + [1500]
    with replacing(file) as beside:
        small[0].save(beside, format="GIF", save_all=True, append_images=small[1:], duration=durations, loop=0)


def _held_at_the_end(film: Film) -> Iterator[Frame]:
    yield from film.frames
    for _ in range(round(film.per_second)):
        yield film.frames[-1]


def _frames(layout: Layout, episode: Watched, theme: Theme) -> Iterator[Frame]:
    """Draw the still part once, and on it what moves."""
    with styled(theme) as style:
        scene = _Scene(layout, episode, style)
        for step, seen in episode.frames.items():
            yield scene.frame(step, seen)


class _Scene:
    """The environment on the left, the graph on the right, words above and below."""

    def __init__(self, layout: Layout, episode: Watched, style: Style) -> None:
        figure = require("matplotlib.figure", "view").Figure(figsize=INCHES, dpi=DPI)
        self.canvas = require("matplotlib.backends.backend_agg", "view").FigureCanvasAgg(figure)
        self.episode, self.layout, self.style = episode, layout, style
        self.wanted = (*(name for name, _ in episode.subtasks), *episode.to_do)
        self.way = layout.trail(episode.states, episode.vertices)
        left, right = figure.add_axes((0.01, 0.16, 0.48, 0.79)), figure.add_axes((0.51, 0.16, 0.48, 0.79))
        left.axis("off")
        draw_graph(right, episode.plan, layout, style)
        left.set_title("the environment")
        right.set_title("the graph, vertices by value")
        first = next(iter(episode.frames.values()))
        self.seen = left.imshow(first, animated=True)
        self.words = figure.text(0.02, 0.065, "", fontsize=11, animated=True)
        self.subtasks = figure.text(0.02, 0.02, "", fontsize=11, animated=True)
        casing = {"color": style.paper, "animated": True, "alpha": 0.8}
        self.lines = {
            "trail casing": right.plot([], [], lw=4, zorder=3, **casing)[0],
            "trail": right.plot([], [], color=style.trail, lw=2, zorder=4, animated=True)[0],
            "ahead casing": right.plot([], [], lw=4, zorder=5, **casing)[0],
            "ahead": right.plot([], [], color=style.ahead, lw=1.6, ls="-", zorder=6, animated=True)[0],
            "subgoal": _mark(right, style, "D", style.ahead, 8),
            "here": _mark(right, style, "o", style.trail, 13),
            "target": _mark(right, style, "*", style.goal, 17),
        }
        self._explain(right, style)
        self.canvas.draw()
        self.still = self.canvas.copy_from_bbox(figure.bbox)
        self.moving = [self.seen, *self.lines.values(), self.words, self.subtasks]

    def frame(self, step: int, seen: Frame) -> Frame:
        """Draw one moment."""
        decision = self.episode.decisions[min(step, len(self.episode.decisions) - 1)]
        points, last = self.layout.points, min(step + 1, len(self.way))
        ahead = points[list(decision.path)]
        for name, line in (("trail", self.way[:last]), ("ahead", ahead)):
            for each in (name, f"{name} casing"):
                self.lines[each].set_data(line[:, 0], line[:, 1])
        target = ahead[-1] if self.episode.goal is None or not self.layout.floor else self.episode.goal
        for name, point in (("here", self.way[last - 1]), ("subgoal", points[decision.subgoal]), ("target", target)):
            self.lines[name].set_data([point[0]], [point[1]])
        self.seen.set_data(seen)
        self.words.set_text(self._words(step, len(decision.path) - 1))
        self.subtasks.set_text(self._subtasks(step))
        return self._drawn()

    def _drawn(self) -> Frame:
        self.canvas.restore_region(self.still)
        for artist in self.moving:
            self.canvas.figure.draw_artist(artist)
        return np.array(self.canvas.buffer_rgba())[..., :3]

    def _words(self, step: int, edges: int) -> str:
        if step >= self.episode.score.steps:
            return f"seed {self.episode.score.seed}: {ending(self.episode)}"
        decision = self.episode.decisions[step]
        where = "off the graph, nearest vertex" if decision.off_graph else "at vertex"
        here = f"step {step} of {self.episode.score.steps}: {where} {decision.vertex:,}"
        return f"{here}, {counted(edges, 'edge')} to the target"

    def _subtasks(self, step: int) -> str:
        done = self.episode.done[step - 1] if 0 < step <= len(self.episode.done) else ()
        return "   ".join(f"{'✓' if name in done else '○'} {name}" for name in self.wanted)

    def _explain(self, axis: Any, style: Style) -> None:
        line = require("matplotlib.lines", "view").Line2D
        edge = {"ls": "none", "mec": style.paper}
        axis.legend(
            handles=[
                line([], [], color=style.trail, lw=2, label="where it went"),
                line([], [], color=style.ahead, lw=1.6, label="path ahead"),
                line([], [], color=style.trail, marker="o", ms=9, label="now", **edge),
                line([], [], color=style.ahead, marker="D", ms=6, label="subgoal", **edge),
                line([], [], color=style.goal, marker="*", ms=11, label="target", **edge),
            ],
            loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=5, frameon=False, fontsize=8,
            columnspacing=1.0, handletextpad=0.3, handlelength=1.5,
        )  # fmt: skip


def _mark(axis: Any, style: Style, marker: str, colour: str, size: float) -> Any:
    options = {"marker": marker, "color": colour, "ms": size, "mec": style.paper, "ls": "none", "zorder": 7}
    return axis.plot([], [], animated=True, **options)[0]
