"""Settings of learning, chosen from the data: what the translator sees, how far its goals lie, how long it learns.

Candidates learn side by side from nine tenths of the episodes. They are judged by following the rest in a learned model
of the robot (`imagination`); how long to learn and how much to forget by the error on the rest's actions.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np

from vmg.act.settings import ActConfig
from vmg.agent.auto.angles import choose_angles, in_own_columns
from vmg.agent.auto.choice import Choice, as_value
from vmg.agent.auto.columns import Columns, look_at
from vmg.agent.auto.imagination import Imagination
from vmg.agent.auto.likeness import steps_apart
from vmg.agent.auto.speed import choose_lead
from vmg.base.errors import VMGError
from vmg.base.lazy import LazyModule
from vmg.base.types import Float64s
from vmg.data.episodes import Episodes
from vmg.learn.config import LearnConfig, Training
from vmg.networks.actions import scaled_actions
from vmg.networks.lowlevel import Act
from vmg.networks.lowlevel.translator import Translator, translate
from vmg.networks.mlp import Inputs
from vmg.networks.weights import Weights

trials, training = LazyModule("vmg.learn.trials"), LazyModule("vmg.learn.training")

Name = TypeVar("Name")

HELD_OUT = 0.1
"""Share of the episodes that settings are judged on."""
TRIAL_STEPS = 8_000
MOST_STEPS = 128_000
GAIN = 0.03
"""Share by which twice the learning must lower the error to be worth it."""
WORSE = 0.02
"""Share by which it may raise the error before weight decay is tried."""
CLOSE = 0.05
"""Candidates this close to the best are as good; the first is taken."""
CLEARLY = 0.15
"""Another way of scaling must be better by this much: goals as differences have served most robots best."""
NEARER = 0.06
"""A subgoal nearer by may be this much worse: a model of the robot forgives more than the robot."""
PACE = 0.005
"""A subgoal nearer by may be this much slower, where the model cannot tell which is followed best."""
AHEAD = (1, 2, 3, 5, 8)
DECAYS = (0.01, 0.1, 1.0)
MEMORY = 1_000
"""Updates over which candidates are averaged."""
FOLLOWED = "held-out recordings followed in a learned model"
FOLLOWED_WELL = f"distance from the end of {FOLLOWED}, in typical changes"
HELD_OUT_ERROR = "error of held-out actions, as a share of their variance"
FORWARD_SEEDS = (0, 1)
UNLIKE = 3.5
"""Recorded steps between an episode and the nearest other from which on none is worth following to its end."""
SANE = (0.02, 5.0)
"""Middle and largest spread between which numbers need no scaling."""


@dataclass(frozen=True)
class Learned:
    """What to learn with, how far ahead to aim, and why."""

    config: LearnConfig
    subgoal_steps: int
    noise: float
    """Spread of the recorded actions about the translator's, in its own units."""
    paths: str
    """What routes go along: edges where recordings are too unlike one another for one to be followed from another."""
    choices: tuple[Choice, ...]


def choose_learning(
    episodes: Episodes, folder: Path | None = None, *, steps: int | None = None,
    angles: Sequence[int] | None = None, show_progress: bool | None = None,
) -> Learned:  # fmt: skip
    """Choose from the episodes alone; with a `folder`, what was learned on the way is kept, and goes on if killed.

    `steps`: updates to learn for, where that is not to be chosen; `angles`: columns that are, where that is known.
    """
    seen, turns, choices = choose_angles(episodes, angles)
    with nullcontext(folder) if folder else TemporaryDirectory() as kept:
        learned = _Trials(seen, Path(kept), steps, show_progress).choose()
    config = in_own_columns(learned.config, turns, episodes)
    return replace(learned, config=config, choices=(*choices, *learned.choices))


