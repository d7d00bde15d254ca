"""What learning can be told, each option with its one-line help."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from vmg.base.settings import Bounds, Kinds, Settings
from vmg.data.episodes import Episodes
from vmg.networks.angles import turned_columns
from vmg.networks.lowlevel import LOW_LEVELS, LowLevel
from vmg.networks.lowlevel.translator import Translator

Count = Annotated[int, Bounds(1)]
Size = Annotated[int, Bounds(1, 2**14)]
"""Numbers of which networks have as many squared: more would not fit into any memory."""
AboveZero = Annotated[float, Bounds(0, open_low=True)]


@dataclass(frozen=True, kw_only=True)
class LearnConfig(Settings):
    """How the networks are learned; the defaults are the paper's."""

    metric_dimension: Size = 10
    """Dimensions of the metric space."""
    hidden_units: Size = 256
    """Units in each of the two hidden layers of every network."""
    margin: AboveZero = 1.0
    """m: how far unrelated states are pushed apart, and the longest free transition."""
    margins: Literal["paper", "program"] = "paper"
    """The paper's max(m − D², 0) and max(‖Δf‖ − m, 0), or its program's max(2m − D², 0) and max(‖Δf‖² − m, 0)."""
    decoder_output: Literal["plain", "sampled"] = "plain"
    """The decoder gives the action itself, or ("sampled", as the published program's) mean and spread of a normal, of
    which a sample's tanh is compared with the action."""
    action_errors: Literal["summed", "averaged"] = "summed"
    """D²(ã, a) sums over the numbers of an action, or averages them, as the published program does."""
    contrastive: bool = True
    """Learn with the contrastive loss L_c (off: an ablation)."""
    action_decoder: bool = True
    """Learn to reconstruct the action from the transition (off: an ablation; the length penalty stays)."""
    encoder_inputs: Literal["raw", "normalised"] = "raw"
    """What the state encoder sees: observations as they are, or with mean 0 and spread 1."""
    actions: Literal["raw", "normalised"] = "raw"
    """What actions are while learning: as recorded, or with mean 0 and spread 1 (for degrees, or millimetres)."""
    angles: tuple[Annotated[int, Bounds(0)], ...] | None = None
    """Columns of the observation that are angles, of which networks see sine and cosine: in radians where they are
    recorded over at most 2π, else in degrees. None: none, unless settings are chosen from the data."""
    low_level: Annotated[LowLevel, Kinds(LOW_LEVELS)] = field(default_factory=Translator)
    """The low-level policy that turns a subgoal into an action: the paper's translator, or one of another kind."""
    learning_rate: AboveZero = 1e-3
    """Adam's step size."""
    batch_size: Annotated[int, Bounds(2, 2**16)] = 100
    """Steps drawn for one update; each one's next state is a negative for all the others."""
    steps: Count = 800_000
    """Updates in all."""
    checkpoint_every: Count = 50_000
    """Updates between two checkpoints."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "angles", self.angles and tuple(sorted(set(self.angles))))

    @property
    def policy(self) -> LowLevel:
        """The low-level policy, which names columns as networks see them."""
        return self.low_level.turned(self.angles or ())

    def seen(self, columns: tuple[int, ...]) -> tuple[int, ...]:
        """Return where networks see columns of the observation."""
        return turned_columns(columns, self.angles or ())


@dataclass(frozen=True)
class Training:
    """Models to learn from one data set, one per seed."""

    episodes: Episodes
    seeds: Sequence[int] = (0,)
    validation: Episodes | None = None
    """Episodes held out, on which the losses are measured too."""
    folder: Path | str | None = None
    """Where losses and checkpoints are written, and from where a killed run goes on."""
