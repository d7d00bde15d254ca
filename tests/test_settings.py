"""Settings: whatever is valid survives JSON, and whatever is not is refused in a sentence that names its place."""

import json
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vmg
from vmg.base.errors import VMGError
from vmg.base.registry import ClassRegistry, Registry
from vmg.base.settings import Bounds, Kinds, Named, Settings, read_record
from vmg.graph.settings import DeadEnds, Labelling, PathWeights, RewardVariant, Ties

COUNTS = st.integers(1, 2**40)
SIZES = st.integers(1, 2**14)
ABOVE_ZERO = st.floats(0, exclude_min=True, allow_infinity=False)
AT_LEAST_ZERO = st.floats(0, allow_infinity=False)
COLUMNS = st.lists(st.integers(0, 99), max_size=4).map(tuple)
INPUTS = ["raw", "normalised", "relative", "raw relative"]


def one_of(literal):
    return st.sampled_from(literal.__args__)


TRANSLATORS = st.builds(
    vmg.Translator,
    goal_horizon=COUNTS,
    inputs=st.sampled_from(INPUTS),
    columns=COLUMNS,
    decay_rate=AT_LEAST_ZERO,
    memory=COUNTS,
    squashed=st.booleans(),
    past_end=st.sampled_from(["next", "around"]),
)
LEARNING = st.builds(
    vmg.LearnConfig,
    metric_dimension=SIZES,
    hidden_units=SIZES,
    margin=ABOVE_ZERO,
    margins=st.sampled_from(["paper", "program"]),
    decoder_output=st.sampled_from(["plain", "sampled"]),
    action_errors=st.sampled_from(["summed", "averaged"]),
    contrastive=st.booleans(),
    action_decoder=st.booleans(),
    encoder_inputs=st.sampled_from(["raw", "normalised"]),
    low_level=TRANSLATORS,
    learning_rate=ABOVE_ZERO,
    batch_size=st.integers(2, 1000),
    steps=COUNTS,
    checkpoint_every=COUNTS,
)
GREEDY = st.builds(
    vmg.GraphConfig,
    radius=AT_LEAST_ZERO | st.integers(0, 5),
    labelling=one_of(Labelling),
    recordings=st.booleans(),
    goal_columns=COLUMNS,
    generated=st.none() | st.floats(0, 1e6),
)
KMEANS = st.builds(vmg.GraphConfig, merging=st.just("kmeans"), clusters=st.none() | COUNTS)
SOLVING = {
    "discount": st.floats(0, 1, exclude_max=True),
    "variant": one_of(RewardVariant),
    "path_weights": one_of(PathWeights),
    "switch_cost": st.floats(0, 1e6),
    "fall_cost": st.floats(0, 1e6),
    "slow_cost": st.floats(0, 1e6),
    "dead_ends": one_of(DeadEnds),
    "tolerance": ABOVE_ZERO,
}
LIMITED = st.builds(
    vmg.SolveConfig,
    search=st.sampled_from(["multi-step", "greedy"]),
    search_steps=st.none() | st.integers(0, 100),
    **SOLVING,
)
ANYWHERE = st.builds(vmg.SolveConfig, paths=st.sampled_from(["edges", "recordings"]), ties=one_of(Ties), **SOLVING)
ACTING = st.builds(vmg.ActConfig, subgoal_steps=st.integers(0, 10**6), keep_path=st.booleans(), noise=st.floats(0, 1e6))
CONFIGS = st.builds(vmg.AgentConfig, learn=LEARNING, graph=GREEDY | KMEANS, solve=LIMITED | ANYWHERE, act=ACTING)


@settings(max_examples=300, deadline=None)
@given(CONFIGS)
def test_settings_survive_json(config):
    written = json.dumps(config.to_dict(), allow_nan=False)
    again = vmg.AgentConfig.from_dict(json.loads(written), place="config")
    assert again == config
    assert hash(again) == hash(config)
    assert json.dumps(again.to_dict()) == written