def choose_subgoal(errors: Mapping[int, float], paces: Mapping[int, float]) -> Choice:
    """How far ahead subgoals lie, from how well and how fast recordings are followed with each.

    An ant's steps cannot be imagined well enough to tell. But with the nearest subgoal it is held up at every step.
    """
    if max(errors.values()) > (1 + NEARER) * min(errors.values()):
        ahead, judged, by = _simplest(errors, close=NEARER), errors, FOLLOWED_WELL
        why = f"The nearest of the subgoals that are followed within {100 * NEARER:.0f} % of the best."
    else:
        judged, by = paces, f"recorded steps per step of {FOLLOWED}"
        ahead = next(each for each, pace in paces.items() if pace >= (1 - PACE) * max(paces.values()))
        why = (
            f"All are followed within {100 * NEARER:.0f} % of the best: the nearest of those that are within "
            f"{100 * PACE:g} % of the fastest."
        )
    tried = tuple((str(each), number) for each, number in judged.items())
    return Choice(setting="act.subgoal-steps", value=str(ahead), why=why, tried=tried, judged_by=by)


def held_out_of(episodes: Episodes) -> tuple[Episodes, Episodes]:
    """Split episodes into those that settings are tried with and those they are judged on."""
    return episodes.split(HELD_OUT, seed=0) if len(episodes) > 1 else (episodes, episodes)


