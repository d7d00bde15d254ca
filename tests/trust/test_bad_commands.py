"""Every command with bad arguments and on damaged runs: a sentence, exit code 2, no traceback, nothing half-written."""

import shutil

import pytest
from damages import FOREIGN, IN_ITS_PLACE
from trust_cases import agent, episodes

import vmg
from vmg.cli.main import COMMANDS, main
from vmg.runs.run import Run, save_run

ON_RUNS = {
    "build": [], "solve": [], "evaluate": ["--episodes", "1", "--executor", "here"], "info": [],
    "retask": ["--goal", "0=1", "--episodes", "0"], "draw": [], "report": [], "explore": [],
    "grow": ["pointmaze:umaze?steps=50"],
}  # fmt: skip
"""Commands that take a run's folder, and what else they need."""
ON_DATA = {
    "data info": [], "data save": ["--out", "out.npz"], "train": ["--out", "run"],
    "sweep": ["--out", "sweep", "--settings", "learn.batch-size=10,20"],
}  # fmt: skip
"""Commands that take data."""
OTHERS = {"demo", "reproduce"}
WRONG_DATA = (
    "", ":", "nothing", "npz:", "npz:nothing.npz", "no such source:x", "pointmaze:umaze?steps=-1",
    "pointmaze:umaze?steps=x", "pointmaze:nowhere", "pointmaze:umaze?seed=-1", "npz:\0", "table:x.csv?episode=",
    "hdf5:/dev/zero", "npz:.", "minari:", "d4rl:~nobody/x", "npz:" + "x" * 5000,
)  # fmt: skip
WRONG_FOLDERS = ("", "nothing", "a file", "an empty folder", "/dev/null", "x" * 5000, "a\0b")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run as the commands make it, of an agent that has not learned anything."""
    folder = tmp_path_factory.mktemp("made")
    vmg.data.save(episodes(), folder / "data.npz")
    run = Run(f"npz:{folder}/data.npz", agent().config, folder=folder / "run", returns=(0.0, 1.0))
    agent().save(run.agent_folder(0))
    save_run(run)
    return folder / "run"


@pytest.fixture
def run(made, tmp_path):
    return shutil.copytree(made, tmp_path / "run")


def exit_code(capsys, *words):
    """Run a command and return its exit code; it may not end in a traceback, nor say nothing when it fails."""
    try:
        code = main(list(words))
    except SystemExit as ended:  # arguments that cannot be read
        code = ended.code
    said = capsys.readouterr()
    assert "Traceback" not in said.err + said.out
    assert code in (0, 2), said.err
    assert code == 0 or (said.err + said.out).strip()
    return code


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_command_is_here():
    assert set(ON_RUNS) | set(ON_DATA) | OTHERS == set(COMMANDS)


@pytest.mark.parametrize("command", sorted(ON_DATA))
@pytest.mark.parametrize("data", WRONG_DATA)
def test_data_that_are_none_are_said(command, data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert exit_code(capsys, *command.split(), data, *ON_DATA[command]) == 2
    assert not contents(tmp_path)


@pytest.mark.parametrize("command", sorted(ON_RUNS))
@pytest.mark.parametrize("folder", WRONG_FOLDERS)
def test_a_folder_that_is_no_run_is_said(command, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a file").write_text("text")
    (tmp_path / "an empty folder").mkdir()
    before = contents(tmp_path)
    assert exit_code(capsys, command, folder, *ON_RUNS[command]) == 2
    assert contents(tmp_path) == before


@pytest.mark.parametrize("command", sorted([*ON_RUNS, *ON_DATA, *OTHERS]))
@pytest.mark.parametrize("words", ["--no-such-option", "--seeds x", "--extension", "--extension nothing.py"])
def test_options_that_are_none_are_said(command, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert exit_code(capsys, *command.split(), *words.split()) == 2
    assert not contents(tmp_path)


@pytest.mark.parametrize("command", sorted(set(ON_RUNS) - {"report", "explore"}))
@pytest.mark.parametrize("file", ["run.json", "seed_0/config.json", "seed_0/graph.npz", "seed_0/weights.safetensors"])
def test_a_damaged_run_is_said(command, file, run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    whole, needed = (run / file).read_bytes(), command not in ("build",) or not file.endswith("graph.npz")
    for content in [*FOREIGN.values(), whole[: len(whole) // 2], b""]:
        (run / file).write_bytes(content)
        assert exit_code(capsys, command, str(run), *ON_RUNS[command]) == 2 or not needed
    (run / file).unlink()
    for instead in ("a folder", "a pipe", "a link to itself"):
        IN_ITS_PLACE[instead](run / file)
        exit_code(capsys, command, str(run), *ON_RUNS[command])
        shutil.rmtree(run / file) if instead == "a folder" else (run / file).unlink(missing_ok=True)


BESIDE = ("scores.json", "auto.json", "episodes.npz", "seed_0/scores.json", "seed_0/versions.json")


@pytest.mark.parametrize("command", ["build", "solve", "evaluate", "info", "retask"])
@pytest.mark.parametrize("file", BESIDE)
def test_what_lies_beside_and_is_damaged_is_said_or_not_read(command, file, run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for content in FOREIGN.values():
        (run / file).write_bytes(content)
        exit_code(capsys, command, str(run), *ON_RUNS[command])
