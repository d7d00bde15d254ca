"""Features that are made on other machines, piece by piece; each row to the same bits as here."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from vmg.base.console import progress_bar
from vmg.base.types import Float32s
from vmg.evaluation.executors import EXECUTORS, THIS_MACHINE, Executor
from vmg.networks import Weights, embed_alike

ROWS = 65_536
"""Observations in a piece: a few MB, and a fraction of a second."""
Embedding: TypeAlias = Callable[[Weights, Float32s], Float32s]


def embedding_on(on: str, workers: int | None) -> Embedding | None:
    """Return what embeds observations elsewhere; None where that is this machine."""
    return None if on in THIS_MACHINE else partial(_embed_with, EXECUTORS.find(on), workers)


def cores_here(on: str, workers: int | None) -> int:
    """Return the cores of this machine that take part in building a graph."""
    if on == "here":
        return 1
    every = os.cpu_count() or 1
    return workers or every if on in THIS_MACHINE else every


@dataclass(frozen=True, eq=False)
class Piece:
    """Observations in a row."""

    first_row: int
    observations: Float32s

    @property
    def name(self) -> str:
        return f"the embedding of {len(self.observations):,} observations from row {self.first_row:,} on"


@dataclass(frozen=True, eq=False)
class EmbeddingWork:
    """The work of embedding, one core per worker."""

    weights: Weights

    @contextmanager
    def open(self) -> Iterator[Callable[[Piece], tuple[int, Float32s]]]:
        """Yield what embeds a piece: it returns its first row, and its features."""
        with threadpool_limits(1):
            yield self._embed

    def _embed(self, piece: Piece) -> tuple[int, Float32s]:
        return piece.first_row, embed_alike(self.weights, piece.observations)


class _Pieces(Sequence[Piece]):
    """Pieces that are cut out when it is their turn: the observations may lie on disk."""

    def __init__(self, observations: Float32s) -> None:
        self._observations = observations

    def __len__(self) -> int:
        return -(-len(self._observations) // ROWS)

    def __getitem__(self, number: int) -> Piece:  # type: ignore[override]
        first = number * ROWS
        return Piece(first, np.asarray(self._observations[first : first + ROWS]))


def _embed_with(do: Executor, workers: int | None, weights: Weights, observations: Float32s) -> Float32s:
    features = np.empty((len(observations), embed_alike(weights, observations[:0]).shape[1]), np.float32)
    pieces, done = _Pieces(observations), 0
    with progress_bar("Embedding observations", len(observations)) as advance:
        for first_row, made in do(EmbeddingWork(weights), pieces, workers):
            features[first_row : first_row + len(made)] = made
            done += len(made)
            advance(done)
    return features
