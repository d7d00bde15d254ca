"""Low-level policies: the action that leads from a state towards a subgoal on the graph.

One file per kind, with all there is to it. Built in are the paper's action translator and what learns beside it; others
are added with `@LOW_LEVELS.register("name")` on a subclass of `LowLevel`.
"""

from vmg.networks.lowlevel.base import LOW_LEVELS, Act, Batch, Doubting, Drawing, LowLevel, Number, Numbers, actor
from vmg.networks.lowlevel.critic import Critic
from vmg.networks.lowlevel.ensemble import Ensemble
from vmg.networks.lowlevel.flow import Flow
from vmg.networks.lowlevel.placer import Placer
from vmg.networks.lowlevel.translator import Translator

__all__ = [
    "LOW_LEVELS",
    "Act",
    "Batch",
    "Critic",
    "Doubting",
    "Drawing",
    "Ensemble",
    "Flow",
    "LowLevel",
    "Number",
    "Numbers",
    "Placer",
    "Translator",
    "actor",
]
