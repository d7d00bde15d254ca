"""Agent: networks, graph and routes in one; the few lines that join the stages."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, overload

from vmg import learn
from vmg.act.body import Body, Recorded
from vmg.act.conjunction import ConjunctionPlan, make_conjunction
from vmg.act.plan import Plan, make_plan
from vmg.act.policy import Policy
from vmg.act.sequence import SequencePlan
from vmg.act.settings import ActConfig
from vmg.agent import auto
from vmg.agent import folder as folders
from vmg.agent.auto.choice import Choice
from vmg.agent.extending import extended, refuse_other_sizes
from vmg.agent.generating import with_generated
from vmg.agent.growth import Growth, growth
from vmg.agent.settings import AgentConfig
from vmg.base.arguments import checked
from vmg.base.errors import VMGError
from vmg.base.settings import Bounds
from vmg.base.types import Bools, Float32s
from vmg.data.episodes import Episodes
from vmg.data.facts import DataFacts
from vmg.goals.objectives import Conjunction, Objective, Stages, recorded_rewards
from vmg.graph import MemoryGraph, Routes, build, knowing_falls
from vmg.learn import Training
from vmg.networks import Weights, embed_alike


@dataclass(frozen=True, eq=False)
class Agent:
    """A learned model, with its graph once built and its routes once solved. Nothing is changed in place."""

    config: AgentConfig
    data: DataFacts
    seed: int
    weights: Weights
    graph: MemoryGraph | None = None
    routes: Routes | None = None
    """The routes of its own plan, for the recorded rewards."""
    episodes: Episodes | None = field(default=None, repr=False)
    """What the graph was built from, while it is at hand: not saved, not sent to other processes."""
    choices: tuple[Choice, ...] = field(default=(), repr=False)
    """How its settings were chosen from the data, where they were and it was just learned: not saved."""

    @classmethod
    @checked
    def fit(
        cls,
        episodes: Episodes,
        config: AgentConfig | None = None,
        seeds: Sequence[int] = (0,),
        *,
        validation: Episodes | None = None,
        folder: Path | str | None = None,
        show_progress: bool | None = None,
    ) -> list["Agent"]:
        """Learn one agent per seed, side by side. With a `folder`, a killed run goes on where it was.

        Without a configuration all settings are chosen from the episodes; `agent.choices` says why.
        """
        one = Training(episodes, seeds, validation, folder)
        if config is not None:
            return cls.fit_together([one], [config], show_progress=show_progress)[0]
        chosen = auto.choose(episodes, Path(folder) / "auto" if folder else None, show_progress=show_progress)
        agents = cls.fit_together([one], [chosen.config], show_progress=show_progress)[0]
        chosen = auto.complete(chosen, [agent.weights for agent in agents], episodes)
        return [replace(agent, config=chosen.config, choices=chosen.choices) for agent in agents]

    @classmethod
    @checked
    def fit_together(
        cls, trainings: Sequence[Training], configs: Sequence[AgentConfig], *, show_progress: bool | None = None
    ) -> list[list["Agent"]]:
        """Learn the agents of several data sets and settings, side by side where they can be."""
        if len(trainings) != len(configs):
            raise VMGError(
                f"There are {len(trainings)} trainings, but {len(configs)} configurations: give one for each."
            )
        learned = learn.fit_together(trainings, [config.learn for config in configs], show_progress=show_progress)
        return [
            [
                cls(config, DataFacts.of(one.episodes), seed, weights)
                for seed, weights in zip(one.seeds, models, strict=True)
            ]
            for one, config, models in zip(trainings, configs, learned, strict=True)
        ]

    @checked
    def build(
        self,
        episodes: Episodes,
        *,
        fallen: Callable[[Float32s], Bools] | None = None,
        embed: Callable[[Weights, Float32s], Float32s] | None = None,
        workers: Annotated[int, Bounds(1, 1024)] = 1,
    ) -> "Agent":
        """Build the graph from these episodes: usually, but not necessarily, those it learned from.

        `workers` are cores of this machine that embed and merge; `embed` makes the features elsewhere, given networks
        and observations. Neither changes the graph.

        `fallen` says of states, one per row, whether a body lies after a fall, as `Task.fallen` does: with it,
        `SolveConfig.fall_cost` knows falls that ended no recording, too.
        """
        refuse_other_sizes(self, episodes)
        here = partial(embed_alike, workers=workers)
        features = (embed or here)(self.weights, episodes.observations)
        own = ("radius", "generated")
        options = {name: value for name, value in self.config.graph.to_dict().items() if name not in own}
        graph = build(features, episodes, self.config.graph.radius, seed=self.seed, workers=workers, **options)
        if self.config.graph.generated is not None:
            graph = with_generated(self, graph, features, episodes)
        return replace(self, graph=knowing_falls(graph, episodes, fallen), episodes=episodes, routes=None)

    @checked
    def extend(
        self,
        episodes: Episodes,
        *,
        earlier: Episodes | None = None,
        fallen: Callable[[Float32s], Bools] | None = None,
    ) -> "Agent":
        """Return the agent with these episodes in its graph, too: what `build` makes of all, bit for bit, in less time.

        The networks stay as they are, and its own plan is renewed where it had one. `earlier` are the episodes the
        graph was built from; an agent that was just built has them. `fallen` is as in `build`. `growth_since` says
        what is new.
        """
        grown = extended(self, episodes, earlier if earlier is not None else self.episodes, fallen)
        return grown.solve() if self.routes else grown

    @checked
    def growth_since(self, before: "Agent", *, held_out: Episodes | None = None) -> Growth:
        """Say what this agent's graph has that an earlier one had not, and how the networks do on what is new.

        They are measured beside episodes that were held out or, without, beside those that were there before.
        """
        return growth(before, self, held_out)

    @checked
    def solve(self, episodes: Episodes | None = None) -> "Agent":
        """Return the agent with its own plan: for the recorded rewards of the episodes its graph was built from."""
        return replace(self, routes=self.plan(recorded_rewards(), episodes).routes)

    @overload
    def plan(  # type: ignore[overload-overlap]
        self, objective: Conjunction, episodes: Episodes | None = None
    ) -> Plan | ConjunctionPlan: ...

    @overload
    def plan(self, objective: Objective, episodes: Episodes | None = None) -> Plan: ...

    @overload
    def plan(self, objective: Stages, episodes: Episodes | None = None) -> SequencePlan: ...

    @checked
    def plan(
        self, objective: Objective | Stages, episodes: Episodes | None = None
    ) -> Plan | SequencePlan | ConjunctionPlan:
        """Solve the graph for an objective, or for one after the other; milliseconds, and nothing is trained.

        `episodes` are those the graph was built from. An agent that was just built has them; a loaded one knows what
        its folder keeps, which is enough for goals in its goal columns and for routes along recordings.
        """
        recorded = Recorded(self.built, episodes if episodes is not None else self.episodes)
        if isinstance(objective, Stages):
            return SequencePlan(objective, tuple(make_plan(self.body, each, recorded) for each in objective.stages))
        if isinstance(objective, Conjunction):
            return make_conjunction(self.body, objective, recorded)
        return make_plan(self.body, objective, recorded)

    @checked
    def plan_many(
        self, objectives: Sequence[Objective], episodes: Episodes | None = None,
        *, workers: Annotated[int, Bounds(1, 1024)] | None = None,
    ) -> list[Plan]:  # fmt: skip
        """Plan for many objectives at once, on all cores: the kernels run side by side on one graph."""

        def plan(objective: Objective) -> Plan:
            return self.plan(objective, episodes)

        if objectives:
            plan(objectives[0])  # what the graph keeps for all of them is made once
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(plan, objectives))

    @checked
    def policy(self, settings: ActConfig | None = None) -> Policy:
        """Return a policy that follows the agent's own plan, or the objective that an episode begins with."""
        own = self.own_plan if self.routes else None
        return Policy(self.body, own, settings, replan=self.plan)

    @property
    def own_plan(self) -> Plan:
        """The plan for the recorded rewards, or a sentence that says there is none yet."""
        if self.routes is None:
            raise VMGError("This agent has no plan yet: solve it first (Agent.solve, or `vmg solve`).")
        recorded = Recorded(self.built, self.episodes)
        return Plan(recorded_rewards(), self.routes, self.body, recorded)

    @property
    def built(self) -> MemoryGraph:
        """The graph, or a sentence that says there is none yet."""
        if self.graph is None:
            raise VMGError("This agent has no graph yet: build it first (Agent.build, or `vmg build`).")
        return self.graph

    @cached_property
    def body(self) -> Body:
        """What acts: graph, networks, settings."""
        config = self.config
        return Body(self.built, self.weights, config.learn.low_level, self.data, config.solve, config.act)

    @checked
    def save(self, folder: Path | str, *, keep: folders.Kept = "plan") -> None:
        """Write the agent's folder; each file whole or not at all, what no longer holds removed first.

        It keeps what acting and planning for goals need. With `keep` "act" it is smaller, and follows its own plan
        alone: all recorded observations are left out, unless its routes follow recordings.
        """
        folders.save(self, Path(folder), keep)

    @classmethod
    @checked
    def load(cls, folder: Path | str) -> "Agent":
        """Read an agent's folder, or say in a sentence what is missing, damaged or foreign."""
        return cls(**folders.load(Path(folder)))

    def __getstate__(self) -> dict[str, Any]:
        """Leave the episodes behind: acting does not need them."""
        return {**self.__dict__, "episodes": None}
