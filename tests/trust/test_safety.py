"""Nothing that is opened runs code, names from data stay names, and threads do not disturb each other."""

import ast
import json
import os
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path

import h5py
import maze_settings
import numpy as np
import pytest
from acting_cases import agent

import vmg
from vmg.base.errors import VMGError
from vmg.base.files import replacing
from vmg.cli.main import main
from vmg.data import save
from vmg.view import FIGURES

SOURCE = Path(vmg.__file__).parent
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
LITTLE = [*maze_settings.TRAIN, "--learn.steps", "20", "--learn.hidden-units", "8"]


class Bomb:
    """Makes a folder where it is unpickled."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return os.mkdir, (self.mark,)


@pytest.fixture
def mark(tmp_path):
    """What a bomb leaves behind; a bomb that was opened on purpose does."""
    with pytest.raises(FileExistsError):
        [pickle.loads(pickle.dumps(Bomb(tmp_path / "tried"))) for _ in range(2)]
    return tmp_path / "exploded"


def bombs(mark):
    """Arrays of objects, one of which is a bomb."""
    return np.array([[Bomb(mark), 0.0], [0.0, 0.0]], dtype=object)


def npz_bomb(path, mark):
    np.savez(path, observations=bombs(mark), actions=bombs(mark), rewards=bombs(mark))


def npy_in_npz(path, mark):
    path.write_bytes(pickle.dumps(Bomb(mark)))


def hdf5_bomb(path, mark):
    with h5py.File(path, "w") as file:
        for name in ("observations", "actions", "rewards", "terminals", "timeouts"):
            file[name] = np.void(pickle.dumps(Bomb(mark)))
            file[name].attrs["pickle"] = np.void(pickle.dumps(Bomb(mark)))


@pytest.mark.parametrize(
    ("source", "write"),
    [
        ("npz:{}", npz_bomb),
        ("npz:{}", npy_in_npz),
        ("hdf5:{}", hdf5_bomb),
        ("d4rl:{}", hdf5_bomb),
        ("robomimic:{}", hdf5_bomb),
        ("table:{}", npy_in_npz),
    ],
)
def test_no_data_set_runs_code(source, write, tmp_path, mark):
    file = tmp_path / f"data.{'npz' if source.startswith('npz') else 'csv' if source.startswith('table') else 'hdf5'}"
    write(file, mark)
    with pytest.raises(VMGError):
        vmg.load(source.format(file))
    assert not mark.exists()


@pytest.mark.parametrize("name", ["config.json", "weights.safetensors", "graph.npz", "solution.npz"])
def test_no_file_of_an_agent_runs_code(name, tmp_path, mark):
    folder = tmp_path / "agent"
    agent().save(folder)
    (npz_bomb if name.endswith("npz") else npy_in_npz)(folder / name, mark)
    with pytest.raises(VMGError):
        vmg.Agent.load(folder)
    assert not mark.exists()


@pytest.mark.parametrize("word", ["!!python/object/apply:os.mkdir ['{}']", "__import__('os').mkdir('{}')", "os.mkdir"])
def test_no_setting_is_evaluated(word, tmp_path, mark):
    folder = tmp_path / "agent"
    agent().save(folder)
    whole = json.loads((folder / "config.json").read_text())
    for stage, settings in whole["config"].items():
        for entry in settings:
            changed = {**whole, "config": {**whole["config"], stage: {**settings, entry: word.format(mark)}}}
            (folder / "config.json").write_text(json.dumps(changed))
            with pytest.raises(VMGError):
                vmg.Agent.load(folder)
    assert not mark.exists()


CODE = {"eval", "exec", "compile", "__import__"}
OWN_PROCESSES = {"evaluation/executors/worker.py", "evaluation/executors/processes.py", "evaluation/together.py"}
"""They read what they have sent themselves."""


def test_the_source_has_nothing_that_could_run_what_it_reads():
    for file in SOURCE.rglob("*.py"):
        name = str(file.relative_to(SOURCE))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in CODE, f"{name}: {node.func.id}"
            if isinstance(node, ast.keyword) and node.arg in ("allow_pickle", "shell"):
                assert isinstance(node.value, ast.Constant), name
                assert node.value.value is False, name
            if isinstance(node, ast.Import | ast.ImportFrom) and name not in OWN_PROCESSES:
                imported = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                assert not imported & {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "yaml"}, name


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of data whose source, file and fields have hostile names."""
    folder = tmp_path_factory.mktemp("hostile")
    recorded = vmg.load("pointmaze:umaze?steps=600")
    file = folder / "a<script>alert(3)<b>.npz"
    save(vmg.Episodes(**{**vars(recorded), "source": HOSTILE, "fields": {HOSTILE: (0, 1), "<b>bold": (2, 3)}}), file)
    assert main(["train", f"npz:{file}", "--out", str(folder / "<i>run"), "--task", "pointmaze-umaze", *LITTLE]) == 0
    assert main(["build", str(folder / "<i>run"), "--graph.radius", "0.1"]) == 0
    assert main(["solve", str(folder / "<i>run")]) == 0
    return folder / "<i>run"


