"""Batches that are sent to the device one chunk after another: the weights that data on the device would give."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from learning_cases import SMALL, assert_same_weights, rows_of, walk, with_translator

from vmg.base.errors import VMGError
from vmg.data import load, save
from vmg.data.mapping import is_mapped
from vmg.learn import Training, fit, fit_together, loop, streaming, training
from vmg.learn.groups import Group, Learner
from vmg.learn.models import AgentModel, Sample, batch_of, on_device
from vmg.learn.store import Store

RELATIVE = with_translator(SMALL, inputs="relative", encoder_inputs="normalised", memory=50)
SAMPLED = replace(SMALL, decoder_output="sampled", action_errors="averaged")
SETS = (walk(0), walk(1, n_episodes=3))


def trainings(folder=None, data=SETS):
    return [
        Training(one, seeds, folder=folder and folder / str(i))
        for i, (one, seeds) in enumerate(zip(data, [(3, 1), (0,)], strict=True))
    ]


@pytest.fixture(scope="module")
def resident():
    """The weights from data that lie on the device."""
    return fit_together(trainings(), RELATIVE)


@pytest.fixture
def sent(monkeypatch):
    """Call it, and nothing may lie on the device any more."""

    def send():
        monkeypatch.setenv(streaming.LIMIT, "0")
        monkeypatch.setattr(training, "run_chunk", None)  # nobody takes that way any more

    return send


def assert_same(models, expected):
    for one, other in zip(models, expected, strict=True):
        assert_same_weights(one, other)


def test_the_weights_are_the_same_to_the_bit(sent, resident):
    sent()
    assert_same(fit_together(trainings(), RELATIVE), resident)


def test_what_a_loss_draws_is_the_same(sent):
    expected = fit(walk(0), SAMPLED)
    sent()
    assert_same_weights(fit(walk(0), SAMPLED), expected)


def test_data_on_disk_are_learned_from(sent, resident, tmp_path):
    for i, episodes in enumerate(SETS):
        save(episodes, tmp_path / f"{i}.npz")
    on_disk = [load(f"npz:{tmp_path}/{i}.npz", mapped=True) for i in range(len(SETS))]
    assert all(is_mapped(episodes.observations) for episodes in on_disk)
    sent()
    assert_same(fit_together(trainings(data=on_disk), RELATIVE), resident)


def test_a_run_goes_on_either_way(sent, resident, tmp_path, monkeypatch):
    """What was killed with data on the device goes on with batches that are sent, to the same weights."""
    write = Store.write_state

    def killed(store, step, state):
        write(store, step, state)
        if step == 40 and store.folder.name == "1":
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "write_state", killed)
    with pytest.raises(KeyboardInterrupt):
        fit_together(trainings(tmp_path), RELATIVE)
    monkeypatch.undo()
    sent()
    assert_same(fit_together(trainings(tmp_path), RELATIVE), resident)
    assert rows_of(tmp_path / "0")[-1]["step"] == "120"


def test_narrow_data_sets_are_filled_up_as_on_the_device():
    data = [walk(0), replace(walk(1), observations=walk(1).observations[:, :2])]
    resident, stream = on_device(*data), streaming.Stream(data)
    first, size = resident.step_observation.shape[0] - 5, 5
    drawn = Sample(*(np.arange(first, first + size)[None, None],) * 3)
    row_t = np.asarray(resident.step_observation)[drawn.step]
    samples, batches = stream._looked_up(drawn._replace(row_t=row_t, row_goal=row_t + 1))
    stream.close()
    for ahead, rows in ((0, samples.row_t), (1, samples.row_t + 1), (1, samples.row_goal)):
        assert (batches.observations[rows] == resident.observations[row_t + ahead]).all()
    assert (batches.actions[samples.step] == resident.actions[drawn.step]).all()
    assert (batches.rewards[samples.step] == resident.rewards[drawn.step]).all()


def test_what_fits_lies_on_the_device(monkeypatch):
    size = 4 * (walk(0).observations.size + walk(0).n_steps * 5) / 1e9
    for limit, sends in ((size, False), (0.99 * size, True)):
        monkeypatch.setenv(streaming.LIMIT, repr(limit))
        assert streaming.streams([walk(0)]) is sends
    monkeypatch.delenv(streaming.LIMIT)
    assert not streaming.streams([walk(0)])
    monkeypatch.setenv(streaming.LIMIT, "much")
    with pytest.raises(VMGError, match="VMG_DEVICE_GB must be a number of gigabytes of at least 0, not 'much'"):
        streaming.streams([walk(0)])


def test_how_far_goals_lie_ahead_is_told(sent):
    """Rows of sent batches do not tell it."""
    sent()
    group = Group([Learner(AgentModel(SMALL), Training(walk(0)))])
    drawn = loop.draw_chunk(group.own, np.int32(0), group.steps, model=group.model, length=2)
    samples, batches = group.stream.take(group.own, 0, 2, group.model)
    batch = batch_of({}, batches, jax.tree.map(lambda array: array[0, 0], samples))
    group.stream.close()
    assert (batch.goal_steps == (drawn.row_goal - drawn.row_t)[0, 0]).all()
    assert (batch.o_t == walk(0).observations[drawn.row_t[0, 0]]).all()
    assert (batch.goal == walk(0).observations[drawn.row_goal[0, 0]]).all()
