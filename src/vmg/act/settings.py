"""How a route becomes actions; the settings of acting."""

from dataclasses import dataclass
from typing import Annotated, Literal

from vmg.base.settings import Bounds, Settings


@dataclass(frozen=True, kw_only=True)
class ActConfig(Settings):
    """How a route becomes actions."""

    subgoal_steps: Annotated[int, Bounds(0, 1e6)] = 2
    """N_sg: how far ahead on the route the subgoal lies, in edges, or in recorded steps along recordings."""
    paid_states: bool = True
    """Where rewards are wanted, head for the recorded states that are paid most, at a route's end or when nearer than
    the subgoal; off: for vertices alone, as the paper does. A goal is always headed for as a recorded state."""
    keep_path: bool = False
    """Keep to a route until lost or stuck, instead of entering it anew at every step: along edges as the published
    program does, along recordings in our own way."""
    noise: Annotated[float, Bounds(0, 1e6)] = 0.0
    """Spread of normal noise on actions, the same whenever an episode is run again; frees a body that sticks. Where
    actions are normalised, in units of their own spread."""
    noise_when: Literal["always", "stuck"] = "always"
    """Add noise to every action, or only while an episode that keeps to its route does not move on along it."""
