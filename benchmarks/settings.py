"""How the agents of benchmarks learn, plan and act. They are named here, so that rows of today and later compare."""

from vmg.act.settings import ActConfig
from vmg.agent.settings import AgentConfig
from vmg.cli.demo import SETTINGS as POINT
from vmg.envs import Task
from vmg.graph import GraphConfig, SolveConfig
from vmg.learn import LearnConfig
from vmg.networks import Translator

ALONG_RECORDINGS = SolveConfig(discount=0.95, paths="recordings", ties="nearest")
SETTINGS = {
    "kitchen": AgentConfig(
        learn=LearnConfig(
            low_level=Translator(columns=tuple(range(9)), inputs="raw relative", decay_rate=0.01, memory=100_000)
        ),
        graph=GraphConfig(recordings=True),
        solve=ALONG_RECORDINGS,
        act=ActConfig(subgoal_steps=3, keep_path=True),
    ),
    "antmaze": AgentConfig(
        learn=LearnConfig(margins="program", encoder_inputs="normalised", low_level=Translator(inputs="relative")),
        graph=GraphConfig(recordings=True),
        solve=ALONG_RECORDINGS,
        act=ActConfig(subgoal_steps=5, keep_path=True, noise=0.2),
    ),
    "pointmaze": POINT,
}
"""By family of tasks; others have the paper's."""


def settings_of(task: Task) -> AgentConfig:
    """Return the settings of an agent that acts in a task."""
    family = task.name.partition("-")[0]
    return task.with_goal_columns(SETTINGS[family]) if family in SETTINGS else task.preset("paper")
