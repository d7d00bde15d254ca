"""Answers before acting: can it be done from here, along which recorded episodes, and what is missing if not."""

from dataclasses import asdict, dataclass
from typing import Any

from vmg.base.types import Float32s
from vmg.data.counting import counted
from vmg.graph.evidence import Piece

PIECES_NAMED = 4
_THERE = "It is there already."
_NOWHERE = "No recorded way leads on to anything worth more."


@dataclass(frozen=True, eq=False)
class Nearest:
    """The recorded state that comes nearest to what is wanted."""

    distance: float
    episode: int
    step: int
    """Which observation of its episode it is."""
    observation: Float32s | None
    """None where only its goal columns are at hand."""


@dataclass(frozen=True)
class Explanation:
    """What can be said about a plan before acting, from one observation."""

    possible: bool
    """Whether any recorded way leads from here to what is wanted."""
    vertex: int
    distance: float
    """How far the nearest vertex, a recorded state, is in the metric space."""
    off_graph: bool
    """Farther than the radius: nothing recorded looks like this."""
    path: tuple[int, ...]
    """The vertices on the way there, or to what stands for it, from here or from where a way begins."""
    steps: float
    """Environment steps such a way took in the recordings."""
    pieces: tuple[Piece, ...]
    """The recorded episodes the path is stitched from."""
    reached: bool | None = None
    """Whether the observation itself is where it is wanted to be; None where only rewards are wanted."""
    detour: float | None = None
    """Where no recorded way leads on from here: how far the nearest vertex is from which one does."""
    nearest: Nearest | None = None
    """Where it is not possible: what comes nearest of all that can be reached from here, if that can be said."""
    inside: int | None = None
    """Recorded steps in what is to be avoided, on the way that passes the fewest of them; None: nothing is avoided, or
    no way leads there at all."""
    begins_inside: bool = False
    """Whether the observation lies in what is to be avoided: it is then compared with what is recorded outside."""
    goal_inside: bool = False
    """Whether all that is recorded of what is wanted lies in what is to be avoided."""
    ends_there: bool = True
    """Whether the path ends at a vertex with a recorded state that is where it is wanted to be."""
    imagined: tuple[str, ...] = ()
    """What earlier stages of a sequence have done that is shown as it was at the beginning: no recording goes on so."""
    placed: tuple[tuple[int, float], ...] = ()
    """Where things are put next, columns with their numbers, by a policy that places them and follows no recording."""

    def in_words(self) -> str:
        """Answer in sentences."""
        here = f"The observation is at vertex {self.vertex}, {self.distance:.2g} away from it ({self._whose_vertex()})."
        if self.imagined:
            here = f"With {' and '.join(self.imagined)} as at the beginning, which is what the policy sees: {here}"
        if self.reached:
            return f"{here} {_THERE}"
        steps = f"{self.steps:.0f} step{'s' * (f'{self.steps:.0f}' != '1')}"
        if self.placed:
            places = " and ".join(f"{number:.3g} in column {column}" for column, number in self.placed)
            known = "." if self.possible else ". Nothing recorded lay where it is wanted."
            return f"{here} No recording is followed: things are put at {places} next, which takes about {steps}{known}"
        way = f"{counted(len(self.path) - 1, 'edge')}, about {steps}, {self._pieces_in_words()}"
        if self.possible:
            clear = " All of it keeps clear of what is to be avoided." if self.inside == 0 else ""
            return f"{here} It can be done: {way}.{clear}" if self.pieces else f"{here} {self._at_its_end}"
        text = f"{here} No recorded way leads from here to what is wanted."
        if self.goal_inside:
            text = (
                f"{here} What is wanted lies in what is to be avoided itself: every recorded state that fulfils it "
                "does. Avoid less, or plan without `avoiding`."
            )
        elif self.inside is not None:
            steps = f": at least {counted(self.inside, 'recorded step')} of it" if self.inside else ""
            text = (
                f"{here} Every recorded way from here to what is wanted passes what is to be avoided{steps}. "
                "Plan without `avoiding` to take that way."
            )
        if self.nearest:
            there = f"where episode {self.nearest.episode} was at step {self.nearest.step}"
            text += f" The nearest that can be reached is {self.nearest.distance:.3g} away from it: {there}."
        begins = "" if self.detour is None else f", from a state {self.detour:.2g} away in the metric space"
        return f"{text} What the policy tries{begins}: {way}." if self.pieces else text

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        content = asdict(self)
        if self.nearest and self.nearest.observation is not None:
            content["nearest"]["observation"] = self.nearest.observation.tolist()
        return content

    @property
    def _at_its_end(self) -> str:
        """What is said where a route has come to its end, for goals and for rewards."""
        if self.reached is None:
            return _NOWHERE
        end = self.path[-1] if self.path else self.vertex
        if not self.ends_there:
            return f"It is not there yet, and nor is any recorded state of vertex {end}, where the recorded way ends."
        whose = "this vertex" if end == self.vertex else f"vertex {end}"
        return f"It is not there yet, but a recorded state of {whose} is, and the policy heads straight for that."

    def _whose_vertex(self) -> str:
        if self.begins_inside:
            return "it lies in what is to be avoided; this is the nearest outside"
        return "off the graph: nothing recorded looks like this" if self.off_graph else "on the graph"

    def _pieces_in_words(self) -> str:
        parts = [str(piece) for piece in self.pieces[:PIECES_NAMED]]
        more = f" and {len(self.pieces) - PIECES_NAMED} more" if len(self.pieces) > PIECES_NAMED else ""
        kind = "piece" if any(piece.episode is None for piece in self.pieces) else "recorded piece"
        many = "s" * (len(self.pieces) > 1)
        return f"stitched from {len(self.pieces)} {kind}{many}: {', '.join(parts)}{more}"

    __str__ = in_words
