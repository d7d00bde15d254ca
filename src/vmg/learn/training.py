"""Learning the four networks from episodes: `fit`, and `fit_together` for several data sets and settings."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jax
import numpy as np

from vmg.base.arguments import checked
from vmg.base.console import progress_bar, stopping_on_interrupt
from vmg.base.errors import VMGError
from vmg.base.locks import held
from vmg.base.types import Float32s
from vmg.data.episodes import Episodes
from vmg.learn import loop
from vmg.learn.config import LearnConfig, Training
from vmg.learn.groups import Group, Learner
from vmg.learn.logs import Logs, LossArrays
from vmg.learn.loop import State, initial_state, run_chunk, run_drawn, validation_losses
from vmg.learn.models import AgentModel, CloningModel, Model
from vmg.learn.stacking import initial_models, separate
from vmg.learn.store import Store, identity
from vmg.networks.weights import Weights, flat

CHUNK = 1000  # steps in one call: long enough that the call costs nothing, short enough to watch
SAVE_SECONDS = 30.0


@checked
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
    """Learn one model per seed, side by side, and return their weights (numpy) in the order of the seeds.

    Each model is the one its seed gives alone. With a `folder`, losses and checkpoints are written there, and a run
    that was killed goes on where it was and ends at the same weights; a finished one returns at once. On a GPU each
    process picks its fastest kernels anew, so there the same weights to the bit, rather than to rounding, take
    XLA_FLAGS=--xla_gpu_deterministic_ops=true, at about two thirds of the speed.
    `validation` holds episodes kept apart, on which the losses are measured too.
    """
    training = Training(episodes, seeds, validation, folder)
    return fit_together([training], config, resume=resume, show_progress=show_progress)[0]


@checked
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
    models = [AgentModel(each) for each in configs]
    return fit_models(models, trainings, resume=resume, show_progress=show_progress)


def fit_cloning(
    trainings: Sequence[Training],
    config: LearnConfig,
    *,
    goal_columns: tuple[int, ...] = (),
    show_progress: bool | None = None,
) -> list[list[Weights]]:
    """Learn behaviour cloning, the baseline, with the same loop; goal columns make it goal-conditioned."""
    models = [CloningModel(config, goal_columns)] * len(trainings)
    return fit_models(models, trainings, show_progress=show_progress)


def fit_models(
    models: Sequence[Model], trainings: Sequence[Training], *, resume: bool = True, earlier: bool = False,
    show_progress: bool | None = None,
) -> list[list[Weights]]:  # fmt: skip
    """Learn models of any kind, one for each training, side by side where they can be.

    `earlier`: of a folder that has learned for longer than is asked, return the models as they were then.
    """
    every = Learner.of(models, trainings)
    with ExitStack() as folders, stopping_on_interrupt() as interrupted:
        for learner in every:
            if learner.store:
                folders.enter_context(held(learner.store.folder))
                _open(learner, learner.store, resume)
        there = [_at_the_end(learner) if earlier else None for learner in every]
        learners = [learner for learner, kept in zip(every, there, strict=True) if kept is None]
        begun = [_begin(learner) for learner in learners]
        ended = [state for state, _ in begun]
        for step, here in _side_by_side(learners, [step for _, step in begun]):
            group = Group([learners[i] for i in here])
            state = _train(group, group.joined([ended[i] for i in here]), step, interrupted, show_progress)
            for i, one in zip(here, group.states(state), strict=True):
                ended[i] = one
    learned = iter([_kept(learner, state) for learner, state in zip(learners, ended, strict=True)])
    return [next(learned) if kept is None else kept for kept in there]


def _at_the_end(learner: Learner) -> list[Weights] | None:
    """Return the models at the last step asked for, if the folder keeps them."""
    return learner.store.read_checkpoint(learner.model.config.steps, learner.seeds) if learner.store else None


def _open(learner: Learner, store: Store, resume: bool) -> None:
    store.open(identity(learner.model, learner.seeds, learner.episodes, learner.validation), resume=resume)


def _side_by_side(learners: Sequence[Learner], reached: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Group the learners that are not at their end: the same step, and the same in all that must be shared.

    Where models are not computed at once, widening the narrow ones would cost time and the last bit, so sizes count.
    Where losses draw, or know how many numbers an action has, those of the data do.
    """
    groups: dict[Any, list[int]] = {}
    for i, (learner, step) in enumerate(zip(learners, reached, strict=True)):
        if step < learner.model.config.steps:
            alike = (learner.model.shared(), learner.fixed_inputs, _sizes_that_count(learner))
            groups.setdefault((step, alike), []).append(i)
    return [(step, here) for (step, _), here in groups.items()]


