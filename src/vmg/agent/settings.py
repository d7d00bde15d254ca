"""Everything an agent can be told, stage by stage. These dataclasses are the command line's flags and `config.json`.

paper       name              paper       name
γ_m         radius            K           goal_horizon
N_sg        subgoal_steps     m           margin
N_s         search_steps      γ           discount
"""

from dataclasses import dataclass, field

from vmg.act.settings import ActConfig
from vmg.base.settings import Settings
from vmg.graph.settings import GraphConfig, SolveConfig
from vmg.learn.config import LearnConfig


@dataclass(frozen=True, kw_only=True)
class AgentConfig(Settings):
    """The whole agent; the defaults are the paper's for the kitchen."""

    learn: LearnConfig = field(default_factory=LearnConfig)
    graph: GraphConfig = field(default_factory=GraphConfig)
    solve: SolveConfig = field(default_factory=SolveConfig)
    act: ActConfig = field(default_factory=ActConfig)
