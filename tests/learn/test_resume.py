import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import jax
import jax.numpy as jnp
import learning_cases
import numpy as np
import pytest
from learning_cases import SMALL, assert_same_weights, train_killed, walk

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.learn import fit, training
from vmg.learn.store import Store
from vmg.networks.weights import read_tensors


def step_reached(folder):
    path = folder / "training_state.safetensors"
    return int(read_tensors(path)[1]["step"]) if path.exists() else 0


def train_and_kill(folder, after):
    """Start training in another process and kill it once it has come `after` steps further; True if it was killed."""
    goal = step_reached(folder) + after
    process = subprocess.Popen([sys.executable, learning_cases.__file__, str(folder)])
    while process.poll() is None and step_reached(folder) < goal:
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.05))
    process.send_signal(signal.SIGKILL)
    return process.wait(timeout=60) == -signal.SIGKILL


def test_killed_training_ends_at_the_same_weights(tmp_path):
    expected = train_killed(tmp_path / "undisturbed")
    killed = tmp_path / "killed"
    for after in (200, 1000):
        assert train_and_kill(killed, after)
    assert 1200 <= step_reached(killed) < learning_cases.KILLED.steps
    assert_same_weights(train_killed(killed), expected)
    metrics = [(tmp_path / name / "metrics.csv").read_text() for name in ("killed", "undisturbed")]
    assert metrics[0] == metrics[1]


def test_rows_past_the_kept_state_are_written_once(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHUNK", 10)
    expected = fit(walk(0), SMALL, [0, 1], folder=tmp_path / "undisturbed")
    broken, folder = Store.write_checkpoint, tmp_path / "broken"

    def fail_at_the_second(store, step, *rest):
        if step == 80:
            raise KeyboardInterrupt
        broken(store, step, *rest)

    monkeypatch.setattr(Store, "write_checkpoint", fail_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        fit(walk(0), SMALL, [0, 1], folder=folder)
    monkeypatch.setattr(Store, "write_checkpoint", broken)
    with open(folder / "metrics.csv", "a") as file:
        file.write("4")  # of a row of step 90 that the kill cut short
    assert step_reached(folder) == 40
    assert_same_weights(fit(walk(0), SMALL, [0, 1], folder=folder), expected)
    assert (folder / "metrics.csv").read_text() == (tmp_path / "undisturbed" / "metrics.csv").read_text()


def test_a_finished_run_returns_at_once(tmp_path, monkeypatch):
    expected = fit(walk(0), SMALL, folder=tmp_path)
    monkeypatch.setattr(training, "run_chunk", None)
    assert_same_weights(fit(walk(0), SMALL, folder=tmp_path), expected)


def test_state_is_kept_between_checkpoints(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHUNK", 10)
    monkeypatch.setattr(training, "SAVE_SECONDS", 0.0)
    steps, write = [], Store.write_state
    monkeypatch.setattr(
        Store, "write_state", lambda store, step, state: (steps.append(step), write(store, step, state))
    )
    fit(walk(0), replace(SMALL, steps=40), [0, 1], folder=tmp_path)
    assert steps == [0, 10, 20, 30, 40]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"config": replace(SMALL, margin=2.0)}, "margin is 1.0 there and 2.0 now"),
        ({"seeds": [0, 1]}, r"seeds is \[0\] there and \[0, 1\] now"),
        ({"episodes": walk(5)}, r"it learned from other episodes\. Use another folder \(vmg train has --out\)"),
        ({"validation": walk(5)}, "other episodes were held out"),
    ],
)
def test_another_run_in_the_folder_is_refused_and_kept(tmp_path, change, words):
    arguments = {"episodes": walk(0), "config": replace(SMALL, steps=40), "seeds": [0]}
    fit(**arguments, folder=tmp_path)
    before = (tmp_path / "training_state.safetensors").read_bytes()
    with pytest.raises(VMGError, match=words):
        fit(**arguments | change, folder=tmp_path)
    assert (tmp_path / "training_state.safetensors").read_bytes() == before


def test_starting_anew_clears_the_folder(tmp_path):
    fit(walk(0), SMALL, folder=tmp_path)
    config = replace(SMALL, steps=40)
    weights = fit(walk(0), config, folder=tmp_path, resume=False)
    assert_same_weights(weights, fit(walk(0), config))
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step_0000000040.safetensors"]


def test_a_damaged_state_is_named(tmp_path):
    config = replace(SMALL, steps=40)
    fit(walk(0), config, folder=tmp_path)
    state = tmp_path / "training_state.safetensors"
    state.write_bytes(state.read_bytes()[:200])
    with pytest.raises(VMGError, match=r"training_state.safetensors is not a readable safetensors file"):
        fit(walk(0), config, folder=tmp_path)


def test_a_loss_that_is_not_finite_stops_with_the_last_good_state_kept(tmp_path):
    config = replace(SMALL, learning_rate=1e30)
    with pytest.raises(VMGError, match=r"The contrastive loss of the model with seed 6 .* at step 2\. Lower"):
        fit(walk(0), config, [6, 7], folder=tmp_path)
    tensors, metadata = read_tensors(tmp_path / "training_state.safetensors")
    assert metadata["step"] == "0"
    assert all(np.isfinite(array).all() for array in tensors.values())


def test_data_too_large_to_square_is_said():
    part = walk(0)
    huge = Episodes(**{**vars(part), "observations": part.observations * 1e25})
    with pytest.raises(VMGError, match=r"stopped being finite at step 1\..*largest observation is 7.43e\+25"):
        fit(huge, SMALL)


def test_weights_that_break_in_the_last_update_are_not_kept(tmp_path, monkeypatch):
    def breaking(state, *rest, **options):
        state, losses = run_chunk(state, *rest, **options)
        return state._replace(weights=jax.tree.map(lambda array: array.at[1].set(jnp.inf), state.weights)), losses

    run_chunk = training.run_chunk
    monkeypatch.setattr(training, "run_chunk", breaking)
    with pytest.raises(VMGError, match=r"The weights .* of the model with seed 7 stopped being finite at step 40"):
        fit(walk(0), SMALL, [6, 7], folder=tmp_path)
    assert step_reached(tmp_path) == 0