def leaves(values, place="config"):
    """Every value that is not an object itself: (its place, the object it is in, its name)."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{place}.{name}")
        elif name != "kind":
            yield f"{place}.{name}", values, name


WRONG = ["nonsense", True, {}, [], [[]], [0.5], [True], -1, -0.5, np.nan, np.inf]


@settings(max_examples=300, deadline=None)
@given(CONFIGS, st.sampled_from(WRONG), st.data())
def test_one_wrong_value_is_refused_with_its_place(config, wrong, data):
    values = config.to_dict()
    place, inside, name = data.draw(st.sampled_from(list(leaves(values))))
    if (wrong is True and isinstance(inside[name], bool)) or (wrong == [] and "columns" in name):
        return  # a switch can be on, and there may be no columns
    inside[name] = wrong
    with pytest.raises(VMGError) as refused:
        vmg.AgentConfig.from_dict(values, place="config")
    assert str(refused.value).startswith((f"{place} must be ", f"{place.rpartition('.')[0]}: "))
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"learn": {"margins": "ours"}}, "config.learn.margins must be one of 'paper', 'program', not 'ours'."),
        ({"learn": {"margins": 1}}, "config.learn.margins must be one of 'paper', 'program', not 1."),
        ({"learn": {"batch_size": True}}, "config.learn.batch_size must be a whole number, not True."),
        ({"learn": {"batch_size": 2.0}}, "config.learn.batch_size must be a whole number, not 2.0."),
        ({"learn": {"batch_size": 1}}, "config.learn.batch_size must be a number in [2, 65536], not 1."),
        ({"learn": {"contrastive": 1}}, "config.learn.contrastive must be true or false, not 1."),
        ({"learn": {"margin": np.inf}}, "config.learn.margin must be a finite number above 0, not inf."),
        ({"learn": {"margin": None}}, "config.learn.margin must be a number, not None."),
        ({"graph": {"radius": np.nan}}, "config.graph.radius must be a finite number of at least 0, not nan."),
        ({"graph": {"clusters": 0}}, "config.graph.clusters must be a finite number of at least 1, not 0."),
        ({"graph": {"clusters": 3}}, "config.graph: Greedy merging finds its number of vertices itself: leave out"),
        ({"graph": {"goal_columns": 1}}, "config.graph.goal_columns must be a list, not 1."),
        (
            {"graph": {"goal_columns": [0, 1.5]}},
            "config.graph.goal_columns must be a list in which each is a whole number, not (0, 1.5).",
        ),
        (
            {"graph": {"goal_columns": [0, False]}},
            "config.graph.goal_columns must be a list in which each is a whole number, not (0, False).",
        ),
        (
            {"graph": {"edges": ["recorded", 7]}},
            "config.graph.edges must be a list in which each is a text, not ('recorded', 7).",
        ),
        ({"solve": {"discount": 1.0}}, "config.solve.discount must be a number in [0, 1), not 1.0."),
        ({"solve": {"switch_cost": 2e6}}, "config.solve.switch_cost must be a number in [0, 1e+06], not 2000000.0."),
        (
            {"solve": {"paths": "rails"}},
            "config.solve.paths must be one of 'edges', 'recordings', 'observed', 'program', not 'rails'.",
        ),
        ({"solve": {"paths": 3}}, "config.solve.paths must be a text, not 3."),
        ({"solve": {"rate": 1}}, "config.solve has the unknown entry 'rate': it was written by another version."),
        ({"solve": 3}, "config.solve must be an object with named values, not 3."),
        ({"learn": {"low_level": {"memory": 3}}}, "config.learn.low_level must be an object that names its kind, not"),
        ({"learn": {"low_level": "translator"}}, "config.learn.low_level must be an object that names its kind, not"),
        (
            {"learn": {"low_level": {"kind": "oracle"}}},
            "config.learn.low_level: There is no low-level policy 'oracle'. There are: translator, ",
        ),
        (
            {"learn": {"low_level": {"kind": "translator", "memory": 0}}},
            "config.learn.low_level.memory must be a finite number of at least 1, not 0.",
        ),
        (
            {"learn": {"low_level": {"kind": "translator", "depth": 2}}},
            "config.learn.low_level has the unknown entry 'depth'",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(change, sentence):
    values = vmg.AgentConfig().to_dict()
    for stage, entries in change.items():
        values[stage] = {**values[stage], **entries} if isinstance(entries, dict) else entries
    with pytest.raises(VMGError) as refused:
        vmg.AgentConfig.from_dict(values, place="config")
    assert str(refused.value).startswith(sentence)


def test_what_is_not_there_is_its_default():
    """So that settings which an older version did not have can be read."""
    config = vmg.AgentConfig.from_dict({"graph": {"radius": 2}}, place="config")
    assert config == vmg.AgentConfig(graph=vmg.GraphConfig(radius=2))


# --- the mechanism by itself ------------------------------------------------------------------------------------------

COLOURS: Registry[int] = Registry("colour")
COLOURS.add("red", 1)
SHAPES: ClassRegistry[type] = ClassRegistry("shape")


@dataclass(frozen=True, kw_only=True)
class Shape(Settings):
    def to_dict(self):
        return {"kind": self.kind, **super().to_dict()}


@SHAPES.register("ball")
@dataclass(frozen=True, kw_only=True)
class Ball(Shape):
    size: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Lamp(Settings):
    watts: float = 5.0


@dataclass(frozen=True, kw_only=True)
class Scene(Settings):
    place: tuple[int, float]
    colour: Annotated[str, Named(COLOURS)] = "red"
    shape: Annotated[Shape, Kinds(SHAPES)] = Ball()
    light: int | Literal["dim", "bright"] | None = None
    beside: Lamp | None = None


SCENE = Scene(place=(1, 2.0), light="dim", beside=Lamp(watts=3))


@pytest.mark.parametrize("scene", [SCENE, replace(SCENE, light=7, beside=None), replace(SCENE, light=None)])
def test_records_in_records_survive_json(scene):
    assert Scene.from_dict(json.loads(json.dumps(scene.to_dict())), place="scene") == scene


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, r"^scene is incomplete: .*missing 1 required keyword-only argument: 'place'\.$"),
        ([], r"^scene must be an object with named values, not \[\]\.$"),
        ({"place": [1]}, r"^scene\.place must be a list of 2, not \(1,\)\.$"),
        ({"place": [1, "x"]}, r"^scene\.place must be a list in which each is a number, not \(1, 'x'\)\.$"),
        ({"place": [1, 2], "colour": "blue"}, r"^scene\.colour must be one of 'red', not 'blue'\.$"),
        (
            {"place": [1, 2], "light": "off"},
            r"^scene: light must be a whole number or one of 'dim', .* or None",
        ),
        ({"place": [1, 2], "beside": {"watts": "few"}}, r"^scene\.beside\.watts must be a number, not 'few'\.$"),
        ({"place": [1, 2], "shape": {"kind": "box"}}, r"^scene\.shape: There is no shape 'box'\. There are: ball\."),
        ({"place": [1, 2], "shape": {"kind": 1}}, r"^scene\.shape must be an object that names its kind, not"),
    ],
)
def test_a_record_that_does_not_fit_is_refused_with_its_place(values, sentence):
    with pytest.raises(VMGError, match=sentence):
        read_record(Scene, values, place="scene")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"place": "ab"}, r"^place must be a list, not 'ab'\.$"),
        ({"colour": np.array(["red", "blue"])}, r"^colour must be a text, not"),
        (
            {"light": np.array(["dim", "bright"])},
            r"^light must be a whole number or one of 'dim', .* or None",
        ),
        ({"shape": Shape()}, r"^shape must be settings of a shape: of 'ball', not Shape\(\)\.$"),
        ({"shape": "ball"}, r"^shape must be settings of a shape: of 'ball', not 'ball'\.$"),
        ({"beside": Shape()}, r"^beside must be a Lamp or None, not Shape\(\)\.$"),
    ],
)
def test_settings_made_in_python_are_checked_too(change, sentence):
    with pytest.raises(VMGError, match=sentence):
        replace(SCENE, **change)


def test_numbers_of_numpy_and_lists_become_plain():
    scene = Scene(place=[np.int64(1), np.float32(2.5)], beside=Lamp(watts=np.float64(3)))
    assert scene == Scene(place=(1, 2.5), beside=Lamp(watts=3.0))
    assert [type(number) for number in scene.place] == [int, float]
    assert json.loads(json.dumps(scene.to_dict()))["place"] == [1, 2.5]
    assert hash(scene)


@pytest.mark.parametrize(
    ("bounds", "inside", "outside", "words"),
    [
        (Bounds(), [-1e300, 0, 10**400], [np.nan, np.inf, -np.inf], "a finite number"),
        (Bounds(0), [0, 5, 10**400], [-1, np.nan, np.inf], "a finite number of at least 0"),
        (Bounds(0, open_low=True), [1e-300], [0, np.nan], "a finite number above 0"),
        (Bounds(0, 1), [0, 1, True], [1.1, -0.1, np.nan], "a number in [0, 1]"),
        (Bounds(0, 1, open_low=True, open_high=True), [0.5], [0, 1], "a number in (0, 1)"),
        (Bounds(high=3), [-(10**400), 3], [4, -np.inf], "a finite number of at most 3"),
        (Bounds(high=3, open_high=True), [2], [3], "a finite number below 3"),
    ],
)
def test_bounds(bounds, inside, outside, words):
    assert [bounds.problem(number) for number in inside] == [""] * len(inside)
    assert [bounds.problem(number) for number in outside] == [words] * len(outside)
