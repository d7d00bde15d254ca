"""A kind of routes from a file outside the package: chosen by name, followed, saved and loaded."""

from dataclasses import replace

import numpy as np
import pytest
from extending import extension
from learning_cases import SMALL, untrained, walk

import vmg
from vmg.base.errors import VMGError
from vmg.data.facts import DataFacts
from vmg.graph import ROUTES, EdgeRoutes, reward, solve

pytestmark = pytest.mark.filterwarnings("ignore:The radius")

PATIENT = '''
"""Routes along edges whose subgoals are never more than a few edges away, however far a policy looks ahead."""

from dataclasses import dataclass, replace

import numpy as np

from vmg.graph import ROUTES, EdgeRoutes


@ROUTES.register("patient")
@dataclass(frozen=True, eq=False)
class Patient(EdgeRoutes):
    farthest: int = 1

    def ahead(self, entries, steps):
        return super().ahead(entries, min(steps, self.farthest))

    def arrays(self):
        return {**super().arrays(), "farthest": np.array(self.farthest)}

    @classmethod
    def from_arrays(cls, graph, arrays):
        return replace(super().from_arrays(graph, arrays), farthest=int(arrays["farthest"]))
'''
GOAL = vmg.goals.near([0.0, 0.0], columns=(0, 1), tolerance=0.5)


@pytest.fixture
def episodes():
    return walk(0, n_episodes=20, length=30)


@pytest.fixture
def patient(tmp_path):
    with extension(tmp_path / "patient_routes.py", PATIENT, ROUTES):
        yield


def built(episodes, **settings):
    """An agent with networks that never learned: they embed, and that is enough."""
    config = vmg.AgentConfig(
        learn=SMALL,
        graph=vmg.GraphConfig(radius=0.05),
        solve=vmg.SolveConfig(**settings),
        act=vmg.ActConfig(subgoal_steps=4),
    )
    return vmg.Agent(config, DataFacts.of(episodes), 0, untrained(episodes, SMALL)).build(episodes)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("options", [{}, {"search_steps": 3}, {"search": "greedy"}])
def test_foreign_routes_are_solved_like_those_they_are_made_of(episodes, options):
    graph, rng = built(episodes).graph, np.random.default_rng(0)
    rewards = reward(graph, rng.random(episodes.n_steps))
    plain, mine = (solve(graph, rewards, 0.9, paths=paths, **options) for paths in ("edges", "patient"))
    assert (plain.kind, mine.kind) == ("edges", "patient")
    assert isinstance(mine, ROUTES.find("patient"))
    everywhere = np.arange(graph.n_vertices, dtype=np.int32)
    assert (mine.targets == plain.targets).all()
    assert (mine.ahead(everywhere, 4) == plain.ahead(everywhere, 1)).all()
    assert [mine.path(v) for v in everywhere] == [plain.path(v) for v in everywhere]


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("keep_path", [False, True])
def test_a_policy_follows_foreign_routes(episodes, keep_path):
    policy = built(episodes, paths="patient").plan(GOAL).policy(vmg.ActConfig(subgoal_steps=4, keep_path=keep_path))
    for observation in episodes.observations[:5]:
        for _ in range(2):  # what is looked up the second time is the same
            (decision,) = policy.decide(observation)
            assert decision.subgoal == decision.path[min(1, len(decision.path) - 1)]


@pytest.mark.usefixtures("patient")
def test_with_foreign_routes_a_policy_acts_as_their_subgoals_say(episodes):
    patient = built(episodes, paths="patient").plan(GOAL).policy(vmg.ActConfig(subgoal_steps=4))
    edges = built(episodes).plan(GOAL).policy(vmg.ActConfig(subgoal_steps=1))
    assert (patient.act(episodes.observations) == edges.act(episodes.observations)).all()
    far = built(episodes).plan(GOAL).policy(vmg.ActConfig(subgoal_steps=4))
    assert (patient.act(episodes.observations) != far.act(episodes.observations)).any()


@pytest.mark.usefixtures("patient")
def test_foreign_routes_are_saved_and_loaded_by_their_name(episodes, tmp_path):
    agent = built(episodes, paths="patient").solve()
    agent = replace(agent, routes=replace(agent.routes, farthest=3))
    agent.save(tmp_path / "agent")
    loaded = vmg.Agent.load(tmp_path / "agent")
    assert loaded.config.solve.paths == loaded.routes.kind == "patient"
    assert loaded.routes.farthest == 3
    for name, array in agent.routes.arrays().items():
        assert (loaded.routes.arrays()[name] == array).all()
    assert (loaded.policy().act(episodes.observations) == agent.policy().act(episodes.observations)).all()


def test_without_their_extension_saved_routes_say_what_is_missing(episodes, tmp_path):
    with extension(tmp_path / "patient_for_a_while.py", PATIENT, ROUTES):
        built(episodes, paths="patient").solve().save(tmp_path / "agent")
    with pytest.raises(
        VMGError,
        match=r"config\.solve\.paths must be one of 'edges', 'recordings', 'observed', 'program', not 'patient'",
    ):
        vmg.Agent.load(tmp_path / "agent")


def test_routes_that_call_themselves_something_else_are_refused():
    class Impatient(EdgeRoutes):
        kind = "hasty"

    with pytest.raises(VMGError, match=r"The kind of routes 'impatient' calls itself 'hasty'"):
        ROUTES.register("impatient")(Impatient)
    assert "impatient" not in ROUTES