def _sizes_that_count(learner: Learner) -> Any:
    if not loop.batched():
        return tuple(learner.parts.items())
    if learner.model.widens:
        return None
    return learner.episodes.observation_size, learner.episodes.action_size


def _begin(learner: Learner) -> tuple[State, int]:
    initial = initial_models(learner.sizes, learner.seeds)
    kept = learner.store.read_state(initial, learner.model.averaged) if learner.store else None
    if kept and kept[1] > learner.model.config.steps:
        assert learner.store
        raise VMGError(
            f"{learner.store.folder} has learned for {kept[1]:,} steps already, more than the "
            f"{learner.model.config.steps:,} asked for. Use another folder, or ask for as many or more."
        )
    if kept:
        return kept
    state = initial_state(initial, learner.model.averaged)
    if learner.store:
        learner.store.write_state(0, state)
    return state, 0


def _train(group: Group, state: State, step: int, interrupted: Callable[[], bool], show_progress: bool | None) -> State:
    config, saved_at = group.model.config, time.monotonic()
    with ExitStack() as stack:
        logs = [
            stack.enter_context(Logs(learner.store.folder, learner.seeds, step)) if learner.store else None
            for learner in group.learners
        ]
        if group.stream:
            stack.callback(group.stream.close)
        advance = stack.enter_context(progress_bar(_title(group), config.steps, show=show_progress))
        while step < config.steps:
            began, length = time.monotonic(), _chunk_length(step, config)
            state, losses = _run_chunk(group, state, step, length)
            step += length
            validation = [_validate(group, i, state) for i in range(len(group.learners))]
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
            advance(step, _note(group.model, length / (time.monotonic() - began), losses, validation))
    return state


def _title(group: Group) -> str:
    models = sum(len(learner.seeds) for learner in group.learners)
    return "Learning" if models == 1 else f"Learning {models} models"


def _chunk_length(step: int, config: LearnConfig) -> int:
    """Steps up to the next chunk's end; chunks end at the same steps however often a run was killed."""
    return min(CHUNK, config.checkpoint_every - step % config.checkpoint_every, config.steps - step)


def _is_checkpoint(step: int, config: LearnConfig) -> bool:
    return step % config.checkpoint_every == 0 or step == config.steps


def _run_chunk(group: Group, state: State, step: int, length: int) -> tuple[State, list[LossArrays]]:
    """Take the steps of a chunk; return the state and, for each learner, its models' mean losses."""
    state, on_chip = _taken(group, state, step, length)
    pieces = group.apart(jax.device_get(on_chip))
    losses = [_learned(learner, one) for learner, one in zip(group.learners, pieces, strict=True)]
    for learner, one in zip(group.learners, losses, strict=True):
        _check_losses(learner, one, step)
    return state, [{name: loss.mean(1, dtype=np.float64) for name, loss in one.items()} for one in losses]


def _taken(group: Group, state: State, step: int, length: int) -> Any:
    """Take the steps on the device: from data that lie there, or from batches that are sent."""
    own, inputs, model, stream = group.own, group.inputs, group.model, group.stream
    if stream is None:
        return run_chunk(state, own, inputs, np.int32(step), group.steps, model=model, length=length)
    samples, batches = stream.take(own, step, length, model)
    if (after := step + length) < model.config.steps:
        stream.prepare(own, after, _chunk_length(after, model.config), model)
    return run_drawn(state, own, inputs, samples, batches, model=model)


