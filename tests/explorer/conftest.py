"""A run and a server of it, as `vmg explore` serves it, that the tests of the explorer share."""

import pytest
from acting_cases import DATA, agent, follower
from exploring import serving

from vmg.act.settings import ActConfig
from vmg.runs import Run, load_run, save_run
from vmg.runs.stages import EvaluateTrial, evaluate_run


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """The little maze twice, along edges and along recordings; the first one evaluated."""
    folder = tmp_path_factory.mktemp("explored")
    made = {"edges": agent(), "recordings": follower()}
    for name, each in made.items():
        save_run(Run(data=DATA, config=each.config, returns=(0.0, 1.0), folder=folder / name))
        each.save(folder / name / "seed_0")
    trial = EvaluateTrial(n_episodes=2, executor="here")
    evaluate_run(load_run(folder / "edges"), ActConfig(subgoal_steps=4), trial)
    return [load_run(folder / name) for name in made]


@pytest.fixture(scope="session")
def client(runs):
    with serving(runs) as found:
        yield found
