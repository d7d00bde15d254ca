"""Data left on disk: the same episodes, whichever reader, layout and piece, and whatever is made of them."""

import os
from dataclasses import replace
from itertools import product

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_episodes import assert_same, episode_sets, make_episodes, state_rows, step_rows

from vmg.base.errors import VMGError
from vmg.data import Episodes, concatenate, load, mapping, read_npz
from vmg.data.mapping import is_mapped

in_one_folder = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(mapping, "PIECE", 40)


def own(episodes):
    return {name: getattr(episodes, name) for name in ("observations", "actions", "rewards", "lengths", "terminated")}


LAYOUTS = {"own": own, "steps": step_rows, "states": state_rows}


def as_npz(folder, arrays):
    np.savez(folder / "data.npz", **arrays)
    return f"npz:{folder}/data.npz"


def as_compressed_npz(folder, arrays):
    np.savez_compressed(folder / "data.npz", **arrays)
    return f"npz:{folder}/data.npz"


def as_doubles(folder, arrays):
    return as_npz(folder, {name: np.asarray(array, dtype=np.float64) if array.ndim == 2 else array
                           for name, array in arrays.items()})  # fmt: skip


def as_hdf5(folder, arrays, **options):
    with h5py.File(folder / "data.hdf5", "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array, **options)
    return f"hdf5:{folder}/data.hdf5"


def as_chunked_hdf5(folder, arrays):
    return as_hdf5(folder, arrays, chunks=True, compression="gzip")


def as_d4rl(folder, arrays):
    return as_hdf5(folder, arrays).replace("hdf5:", "d4rl:", 1)


def as_ogbench(folder, arrays):
    return as_npz(folder, {**arrays, "terminals": arrays["terminals"] | arrays["timeouts"]}).replace(
        "npz:", "ogbench:", 1
    )


def as_parquet(folder, arrays):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    ends = np.asarray(arrays["terminals"]) | arrays["timeouts"]
    columns = {"episode": np.cumsum(ends) - ends, "reward": np.asarray(arrays["rewards"], float)}
    columns |= {f"q{i}": column for i, column in enumerate(np.asarray(arrays["observations"]).T)}
    table = {name: pyarrow.array(np.ascontiguousarray(column)) for name, column in columns.items()}
    table["action"] = pyarrow.array(np.asarray(arrays["actions"]).tolist(), pyarrow.list_(pyarrow.float32()))
    parquet.write_table(pyarrow.table(table), folder / "data.parquet")
    return f"table:{folder}/data.parquet"


FORMS = [
    *product((as_npz, as_compressed_npz, as_doubles, as_hdf5, as_chunked_hdf5), LAYOUTS),
    (as_d4rl, "steps"), (as_d4rl, "states"), (as_ogbench, "states"), (as_parquet, "states"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "layout"), FORMS, ids=lambda each: getattr(each, "__name__", each))
@pytest.mark.filterwarnings("ignore::vmg.data.DataWarning")
@in_one_folder
@given(episodes=episode_sets)
def test_on_disk_it_is_the_same(tmp_path, form, layout, episodes):
    name = form(tmp_path, LAYOUTS[layout](episodes))
    on_disk, here = load(name, mapped=True), load(f"{name}?mapped=false")
    assert_same(on_disk, here)
    assert on_disk.digest == here.digest
    assert is_mapped(on_disk.observations)
    assert not is_mapped(here.observations)


@in_one_folder
@given(episodes=episode_sets, data=st.data())
def test_what_is_made_of_it_is_the_same_and_on_disk(tmp_path, episodes, data):
    on_disk, here = (load(as_npz(tmp_path, own(episodes)), mapped=each) for each in (True, False))
    chosen = data.draw(st.lists(st.integers(0, len(episodes) - 1), min_size=1))
    made = [
        lambda each: each.subset(chosen),
        lambda each: concatenate([each, each]),
        lambda each: each.relabel(lambda o_t, a_t, o_tp1: o_tp1[:, 0] - o_t[:, 0]),
        lambda each: replace(each, source="elsewhere"),
    ]
    for make in made:
        assert_same(make(on_disk), make(here))
        assert is_mapped(make(on_disk).observations)
    keys = [f"[{column}:{column + 1}]" for column in range(episodes.observation_size)][::-1]
    name = f"npz:{tmp_path}/data.npz"
    assert_same(load(name, keys=keys, mapped=True), load(name, keys=keys, mapped=False))


def test_what_is_compressed_is_unpacked_once_and_again_when_it_changes(tmp_path, capsys):
    first, second = (make_episodes(seed, [3, 2]) for seed in (0, 1))
    name = as_compressed_npz(tmp_path, own(first))
    assert_same(load(name, mapped=True), first)
    assert "observations is unpacked to" in " ".join(capsys.readouterr().err.split())
    assert_same(load(name, mapped=True), first)
    assert "unpacked" not in capsys.readouterr().err
    as_compressed_npz(tmp_path, own(second))
    os.utime(tmp_path / "data.npz", ns=(1, 1))
    assert_same(load(name, mapped=True), second)


def test_large_data_stay_on_disk_by_themselves(tmp_path, monkeypatch):
    name = as_npz(tmp_path, own(make_episodes(0, [3, 2])))
    assert not is_mapped(load(name).observations)
    monkeypatch.setattr(mapping, "free_memory", lambda: 100)
    assert is_mapped(load(name).observations)


def test_no_file_is_left_but_what_was_unpacked(tmp_path):
    episodes = load(as_compressed_npz(tmp_path, step_rows(make_episodes(0, [3, 2]))), mapped=True)
    episodes.subset([1, 0])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.npz", "data.npz.unpacked"]
    assert {path.suffix for path in (tmp_path / "data.npz.unpacked").iterdir()} == {".npy"}


def test_what_is_not_finite_is_named_wherever_it_stands(tmp_path):
    arrays = own(make_episodes(0, [3, 2]))
    arrays["observations"] = arrays["observations"].copy()
    arrays["observations"][5, 1] = np.inf
    as_npz(tmp_path, arrays)
    for mapped in (True, False):
        with pytest.raises(VMGError, match=r"observations of episode 1, row 1, column 1, is inf"):
            read_npz(tmp_path / "data.npz", mapped=mapped)


def test_names_of_arrays_lead_nowhere_else(tmp_path):
    (tmp_path / "inside").mkdir()
    np.savez_compressed(tmp_path / "inside" / "data.npz", **own(make_episodes(0, [3])), **{"../../out": np.ones(3)})
    assert isinstance(load(f"npz:{tmp_path}/inside/data.npz", mapped=True), Episodes)
    assert not list(tmp_path.glob("*.npy"))


def test_pickled_objects_are_not_opened(tmp_path):
    np.savez(tmp_path / "data.npz", **own(make_episodes(0, [3])), more=np.array([{}]))
    with pytest.raises(VMGError, match="holds pickled objects, which are never opened"):
        read_npz(tmp_path / "data.npz", mapped=True)
