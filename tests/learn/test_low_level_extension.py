"""A low-level policy from a file outside the package: learned in the same loop, logged, acting, saved and loaded."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from extending import extension
from learning_cases import SMALL, assert_same_weights, rows_of, walk

import vmg
from vmg.base.errors import VMGError
from vmg.learn import Training, fit, fit_together, load_checkpoint
from vmg.networks import LOW_LEVELS, LowLevel
from vmg.networks.mlp import mlp

STEADY = '''
"""A low-level policy that regresses the action with an L1 loss, towards goals that are blurred while it learns."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from vmg.base.lazy import LazyModule
from vmg.base.settings import Bounds
from vmg.networks import LOW_LEVELS, LowLevel
from vmg.networks.mlp import input_scaling, layer_shapes, mlp, scaled, side_by_side

jax, jnp = LazyModule("jax"), LazyModule("jax.numpy")  # acting needs neither


@LOW_LEVELS.register("steady")
@dataclass(frozen=True, kw_only=True)
class Steady(LowLevel):
    losses: ClassVar[tuple[str, ...]] = ("steady",)
    draws: ClassVar[bool] = True

    farthest: Annotated[int, Bounds(1)] = 4
    blur: Annotated[float, Bounds(0)] = 0.0

    def parts(self, observation_size, action_size):
        return {"steady": ((observation_size, observation_size), action_size)}

    def scalings(self, episodes):
        actions = {"std": np.std(episodes.actions, 0), "largest": np.abs(episodes.actions).max(0)}
        return {"steady_input": input_scaling(episodes.observations, "normalised"), "steady_output": actions}

    def goal_rows(self, key, row_t, left_t, numbers):
        return row_t + jax.random.randint(key, row_t.shape, 1, jnp.minimum(left_t, self.farthest) + 1)

    def loss(self, weights, batch, numbers):
        blurred = batch.goal + numbers["blur"] * jax.random.normal(batch.key, batch.goal.shape)
        errors = jnp.abs(steer(weights, batch.o_t, blurred) - batch.a_t).sum(-1)
        return errors.mean(), {"steady": errors.mean(), "worst": errors.max(), "goal_steps": batch.goal_steps.mean()}

    def numbers(self):
        return {"blur": np.float32(self.blur)}

    def shared(self):
        return replace(self, blur=0.0)

    def actor(self, weights):
        return lambda observations, goals: np.asarray(steer(weights, observations, goals))

    def shapes(self, tensors, observation_size, action_size, hidden):
        networks = super().shapes(tensors, observation_size, action_size, hidden)
        scalings = {f"steady_input.{name}": (observation_size,) for name in ("mean", "std")}
        return networks | scalings | {f"steady_output.{name}": (action_size,) for name in ("std", "largest")}


def steer(weights, observations, goals):
    here, there = (scaled(weights["steady_input"], each) for each in (observations, goals))
    output = weights["steady_output"]
    return mlp(weights["steady"], side_by_side(here, there)) * output["std"] * output["largest"]
