"""Runs whose files are damaged, of another run or something else, and folders nobody may write to: each is said."""

import json
import shutil
import subprocess
import sys

import maze_settings
import pytest
from damages import FOREIGN, IN_ITS_PLACE, flipped
from starlette.testclient import TestClient

import vmg
from vmg.base.files import read_json
from vmg.cli.main import main
from vmg.runs import load_run
from vmg.view.charts import read_losses
from vmg.view.explorer.app import make_app
from vmg.view.gallery import gather
from vmg.view.radii import known_radii

DATA = "pointmaze:umaze?steps=600"
TRAIN = ["train", DATA, *maze_settings.TRAIN, "--learn.steps", "20", "--learn.hidden-units", "8", "--out"]
COMMANDS = {
    "info": ["info", "run"],
    "evaluate": ["evaluate", "run", "--episodes", "1", "--executor", "here"],
    "retask": ["retask", "run", "--goal", "position=1,1", "--episodes", "0"],
}
"""What reads a run and takes little time; the task of the run is known."""
NOTES = "evaluations/pointmaze-umaze_VMG_seed_0.jsonl"
READ_BY_ALL = (
    "run.json",
    "seed_0/config.json",
    "seed_0/graph.npz",
    "seed_0/solution.npz",
    "seed_0/weights.safetensors",
)
BESIDE = ("auto.json", "scores.json", NOTES, "seed_0/scores.json", "seed_0/versions.json")
OTHER_JSON = {"no object": b"5\n", "a list": b"[1]\n", "other names": b'{"a": 1}\n', "nothing in it": b"{}\n"}
EXPLORED = ("/api/explorer", "/api/graphs/0", "/api/graphs/0/episodes", "/api/graphs/0/episodes/evaluated/0")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two runs that were evaluated."""
    place, patch = tmp_path_factory.mktemp("made"), pytest.MonkeyPatch()
    patch.chdir(place)
    for seed, name in (("0", "run"), ("1", "other")):
        assert main([*TRAIN, name, "--seeds", seed]) == 0
        assert main(["build", name, "--graph.radius", "0.5"]) == 0
        assert main(["solve", name]) == 0
    assert main(COMMANDS["evaluate"]) == 0
    yield place
    patch.undo()


@pytest.fixture
def run(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(made / "run", tmp_path / "run")


def damages(run, other, file, every=1):
    """What can lie at a file's place, one after the other, or each so many-th of it; yields its name."""
    path = run / file
    whole = path.read_bytes() if path.exists() else b"{}"
    foreign = other / file.replace("seed_0", "seed_1")
    contents = {"empty": b"", "cut": whole[: len(whole) // 2], "flipped": flipped(whole, 4 * len(whole) + 3)}
    contents |= {"no UTF-8": FOREIGN["no UTF-8"], "deep JSON": FOREIGN["deep JSON"], **OTHER_JSON}
    contents |= {"of another run": foreign.read_bytes()} if foreign.exists() else {}
    path.parent.mkdir(exist_ok=True)
    for how, content in list(contents.items())[::every]:
        path.write_bytes(content)
        yield how
    for instead in ("a folder", "a link to itself", "a pipe")[::every]:
        _remove(path)
        IN_ITS_PLACE[instead](path)
        yield instead
    _remove(path)


def _remove(path):
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def said(capsys, words):
    """Run a command: it ends well or in a sentence, not in a traceback."""
    code = main(list(words))
    heard = capsys.readouterr()
    assert code == 0 or (code == 2 and heard.err.rstrip().endswith((".", ")", "run"))), heard.err
    return code


@pytest.mark.parametrize("command", sorted(COMMANDS))
@pytest.mark.parametrize("file", READ_BY_ALL)
def test_a_damaged_file_that_every_command_reads_is_said(command, file, run, made, capsys):
    for how in damages(run, made / "other", file):
        changed = {"run.json": "of another run"}.get(file) == how or how in ("a link to itself", "flipped")
        assert said(capsys, COMMANDS[command]) == 2 or changed, how
        assert not list(run.rglob("*.part")), how


@pytest.mark.parametrize("command", sorted(COMMANDS))
@pytest.mark.parametrize("file", BESIDE)
def test_a_damaged_file_that_some_commands_read_is_said_or_not_read(command, file, made, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = shutil.copytree(made / "run", tmp_path / "run")
    for how in damages(run, made / "other", file, every=4):
        said(capsys, COMMANDS[command])
        assert not list(run.rglob("*.part")), how
        shutil.rmtree(tmp_path / "run")
        shutil.copytree(made / "run", tmp_path / "run")


@pytest.mark.parametrize(
    "file", ["scores.json", NOTES, "seed_0/scores.json", "seed_0/config.json", "radii.json", "seed_0/metrics.csv"]
)
def test_the_page_and_the_pictures_say_what_is_damaged(file, run, made):
    """All that `vmg report` and `vmg draw` read, and the explorer's first questions."""
    for how in damages(run, made / "other", file, every=4):
        try:
            loaded = load_run(run)
            with TestClient(make_app([loaded]), base_url="http://localhost") as client:
                assert all(client.get(each).status_code in (200, 400, 404, 409) for each in EXPLORED), how
            known_radii(loaded, loaded.agent(0))
            assert isinstance(gather(loaded, replays=1).missing, dict), how
        except vmg.VMGError as error:
            assert str(error).endswith((".", "run")), how  # noqa: PT017


@pytest.mark.parametrize("command", [["report", "run"], ["draw", "run"]])
def test_a_report_and_pictures_of_a_damaged_run_are_not_begun(command, run, capsys):
    (run / "scores.json").write_text(json.dumps({"scores": {"VMG": 3}}))
    before = sorted(run.rglob("*"))
    assert said(capsys, command) == 2
    assert sorted(run.rglob("*")) == before


def test_a_table_of_losses_that_is_none_is_said(run):
    file = run / "seed_0" / "metrics.csv"
    assert len(read_losses(file)["step"])
    for content in (b"a,b\n1,2\n", b"step\nx\n", b"step,action\n1,2\n", b"step,step\n1,2,3\n", bytes(100)):
        file.write_bytes(content)
        with pytest.raises(vmg.VMGError, match=r"metrics\.csv"):
            read_losses(file)


@pytest.mark.parametrize("content", [FOREIGN["no UTF-8"], b"", b"a,b\n1,2\n"])
def test_training_that_goes_on_says_that_its_log_is_damaged(content, run, capsys):
    shutil.rmtree(run / "seed_0")
    (run / "training" / "metrics.csv").write_bytes(content)
    assert said(capsys, [*TRAIN, "run", "--seeds", "0"]) == 2
    assert not (run / "seed_0").exists()


@pytest.mark.parametrize("name", ["hidden_units", "metric_dimension", "batch_size"])
def test_settings_that_would_fill_the_memory_are_refused(name, run, capsys):
    file = run / "seed_0" / "config.json"
    content = read_json(file)
    content["config"]["learn"][name] = 10**9
    file.write_text(json.dumps(content))
    with pytest.raises(vmg.VMGError, match=f"{name} must be a number in"):
        vmg.Agent.load(file.parent)
    assert said(capsys, COMMANDS["info"]) == 2


# --- folders that nobody may write to ---------------------------------------------------------------------------------

WRITING = {
    "data save": ["data", "save", DATA, "run/data.npz"],
    "train": [*TRAIN, "run/new"],
    "build": ["build", "run", "--graph.radius", "0.4"],
    "solve": ["solve", "run", "--solve.discount", "0.5"],
    "evaluate": [*COMMANDS["evaluate"], "--act.subgoal-steps", "1"],
    "retask": COMMANDS["retask"],
    "draw": ["draw", "run", "--formats", "svg", "--themes", "light"],
    "report": ["report", "run", "--films", "0", "--replays", "0"],
}
WITHOUT_RIGHTS = """
import ctypes, json, sys
from vmg.cli.main import main

nothing = ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
assert nothing == 0, "root keeps its rights"
for words in json.loads(sys.argv[1]):
    print("exit code", main(words), file=sys.stderr, flush=True)
"""
"""Commands in a process to which permissions apply, whoever started it."""


def test_a_folder_that_may_not_be_written_to_is_said_by_every_command(run):
    folders = [run, *(each for each in run.rglob("*") if each.is_dir())]
    before = contents(run)
    for folder in folders:
        folder.chmod(0o555)
    words = [sys.executable, "-c", WITHOUT_RIGHTS, json.dumps(list(WRITING.values()))]
    done = subprocess.run(words, capture_output=True, text=True)
    for folder in folders:
        folder.chmod(0o755)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stderr.count("exit code 2") == len(WRITING), done.stderr
    assert done.stderr.count("Permission denied") == len(WRITING), done.stderr
    assert contents(run) == before


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


IN_THE_WAY = {
    "train": "new", "build": "seed_0", "solve": "seed_0", "evaluate": "evaluations", "retask": "retask",
    "draw": "figures",
}  # fmt: skip
"""The folder that a command writes to."""


@pytest.mark.parametrize("name", sorted(IN_THE_WAY))
def test_a_file_where_a_folder_is_to_be_is_said(name, run, capsys):
    _remove(run / IN_THE_WAY[name])
    (run / IN_THE_WAY[name]).write_text("in the way")
    assert said(capsys, WRITING[name]) == 2
    assert not list(run.rglob("*.part"))
