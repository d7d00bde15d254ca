"""Learning the four networks from episodes: `fit`, and `fit_together` for several data sets and settings."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jax
import numpy as np

from vmg.console import progress_bar, stopping_on_interrupt
from vmg.data.episodes import Episodes
from vmg.errors import VMGError
from vmg.learn import loop
from vmg.learn.config import LearnConfig, Training
from vmg.learn.groups import Group, Run
from vmg.learn.logs import LOSSES, Logs, LossArrays
from vmg.learn.loop import State, initial_state, run_chunk, validation_losses
from vmg.learn.models import initial_models, separate
from vmg.learn.objectives import Cloning, MetricAndTranslator, Objective
from vmg.learn.store import identity
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
    training = Training(episodes, seeds, validation, folder)
    return fit_together([training], config, resume=resume, show_progress=show_progress)[0]


def fit_together(
    trainings: Sequence[Training],
    config: LearnConfig | Sequence[LearnConfig] | None = None,
    *,
    resume: bool = True,
    show_progress: bool | None = None,
) -> list[list[Weights]]:
    """Learn from several data sets, with one configuration or one for each.

    Each training ends as `fit` would end it alone, and writes its own folder. What can learn side by side does: on a
    GPU thirty small models take little longer than one, of whatever sizes, margins, horizons, dimensions, inputs and
    loss ablations. What else differs takes a loop of its own.
    """
    configs = config if isinstance(config, Sequence) else [config or LearnConfig()] * len(trainings)
    objectives = [MetricAndTranslator(each) for each in configs]
    return _fit(objectives, trainings, resume=resume, show_progress=show_progress)


def fit_cloning(
    trainings: Sequence[Training],
    config: LearnConfig,
    *,
    goal_columns: tuple[int, ...] = (),
    show_progress: bool | None = None,
) -> list[list[Weights]]:
    """Learn behaviour cloning, the baseline, with the same loop; goal columns make it goal-conditioned."""
    objectives = [Cloning(config, goal_columns)] * len(trainings)
    return _fit(objectives, trainings, resume=True, show_progress=show_progress)


def _fit(
    objectives: Sequence[Objective], trainings: Sequence[Training], *, resume: bool, show_progress: bool | None
) -> list[list[Weights]]:
    runs = [Run(objective, training) for objective, training in zip(objectives, trainings, strict=True)]
    for run in runs:
        _check_sizes(run)
        if run.store:
            run.store.open(identity(run.objective, run.seeds, run.episodes, run.validation), resume=resume)
    with stopping_on_interrupt() as interrupted:
        begun = [_begin(run) for run in runs]
        ended = [state for state, _ in begun]
        for step, here in _side_by_side(runs, [step for _, step in begun]):
            group = Group([runs[i] for i in here])
            state = _train(group, group.joined([ended[i] for i in here]), step, interrupted, show_progress)
            for i, one in zip(here, group.states(state), strict=True):
                ended[i] = one
    return [separate(state.learned, run.inputs) for run, state in zip(runs, ended, strict=True)]


def _side_by_side(runs: Sequence[Run], reached: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Group the runs that are not at their end: the same step, and the same in all that must be shared.

    Where models are not computed at once, widening the narrow ones would cost time and the last bit, so sizes count.
    """
    groups: dict[Any, list[int]] = {}
    for i, (run, step) in enumerate(zip(runs, reached, strict=True)):
        if step < run.objective.config.steps:
            sizes = None if loop.batched() else tuple(run.parts.items())
            groups.setdefault((step, run.objective.shared(), sizes), []).append(i)
    return [(step, here) for (step, _, _), here in groups.items()]


def _begin(run: Run) -> tuple[State, int]:
    initial = initial_models(run.objective.sizes(run.episodes), run.seeds)
    kept = run.store.read_state(initial, run.objective.averaged) if run.store else None
    if kept:
        return kept
    state = initial_state(initial, run.objective.averaged)
    if run.store:
        run.store.write_state(0, state)
    return state, 0


def _train(group: Group, state: State, step: int, interrupted: Callable[[], bool], show_progress: bool | None) -> State:
    config, saved_at = group.objective.config, time.monotonic()
    with ExitStack() as stack:
        logs = [
            stack.enter_context(Logs(run.store.folder, run.seeds, step)) if run.store else None for run in group.runs
        ]
        advance = stack.enter_context(progress_bar(_title(group), config.steps, show=show_progress))
        while step < config.steps:
            began, length = time.monotonic(), _chunk_length(step, config)
            state, losses = _run_chunk(group, state, step, length)
            step += length
            validation = [_validate(group, i, state) for i in range(len(group.runs))]
            for log, one, held_out in zip(logs, losses, validation, strict=True):
                if log:
                    log.write(step, one, held_out)
            due = time.monotonic() - saved_at > SAVE_SECONDS or interrupted()
            if _is_checkpoint(step, config) or due:
                for log in logs:
                    if log:
                        log.sync()  # before the state: rows up to its step must be there when it is read
                _save(group, state, step)
                saved_at = time.monotonic()
            if interrupted():
                raise KeyboardInterrupt
            advance(step, _note(group.objective, length / (time.monotonic() - began), losses, validation))
    return state


