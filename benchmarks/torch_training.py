"""The peer: the paper's losses (eq. 1-3 and L_Tran) as one would write them in PyTorch."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.timing import median_seconds
from vmg.base.errors import require
from vmg.base.types import Int32s
from vmg.data.episodes import Episodes
from vmg.learn import LearnConfig
from vmg.learn.models import AgentModel
from vmg.networks import Translator, Weights
from vmg.networks.mlp import layer_sizes


class TorchTraining:
    """The four networks, the data as tensors, and Adam; `compiled` compiles losses and gradients."""

    def __init__(self, episodes: Episodes, *, fused: bool, compiled: bool = False, device: str = "cpu") -> None:
        self.torch = torch = require("torch", "bench")
        self.low_level, self.device = Translator(), device
        self.config = LearnConfig(low_level=self.low_level)
        sizes = layer_sizes(AgentModel(self.config).parts(episodes), self.config.hidden_units)
        self.networks = {name: self._network(layers) for name, layers in sizes.items()}
        parameters = [p for network in self.networks.values() for p in network.parameters()]
        on_gpu = device != "cpu"
        self.adam = torch.optim.Adam(parameters, lr=self.config.learning_rate, fused=fused, capturable=on_gpu)
        self.observations, self.actions = self._tensor(episodes.observations), self._tensor(episodes.actions)
        self.rows, self.left = self._tensor(episodes.step_observation), self._tensor(episodes.steps_left)
        self.losses = torch.compile(self._losses) if compiled else self._losses
        self.take_step = self._take_step

    def run(self, n_steps: int) -> None:
        """Take this many steps and wait for them."""
        for _ in range(n_steps):
            self.take_step()
        if self.device != "cpu":
            self.torch.cuda.synchronize()

    def capture(self) -> None:
        """Record a step as a CUDA graph, which costs one launch instead of hundreds; `run` then replays it."""
        cuda = self.torch.cuda
        aside = cuda.Stream()
        aside.wait_stream(cuda.current_stream())
        with cuda.stream(aside):
            self.run(3)  # what is allocated once must be allocated before the recording
        cuda.current_stream().wait_stream(aside)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            self.take_step()
        self.take_step = graph.replay

    def choose_threads(self, candidates: Sequence[int], n_steps: int) -> int:
        """Keep the number of threads that is fastest here and now."""
        speeds = {}
        for threads in candidates:
            self.torch.set_num_threads(threads)
            speeds[threads] = median_seconds(lambda: self.run(n_steps), 3)
        fastest = min(speeds, key=lambda threads: speeds[threads])
        self.torch.set_num_threads(fastest)
        return fastest

    def load(self, weights: Weights) -> None:
        """Take over our weights; a layer's matrix is stored the other way round here."""
        for name, network in self.networks.items():
            for k, layer in enumerate(network[::2]):
                layer.weight.data = self._tensor(np.ascontiguousarray(weights[name][f"w{k}"].T))
                layer.bias.data = self._tensor(weights[name][f"b{k}"])

    def loss_and_gradient(self, step: Int32s, row_t: Int32s, row_goal: Int32s) -> tuple[dict[str, float], Weights]:
        """Return the losses of a batch by name, and the gradient of their sum, in our layout."""
        self.adam.zero_grad()
        losses = self._losses(*(self._tensor(rows.astype(np.int64)) for rows in (step, row_t, row_goal)))
        sum(losses.values()).backward()
        gradient: Weights = {name: {} for name in self.networks}
        for name, network in self.networks.items():
            for k, layer in enumerate(network[::2]):
                gradient[name] |= {f"w{k}": layer.weight.grad.cpu().numpy().T, f"b{k}": layer.bias.grad.cpu().numpy()}
        return {name: loss.item() for name, loss in losses.items()}, gradient

    def _network(self, sizes: tuple[int, ...]) -> Any:
        nn = self.torch.nn
        first, second, third = (nn.Linear(sizes[k], sizes[k + 1]) for k in range(3))
        return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), third).to(self.device)

    def _tensor(self, array: Any) -> Any:
        return self.torch.tensor(array, device=self.device)

    def _take_step(self) -> None:
        """Draw, losses, gradient, Adam."""
        batch = self._draw()
        self.adam.zero_grad()
        sum(self.losses(*batch).values()).backward()
        self.adam.step()

    def _draw(self) -> tuple[Any, Any, Any]:
        """Steps uniformly with replacement; goals 1 to K steps ahead, 1 past the episode's end."""
        size = (self.config.batch_size,)
        step = self.torch.randint(len(self.actions), size, device=self.device)
        k = self.torch.randint(1, self.low_level.goal_horizon + 1, size, device=self.device)
        row_t = self.rows[step]
        return step, row_t, row_t + self.torch.where(k <= self.left[step], k, 1)

    def _losses(self, step: Any, row_t: Any, row_goal: Any) -> dict[str, Any]:
        """L_c, the two terms of L_a, and L_Tran, each a mean over the batch."""
        cat, margin = self.torch.cat, self.config.margin
        o_t, o_tp1, a_t = self.observations[row_t], self.observations[row_t + 1], self.actions[step]
        f_t, f_tp1 = self.networks["state_encoder"](cat([o_t, o_tp1])).chunk(2)
        delta_t = self.networks["action_encoder"](cat([f_t, a_t], -1))
        decoded = self.networks["action_decoder"](cat([f_t, delta_t], -1))
        translated = self.networks["translator"](cat([o_t, self.observations[row_goal]], -1))
        return {
            "contrastive": self._contrastive(f_t + delta_t, f_tp1, margin),
            "reconstruction": (decoded - a_t).square().sum(-1).mean(),
            "length": (delta_t.norm(dim=-1) - margin).relu().mean(),
            "translator": (translated - a_t).square().sum(-1).mean(),
        }

    def _contrastive(self, predicted: Any, f_tp1: Any, margin: float) -> Any:
        n = len(f_tp1)
        squares = (predicted[:, None] - f_tp1[None]).square().sum(-1)
        hinges = (margin - squares).relu()
        return squares.diagonal().mean() + (hinges.sum() - hinges.diagonal().sum()) / (n * (n - 1))
