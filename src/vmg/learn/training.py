"""Learning the four networks from episodes: `fit`."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import jax
import numpy as np

from vmg.console import progress_bar, stopping_on_interrupt
from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.learn.config import LearnConfig
from vmg.learn.logs import LOSSES, Logs, LossArrays
from vmg.learn.loop import State, initial_state, run_chunk, validation_losses
from vmg.learn.models import initial_models, separate
from vmg.learn.objectives import Cloning, MetricAndTranslator, Objective, Steps, on_device
from vmg.learn.store import Store, identity
from vmg.networks import Weights, flat
from vmg.types import Float32s

CHUNK = 1000  # steps in one call: long enough that the call costs nothing, short enough to watch
SAVE_SECONDS = 30.0


def fit(
    episodes: Episodes,
    config: LearnConfig | None = None,
    seeds: Sequence[int] = (0,),
    *,
    validation: Episodes | None = None,
    folder: Path | str | None = None,
    resume: bool = True,
    show_progress: bool | None = None,
) -> list[Weights]:
    """Learn one model a seed, side by side, and return their weights (numpy) in the order of the seeds.

    Each model is the one its seed gives alone. With a `folder`, losses and checkpoints are written there, and a run
    that was killed goes on where it was and ends at the same weights; a finished one returns at once. On a GPU each
    process picks its fastest kernels anew, so there the same weights to the bit, rather than to rounding, take
    XLA_FLAGS=--xla_gpu_deterministic_ops=true, at about two thirds of the speed.
    `validation` holds episodes kept apart, on which the losses are measured too.
    """
    objective = MetricAndTranslator(config or LearnConfig())
    return _fit(objective, episodes, seeds, validation, folder, resume=resume, show_progress=show_progress)


def fit_cloning(
    episodes: Episodes,
    config: LearnConfig,
    seeds: Sequence[int] = (0,),
    *,
    goal_columns: tuple[int, ...] = (),
    folder: Path | str | None = None,
    show_progress: bool | None = None,
) -> list[Weights]:
    """Learn behaviour cloning, the baseline, with the same loop; goal columns make it goal-conditioned."""
    objective = Cloning(config, goal_columns)
    return _fit(objective, episodes, seeds, None, folder, resume=True, show_progress=show_progress)


def _fit(
    objective: Objective,
    episodes: Episodes,
    seeds: Sequence[int],
    validation: Episodes | None,
    folder: Path | str | None,
    *,
    resume: bool,
    show_progress: bool | None,
) -> list[Weights]:
    store = Store(Path(folder)) if folder else None
    run = _Run(episodes, objective, _checked_seeds(seeds), validation, store)
    _check_sizes(episodes, validation)
    if run.store:
        run.store.open(identity(objective, run.seeds, episodes, validation), resume=resume)
    with stopping_on_interrupt() as interrupted:
        state, step = _begin(run)
        if step < run.config.steps:
            state = _train(run, state, step, interrupted, show_progress)
    return separate(state.weights, run.inputs)


@dataclass(frozen=True)
class _Run:
    """What does not change while learning."""

    episodes: Episodes
    objective: Objective
    seeds: tuple[int, ...]
    validation: Episodes | None
    store: Store | None

    @property
    def config(self) -> LearnConfig:
        return self.objective.config

    @cached_property
    def inputs(self) -> Weights:
        return self.objective.scalings(self.episodes)

    @cached_property
    def steps(self) -> Steps:
        return on_device(self.episodes)

    @cached_property
    def held_out(self) -> Steps | None:
        return None if self.validation is None else on_device(self.validation)


def _begin(run: _Run) -> tuple[State, int]:
    initial = initial_models(run.objective.sizes(run.episodes), run.seeds)
    kept = run.store.read_state(initial) if run.store else None
    if kept:
        return kept
    state = initial_state(initial)
    if run.store:
        run.store.write_state(0, state)
    return state, 0


def _train(run: _Run, state: State, step: int, interrupted: Callable[[], bool], show_progress: bool | None) -> State:
    config, saved_at = run.config, time.monotonic()
    with ExitStack() as stack:
        logs = stack.enter_context(Logs(run.store.folder, run.seeds, step)) if run.store else None
        advance = stack.enter_context(progress_bar("Learning", config.steps, show=show_progress))
        while step < config.steps:
            began, length = time.monotonic(), _chunk_length(step, config)
            state, losses = _run_chunk(run, state, step, length)
            step += length
            validation = _validate(run, state)
            if run.store and logs:
                logs.write(step, losses, validation)
                due = time.monotonic() - saved_at > SAVE_SECONDS or interrupted()
                if _is_checkpoint(step, config) or due:
                    logs.sync()  # before the state: rows up to its step must be there when it is read
                    _save(run, run.store, state, step)
                    saved_at = time.monotonic()
            if interrupted():
                raise KeyboardInterrupt
            advance(step, _note(run.objective, length / (time.monotonic() - began), losses, validation))
    return state


def _chunk_length(step: int, config: LearnConfig) -> int:
    """Steps up to the next chunk's end; chunks end at the same steps however often a run was killed."""
    return min(CHUNK, config.checkpoint_every - step % config.checkpoint_every, config.steps - step)


