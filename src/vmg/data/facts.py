"""What an agent remembers of the data it was made from."""

from dataclasses import dataclass, field

import numpy as np

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.data.fields import Fields, checked_fields


@dataclass(frozen=True)
class DataFacts:
    """Source, content hash, sizes, the range of actions, and the names of columns."""

    source: str
    digest: str
    episodes: int
    steps: int
    observation_size: int
    action_size: int
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    fields: Fields = field(default_factory=dict)

    def __post_init__(self) -> None:
        bounds = (self.action_low, self.action_high)
        with np.errstate(over="ignore"):
            numbers = [np.asarray(each, np.float32) for each in bounds]
        if any(each.shape != (self.action_size,) or not np.isfinite(each).all() for each in numbers):
            raise VMGError(f"The range of actions needs {self.action_size} finite numbers at both ends, not {bounds}.")
        if self.observation_size < 1 or self.action_size < 1 or (numbers[0] > numbers[1]).any():
            raise VMGError(
                "Observations and actions need at least one number, and no action's least is above its most."
            )
        object.__setattr__(self, "fields", checked_fields(self.fields, self.observation_size, self.source))

    @classmethod
    def of(cls, episodes: Episodes) -> "DataFacts":
        """Note the facts of these episodes."""
        return cls(
            source=episodes.source,
            digest=episodes.digest,
            episodes=len(episodes),
            steps=episodes.n_steps,
            observation_size=episodes.observation_size,
            action_size=episodes.action_size,
            action_low=tuple(episodes.actions.min(0).tolist()),
            action_high=tuple(episodes.actions.max(0).tolist()),
            fields=episodes.fields,
        )
