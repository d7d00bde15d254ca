"""What an agent remembers of the data it was made from."""

from dataclasses import dataclass

from vmg.data.episodes import Episodes


@dataclass(frozen=True)
class DataFacts:
    """Source, content hash, sizes and the range of actions."""

    source: str
    digest: str
    episodes: int
    steps: int
    observation_size: int
    action_size: int
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]

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
        )
