"""The training step on the CPU: the same losses, batch and optimiser in PyTorch, eager and compiled."""

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from benchmarks.generators import kitchen_like
from benchmarks.our_training import OurTraining
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.timing import compare
from benchmarks.torch_training import TorchTraining
from vmg.learn.stacking import separate


@dataclass(frozen=True)
class Size:
    """Steps in the data, steps timed at once on either side, and how often."""

    n_steps: int
    chunk: int
    torch_chunk: int
    rounds: int
    threads: tuple[int, ...]
    """Numbers of threads PyTorch may choose from: on busy cores one is much faster than all."""


ALL = tuple(range(1, (os.cpu_count() or 1) + 1))
SIZES: dict[Level, Size] = {
    "full": Size(120_000, 1000, 200, 5, ALL),
    "quick": Size(20_000, 200, 50, 3, ALL),
    "tiny": Size(400, 5, 3, 1, (1,)),
}
PEERS: dict[str, dict[str, Any]] = {
    "PyTorch eager": {"fused": False},
    "PyTorch eager, fused Adam": {"fused": True},
    "PyTorch compiled, fused Adam": {"fused": True, "compiled": True},
}


def measure(level: Level) -> Iterator[Row]:
    """Steps/s of one model at the paper's settings; the bar is set against PyTorch with its defaults."""
    size = SIZES[level]
    episodes = kitchen_like(size.n_steps, seed=0)
    for name, options in PEERS.items():
        if level == "tiny" and "compiled" in options:
            continue  # half a minute of compiling would show nothing
        ours, peer = OurTraining(episodes), TorchTraining(episodes, **options)
        checked = check_same(ours, peer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch's compiler warns of its own parts
            threads = peer.choose_threads(size.threads, size.torch_chunk // 10 + 1)
        found = compare(lambda o=ours: o.run(size.chunk), lambda p=peer: p.run(size.torch_chunk), size.rounds)  # type: ignore[misc]
        yield Row(
            family="training",
            name="training step, CPU",
            size=f"batch {ours.learner.model.config.batch_size}, 256 units, 59/9",
            unit="steps/s",
            ours=size.chunk / found.ours,
            peer_name=name,
            peer=size.torch_chunk / found.peer,
            bar=Bar("times the peer", 2.0) if level == "full" and name == "PyTorch eager" else None,
            checked=checked,
            note=f"{size.chunk} steps per call, compiled; PyTorch warm, {threads} threads (best of {size.threads})",
        )


def check_same(ours: OurTraining, peer: TorchTraining) -> str:
    """Compare losses and gradients at the same weights on the same batch, both in plain float32."""
    peer.load(separate(ours.initial, {})[0])
    sample = ours.sample(seed=1)
    with jax.default_matmul_precision("highest"):
        our_losses, our_gradient = ours.loss_and_gradient(sample)
    losses, gradient = peer.loss_and_gradient(*map(np.asarray, (sample.step, sample.row_t, sample.row_goal)))
    same = all(np.isclose(losses[name], our_losses[name], rtol=1e-4, atol=1e-6) for name in losses)
    check(same, f"losses {losses} = {our_losses}")
    for network, layers in gradient.items():
        for name, array in layers.items():
            close = np.allclose(array, our_gradient[network][name], rtol=1e-3, atol=1e-5)
            check(close, f"the gradients of {network}.{name} are equal")
    return f"{len(losses)} losses and all gradients equal at the same weights and batch"
