"""Pictures of states: the environment put into a state and drawn, by one thread, which alone may use its renderer."""

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

from vmg.base.errors import require
from vmg.base.types import Float32s
from vmg.envs import Task
from vmg.view.episodes import Frame, draw_plainly, rendering
from vmg.view.explorer.graphs import Explored
from vmg.view.explorer.plans import Shelf
from vmg.view.explorer.problems import ImpossibleError

KEPT, ENVIRONMENTS = 256, 2
LARGEST = 480
"""Pixels of the longer side."""


class Studio:
    """Draws states; keeps the last pictures, and the environments they were drawn with."""

    def __init__(self) -> None:
        self._pictures: Shelf[bytes] = Shelf(KEPT)
        self._thread = ThreadPoolExecutor(1, "pictures")
        self._environments: OrderedDict[int, Any] = OrderedDict()

    def picture(self, shown: Explored, vertex: int) -> bytes:
        """Return a picture of a vertex's state as PNG, or say why there is none."""
        task = shown.task
        if task is None or task.arrange is None or why_no_pictures(shown):
            raise ImpossibleError(why_no_pictures(shown) or NOT_ARRANGED)
        state = shown.graph.states[vertex]
        return self._pictures.get((shown.number, vertex), lambda: self._drawn(shown, task, state))[0]

    def close(self) -> None:
        """Let go of the environments."""
        self._thread.submit(self._close_all).result()
        self._thread.shutdown()

    def _drawn(self, shown: Explored, task: Task, state: Float32s) -> bytes:
        return self._thread.submit(self._draw, shown, task, state).result()

    def _draw(self, shown: Explored, task: Task, state: Float32s) -> bytes:
        assert task.arrange is not None
        env = self._environment(shown, task)
        task.arrange(env, state)
        return encoded(env.render(), "PNG")

    def _environment(self, shown: Explored, task: Task) -> Any:
        if shown.number not in self._environments:
            while len(self._environments) >= ENVIRONMENTS:
                self._environments.popitem(last=False)[1].close()
            env = self._environments[shown.number] = rendering(task)
            env.reset(seed=0, options=dict(task.begin(0)) if task.begin else None)
            draw_plainly(env)
        self._environments.move_to_end(shown.number)
        return self._environments[shown.number]

    def _close_all(self) -> None:
        while self._environments:
            self._environments.popitem()[1].close()


NOT_ARRANGED = (
    "The environment of this run cannot be put into a state, so a single state cannot be drawn: give its task "
    "arrange=..., a function of the environment and a state."
)


def why_no_pictures(shown: Explored) -> str:
    """Say why the environment cannot be drawn; nothing where it can, as far as is known before it is made."""
    task = shown.task
    if task is None:
        return f"There is no environment here to draw. {shown.why_no_task}"
    if callable(task.environment) and not _renders(task.environment):
        return f"The environment of {task.name} cannot be filmed: make it with render_mode='rgb_array'."
    return ""


def _renders(environment: Any) -> bool:
    metadata = getattr(environment, "metadata", None)
    return not isinstance(metadata, dict) or "rgb_array" in metadata.get("render_modes", ())


def encoded(frame: Frame, kind: str) -> bytes:
    """Return a picture as PNG or JPEG, no larger than a page shows it."""
    image, file = require("PIL.Image", "view").fromarray(frame), BytesIO()
    image.thumbnail((LARGEST, LARGEST))
    image.convert("RGB").save(file, kind, **({"quality": 82} if kind == "JPEG" else {"compress_level": 3}))
    return file.getvalue()


def can_be_drawn(shown: Explored) -> bool:
    """Say whether a single state can be drawn, as far as is known before the environment is made."""
    return shown.task is not None and shown.task.arrange is not None and not why_no_pictures(shown)
