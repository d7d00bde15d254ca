"""What the ablations change, one thing at a time, and what the paper reports for it (Sec. 4.4 and App. E).

Whatever can be done with the baseline's networks needs no training of its own. The metric space and the
translator share no weights, and what is drawn depends on seed and step alone; so a model with margin 0.5 and horizon 5
holds the very metric space that margin 0.5 gives and the very translator that horizon 5 gives, and one training serves
two variants.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from vmg.agent.settings import AgentConfig
from vmg.learn.config import LearnConfig
from vmg.studies.paper import CLUSTERS

THREE = ("kitchen-partial", "antmaze-medium-play", "pen-human")

BASELINE = "baseline"
TRAININGS: dict[str, dict[str, Any]] = {
    BASELINE: {},
    "margin-0.5_horizon-5": {"margin": 0.5, "low_level": {"goal_horizon": 5}},
    "margin-2_horizon-20": {"margin": 2.0, "low_level": {"goal_horizon": 20}},
    "no-contrastive_normalised": {"contrastive": False, "low_level": {"inputs": "normalised"}},
    "no-decoder_relative": {"action_decoder": False, "low_level": {"inputs": "relative"}},
    "dimension-5": {"metric_dimension": 5},
    "dimension-20": {"metric_dimension": 20},
    "program-margins": {"margins": "program"},
}
"""The runs whose networks all variants are put together from, and what they change in how the baseline's learn."""

METRIC = ("metric_dimension", "margin", "margins", "contrastive", "action_decoder", "encoder_inputs")
TRANSLATOR = ("low_level",)
"""The settings of learning that decide the one and the other."""

Changes = Mapping[str, Any]


def learning(config: LearnConfig, changes: Changes) -> LearnConfig:
    """Return settings of learning with these changes, those of the low-level policy among them."""
    inner = replace(config.low_level, **changes.get("low_level", {}))
    return replace(config, **{**changes, "low_level": inner})


def as_in_the_paper(task: str) -> str:
    """Return the name of the paper's task that this is a form of: antmaze-medium-play-d4rl is antmaze-medium-play."""
    return task.removesuffix("-d4rl")


@dataclass(frozen=True)
class Variant:
    """One line of an ablation: what differs from the baseline's preset (nothing: the baseline), stage by stage."""

    name: str
    learn: Changes = field(default_factory=dict)
    graph: Changes = field(default_factory=dict)
    solve: Changes = field(default_factory=dict)
    act: Changes = field(default_factory=dict)
    clusters: Mapping[str, int] | None = None
    """The number of clusters for each task; the variant is for no others."""
    paper: Mapping[str, float] = field(default_factory=dict)
    """The paper's score for each task, in whichever form."""
    possible: Callable[[AgentConfig], bool] = field(default=lambda _: True)
    """Whether settings allow it."""

    def of(self, task: str, config: AgentConfig) -> AgentConfig | None:
        """Return the task's settings with this change; None where it cannot be made."""
        papers = as_in_the_paper(task)
        if not self.possible(config) or (self.clusters and papers not in self.clusters):
            return None
        graph = {**self.graph, "clusters": self.clusters[papers]} if self.clusters else self.graph
        return replace(
            config,
            learn=learning(config.learn, self.learn),
            graph=replace(config.graph, **graph),
            solve=replace(config.solve, **self.solve),
            act=replace(config.act, **self.act),
        )


@dataclass(frozen=True)
class Ablation:
    """A table of variants."""

    title: str
    place: str
    """Where the paper has it."""
    variants: tuple[Variant, ...]
    of: str | None = None
    """The preset it is of; None: any baseline."""


def _three(kitchen: float, antmaze: float, pen: float) -> dict[str, float]:
    return dict(zip(THREE, (kitchen, antmaze, pen), strict=True))


def _in_order(names: tuple[str, ...], *scores: float) -> dict[str, float]:
    return dict(zip(names, scores, strict=True))


def _along_recordings(steps: int) -> Variant:
    return Variant(
        f"along recordings, {steps} steps ahead",
        graph={"recordings": True},
        solve={"paths": "recordings", "search_steps": None},
        act={"subgoal_steps": steps},
    )


def _unlimited(config: AgentConfig) -> bool:
    return config.solve.search_steps is None


