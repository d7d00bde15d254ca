"""The training step on the CPU: the same losses, batch and optimiser in PyTorch, eager and compiled."""

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import numpy as np

from benchmarks.generators import kitchen_like
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.timing import compare
from benchmarks.torch_training import TorchTraining
from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.learn import LearnConfig, Training
from vmg.learn.groups import Group, Learner
from vmg.learn.loop import State, initial_state, run_chunk
from vmg.learn.metric import Loss
from vmg.learn.models import AgentModel, Sample
from vmg.learn.stacking import initial_models, separate
from vmg.networks import Weights


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


@cache
def group_of(episodes: Episodes, n_models: int, batch_size: int) -> Group:
    """Return what does not change while this many models learn; how the data are scaled takes a second to find out."""
    model = AgentModel(LearnConfig(batch_size=batch_size))
    return Group([Learner(model, Training(episodes, range(n_models)))])


class OurTraining:
    """Our training as `fit` runs it: one compiled call per chunk, all models side by side."""

    def __init__(self, episodes: Episodes, n_models: int = 1) -> None:
        self.group = group_of(episodes, n_models, LearnConfig().batch_size)
        (self.learner,) = self.group.learners
        self.initial = initial_models(self.learner.sizes, self.learner.seeds)
        self.state: State = initial_state(self.initial)
        self.done = 0

    def run(self, n_steps: int) -> dict[str, Float32s]:
        """Take this many steps, wait for them, and return their losses."""
        group, start = self.group, np.int32(self.done)
        self.state, losses = run_chunk(
            self.state, group.own, group.inputs, start, group.steps, model=group.model, length=n_steps
        )
        self.done += n_steps
        fetched: dict[str, Float32s] = jax.device_get(losses)
        return fetched

    def sample(self, seed: int) -> Sample:
        """Draw a batch."""
        return self.learner.model.sample(jax.random.key(seed), self.group.steps, self.learner.numbers)

    def loss(self, weights: Weights, sample: Sample) -> Loss:
        """Return the loss of a batch, and its terms by name."""
        learner = self.learner
        return learner.model.loss(weights | learner.inputs, self.group.steps, sample, learner.numbers)

    def loss_and_gradient(self, sample: Sample) -> tuple[dict[str, float], Weights]:
        """Return the losses of a batch by name, and the gradient of their sum, at the initial weights."""
        weights = separate(self.initial, {})[0]
        gradient, losses = jax.grad(self.loss, has_aux=True)(weights, sample)
        return {name: float(loss) for name, loss in losses.items()}, gradient


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