def _is_checkpoint(step: int, config: LearnConfig) -> bool:
    return step % config.checkpoint_every == 0 or step == config.steps


def _run_chunk(run: _Run, state: State, step: int, length: int) -> tuple[State, LossArrays]:
    """Take the steps of a chunk; return the state and each model's mean losses."""
    state, on_chip = run_chunk(
        state,
        run.inputs,
        np.array(run.seeds, np.uint32),
        np.int32(step),
        run.steps,
        objective=run.objective,
        length=length,
    )
    losses: dict[str, Float32s] = jax.device_get(on_chip)
    _check_losses(run, losses, step)
    return state, {name: loss.mean(1, dtype=np.float64) for name, loss in losses.items()}


def _validate(run: _Run, state: State) -> LossArrays:
    if run.held_out is None:
        return {}
    losses: LossArrays = jax.device_get(
        validation_losses(state.weights, run.inputs, run.held_out, objective=run.objective)
    )
    return losses


def _save(run: _Run, store: Store, state: State, step: int) -> None:
    for name, array in flat(state.weights).items():
        finite = np.isfinite(array).reshape(len(run.seeds), -1).all(1)
        if not finite.all():  # the last update broke what the losses before it do not show
            raise _not_finite(run, f"The weights {name}", int(np.argmin(finite)), step)
    if _is_checkpoint(step, run.config):
        store.write_checkpoint(step, run.seeds, separate(state.weights, run.inputs))
    store.write_state(step, state)


def _note(objective: Objective, speed: float, losses: LossArrays, validation: LossArrays) -> str:
    words = [f"{speed:,.0f} steps/s"]
    for name in objective.headline:
        if name in losses:
            held_out = f" ({validation[name].mean():.3g} held out)" if validation else ""
            words.append(f"{name} {losses[name].mean():.3g}{held_out}")
    return " · ".join(words)


# --- bad input and bad luck -------------------------------------------------------------------------------------------


def _checked_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    if len(seeds) == 0 or len(set(seeds)) < len(seeds):
        raise VMGError(f"There must be at least one seed and no seed twice, but the seeds are {list(seeds)}.")
    for seed in seeds:
        if not 0 <= seed < 2**32:
            raise VMGError(f"A seed must lie between 0 and 2³² − 1, not {seed}.")
    return tuple(int(seed) for seed in seeds)


def _check_sizes(episodes: Episodes, validation: Episodes | None) -> None:
    for name in ("observation_size", "action_size"):
        if validation and getattr(validation, name) != getattr(episodes, name):
            raise VMGError(
                f"{episodes.source} and {validation.source} do not fit together: {name} is "
                f"{getattr(episodes, name)} in the training episodes and {getattr(validation, name)} in those held out."
            )


def _check_losses(run: _Run, losses: dict[str, Float32s], start: int) -> None:
    names = [name for name in LOSSES if name in losses]
    bad = ~np.isfinite([losses[name] for name in names])  # (loss, model, step)
    if bad.any():
        step, model, loss = np.argwhere(bad.transpose(2, 1, 0))[0]
        raise _not_finite(run, f"The {names[loss]} loss", int(model), start + int(step) + 1)


def _not_finite(run: _Run, what: str, model: int, step: int) -> VMGError:
    largest = (float(np.abs(array).max()) for array in (run.episodes.observations, run.episodes.actions))
    observation, action = largest
    kept = f" The last good state is kept in {run.store.state_file}." if run.store else ""
    return VMGError(
        f"{what} of the model with seed {run.seeds[model]} stopped being finite at step {step:,}. Lower learning_rate "
        f"(now {run.config.learning_rate:g}), or look at the data's scale: the largest observation is "
        f"{observation:.3g}, the largest action {action:.3g}; encoder_inputs and translator_inputs can normalise "
        f"observations.{kept}"
    )
