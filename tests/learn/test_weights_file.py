import subprocess
import sys

import numpy as np
import pytest
from learning_cases import untrained

from vmg.base.errors import VMGError
from vmg.data.episodes import Episodes
from vmg.learn import LearnConfig, load_checkpoint
from vmg.networks import load_weights, save_weights
from vmg.networks.weights import flat, write_tensors


@pytest.fixture
def weights():
    episodes = Episodes.from_list([(np.eye(4), np.ones((3, 2)), np.zeros(3), True, False)])
    config = LearnConfig(hidden_units=5, metric_dimension=3)
    return untrained(episodes, config)


def test_missing_file(tmp_path):
    with pytest.raises(VMGError, match=r"weights.safetensors does not exist"):
        load_weights(tmp_path / "weights.safetensors")


@pytest.mark.parametrize("content", [b"", b"not a model", bytes(100)])
def test_foreign_file(tmp_path, content):
    path = tmp_path / "weights.safetensors"
    path.write_bytes(content)
    with pytest.raises(VMGError, match=r"weights.safetensors is not a readable safetensors file"):
        load_weights(path)


def test_file_cut_short(tmp_path, weights):
    path = tmp_path / "weights.safetensors"
    save_weights(path, weights)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(VMGError, match="not a readable safetensors file"):
        load_weights(path)


@pytest.mark.parametrize(
    "name", ["state_encoder.w1", "translator.b2", "encoder_input.mean", "translator_input.relative"]
)
def test_missing_tensor_is_named(tmp_path, weights, name):
    tensors = {key: array for key, array in flat(weights).items() if key != name}
    write_tensors(tmp_path / "weights.safetensors", tensors, {})
    with pytest.raises(VMGError, match=f"the tensor {name} is missing"):
        load_weights(tmp_path / "weights.safetensors")


@pytest.mark.parametrize(
    ("name", "array", "shape"),
    [
        ("action_decoder.w0", np.zeros((7, 5), np.float32), "6, 5"),
        ("translator.w2", np.zeros((5, 2), np.float64), "5, 2"),
    ],
)
def test_tensor_that_does_not_fit_is_named(tmp_path, weights, name, array, shape):
    write_tensors(tmp_path / "weights.safetensors", flat(weights) | {name: array}, {})
    with pytest.raises(VMGError, match=rf"{name} is float.* but float32 of shape \({shape}\) is needed"):
        load_weights(tmp_path / "weights.safetensors")


def test_a_weights_file_is_no_checkpoint(tmp_path, weights):
    save_weights(tmp_path / "weights.safetensors", weights)
    with pytest.raises(VMGError, match="is not a checkpoint"):
        load_checkpoint(tmp_path / "weights.safetensors")


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("vmg.learn", "numba scipy.sparse gymnasium h5py torch tensorflow tensorboard"),
        ("vmg.networks", "jax optax"),
    ],
)
def test_imports_stay_light(module, forbidden):
    script = f"import sys, {module}; print([name for name in {forbidden.split()!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_columns_that_are_not_there_are_refused(tmp_path, weights):
    model = {**weights, "translator_input": {**weights["translator_input"]}}
    model["translator_input"]["columns"] = model["translator_input"]["columns"] + np.int32(1)
    save_weights(tmp_path / "w.safetensors", model)
    with pytest.raises(VMGError, match=r"translator_input\.columns are not the columns of an observation"):
        load_weights(tmp_path / "w.safetensors")
