"""Our training as `fit` runs it, ready to be timed."""

from functools import cache

import jax
import numpy as np

from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.learn import LearnConfig, Training
from vmg.learn.groups import Group, Learner
from vmg.learn.loop import State, initial_state, run_chunk
from vmg.learn.metric import Loss
from vmg.learn.models import AgentModel, Sample
from vmg.learn.stacking import initial_models, separate
from vmg.networks import Weights


class OurTraining:
    """One compiled call per chunk, all models side by side."""

    def __init__(self, episodes: Episodes, n_models: int = 1, config: LearnConfig | None = None) -> None:
        self.group = group_of(episodes, n_models, config or LearnConfig())
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


@cache
def group_of(episodes: Episodes, n_models: int, config: LearnConfig) -> Group:
    """Return what does not change while this many models learn; how the data are scaled takes a second to find out."""
    return Group([Learner(AgentModel(config), Training(episodes, range(n_models)))])