'''
LOSSES = [
    "contrastive",
    "action",
    "steady",
    "attraction",
    "goal_steps",
    "length",
    "reconstruction",
    "repulsion",
    "worst",
]
EPISODES = walk(0)
NEAR = {"columns": (0, 1), "tolerance": 0.5}


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    """The class, and the file it is in."""
    file = tmp_path_factory.mktemp("extension") / "steady_low_level.py"
    with extension(file, STEADY, LOW_LEVELS):
        yield LOW_LEVELS.find("steady"), file


@pytest.fixture(scope="module")
def agent(steady, tmp_path_factory):
    """Learned with logs and checkpoints in a folder, built, solved and saved there."""
    kind, _ = steady
    folder = tmp_path_factory.mktemp("runs") / "agent"
    learn = replace(SMALL, low_level=kind(farthest=2, blur=0.01), steps=400, checkpoint_every=200, learning_rate=3e-3)
    config = vmg.AgentConfig(learn=learn, graph=vmg.GraphConfig(radius=0.2))
    (learned,) = vmg.Agent.fit(EPISODES, config, validation=walk(1), folder=folder)
    solved = learned.build(EPISODES).solve()
    solved.save(folder)
    return solved, folder


def test_its_loss_is_learned_and_logged_first(agent):
    rows = rows_of(agent[1])
    assert list(rows[0]) == ["step", "seed", *LOSSES, *(f"validation_{name}" for name in LOSSES)]
    assert float(rows[-1]["steady"]) < 0.8 * float(rows[0]["steady"])
    assert float(rows[-1]["validation_steady"]) < float(rows[0]["validation_steady"])
    assert all(1 < float(row["goal_steps"]) < 2 for row in rows)
    assert all(float(row["worst"]) > float(row["steady"]) for row in rows)


def test_it_acts_towards_the_subgoal(agent):
    one, _ = agent
    policy, state = one.plan(vmg.goals.near([0.0, 0.0], **NEAR)).policy(), EPISODES.observations[3]
    (decision,) = policy.decide(state)
    goal = one.graph.states[decision.subgoal].copy()
    if decision.subgoal == decision.target:
        goal[:2] = 0.0
    scaling, output = one.weights["steady_input"], one.weights["steady_output"]
    seen = np.concatenate([(each - scaling["mean"]) / scaling["std"] for each in (state, goal)])
    action = mlp(one.weights["steady"], seen) * output["std"] * output["largest"]
    bounds = np.array(one.data.action_low), np.array(one.data.action_high)
    assert policy.act(state) == pytest.approx(np.clip(action, *bounds), abs=1e-5)


def test_it_is_saved_and_loaded_with_its_settings(agent, steady):
    one, folder = agent
    written = json.loads((folder / "config.json").read_text())["config"]["learn"]["low_level"]
    assert written == {"kind": "steady", "farthest": 2, "blur": 0.01}
    loaded = vmg.Agent.load(folder)
    assert loaded.config == one.config
    assert isinstance(loaded.config.learn.low_level, steady[0])
    assert_same_weights([loaded.weights], [one.weights])
    assert (loaded.policy().act(EPISODES.observations) == one.policy().act(EPISODES.observations)).all()
    last = load_checkpoint(folder / "checkpoints" / "step_0000000400.safetensors", one.config.learn.low_level)
    assert_same_weights([last[0]], [one.weights])
    with pytest.raises(VMGError, match=r"does not hold a model: the tensor translator\.w0 is missing"):
        load_checkpoint(folder / "checkpoints" / "step_0000000400.safetensors")


def in_another_process(script, folder, extensions):
    environment = {**os.environ, "VMG_EXTENSIONS": extensions}
    script = f"import sys, numpy as np, vmg\nfolder = {str(folder)!r}\n{script}"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_another_process_acts_with_it_without_jax(agent, steady):
    one, folder = agent
    script = """
policy = vmg.Agent.load(folder).policy()
print([float(x) for x in policy.act(np.array([0.5, -0.5, 7.0], np.float32))], "jax" in sys.modules)
"""
    expected = [float(x) for x in one.policy().act(np.array([0.5, -0.5, 7.0], np.float32))]
    assert in_another_process(script, folder, str(steady[1])) == f"{expected} False"


def test_without_its_extension_the_agent_says_which_kind_is_missing(agent):
    script = """
try:
    vmg.Agent.load(folder)
except vmg.VMGError as error:
    print(error)
"""
    said = in_another_process(script, agent[1], "")
    assert "config.learn.low_level: There is no low-level policy 'steady'. There are: translator, " in said
    assert said.endswith("If an extension brings it, name the extension in VMG_EXTENSIONS.")


def test_a_file_without_its_tensors_is_refused(agent, tmp_path):
    one, _ = agent
    weights = {name: part for name, part in one.weights.items() if name != "steady_output"}
    vmg.Agent(one.config, one.data, 0, weights).save(tmp_path)
    with pytest.raises(VMGError, match=r"the tensor steady_output\.\w+ is missing"):
        vmg.Agent.load(tmp_path)


def test_side_by_side_it_ends_as_alone(steady):
    """Other data with another scale of actions takes a loop of its own; another blur does not."""
    kind, _ = steady
    config = replace(SMALL, steps=40, low_level=kind())
    small = replace(walk(1), actions=walk(1).actions / 4)
    sets, configs = [EPISODES, EPISODES, small], [config, replace(config, low_level=kind(blur=0.5)), config]
    alone = [fit(episodes, each) for episodes, each in zip(sets, configs, strict=True)]
    together = fit_together([Training(episodes) for episodes in sets], configs)
    for models, expected in zip(together, alone, strict=True):
        assert_same_weights(models, expected)
    assert not np.allclose(alone[0][0]["steady"]["w0"], alone[1][0]["steady"]["w0"])


def test_settings_of_a_kind_that_is_not_registered_are_refused():
    class Unknown(LowLevel):
        pass

    with pytest.raises(VMGError, match=r"low_level must be settings of a low-level policy: of 'translator'"):
        vmg.LearnConfig(low_level=Unknown())
