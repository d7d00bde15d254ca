"""What became new when a graph was extended: vertices, places in reach, shorter ways, states unlike anything before."""

from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from vmg import learn
from vmg.base.types import Float64s
from vmg.data.episodes import Episodes
from vmg.graph import MemoryGraph
from vmg.graph.evidence import hops_from
from vmg.networks import embed_alike

if TYPE_CHECKING:
    from vmg.agent.agent import Agent

STARTS = 20
"""Recorded starts from which ways are compared."""
SHOWN = 5
"""Shorter ways that are named."""
WORSE = 1.5
"""From so many times the loss on known episodes on it is time to train again."""
UNLIKE = 0.1
"""Share of new states off the earlier graph from which on it is, too."""

SMALLEST = 1e-30
"""Stands for a radius of 0."""


@dataclass(frozen=True)
class ShorterWay:
    """A way between two earlier vertices that has fewer edges now."""

    start: int
    end: int
    before: int
    after: int


@dataclass(frozen=True)
class Growth:
    """What new episodes brought to a graph, and how the networks do on them."""

    episodes: int
    steps: int
    vertices: int
    """New ones."""
    edges: int
    """More than before: earlier ones can vanish, too, when states go over to new vertices."""
    moved: int
    """Earlier states that belong to a new vertex now."""
    unlike: float
    """Share of the new observations farther than the radius from every earlier vertex."""
    farthest: tuple[int, int, float]
    """The new observation most unlike anything before: its new episode, its step, and how many radii it is away."""
    reachable: int
    """Earlier vertices that can be reached from a recorded start now and could not be before."""
    in_reach: tuple[int, int]
    """Vertices in reach of a recorded start, before and now."""
    n_shorter: int
    """Ways from recorded starts to earlier vertices that have fewer edges now."""
    shorter: tuple[ShorterWay, ...]
    """Those that became shorter by most."""
    losses: dict[str, tuple[float, float]]
    """Losses of the networks on new episodes, and on known ones; none where JAX is not installed."""
    known: str
    """Which these are: held out, or known before."""

    @property
    def time_to_train(self) -> bool:
        """Whether the networks do clearly worse on what is new, or much of it is unlike anything before."""
        worse = any(new > WORSE * known for new, known in self.losses.values())
        return worse or self.unlike > UNLIKE

    def summary(self) -> str:
        """Say all of it in sentences."""
        return "\n".join([self._size(), self._novelty(), *self._ways(), *self._networks()])

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        return {**asdict(self), "time_to_train": self.time_to_train}

    def _size(self) -> str:
        moved = f"; {self.moved:,} earlier states belong to new vertices now" if self.moved else ""
        return (
            f"{self.episodes:,} new episodes, {self.steps:,} steps: {self.vertices:,} new vertices and "
            f"{self.edges:+,} edges{moved}."
        )

    def _novelty(self) -> str:
        episode, step, radii = self.farthest
        if self.unlike == 0:
            return "Every new state is like one that was recorded before."
        return (
            f"{100 * self.unlike:.1f} % of the new states are unlike anything before; the farthest, step {step} of new "
            f"episode {episode}, is {radii:.1f} radii from the graph."
        )

    def _ways(self) -> list[str]:
        before, now = self.in_reach
        said = [f"From recorded starts {now:,} vertices can be reached (before: {before:,})"]
        said[0] += f", {self.reachable:,} of them known and out of reach before." if self.reachable else "."
        if self.shorter:
            each = [f"{way.start} → {way.end} from {way.before} edges to {way.after}" for way in self.shorter]
            said.append(f"{self.n_shorter:,} ways became shorter, most of all: {'; '.join(each)}.")
        return said

    def _networks(self) -> list[str]:
        if not self.losses:
            return []
        each = [
            f"{name} {new:.3g} (on episodes {self.known}: {known:.3g})" for name, (new, known) in self.losses.items()
        ]
        said = [f"Losses on the new episodes: {', '.join(each)}."]
        if self.time_to_train:
            said.append("It is time to train again, from all episodes: what is new is not what the networks know.")
        return said


