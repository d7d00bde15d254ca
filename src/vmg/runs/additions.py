"""Episodes that a run was given after it was trained: RUN/added/0.npz, 1.npz, ... and what run.json says of each."""

from dataclasses import dataclass
from pathlib import Path

from vmg.base.errors import VMGError
from vmg.data import read_npz, save
from vmg.data.episodes import Episodes


@dataclass(frozen=True)
class Addition:
    """One set of episodes, in the order in which they came."""

    source: str
    digest: str
    first: int
    """Episodes that were there before."""
    episodes: int
    steps: int
    online: bool = False
    """Whether the agents recorded them themselves."""

    @classmethod
    def of(cls, episodes: Episodes, first: int, *, online: bool = False) -> "Addition":
        """Note what these episodes are."""
        return cls(episodes.source, episodes.digest, first, len(episodes), episodes.n_steps, online)

    @property
    def end(self) -> int:
        """Episodes that are there with these."""
        return self.first + self.episodes


def file_of(folder: Path, number: int) -> Path:
    """Return where the episodes of an addition lie."""
    return folder / "added" / f"{number}.npz"


def write_addition(folder: Path, number: int, episodes: Episodes) -> None:
    """Keep episodes with the run: a log may be gone when the graph is built again."""
    save(episodes, file_of(folder, number))


def read_addition(folder: Path, number: int, addition: Addition) -> Episodes:
    """Read the episodes of an addition, or say that they are others."""
    path = file_of(folder, number)
    if not path.exists():
        raise VMGError(f"{path} is missing: {addition.episodes:,} episodes of {addition.source}. Restore it.")
    episodes = read_npz(path)
    if episodes.digest != addition.digest:
        raise VMGError(f"{path} does not hold the episodes of {addition.source} that were added. Restore it.")
    return episodes