class Tags(HTMLParser):
    """What a page does by itself: its scripts, its handlers, and what it asks for elsewhere."""

    def __init__(self, page):
        super().__init__()
        self.scripts, self.handlers, self.asked, self.inside = [], set(), set(), False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.inside = tag == "script"
        self.handlers |= {name for name, _ in attrs if name.startswith("on")}
        self.asked |= {value for name, value in attrs if name == "src" and not value.startswith("data:")}

    def handle_data(self, data):
        self.scripts += [data.strip()] if self.inside else []


def test_names_from_data_are_no_tags_of_the_report(run, monkeypatch):
    monkeypatch.setattr(FIGURES, "_found", {})  # pictures of names are no tags
    assert main(["report", str(run), "--replays", "0"]) == 0
    page = (run / "report.html").read_text(encoding="utf-8")
    tags = Tags(page)
    assert "alert(3)" in page  # the names are there
    assert not [script for script in tags.scripts if script.startswith("alert(")]
    assert not tags.handlers
    assert not tags.asked


def test_the_parser_would_notice_a_name_that_is_a_tag():
    tags = Tags(f"<p>{HOSTILE}</p>")
    assert tags.scripts == ["alert(1)"]
    assert tags.handlers == {"onerror"}
    assert tags.asked == {"x"}


@pytest.mark.parametrize("name", ["{run}/evil.py:meadow", "evil:Meadow-v0"])
def test_no_folder_of_a_run_brings_the_code_of_its_task(run, name, tmp_path, monkeypatch, mark, capsys):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    (copy / "evil.py").write_text(f"import os; os.mkdir({str(mark)!r})")
    kept = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps({**kept, "task": name.format(run=copy)}))
    monkeypatch.chdir(copy)
    for command in ("info", "report", "evaluate"):
        main([command, str(copy)])
    assert not mark.exists()
    assert "must not bring code" in capsys.readouterr().err


def test_a_file_that_is_being_written_cannot_be_foreseen_or_led_astray(tmp_path):
    """Its name is random, it is made anew, and a link that lies in its place is not followed but replaced."""
    outside, path = tmp_path / "outside", tmp_path / "kept"
    outside.write_text("untouched")
    path.symlink_to(outside)
    names = set()
    for _ in range(2):
        with replacing(path) as beside:
            assert not beside.is_symlink()
            assert beside.parent == path.parent
            names.add(beside.name)
            beside.write_text("new")
    assert len(names) == 2
    assert outside.read_text() == "untouched"


def test_threads_with_a_policy_each_decide_as_one_alone():
    """Agents, plans and graphs may be shared; a policy knows where its episode is, and belongs to one thread."""
    loaded, points = agent(), np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)

    def act(_):
        policy = loaded.policy()
        policy.begin()
        return np.stack([policy.act(point) for point in points])

    alone = act(0)
    with ThreadPoolExecutor(8) as threads:
        for together in threads.map(act, range(16)):
            np.testing.assert_array_equal(together, alone)
