"""Ablations: variants of a preset, the baseline, with one thing changed, measured with networks that they share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from vmg import learn
from vmg.act.policy import Policy
from vmg.agent.agent import Agent
from vmg.agent.settings import AgentConfig
from vmg.base.console import say
from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.envs import Task
from vmg.evaluation import Scores, Summary
from vmg.evaluation.scores import paired_difference
from vmg.graph import summarise
from vmg.networks import Weights, load_weights
from vmg.runs import Run, load_run
from vmg.runs.notes import Measured, remembered, scores_together
from vmg.runs.stages import train
from vmg.studies.study import Study, described, missing_data, row_command, run_of
from vmg.studies.variants import ABLATIONS, BASELINE, METRIC, TRAININGS, TRANSLATOR, Variant, as_in_the_paper, learning

PAPER = "paper"
BASELINES = (PAPER, "program")
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Bench:
    """A task with the networks learned for it: what its variants are measured on."""

    study: Study
    task: Task
    runs: Mapping[str, Run]
    """By name; the baseline's first."""
    missing: str = ""
    """Why it cannot be done, and how it can."""
    _built: dict[int, Agent] = field(default_factory=dict, init=False)
    """The last graph of each seed: many variants share it."""

    @property
    def run(self) -> Run:
        """The baseline's run, where all evaluations are noted."""
        return self.runs[BASELINE]

    @property
    def preset(self) -> AgentConfig:
        """The baseline."""
        return self.task.preset(baseline_of(self.study))

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.study.seeds or SEEDS

    @property
    def steps(self) -> int:
        """Updates behind the networks."""
        return self.study.steps or self.run.config.learn.steps

    @cached_property
    def config(self) -> AgentConfig:
        """The baseline's settings, whatever its run was built and solved with last."""
        return replace(self.preset, learn=self.run.config.learn)

    @cached_property
    def episodes(self) -> Episodes:
        return self.run.episodes()[0]

    def needed(self, config: AgentConfig) -> list[Run]:
        """Return the runs that these settings take their networks from: the metric space's and the translator's."""
        return [self._learned(config, METRIC), self._learned(config, TRANSLATOR)]

    def _learned(self, config: AgentConfig, names: Sequence[str]) -> Run:
        wanted = {name: getattr(config.learn, name) for name in names}
        for run in self.runs.values():
            if all(getattr(run.config.learn, name) == value for name, value in wanted.items()):
                return run
        raise VMGError(f"No training of the ablations learns {wanted}: add it to TRAININGS.")

    def untrained(self, config: AgentConfig) -> str:
        """Say which network these settings lack, and how to get it; nothing where all are there."""
        for run in self.needed(config):
            if not all(_networks(run, self.steps, seed).exists() for seed in self.seeds):
                found = sorted(each.stem.removeprefix("step_") for each in _checkpoints(run).glob("step_*"))
                there = ", ".join(f"{int(step):,}" for step in found) or "none"
                return (
                    f"{run.folder} holds no networks of {self.steps:,} updates (checkpoints there: {there}). Choose "
                    "other --steps, or leave out --only evaluate."
                )
        return ""

    def agent(self, config: AgentConfig, seed: int) -> Agent:
        """Return the seed's agent with these settings, built; the graph is the last one's where it can be."""
        before = self._built.get(seed)
        metric, translator = (_weights(run, self.steps, seed) for run in self.needed(config))
        weights = {**metric, **{part: translator[part] for part in ("translator", "translator_input")}}
        if before and _same_graph(before.config, config):
            agent = replace(before, config=config, weights=weights)
        else:
            self._built.pop(seed, None)
            agent = Agent(config, DataFacts.of(self.episodes), seed, weights).build(self.episodes)
        self._built[seed] = agent
        return agent

    def scores(self, name: str, config: AgentConfig) -> list[Scores]:
        """Evaluate the settings with every seed and one set of workers, or read what was noted."""
        task, method = self.run.find_task(), self._noted_as(name, config)
        models = [
            (Measured(self.run, task, method, seed, config.to_dict()), partial(self._policy, config, seed))
            for seed in self.seeds
        ]
        return scores_together(models, self.study.trial)

    def _policy(self, config: AgentConfig, seed: int) -> Policy:
        return self.agent(config, seed).solve(self.episodes).policy()

    def _noted_as(self, name: str, config: AgentConfig) -> str:
        """Notes of the baseline are those of the tables of tasks."""
        method = "VMG" if config == self.config else name
        return method if self.steps == self.run.config.learn.steps else f"{method} at {self.steps}"

    def graphs(self, config: AgentConfig) -> list[dict[str, Any]]:
        """Return the numbers of each seed's graph, built unless they are known."""
        return [self._graph(config, seed) for seed in self.seeds]

    def _graph(self, config: AgentConfig, seed: int) -> dict[str, Any]:
        learned = {name: getattr(config.learn, name) for name in METRIC}
        of = {"learn": learned, "graph": config.graph.to_dict(), "seed": seed, "steps": self.steps}
        make = lambda: summarise(self.agent(config, seed).built).to_dict()  # noqa: E731
        return remembered(self.run.folder / "graphs.json", of | {"data": self.run.data}, make)


