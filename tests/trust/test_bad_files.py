"""Damaged, foreign and swapped files: each is refused in a sentence, or what is read is as good as before."""

import shutil
import time
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from damages import IN_ITS_PLACE, changed_bytes
from data_files import KINDS
from trust_cases import agent, episodes, place

import vmg
from vmg.agent import folder as folders
from vmg.base import files
from vmg.data import READERS
from vmg.networks.weights import read_tensors, write_tensors

FLIPS = 12  # `make fuzz` flips thousands
AGENT_FILES = ("config.json", "graph.npz", "solution.npz", "weights.safetensors")


@pytest.fixture(autouse=True)
def _minari_looks_elsewhere_afterwards(monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", "")


def said(read, *given):
    """Return what was read, or nothing where it was refused in a sentence; anything else is raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return read(*given)
    except vmg.VMGError:
        return None


def files_in(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_every_reader_of_files_has_a_file_here(tmp_path):
    made = {"pointmaze"}  # on the spot
    assert {kind(_new(tmp_path / name)).partition(":")[0] for name, kind in KINDS.items()} | made == set(READERS)


def _new(folder):
    folder.mkdir()
    return folder


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_damaged_data_are_refused_in_a_sentence_or_are_episodes(kind, tmp_path):
    name = KINDS[kind](tmp_path)
    assert said(vmg.load, name) is not None
    for path in files_in(tmp_path):
        whole = path.read_bytes()
        for how, content in changed_bytes(whole, seed=0, flips=FLIPS).items():
            path.write_bytes(content)
            found = said(vmg.load, name)
            assert found is None or isinstance(found, vmg.Episodes), how
        path.write_bytes(whole)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("instead", sorted(IN_ITS_PLACE))
def test_something_else_in_place_of_data_is_said(kind, instead, tmp_path):
    name = KINDS[kind](tmp_path)
    for path in files_in(tmp_path):
        whole = path.read_bytes()
        path.unlink()
        IN_ITS_PLACE[instead](path)
        assert said(vmg.load, name) is None or path.name == "namespace_metadata.json"  # only Minari's lists read it
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        path.write_bytes(whole)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("name", ["a b", "ä", "?", "*", "[0]", "%41", "x" * 200, "-x", "a'b"])
def test_odd_names_are_names(kind, name, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    assert said(vmg.load, KINDS[kind](folder)) is not None


@pytest.mark.parametrize("lengths", [[1_000_000], [1] * 10_000])
def test_the_longest_and_the_shortest_episodes_are_read_and_summarised_within_seconds(lengths, tmp_path):
    rng, n_steps = np.random.default_rng(0), sum(lengths)
    observations = rng.normal(size=(n_steps + len(lengths), 2))
    flags = np.zeros(len(lengths)), np.ones(len(lengths))
    own = vmg.Episodes(observations, rng.normal(size=(n_steps, 1)), np.zeros(n_steps), np.array(lengths), *flags)
    vmg.data.save(own, tmp_path / "own.npz")
    tracemalloc.start()
    began = time.process_time()
    read = vmg.load(f"npz:{tmp_path / 'own.npz'}")
    assert vmg.data.summarise(read).lengths.largest == max(lengths)
    assert time.process_time() - began < 20
    assert tracemalloc.get_traced_memory()[1] < 20 * read.observations.nbytes
    tracemalloc.stop()


# --- an agent's folder ------------------------------------------------------------------------------------------------


@pytest.fixture(params=["edges", "recordings"])
def folder(request, tmp_path):
    agent(along=request.param).save(tmp_path / "agent")
    return tmp_path / "agent"


def decided(read):
    """What an agent decides, everywhere that was recorded."""
    decisions = read.policy().decide(episodes().observations)
    return [decisions.actions, decisions.vertices, decisions.targets, decisions.subgoals]


def used(folder):
    """Load an agent and ask it for everything."""
    read = vmg.Agent.load(folder)
    if read.graph is not None and read.routes is not None:
        decided(read)
        read.routes.path(0)
        read.plan(place(), None).explain(episodes().observations[0])
    return read


@pytest.mark.parametrize("file", AGENT_FILES)
def test_a_damaged_file_of_an_agent_is_refused_or_changes_nothing(folder, file):
    before, whole = decided(vmg.Agent.load(folder)), (folder / file).read_bytes()
    for how, content in changed_bytes(whole, seed=1, flips=FLIPS).items():
        (folder / file).write_bytes(content)
        read = said(used, folder)
        if read is not None and file != "config.json":  # settings may be changed to others that are legal
            assert all(map(np.array_equal, decided(read), before)), how


@pytest.mark.parametrize("file", AGENT_FILES)
@pytest.mark.parametrize("instead", sorted(IN_ITS_PLACE))
def test_something_else_in_place_of_a_file_of_an_agent_is_said(folder, file, instead):
    (folder / file).unlink()
    IN_ITS_PLACE[instead](folder / file)
    read = said(used, folder)
    nothing = instead in ("nothing", "a link to nothing", "a link to itself")
    assert read is None or (nothing and file in ("graph.npz", "solution.npz") and read.routes is None)


def test_no_file_of_another_agent_fits(tmp_path):
    for seed in (0, 1):
        agent(seed).save(tmp_path / str(seed))
    for file in AGENT_FILES:
        mixed = shutil.copytree(tmp_path / "0", tmp_path / f"mixed {file}")
        shutil.copy(tmp_path / "1" / file, mixed / file)
        assert said(used, mixed) is None, file


def changed_arrays(array, rng):
    """Yield arrays that are like one and are not it."""
    yield array[..., None]
    yield array.ravel()[:0]
    yield array.astype("U8")
    yield array.astype(object).astype("S8")
    yield np.float64(np.nan)
    if array.ndim and len(array) > 1:
        yield array[:-1]
        yield array[::-1]
        yield np.roll(array, 1, axis=0)
        yield rng.permutation(array)
        yield np.concatenate([array, array])
    if array.dtype.kind in "iuf":
        for number in np.array([-1, 0, 1, 127, 2**31 - 1]).astype(array.dtype):
            yield np.full_like(array, number)
            yield _with(array, number)
        yield array.astype(np.int64 if array.dtype != np.int64 else np.int32)
    if array.dtype.kind == "f":
        for number in (np.nan, np.inf, -np.inf, 1e30):
            yield _with(array, number)


def _with(array, number):
    changed = array.copy()
    changed.reshape(-1)[array.size // 2 : array.size // 2 + 1] = number
    return changed


@pytest.mark.parametrize("file", ["graph.npz", "solution.npz"])
@pytest.mark.parametrize("sealed", [True, False])
def test_a_changed_array_is_refused_or_a_graph_and_routes_that_work(folder, file, sealed):
    rng, whole = np.random.default_rng(0), files.read_npz(folder / file)
    if file == "graph.npz":
        (folder / "solution.npz").unlink()
    tried = 0
    for name in sorted(set(whole) - {folders.CONTENT}):
        for changed in list(changed_arrays(whole[name], rng))[:: 1 if sealed else 6]:
            tried += 1
            others = {each: array for each, array in whole.items() if each != folders.CONTENT} | {name: changed}
            seal = folders._content(others) if sealed else whole[folders.CONTENT]
            np.savez(folder / file, **others, **{folders.CONTENT: seal})
            read = said(used, folder)
            assert read is None or sealed or np.array_equal(changed, whole[name]), f"{name}: {changed!r}"
    assert tried > 20


def test_a_changed_tensor_is_refused(folder):
    tensors, metadata = read_tensors(folder / "weights.safetensors")
    for name, tensor in tensors.items():
        for changed in (tensor[..., None], tensor.ravel()[:0], tensor.astype(np.float64), tensor * 0, tensor - np.inf):
            write_tensors(folder / "weights.safetensors", {**tensors, name: changed}, metadata)
            assert said(used, folder) is None or np.array_equal(changed, tensor), name
    write_tensors(folder / "weights.safetensors", {**tensors, "state_encoder.w3": np.zeros(3, np.float32)}, metadata)
    with pytest.raises(vmg.VMGError, match="there is no place for"):
        vmg.networks.load_weights(folder / "weights.safetensors")


# --- what would fill the memory ---------------------------------------------------------------------------------------


def test_a_small_npz_that_holds_far_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MUCH", 2**20)
    np.savez_compressed(tmp_path / "bomb.npz", observations=np.zeros((2**20, 4), np.float32), actions=np.zeros((2, 1)))
    with pytest.raises(vmg.VMGError, match="would fill the memory"):
        vmg.load(f"npz:{tmp_path / 'bomb.npz'}")


@pytest.mark.parametrize("source", ["hdf5", "d4rl", "robomimic"])
def test_an_hdf5_file_that_holds_far_too_much_is_refused(source, tmp_path):
    name = "data/demo_0/obs/eef" if source == "robomimic" else "observations"
    with h5py.File(tmp_path / "bomb.h5", "w") as file:
        file.create_dataset(name, (2**38, 4), "f4", chunks=(2**10, 4), compression="gzip")
    with pytest.raises(vmg.VMGError, match="would fill the memory"):
        vmg.load(f"{source}:{tmp_path / 'bomb.h5'}")


def test_a_parquet_file_that_holds_far_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MUCH", 2**20)
    pq.write_table(pa.table({"episode": np.zeros(2**20, np.int8), "obs_0": np.zeros(2**20)}), tmp_path / "bomb.parquet")
    with pytest.raises(vmg.VMGError, match="would fill the memory"):
        vmg.load(f"table:{tmp_path / 'bomb.parquet'}")


def test_a_header_that_claims_more_than_the_file_has_is_refused(tmp_path):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976,), }"
    content = (np.lib.format.magic(1, 0) + b"\x76\x00" + header).ljust(128)
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as file:
        file.writestr("observations.npy", content)
    with pytest.raises(vmg.VMGError, match="not a readable"):
        vmg.load(f"npz:{tmp_path / 'x.npz'}")


def test_text_that_is_too_long_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_TEXT", 100)
    (tmp_path / "config.json").write_text("[" + "0," * 100 + "0]")
    with pytest.raises(vmg.VMGError, match="larger than 100 bytes"):
        files.read_json(tmp_path / "config.json")


def test_episodes_that_a_graph_was_not_built_from_are_refused():
    own = episodes()
    others = vmg.Episodes(own.observations + 1, own.actions, own.rewards, own.lengths, own.terminated, own.truncated)
    with pytest.raises(vmg.VMGError, match="but others: give the episodes it was built from"):
        agent().plan(place(), others)


def test_lengths_whose_sum_overflows_are_refused():
    lengths = np.array([2**63 - 1, 2**63 - 1, 4])
    with pytest.raises(vmg.VMGError, match="an episode of"):
        vmg.Episodes(np.zeros((5, 1)), np.zeros((2, 1)), np.zeros(2), lengths, np.zeros(3), np.ones(3))


@pytest.mark.parametrize("radius", [1e19, 1e30, 1e38, 1e300])
def test_a_radius_beyond_all_numbers_ends(radius):
    own = episodes()
    with pytest.warns(UserWarning, match="leaves a single vertex"):
        assert vmg.build(own.observations, own, radius).n_vertices == 1


def test_a_folder_that_may_not_be_read_is_said(tmp_path):
    assert said(vmg.Agent.load, tmp_path / ("x" * 5000)) is None
    assert said(vmg.Agent.load, "a\0b") is None
    assert said(vmg.load, "npz:a\0b") is None
    assert said(vmg.load, f"npz:{Path('x' * 5000)}") is None