def _title(group: Group) -> str:
    models = sum(len(run.seeds) for run in group.runs)
    return "Learning" if models == 1 else f"Learning {models} models"


def _chunk_length(step: int, config: LearnConfig) -> int:
    """Steps up to the next chunk's end; chunks end at the same steps however often a run was killed."""
    return min(CHUNK, config.checkpoint_every - step % config.checkpoint_every, config.steps - step)


def _is_checkpoint(step: int, config: LearnConfig) -> bool:
    return step % config.checkpoint_every == 0 or step == config.steps


def _run_chunk(group: Group, state: State, step: int, length: int) -> tuple[State, list[LossArrays]]:
    """Take the steps of a chunk; return the state and, for each run, its models' mean losses."""
    state, on_chip = run_chunk(
        state, group.own, group.inputs, np.int32(step), group.steps, objective=group.objective, length=length
    )
    pieces = group.apart(jax.device_get(on_chip))
    losses = [_learned(run, one) for run, one in zip(group.runs, pieces, strict=True)]
    for run, one in zip(group.runs, losses, strict=True):
        _check_losses(run, one, step)
    return state, [{name: loss.mean(1, dtype=np.float64) for name, loss in one.items()} for one in losses]


def _validate(group: Group, i: int, state: State) -> LossArrays:
    run = group.runs[i]
    if run.held_out is None:
        return {}
    weights = group.weights_of(i, state)
    losses = validation_losses(weights, run.inputs, run.held_out, run.choices, objective=group.objective)
    return _learned(run, jax.device_get(losses))


def _learned(run: Run, losses: dict[str, Float32s]) -> dict[str, Float32s]:
    return {name: loss for name, loss in losses.items() if name not in run.objective.dropped}


def _save(group: Group, state: State, step: int) -> None:
    for run, one in zip(group.runs, group.states(jax.device_get(state)), strict=True):
        if run.store:
            _check_weights(run, one.weights, step)
            if _is_checkpoint(step, run.objective.config):
                run.store.write_checkpoint(step, run.seeds, separate(one.learned, run.inputs))
            run.store.write_state(step, one)


def _note(objective: Objective, speed: float, losses: Sequence[LossArrays], validation: Sequence[LossArrays]) -> str:
    words = [f"{speed:,.0f} steps/s"]
    for name in objective.headline:
        learned, held_out = (_all_models(each, name) for each in (losses, validation))
        if len(learned):
            apart = f" ({held_out.mean():.3g} held out)" if len(held_out) else ""
            words.append(f"{name} {learned.mean():.3g}{apart}")
    return " · ".join(words)


def _all_models(losses: Sequence[LossArrays], name: str) -> np.ndarray:
    return np.concatenate([one[name] for one in losses if name in one] or [np.empty(0)])


# --- bad input and bad luck -------------------------------------------------------------------------------------------


def _check_sizes(run: Run) -> None:
    first, other = run.episodes, run.validation
    for name in ("observation_size", "action_size"):
        if other and getattr(other, name) != getattr(first, name):
            raise VMGError(
                f"{first.source} and {other.source} do not fit together: {name} is {getattr(first, name)} in "
                f"the one and {getattr(other, name)} in the other."
            )


def _check_weights(run: Run, weights: Weights, step: int) -> None:
    for name, array in flat(weights).items():
        finite = np.isfinite(array).reshape(len(run.seeds), -1).all(1)
        if not finite.all():  # the last update broke what the losses before it do not show
            raise _not_finite(run, f"The weights {name}", int(np.argmin(finite)), step)


def _check_losses(run: Run, losses: dict[str, Float32s], start: int) -> None:
    names = [name for name in LOSSES if name in losses]
    bad = ~np.isfinite([losses[name] for name in names])  # (loss, model, step)
    if bad.any():
        step, model, loss = np.argwhere(bad.transpose(2, 1, 0))[0]
        raise _not_finite(run, f"The {names[loss]} loss", int(model), start + int(step) + 1)


def _not_finite(run: Run, what: str, model: int, step: int) -> VMGError:
    largest = (float(np.abs(array).max()) for array in (run.episodes.observations, run.episodes.actions))
    observation, action = largest
    kept = f" The last good state is kept in {run.store.state_file}." if run.store else ""
    return VMGError(
        f"{what} of the model with seed {run.seeds[model]} stopped being finite at step {step:,}. Lower learning_rate "
        f"(now {run.objective.config.learning_rate:g}), or look at the data's scale: the largest observation is "
        f"{observation:.3g}, the largest action {action:.3g}; encoder_inputs and translator_inputs can normalise "
        f"observations.{kept}"
    )
