"""Timing two functions side by side, and one function often."""

import os
import time
from collections.abc import Callable
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

import numpy as np

Ours = TypeVar("Ours")
Theirs = TypeVar("Theirs")


class Comparison(NamedTuple, Generic[Ours, Theirs]):
    """Seconds of both, and what they returned, to be checked before anything is reported."""

    ours: float
    peer: float
    our_result: Ours
    peer_result: Theirs


def compare(
    ours: Callable[[], Ours], peer: Callable[[], Theirs], rounds: int, *, peer_rounds: int | None = None
) -> Comparison[Ours, Theirs]:
    """Run both in turn, `rounds` times, after one run that is not timed.

    A peer that is too slow for that is given `peer_rounds`, and runs no more often than that.
    """
    our_result = ours()
    if peer_rounds is None:
        peer()
    our_times, peer_times = [], []
    for i in range(rounds):
        our_times.append(timed(ours)[1])
        if peer_rounds is None or i < peer_rounds:
            peer_result, seconds = timed(peer)
            peer_times.append(seconds)
    return Comparison(float(np.median(our_times)), float(np.median(peer_times)), our_result, peer_result)


def timed(function: Callable[[], Ours]) -> tuple[Ours, float]:
    """Return what the function returns, and how many seconds it took."""
    began = time.perf_counter()
    result = function()
    return result, time.perf_counter() - began


def processor_seconds(function: Callable[[], Ours]) -> tuple[Ours, float]:
    """Return what the function returns, and the processor seconds it took, in processes that it started too.

    Where cores are shared with others, this is what it would have taken alone, without the waiting.
    """
    before = sum(os.times()[:4])
    result = function()
    return result, sum(os.times()[:4]) - before


def least_processor_seconds(
    ours: Callable[[], Ours], peer: Callable[[], Theirs], rounds: int
) -> Comparison[Ours, Theirs]:
    """Run both in turn, in this process alone, and keep the run of each that took the processors least."""
    sides = zip(*((_own_seconds(ours), _own_seconds(peer)) for _ in range(rounds)), strict=True)
    (our_result, seconds), (peer_result, peer_seconds) = (min(runs, key=itemgetter(1)) for runs in sides)
    return Comparison(seconds, peer_seconds, our_result, peer_result)


def _own_seconds(function: Callable[[], Ours]) -> tuple[Ours, float]:
    began = time.process_time()
    result = function()
    return result, time.process_time() - began


def median_seconds(function: Callable[[], object], rounds: int) -> float:
    """Return the median time of a function that has been run once before."""
    function()
    return float(np.median([timed(function)[1] for _ in range(rounds)]))