ABLATIONS: dict[str, Ablation] = {
    "rewards": Ablation(
        "What an edge is paid",
        "Sec. 4.4, table of the graph reward",
        (
            Variant("mean", solve={"variant": "mean"}, paper=_three(68.8, 82.7, 70.7)),
            Variant("max", solve={"variant": "max"}, paper=_three(31.5, 48.3, 50.8)),
            Variant("sum", solve={"variant": "sum"}, paper=_three(50.3, 56.3, 66.4)),
            Variant("rm", solve={"variant": "rm"}, paper=_three(55.0, 55.0, 65.2)),
            Variant("rm_h", solve={"variant": "rm_h"}, paper=_three(54.6, 78.0, 72.2)),
            Variant("rm_t", solve={"variant": "rm_t"}, paper=_three(67.0, 78.5, 65.9)),
        ),
    ),
    "losses": Ablation(
        "Without parts of the loss",
        "Sec. 4.4, table of contrastive loss, action decoder and search",
        (
            Variant("all losses", paper=_three(68.8, 82.7, 70.7)),
            Variant("without contrastive loss", learn={"contrastive": False}, paper=_three(0.0, 0.0, 41.2)),
            Variant("without action decoder", learn={"action_decoder": False}, paper=_three(15.4, 66.3, 68.5)),
        ),
    ),
    "search": Ablation(
        "Without multi-step search",
        "Sec. 4.4, table of contrastive loss, action decoder and search",
        (
            Variant("multi-step search", solve={"search": "multi-step"}, paper=_three(68.8, 82.7, 70.7)),
            Variant("best edge out", solve={"search": "greedy"}, paper=_three(39.8, 61.5, 72.1)),
        ),
        of="paper",
    ),
    "threshold": Ablation(
        "The radius against score and size of the graph",
        "Sec. 4.4 and App. E.1, figures without numbers",
        tuple(Variant(f"radius {radius:g}", graph={"radius": radius}) for radius in (0.3, 0.5, 0.8, 1.0, 1.2, 2.0)),
    ),
    "margin": Ablation(
        "The margin m",
        "App. E.3, table of m",
        (
            Variant("margin 0.5", learn={"margin": 0.5}, paper=_three(17.0, 65.0, 75.1)),
            Variant("margin 1", learn={"margin": 1.0}, paper=_three(64.5, 82.7, 70.7)),
            Variant("margin 2", learn={"margin": 2.0}, paper=_three(68.8, 84.0, 65.7)),
        ),
    ),
    "discount": Ablation(
        "The discount",
        "App. E.4, table of the discount factor",
        (
            Variant("discount 0.8", solve={"discount": 0.8}, paper=_three(58.2, 82.7, 70.7)),
            Variant("discount 0.95", solve={"discount": 0.95}, paper=_three(68.8, 76.3, 69.0)),
            Variant("discount 0.99", solve={"discount": 0.99}, paper=_three(68.1, 75.0, 74.8)),
        ),
    ),
    "dimension": Ablation(
        "The dimension of the metric space",
        "App. E.5, table of the metric space dimension",
        (
            Variant("dimension 5", learn={"metric_dimension": 5}, paper=_three(5.75, 71.0, 70.7)),
            Variant("dimension 10", learn={"metric_dimension": 10}, paper=_three(68.8, 82.7, 70.7)),
            Variant("dimension 20", learn={"metric_dimension": 20}, paper=_three(46.0, 82.0, 79.0)),
        ),
    ),
    "horizon": Ablation(
        "The translator's horizon K",
        "App. E.6, table of K",
        (
            Variant("horizon 5", learn={"low_level": {"goal_horizon": 5}}, paper=_three(0.3, 7.0, 80.3)),
            Variant("horizon 10", learn={"low_level": {"goal_horizon": 10}}, paper=_three(68.8, 82.7, 70.7)),
            Variant("horizon 20", learn={"low_level": {"goal_horizon": 20}}, paper=_three(76.8, 74.0, 83.5)),
        ),
    ),
    "merging": Ablation(
        "Greedy merging against k-means",
        "App. E.2, tables of merging and of the number of clusters",
        (
            Variant(
                "greedy",
                graph={"merging": "greedy"},
                paper=_in_order(tuple(CLUSTERS), 93.7, 94.0, 82.7, 84.3, 67.3, 74.3, 73.0, 68.8, 50.6),
            ),
            Variant(
                "k-means, the paper's number of clusters",
                graph={"merging": "kmeans"},
                clusters=CLUSTERS,
                paper=_in_order(tuple(CLUSTERS), 88.7, 79.7, 81.2, 77.0, 72.3, 76.3, 61.1, 18.3, 43.6),
            ),
            Variant("k-means, as many clusters as greedy vertices", graph={"merging": "kmeans"}),
        ),
    ),
    "choices": Ablation(
        "Choices the paper leaves open",
        "not in the paper",
        (
            Variant("preset paper"),
            Variant("margins of the published program", learn={"margins": "program"}),
            Variant("dead ends worth 0", solve={"dead_ends": "zero"}),
            Variant("labels as scanned", graph={"labelling": "online"}),
            Variant("paths by hops", solve={"path_weights": "hops"}),
            Variant("ties to the nearest", solve={"ties": "nearest"}, possible=_unlimited),
            *(Variant(f"subgoal on vertex {n} of the path", act={"subgoal_steps": n}) for n in (1, 2, 3, 5)),
            Variant("path kept until lost or stuck", act={"keep_path": True}),
            *map(_along_recordings, (2, 5, 10)),
            Variant("translator sees normalised states", learn={"low_level": {"inputs": "normalised"}}),
            Variant("translator sees relative goals", learn={"low_level": {"inputs": "relative"}}),
        ),
        of="paper",
    ),
}
