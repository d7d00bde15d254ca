"""What can be had beside the settings of a preset: other low-level policies, noise while learning, safer ways.

Each changes one thing of the run that it stands beside, and `together` all that go together. Those that learn otherwise
have a run of their own, with the same seeds. None is a default: `vmg reproduce robustness --variants` measures them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from vmg.agent.settings import AgentConfig
from vmg.base.errors import VMGError
from vmg.graph.settings import ALONG_RECORDINGS
from vmg.networks.lowlevel import Critic, Ensemble, Flow, LowLevel
from vmg.networks.lowlevel.translator import Translator
from vmg.runs import Run

Changes = Mapping[str, Any]
AS_CHOSEN = "as chosen"


@dataclass(frozen=True)
class Option:
    """What it changes, stage by stage."""

    kind: type[Translator] | None = None
    """Another kind of low-level policy, with what the chosen one has in common with it."""
    low_level: Changes = field(default_factory=dict)
    learn: Changes = field(default_factory=dict)
    graph: Changes = field(default_factory=dict)
    solve: Changes = field(default_factory=dict)

    def of(self, config: AgentConfig) -> AgentConfig:
        """Return settings with this option."""
        low_level = replace(self._as_its_kind(config.learn.low_level), **self.low_level)
        return replace(
            config,
            learn=replace(config.learn, low_level=low_level, **self.learn),
            graph=replace(config.graph, **self.graph),
            solve=replace(config.solve, **self.solve),
        )

    def _as_its_kind(self, chosen: LowLevel) -> LowLevel:
        if self.kind is None:
            return chosen
        return self.kind(**{each.name: getattr(chosen, each.name) for each in fields(Translator)})


NOISE = {"noise": 1.0}
SAFE = {"fall_cost": 100.0, "slow_cost": 1.0}
AT_ONCE = {"lead": None}
"""A critic learns from the actions that were taken, not from later ones."""

OPTIONS: dict[str, Option] = {
    AS_CHOSEN: Option(),
    **{kind: Option(graph={"recordings": True}, solve={"paths": kind}) for kind in ALONG_RECORDINGS},
    "noise": Option(low_level=NOISE),
    "noise on the state": Option(low_level=NOISE | {"noise_on": "state"}),
    "flow": Option(Flow, learn={"actions": "normalised"}),
    "ensemble": Option(Ensemble),
    "critic": Option(Critic, low_level=AT_ONCE),
    "safe ways": Option(solve=SAFE),
    "generated edges": Option(graph={"generated": 1.0}),
    "together": Option(Critic, low_level=NOISE | AT_ONCE, solve=SAFE),
}
"""By the name that `--variants` knows."""


def check_options(names: Iterable[str]) -> None:
    """Refuse names that are not known."""
    if unknown := [name for name in names if name not in OPTIONS]:
        raise VMGError(f"The study robustness has no variant {unknown[0]!r}. It has: {', '.join(OPTIONS)}.")


def with_option(run: Run, name: str) -> Run:
    """Return the run that an option needs: this one solved otherwise, or one of its own where it learns otherwise."""
    config = OPTIONS[name].of(run.config)
    own = config.learn != run.config.learn
    folder = run.folder.with_name(f"{run.folder.name}-{name.replace(' ', '-')}") if own else run.folder
    return replace(run, config=config, folder=folder)
