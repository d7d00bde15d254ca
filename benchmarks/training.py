"""The training step on the CPU: the same losses, batch and optimiser in eager PyTorch."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

import jax
import numpy as np

from benchmarks.generators import kitchen_like
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.timing import compare
from benchmarks.torch_training import TorchTraining
from vmg.data.episodes import Episodes
from vmg.learn import LearnConfig, Training
from vmg.learn.groups import Group, Run
from vmg.learn.loop import State, initial_state, run_chunk
from vmg.learn.models import initial_models, separate
from vmg.learn.objectives import Draw, MetricAndTranslator
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
    "full": Size(120_000, 1000, 200, 7, ALL),
    "quick": Size(20_000, 200, 50, 3, ALL),
    "tiny": Size(400, 5, 3, 1, (1,)),
}


def measure(level: Level) -> Iterator[Row]:
    """Steps/s of one model at the paper's settings, with PyTorch's usual Adam and with its fused one."""
    size = SIZES[level]
    episodes = kitchen_like(size.n_steps, seed=0)
    for fused in (False, True):
        ours, peer = OurTraining(episodes), TorchTraining(episodes, fused=fused)
        checked = _check_same(ours, peer)
        threads = peer.choose_threads(size.threads, size.torch_chunk // 10 + 1)
        found = compare(lambda o=ours: o.run(size.chunk), lambda p=peer: p.run(size.torch_chunk), size.rounds)  # type: ignore[misc]
        yield Row(
            family="training",
            name="training step, CPU",
            size=f"batch {ours.config.batch_size}, 256 units, 59/9",
            unit="steps/s",
            ours=size.chunk / found.ours,
            peer_name="PyTorch eager" + (", fused Adam" if fused else ""),
            peer=size.torch_chunk / found.peer,
            bar=Bar("times the peer", 2.0) if level == "full" else None,
            checked=checked,
            note=f"{size.chunk} steps a call, compiled; PyTorch warm, {threads} threads (best of {size.threads})",
        )


class OurTraining:
    """Our training as `fit` runs it: one compiled call a chunk."""

    def __init__(self, episodes: Episodes, seed: int = 0) -> None:
        self.config = LearnConfig()
        self.objective = MetricAndTranslator(self.config)
        self.group = Group([Run(self.objective, Training(episodes, [seed]))])
        self.inputs: Weights = self.objective.scalings(episodes)
        self.initial = initial_models(self.objective.sizes(episodes), [seed])
        self.state: State = initial_state(self.initial)
        self.done = 0

    def run(self, n_steps: int) -> None:
        """Take so many steps and wait for them."""
        group, start = self.group, np.int32(self.done)
        self.state, losses = run_chunk(
            self.state, group.own, group.inputs, start, group.steps, objective=self.objective, length=n_steps
        )
        jax.device_get(losses)
        self.done += n_steps

    def loss_and_gradient(self, draw: Draw) -> tuple[dict[str, float], Weights]:
        """Return the losses of a batch by name, and the gradient of their sum, at the initial weights."""
        weights = separate(self.initial, {})[0]
        gradient, losses = jax.grad(
            lambda w: self.objective.loss(w | self.inputs, self.group.steps, draw), has_aux=True
        )(weights)  # fmt: skip
        return {name: float(loss) for name, loss in losses.items()}, gradient


def _check_same(ours: OurTraining, peer: TorchTraining) -> str:
    """Compare losses and gradients at the same weights on the same batch."""
    peer.load(separate(ours.initial, {})[0])
    draw = ours.objective.draw(jax.random.key(1), ours.group.steps)
    our_losses, our_gradient = ours.loss_and_gradient(draw)
    losses, gradient = peer.loss_and_gradient(*(np.asarray(part) for part in draw))
    same = all(np.isclose(losses[name], our_losses[name], rtol=1e-4, atol=1e-6) for name in losses)
    check(same, f"losses {losses} = {our_losses}")
    for network, layers in gradient.items():
        for name, array in layers.items():
            close = np.allclose(array, our_gradient[network][name], rtol=1e-3, atol=1e-5)
            check(close, f"the gradients of {network}.{name} are equal")
    return f"{len(losses)} losses and all gradients equal at the same weights and batch"