def growth(before: "Agent", after: "Agent", held_out: Episodes | None = None) -> Growth:
    """Compare two agents with the same networks, the second of which has more episodes in its graph."""
    old, new, episodes = before.built, after.built, after.episodes
    assert episodes is not None
    n_before = len(old.lengths)
    added = episodes.subset(range(n_before, len(episodes)))
    gaps = _gaps(old, new, after)
    farthest = int(np.argmax(gaps))
    episode = int(np.searchsorted(added.first_observation, farthest, side="right")) - 1
    reach = _Reach.of(old, new)
    known = held_out if held_out is not None else episodes.subset(range(n_before))
    return Growth(
        episodes=len(added),
        steps=added.n_steps,
        vertices=new.n_vertices - old.n_vertices,
        edges=new.n_edges - old.n_edges,
        moved=int((old.labels != new.labels[: len(old.labels)]).sum()),
        unlike=float((gaps > 1).mean()),
        farthest=(episode, farthest - int(added.first_observation[episode]), float(gaps[farthest])),
        reachable=reach.newly,
        in_reach=reach.in_reach,
        n_shorter=reach.n_shorter,
        shorter=reach.shorter,
        losses=_losses(after, added, known),
        known="known before" if held_out is None else "held out",
    )


def _gaps(old: MemoryGraph, new: MemoryGraph, agent: "Agent") -> Float64s:
    """How far each new observation is from the earlier graph, in radii."""
    episodes = agent.episodes
    assert episodes is not None
    rows = slice(len(old.labels), None)
    labels = new.labels[rows]
    known = labels < old.n_vertices  # within the radius, by definition
    gaps = np.zeros(len(labels))
    unknown = np.flatnonzero(~known)
    if len(unknown):
        states = episodes.observations[rows][unknown]
        _, distances = old.nearest(embed_alike(agent.weights, states))
        gaps[unknown] = distances / max(old.radius, SMALLEST)
    return gaps


def _losses(agent: "Agent", added: Episodes, known: Episodes) -> dict[str, tuple[float, float]]:
    if find_spec("jax") is None:  # where an agent only acts there is nothing to train with either
        return {}
    new, before = learn.losses_on(agent.weights, agent.config.learn, added, known)
    return {name: (loss, before[name]) for name, loss in new.items()}


@dataclass(frozen=True)
class _Reach:
    """What can be reached from recorded starts, in how many edges, before and now."""

    newly: int
    in_reach: tuple[int, int]
    n_shorter: int
    shorter: tuple[ShorterWay, ...]

    @classmethod
    def of(cls, old: MemoryGraph, new: MemoryGraph) -> "_Reach":
        first_rows = np.concatenate([[0], np.cumsum(old.lengths[:-1] + 1)])
        starts = np.unique(old.labels[first_rows])
        starts = starts[np.linspace(0, len(starts) - 1, min(STARTS, len(starts))).astype(int)]
        was, now = np.zeros(old.n_vertices, bool), np.zeros(new.n_vertices, bool)
        ways: list[ShorterWay] = []
        n_shorter = 0
        for start in starts.tolist():
            before, after = hops_from(old, start), hops_from(new, start)
            was |= before >= 0
            now |= after >= 0
            saved = np.where(before >= 0, before - after[: old.n_vertices], 0)
            n_shorter += int((saved > 0).sum())
            end = int(np.argmax(saved))
            if saved[end] > 0:
                ways.append(ShorterWay(start, end, int(before[end]), int(after[end])))
        ways.sort(key=lambda way: way.after - way.before)
        newly = int((now[: old.n_vertices] & ~was).sum())
        return cls(newly, (int(was.sum()), int(now.sum())), n_shorter, tuple(ways[:SHOWN]))