def bench(name: str, study: Study, task: Task, variants: Iterable[Variant]) -> Bench:
    """Return a task with the runs that the baseline and these variants need; `name` is what the study is called by."""
    preset, seeds = task.preset(baseline_of(study)), study.seeds or SEEDS
    changed = {run: replace(preset, learn=learning(preset.learn, changes)) for run, changes in TRAININGS.items()}
    runs = {run: run_of(study, task, config, seeds, _folder(study, run)) for run, config in changed.items()}
    every = Bench(study, task, runs)
    configs = [preset, *(config for variant in variants if (config := variant.of(task.name, preset)))]
    needed = [run for config in configs for run in every.needed(config)]
    kept = {run: _there(each) for run, each in every.runs.items() if each in needed}
    return Bench(study, task, kept, missing_data(name, task, every.run))


def baseline_of(study: Study) -> str:
    """Return the preset of which one thing is changed."""
    asked = study.presets or (PAPER,)
    if len(asked) > 1 or asked[0] not in BASELINES:
        raise VMGError(
            f"Ablations change one thing of one preset, {' or '.join(BASELINES)}, not of {', '.join(asked)}: ask for "
            f"--presets {BASELINES[0]}, or --presets {BASELINES[1]}."
        )
    return asked[0]


def ablations_of(study: Study) -> list[str]:
    """Return the ablations that can be made of the study's baseline."""
    return [name for name, ablation in ABLATIONS.items() if ablation.of in (None, baseline_of(study))]


def train_benches(found: Iterable[Bench], study: Study) -> None:
    """Learn every run that is not there yet, side by side where they can be."""
    wanted = [run for each in found if not each.missing for run in each.runs.values()]
    if wanted:
        say(f"Training {sum(len(run.seeds) for run in wanted)} models for {len(wanted)} runs.")
        train(*wanted, on=study.executor, workers=study.workers)


def measure_bench(name: str, bench: Bench) -> Iterator[dict[str, Any]]:
    """Yield the row of every variant of an ablation."""
    for variant in ABLATIONS[name].variants:
        config = variant.of(bench.task.name, bench.config)
        if config is None:
            continue
        say(f"{name}: {bench.task.name}, {variant.name}.")
        missing = bench.untrained(config)
        front = {"task": bench.task.name, "variant": variant.name}
        yield {**front, "missing": missing} if missing else _row(name, bench, variant, config)


def _row(name: str, bench: Bench, variant: Variant, config: AgentConfig) -> dict[str, Any]:
    made_by = row_command(name, bench.study, bench.task.name)
    baseline = bench.scores("VMG", bench.config)
    scores = bench.scores(variant.name, config)
    return described(replace(bench.run, seeds=bench.seeds), bench.episodes, bench.run.find_task(), made_by) | {
        "task": bench.task.name,
        "variant": variant.name,
        "baseline": config == bench.config,
        "preset": baseline_of(bench.study),
        "paper": variant.paper.get(as_in_the_paper(bench.task.name)),
        "graphs": bench.graphs(config),
        "difference": paired_difference(scores, baseline),
        "checkpoint": f"step {bench.steps}",
        "settings": config.to_dict(),
        **Summary.of(scores).to_dict(),
    }


def _folder(study: Study, run: str) -> str:
    """Runs of the presets lie beside each other; the baselines' are those of the tables of tasks."""
    preset = baseline_of(study)
    return preset if run == BASELINE else run if preset == PAPER else f"{preset}_{run}"


def _there(run: Run) -> Run:
    """Return the run that is there already, if it will do: more seeds, or more updates with this one among them."""
    if not (run.folder / "run.json").exists():
        return run
    there, wanted = load_run(run.folder), run.config.learn
    steps = there.config.learn.steps
    alike = replace(wanted, steps=steps, checkpoint_every=there.config.learn.checkpoint_every)
    enough = steps >= wanted.steps and set(there.seeds) >= set(run.seeds)
    if not enough or there.config.learn != alike or there.validation:
        return run  # which training it again will refuse, naming the difference
    return replace(run, seeds=there.seeds, config=replace(run.config, learn=alike))


def _weights(run: Run, steps: int, seed: int) -> Weights:
    file = _networks(run, steps, seed)
    low_level = run.config.learn.low_level
    if file.parent != _checkpoints(run):
        return load_weights(file, low_level)
    return learn.load_checkpoint(file, low_level)[seed]


def _networks(run: Run, steps: int, seed: int) -> Path:
    """Return the file of the seed's networks after so many updates: the run's agent, or an earlier checkpoint."""
    if steps == run.config.learn.steps:
        return run.agent_folder(seed) / "weights.safetensors"
    return _checkpoints(run) / f"step_{steps:010d}.safetensors"


def _checkpoints(run: Run) -> Path:
    return run.folder / "training" / "checkpoints"


def _same_graph(one: AgentConfig, other: AgentConfig) -> bool:
    learned = ([getattr(config.learn, name) for name in METRIC] for config in (one, other))
    return one.graph == other.graph and next(learned) == next(learned)
