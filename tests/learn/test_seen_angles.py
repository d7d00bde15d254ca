"""Networks see an angle as sine and cosine; to all others it stays the number that was recorded."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learning_cases import SMALL, assert_same_weights, walk

import vmg
from vmg.agent import auto
from vmg.base.errors import VMGError
from vmg.cli.options import preset_of
from vmg.data.angles import turns_of
from vmg.data.episodes import Episodes
from vmg.data.mapping import is_mapped
from vmg.envs import TASKS
from vmg.evaluation.baselines import CloningActor
from vmg.learn import Training, fit, fit_cloning, load_checkpoint, losses_on
from vmg.networks import Critic, Encoder, Ensemble, Flow, Placer, Translator, clone, embed, embed_alike
from vmg.networks.angles import angles_part, own_columns, turned, turned_columns, turned_episodes
from vmg.networks.lowlevel import Doubting, Drawing, actor
from vmg.networks.weights import read_tensors, write_tensors
from vmg.runs.remarks import on_data

HEADING = 2
TURNS = {"radians": 2 * np.pi, "degrees": 360.0}


def rides(turn: float, seed: int = 0, n_episodes: int = 8, length: int = 30) -> Episodes:
    """A unicycle at a constant pace, a box that it carries now and then, and the heading within a turn."""
    rng, parts = np.random.default_rng(seed), []
    for _ in range(n_episodes):
        steers = np.clip(rng.normal(0, 0.4) + rng.normal(0, 0.3, (length, 1)), -1, 1)
        heading = rng.uniform(-9, 9) + np.concatenate([[0.0], steers[:, 0].cumsum()])
        place = np.concatenate([rng.normal(size=(1, 2)), 0.1 * np.column_stack([np.cos(heading), np.sin(heading)])[1:]])
        box = np.repeat(rng.normal(size=length // 5 + 1), 5)[: length + 1].round(2)
        box[length // 2 :] = box[length // 2]
        seen = ((heading + np.pi) % (2 * np.pi) - np.pi) * turn / (2 * np.pi)
        parts.append((np.column_stack([place.cumsum(0), seen, box]), steers, np.zeros(length), False, True))
    return Episodes.from_list(parts, source="rides", fields={"place": (0, 1), "heading": (2,), "box": (3,)})


KINDS = {
    "translator": Translator(inputs="relative"),
    "some columns": Translator(inputs="normalised", columns=(0, 2)),
    "noise": Translator(inputs="raw relative", noise=0.5, memory=20),
    "critic": Critic(inputs="relative"),
    "ensemble": Ensemble(inputs="relative", members=2),
    "flow": Flow(inputs="relative"),
    "placer": Placer(inputs="relative", objects=(3,)),
    "placer of an angle": Placer(inputs="relative", objects=(3,)),
}


@given(seed=st.integers(0, 1000), size=st.integers(1, 8), data=st.data())
@settings(max_examples=50, deadline=None)
def test_sine_and_cosine_stand_where_the_angle_stood(seed, size, data):
    angles = sorted(data.draw(st.sets(st.integers(0, size - 1))))
    weights = angles_part({column: data.draw(st.sampled_from([2 * np.pi, 360.0])) for column in angles})
    rows = np.random.default_rng(seed).uniform(-400, 400, (5, size)).astype(np.float32)
    by_hand = []
    for column in range(size):
        if column in angles:
            turn = float(weights["angles"]["turn"][angles.index(column)])
            way = rows[:, column].astype(np.float64) / turn * 2 * np.pi
            by_hand += [np.sin(way), np.cos(way)]
        else:
            by_hand.append(rows[:, column])
    found = turned(weights, rows)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.column_stack(by_hand), atol=1e-6)
    np.testing.assert_array_equal(turned(weights, rows[2]), found[2])
    assert angles or found is rows
    some = data.draw(st.lists(st.integers(0, size - 1), unique=True))
    for column in some:
        np.testing.assert_array_equal(
            found[:, turned_columns((column,), angles)[0]], by_hand_at(by_hand, angles, column)
        )
    assert own_columns(turned_columns(some, angles), angles, size) == tuple(some)


def by_hand_at(by_hand: list, angles: list, column: int) -> np.ndarray:
    return np.float32(by_hand[column + sum(angle < column for angle in angles)])


@pytest.mark.parametrize(("kind", "unit"), [("translator", "radians"), *((kind, "degrees") for kind in KINDS)])
def test_networks_are_those_of_recorded_sine_and_cosine(kind, unit, tmp_path):
    """What is learned and done is bit for bit what it would be, had sine and cosine been recorded."""
    episodes, low_level = rides(TURNS[unit]), KINDS[kind]
    assert turns_of(episodes, (HEADING,)) == {HEADING: pytest.approx(TURNS[unit])}
    angles = (HEADING, 3) if kind == "placer of an angle" else (HEADING,)
    config = replace(SMALL, encoder_inputs="normalised", low_level=low_level, angles=angles)
    (weights,) = fit(episodes, config, folder=tmp_path, validation=rides(TURNS[unit], 1))
    recorded = turned_episodes(episodes, weights)
    assert recorded.fields == {"place": (0, 1), "heading": (2, 3), "box": (4, 5)[: len(angles)]}
    plain = replace(config, low_level=low_level.turned(angles), angles=None)
    (by_hand,) = fit(recorded, plain, validation=turned_episodes(rides(TURNS[unit], 1), weights))
    assert_same_weights([{k: v for k, v in weights.items() if k != "angles"}], [by_hand])
    o, seen = episodes.observations, recorded.observations
    for embedded in (embed, embed_alike):
        np.testing.assert_array_equal(embedded(weights, o), embedded(by_hand, seen))
    np.testing.assert_array_equal(Encoder(weights)(o[:1]), Encoder(by_hand)(seen[:1]))
    act, acted = actor(low_level, weights), actor(plain.low_level, by_hand)
    assert isinstance(act, Drawing) == (kind == "flow")
    assert isinstance(act, Doubting) == (kind == "ensemble")
    goals = o[::-1].copy()
    np.testing.assert_array_equal(act(o, goals), acted(seen, seen[::-1].copy()))
    if kind.startswith("placer"):
        wanted = np.where(np.isin(np.arange(4), low_level.objects), goals, np.nan).astype(np.float32)
        np.testing.assert_array_equal(act(o, wanted), acted(seen, turned(weights, wanted)))
    if isinstance(act, Doubting):
        np.testing.assert_array_equal(act.unsure(o, goals), acted.unsure(seen, seen[::-1].copy()))
    (there,) = load_checkpoint(sorted((tmp_path / "checkpoints").iterdir())[-1], low_level).values()
    assert_same_weights([there], [weights])
    assert losses_on(weights, config, episodes) == losses_on(by_hand, plain, recorded)


@pytest.mark.parametrize("unit", TURNS)
def test_a_turn_on_is_the_same_place(unit):
    episodes, turn = rides(TURNS[unit]), TURNS[unit]
    config = replace(SMALL, encoder_inputs="normalised", low_level=KINDS["translator"], angles=(HEADING,))
    (weights,) = fit(episodes, config)
    o = episodes.observations
    on = o + np.float32(turn) * (np.arange(4) == HEADING).astype(np.float32)
    np.testing.assert_allclose(embed(weights, on), embed(weights, o), atol=1e-4)
    act = actor(config.low_level, weights)
    np.testing.assert_allclose(act(on, o[::-1].copy()), act(o, on[::-1].copy()), atol=1e-4)


def test_without_angles_nothing_is_other(tmp_path):
    plain, none = (fit(walk(0), replace(SMALL, angles=each), folder=tmp_path) for each in (None, ()))
    assert_same_weights(plain, none)
    assert "angles" not in plain[0]
    assert "angles" not in (tmp_path / "learning.json").read_text()
    assert turned_episodes(walk(0), plain[0]).digest == walk(0).digest
    assert auto.choose(walk(0), steps=20).config.learn.angles is None


def test_data_sent_in_batches_give_the_same(monkeypatch):
    config = replace(SMALL, angles=(HEADING,))
    here = fit(rides(360.0), config)
    monkeypatch.setenv("VMG_DEVICE_GB", "0")
    assert_same_weights(fit(rides(360.0), config), here)


def test_cloning_sees_sine_and_cosine_too():
    episodes = rides(360.0)
    config = replace(SMALL, angles=(HEADING,), low_level=Translator(inputs="relative"))
    ((weights,),) = fit_cloning([Training(episodes)], config, goal_columns=(2, 0))
    ((by_hand,),) = fit_cloning(
        [Training(turned_episodes(episodes, weights))], replace(config, angles=None), goal_columns=(2, 3, 0)
    )
    o, seen = episodes.observations, turned(weights, episodes.observations)
    actor_of = CloningActor(weights, np.float32([-9]), np.float32([9]), o[7, [2, 0]])
    for row in range(5):
        expected = clone(by_hand, seen[row][None], seen[7][[2, 3, 0]][None])[0]
        np.testing.assert_array_equal(actor_of.act(o[row]), expected)


def test_an_agent_acts_alike_in_a_new_process(tmp_path):
    episodes = rides(360.0)
    learn = replace(SMALL, encoder_inputs="normalised", low_level=KINDS["translator"], angles=(HEADING,))
    (agent,) = vmg.Agent.fit(episodes, vmg.AgentConfig(learn=learn, graph=vmg.GraphConfig(radius=0.3)))
    agent = agent.build(episodes).solve()
    assert agent.built.states.shape[1] == episodes.observation_size
    assert set(agent.built.states[:, HEADING]) <= set(episodes.observations[:, HEADING])
    agent.save(tmp_path / "agent")
    np.save(tmp_path / "asked.npy", episodes.observations[:50])
    code = (
        "import sys, numpy as np, vmg; a = vmg.Agent.load(sys.argv[1]); o = np.load(sys.argv[2]); "
        "p = a.policy(); np.save(sys.argv[3], np.stack([p.act(each) for each in o]))"
    )
    paths = [str(tmp_path / name) for name in ("agent", "asked.npy", "done.npy")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)
    policy = agent.policy()
    here = np.stack([policy.act(each) for each in episodes.observations[:50]])
    np.testing.assert_array_equal(np.load(tmp_path / "done.npy"), here)


@pytest.mark.parametrize(
    "changes",
    [
        {"angles.column": np.int32([7])},
        {"angles.column": np.int32([-1])},
        {"angles.column": np.float32([2])},
        {"angles.turn": np.float32([0])},
        {"angles.turn": np.float32([1, 2])},
        {"angles.column": np.int32([[2]]), "angles.turn": np.float32([[2]])},
        {"angles.column": np.int32([2, 2]), "angles.turn": np.float32([1, 1])},
        {"angles.turn": None},
    ],
)
def test_damaged_angles_are_refused(changes, tmp_path):
    fit(rides(360.0), replace(SMALL, angles=(HEADING,)), folder=tmp_path)
    path = sorted((tmp_path / "checkpoints").iterdir())[-1]
    tensors, about = read_tensors(path)
    tensors |= {f"0.{name}": array for name, array in changes.items()}
    write_tensors(path, {name: array for name, array in tensors.items() if array is not None}, about)
    with pytest.raises(VMGError, match="does not hold a model"):
        load_checkpoint(path)


def test_what_cannot_be_an_angle_is_refused():
    with pytest.raises(VMGError, match="column 9 is named as an angle, but an observation has the columns 0 to 3"):
        fit(rides(360.0), replace(SMALL, angles=(9,)))
    with pytest.raises(VMGError, match="column 2 is named as an angle, but is recorded over"):
        fit(rides(720.0), replace(SMALL, angles=(2,)))


def test_angles_are_chosen_from_the_data_and_shown():
    episodes = rides(360.0, n_episodes=20, length=80)
    chosen = auto.choose(episodes, steps=20)
    assert chosen.config.learn.angles == (HEADING,)
    (said,) = (choice for choice in chosen.choices if choice.setting == "learn.angles")
    assert said.value == "2"
    assert "heading after 360" in said.why
    columns = chosen.config.learn.low_level.columns
    assert not columns or max(columns) < episodes.observation_size
    assert auto.choose(episodes, steps=20, angles=()).config.learn.angles is None
    fit(episodes, replace(chosen.config.learn, steps=10, checkpoint_every=10))


def test_what_lies_on_disk_stays_there(tmp_path):
    episodes = rides(360.0)
    np.save(tmp_path / "observations.npy", episodes.observations)
    on_disk = replace(episodes, observations=np.load(tmp_path / "observations.npy", mmap_mode="r"))
    weights = angles_part({HEADING: 360.0})
    assert is_mapped(turned_episodes(on_disk, weights).observations)
    assert turned_episodes(on_disk, weights).digest == turned_episodes(episodes, weights).digest


def test_who_does_not_see_angles_is_told_how():
    episodes = rides(360.0, n_episodes=20, length=80)
    assert "--learn.angles 2 says so" in " ".join(on_data(episodes))
    assert "angle" not in " ".join(on_data(episodes, (HEADING,)))
    assert "--learn.angles 2 says so" in " ".join(on_data(episodes, ()))


@pytest.mark.parametrize("preset", ["paper", "program"])
def test_published_presets_see_numbers_as_they_are(preset):
    assert preset_of(preset, TASKS.find("kitchen-partial")).learn.angles is None