def _validate(group: Group, i: int, state: State) -> LossArrays:
    learner = group.learners[i]
    if learner.held_out is None:
        return {}
    weights = group.weights_of(i, state)
    losses = validation_losses(weights, learner.inputs, learner.held_out, learner.numbers, model=group.model)
    return _learned(learner, jax.device_get(losses))


def _learned(learner: Learner, losses: dict[str, Float32s]) -> dict[str, Float32s]:
    """The losses this learner has, those worth watching first."""
    model = learner.model
    names = (*(name for name in model.headline if name in losses), *sorted(set(losses) - set(model.headline)))
    return {name: losses[name] for name in names if name not in model.dropped}


def _save(group: Group, state: State, step: int) -> None:
    for learner, one in zip(group.learners, group.states(jax.device_get(state)), strict=True):
        if learner.store:
            _check_weights(learner, one.weights, step)
            if _is_checkpoint(step, learner.model.config):
                learner.store.write_checkpoint(step, learner.seeds, _kept(learner, one))
            learner.store.write_state(step, one)


def _kept(learner: Learner, state: State) -> list[Weights]:
    """Return each model with the networks that acting needs, or that others may look at, and what is measured of it."""
    networks = {part: layers for part, layers in state.learned.items() if part not in learner.model.learning_only}
    judged = learner.episodes if learner.validation is None else learner.validation
    return [learner.model.measured(each, judged) | learner.angles for each in separate(networks, learner.inputs)]


def _note(model: Model, speed: float, losses: Sequence[LossArrays], validation: Sequence[LossArrays]) -> str:
    words = [f"{speed:,.0f} steps/s"]
    for name in model.headline:
        learned, held_out = (_all_models(each, name) for each in (losses, validation))
        if len(learned):
            apart = f" ({held_out.mean():.3g} held out)" if len(held_out) else ""
            words.append(f"{name} {learned.mean():.3g}{apart}")
    return " · ".join(words)


def _all_models(losses: Sequence[LossArrays], name: str) -> np.ndarray:
    return np.concatenate([one[name] for one in losses if name in one] or [np.empty(0)])


# --- bad input and bad luck -------------------------------------------------------------------------------------------


def _check_weights(learner: Learner, weights: Weights, step: int) -> None:
    for name, array in flat(weights).items():
        finite = np.isfinite(array).reshape(len(learner.seeds), -1).all(1)
        if not finite.all():  # the last update broke what the losses before it do not show
            raise _not_finite(learner, f"The weights {name}", int(np.argmin(finite)), step)


def _check_losses(learner: Learner, losses: dict[str, Float32s], start: int) -> None:
    names = list(losses)
    bad = ~np.isfinite([losses[name] for name in names])  # (loss, model, step)
    if bad.any():
        step, model, loss = np.argwhere(bad.transpose(2, 1, 0))[0]
        raise _not_finite(learner, f"The {names[loss]} loss", int(model), start + int(step) + 1)


def _not_finite(learner: Learner, what: str, model: int, step: int) -> VMGError:
    largest = (float(np.abs(array).max()) for array in (learner.episodes.observations, learner.episodes.actions))
    observation, action = largest
    kept = f" The last good state is kept in {learner.store.state_file}." if learner.store else ""
    return VMGError(
        f"{what} of the model with seed {learner.seeds[model]} stopped being finite at step {step:,}. Lower "
        f"learning_rate (now {learner.model.config.learning_rate:g}), or look at the data's scale: the largest "
        f"observation is {observation:.3g}, the largest action {action:.3g}; encoder_inputs and the inputs of "
        f"low_level can normalise observations.{kept}"
    )