class _Trials:
    def __init__(self, episodes: Episodes, folder: Path, steps: int | None, show_progress: bool | None) -> None:
        self.known, self.held_out = held_out_of(episodes)
        self.columns, self.folder, self.show_progress = look_at(episodes), folder, show_progress
        if self.columns.constant.all():
            raise VMGError(
                f"{episodes.source}: no column of the observations changes by more than a millionth, so there is "
                "nothing to learn from. Look at them with `vmg data info`; give small numbers in other units."
            )
        self.apart = steps_apart(self.known, self.held_out, self.columns.spread)
        self.asked, self.trial_steps = steps, min(steps or TRIAL_STEPS, TRIAL_STEPS)
        self.base = LearnConfig(
            encoder_inputs="normalised",
            margins="program",
            actions="raw" if _sane(episodes.actions.std(0, dtype=np.float64)) else "normalised",
        )

    def choose(self) -> Learned:
        candidates = self._candidates()
        learned = self._learn(candidates, self.trial_steps)
        name, ahead, followed = (
            self._followed_best(candidates, learned) if self._alike else self._nothing_to_judge_by(candidates)
        )
        decay, steps, rounds = self._learned_enough(name, candidates[name])
        noise = self._noise(learned[list(candidates).index(name)], ahead)
        stuck = Choice(
            setting="act.noise",
            value=f"{noise:.3g}, when stuck",
            why="So far recorded actions lie from the translator's on episodes held out; it frees a body that sticks.",
        )
        lead, last = (0, stuck) if self._alike else choose_lead(self.known, self.columns)
        translator = replace(candidates[name], decay_rate=decay, memory=max(steps // 8, 1), lead=lead)
        config = replace(self.base, low_level=translator, steps=steps, checkpoint_every=max(steps // 4, 1))
        choices = (*self._scaling(), self._routes(), *followed, *rounds, last)
        return Learned(config, ahead, noise, self._paths, choices)

    @property
    def _alike(self) -> bool:
        return self.apart < UNLIKE

    @property
    def _paths(self) -> str:
        return "observed" if self._alike else "edges"

    def _candidates(self) -> dict[str, Translator]:
        """What a translator can see, the fewest columns first, and how it is scaled."""
        sane = _sane(self.columns.spread[~self.columns.constant])
        inputs: tuple[Inputs, ...] = ("raw relative", "relative", "raw") if sane else ("relative", "normalised")
        seen = _distinct(self.columns)
        if not self._alike:  # the difference to another's state is then like none that was learned: goals as they are
            inputs, seen = inputs[-1:], dict([list(seen.items())[-1]])
        return {
            f"{which}, {scaling}": Translator(columns=columns, inputs=scaling)
            for which, columns in seen.items()
            for scaling in inputs
        }

    def _learn(self, candidates: Mapping[str, Translator], steps: int) -> list[Weights]:
        """Learn each of these, or go on with it; a choice that was killed may have learned it for longer."""
        configs = [
            replace(self.base, low_level=replace(each, memory=MEMORY), steps=steps, checkpoint_every=steps)
            for each in candidates.values()
        ]
        models = [trials.TranslatorModel(config) for config in configs]
        one_each = [Training(self.known, (0,), folder=self._folder(name)) for name in candidates]
        learned = training.fit_models(models, one_each, earlier=True, show_progress=self.show_progress)
        return [weights for (weights,) in learned]

    def _folder(self, name: str) -> Path:
        return self.folder / re.sub(r"\W+", "-", name)

    def _imagination(self) -> Imagination:
        config = replace(self.base, steps=2 * self.trial_steps, checkpoint_every=2 * self.trial_steps)
        one = Training(self.known, FORWARD_SEEDS, folder=self._folder("forward"))
        (models,) = training.fit_models([trials.ForwardModel(config)], [one], show_progress=self.show_progress)
        return Imagination.of(self.known, self.held_out, tuple(models))

    def _followed_best(
        self, candidates: Mapping[str, Translator], learned: Sequence[Weights]
    ) -> tuple[str, int, tuple[Choice, ...]]:
        imagination = self._imagination()
        found = {
            (name, ahead): imagination.followed(_acting(weights), weights, ahead)
            for name, weights in zip(candidates, learned, strict=True)
            for ahead in AHEAD
        }
        errors = {each: self._score(followed.errors) for each, followed in found.items()}
        best = {name: min(errors[name, ahead] for ahead in AHEAD) for name in candidates}
        name = _usual(best, candidates)
        far = choose_subgoal(
            {ahead: errors[name, ahead] for ahead in AHEAD}, {ahead: found[name, ahead].pace for ahead in AHEAD}
        )
        seen = Choice(
            setting="learn.low-level.columns, .inputs",
            value=name,
            why="It follows recordings that it did not learn from as well as any: goals as differences unless another "
            f"scaling is {100 * CLEARLY:.0f} % better, then the fewest columns within {100 * CLOSE:.0f} % of the best.",
            tried=tuple(best.items()),
            judged_by=FOLLOWED_WELL,
        )
        return name, int(far.value), (seen, far)

    def _nothing_to_judge_by(self, candidates: Mapping[str, Translator]) -> tuple[str, int, tuple[Choice, ...]]:
        (name,) = candidates
        why = "No episode can be followed from states of another, so there is nothing to judge by: all there is."
        seen = Choice(setting="learn.low-level.columns, .inputs", value=name, why=why)
        return name, ActConfig().subgoal_steps, (seen,)

    def _score(self, errors: Float64s) -> float:
        """Moving and resting columns count the same, however many there are; each as much as its changes persist."""
        columns = self.columns
        weights = np.where(columns.constant, 0.0, columns.persistence)
        groups = [group for group in (~columns.resting, columns.resting) if weights[group].any()]
        means = [np.average(errors[group] ** 2, weights=weights[group]) for group in groups]
        return float(np.mean(np.sqrt(means)))

    def _learned_enough(self, name: str, translator: Translator) -> tuple[float, int, tuple[Choice, ...]]:
        """Go on, for twice as long each time, until that no longer pays; where it hurts, try weight decay."""
        if self.asked:
            return 0.0, self.asked, ()
        longest, rounds = TRIAL_STEPS, dict[int, float]()
        while len(rounds) < 2 or (longest < MOST_STEPS and rounds[longest] < (1 - GAIN) * rounds[longest // 2]):
            longest *= 2
            rounds[longest] = self._action_error(self._learn({name: translator}, longest)[0])
        pays = rounds[longest] < (1 - GAIN) * rounds[longest // 2]
        steps = longest if pays else longest // 2
        enough = f"Twice as many lowered the error on episodes held out by less than {100 * GAIN:.0f} %."
        learned = Choice(
            setting="learn.steps",
            value=as_value(steps),
            why="The most that is tried; the error on episodes held out was still falling." if pays else enough,
            tried=tuple((as_value(each), error) for each, error in rounds.items()),
            judged_by=HELD_OUT_ERROR,
        )
        if rounds[longest] < (1 + WORSE) * rounds[steps]:
            return 0.0, steps, (learned,)
        decays = {f"{name}, decay {decay:g}": replace(translator, decay_rate=decay) for decay in DECAYS}
        found = self._learn(decays, longest)
        errors = {0.0: rounds[longest]} | dict(zip(DECAYS, map(self._action_error, found), strict=True))
        decay = _simplest(errors)
        helps = "this much decay helps most" if decay else f"no decay helps by more than {100 * CLOSE:.0f} %"
        forgetting = Choice(
            setting="learn.low-level.decay-rate",
            value=f"{decay:g}",
            why=f"Learning longer made it worse on episodes held out; {helps}.",
            tried=tuple((f"{each:g}", error) for each, error in errors.items()),
            judged_by=HELD_OUT_ERROR,
        )
        return decay, steps, (learned, forgetting)

    def _action_error(self, weights: Weights) -> float:
        """Mean over goals 1 to 10 steps ahead of the squared error of the actions, as a share of their variance."""
        variance = scaled_actions(weights, self.held_out.actions).var(0, dtype=np.float64).sum()
        errors = [self._squared_error(weights, ahead).sum() for ahead in (1, 3, 5, 10) if ahead <= self._longest]
        return float(np.mean(errors) / max(float(variance), 1e-12))

    def _noise(self, weights: Weights, ahead: int) -> float:
        """The spread of actions held out about the translator's, where goals lie as far ahead as they will."""
        return round(float(np.sqrt(self._squared_error(weights, min(ahead, self._longest)).mean())), 3)

    def _squared_error(self, weights: Weights, ahead: int) -> Float64s:
        """Mean squared error of each number of the actions held out, for goals so many steps ahead."""
        episodes = self.held_out
        steps = np.flatnonzero(episodes.steps_left >= ahead)
        rows = episodes.step_observation[steps]
        actions = _acting(weights)(episodes.observations[rows], episodes.observations[rows + ahead])
        errors: Float64s = np.mean((actions - scaled_actions(weights, episodes.actions[steps])) ** 2, axis=0)
        return errors

    @property
    def _longest(self) -> int:
        return int(self.held_out.lengths.max())

    def _routes(self) -> Choice:
        found = f"An observation held out is {self.apart:.2g} times a step away from other episodes"
        if self.held_out is self.known:
            found = "There is one episode, so nothing was held out, and all is judged by what was learned from"
        why = {
            "edges": "no other episode is worth following to its end, so the best next vertex is looked for anew at "
            "every step, and goals are seen as they are, not as differences.",
            "observed": "what others did can be followed from it, where the world is as it was there.",
        }
        return Choice(setting="solve.paths", value=self._paths, why=f"{found}: {why[self._paths]}")

    def _scaling(self) -> tuple[Choice, ...]:
        spread = self.known.actions.std(0, dtype=np.float64)
        value = self.base.actions
        words = f"The spread of the actions is {spread.min():.3g} to {spread.max():.3g}"
        why = f"{words}: small networks learn that as it is." if value == "raw" else f"{words}, far from 1."
        return (Choice(setting="learn.actions", value=value, why=why),)


def _distinct(columns: Columns) -> dict[str, tuple[int, ...]]:
    """Sets of columns a translator may see, each once; none: all."""
    varying = tuple(np.flatnonzero(~columns.constant).tolist())
    sets = {
        "all columns": varying,
        "without velocities": columns.positions,
        "what moves": columns.moving,
        "what moves, without velocities": columns.moving_positions,
    }
    distinct: dict[tuple[int, ...], str] = {}
    for name, which in sets.items():
        if which:
            distinct.setdefault(which, name)
    size = len(columns.spread)
    return {distinct[which]: which if len(which) < size else () for which in sorted(distinct, key=len)}


def _acting(weights: Weights) -> Act:
    return lambda observations, goals: np.asarray(translate(weights, observations, goals))


def _sane(spreads: Float64s) -> bool:
    return bool(len(spreads) and SANE[0] <= np.median(spreads) and spreads.max() <= SANE[1])


def _usual(errors: Mapping[str, float], candidates: Mapping[str, Translator]) -> str:
    """The first way of scaling unless another is clearly better; with it, the fewest columns that are as good."""
    by_inputs: dict[str, float] = {}
    for name, each in candidates.items():
        by_inputs[each.inputs] = min(errors[name], by_inputs.get(each.inputs, np.inf))
    inputs = _simplest(by_inputs, close=CLEARLY)
    return _simplest({name: errors[name] for name, each in candidates.items() if each.inputs == inputs})


def _simplest(errors: Mapping[Name, float], *, close: float = CLOSE) -> Name:
    """The first that is about as good as the best."""
    least = min(errors.values())
    return next(name for name, error in errors.items() if error <= (1 + close) * least)
