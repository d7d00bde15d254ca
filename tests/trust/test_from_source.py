"""The commands run from source, without the package's own metadata: nothing but the version is unknown."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import vmg
from vmg.base.errors import PACKAGE

DATA = "pointmaze:umaze?steps=300"
COMMANDS = [
    ["train", DATA, "--out", "run", "--preset", "paper", "--learn.steps", "20", "--learn.hidden-units", "8"],
    ["build", "run", "--graph.radius", "0.5"],
    ["solve", "run"],
    ["evaluate", "run", "--episodes", "1", "--executor", "here"],
    ["data", "info", DATA],
]
SCRIPT = (
    "import json, sys; from vmg.cli.main import main; sys.exit(max(main(each) for each in json.loads(sys.argv[1])))"
)


def test_all_stages_run_without_metadata(tmp_path):
    others, installed = tmp_path / "others", Path(sysconfig.get_paths()["purelib"])
    others.mkdir()
    for each in installed.iterdir():
        if not each.name.startswith(PACKAGE.replace("-", "_")):
            (others / each.name).symlink_to(each)
    places = f"{Path(vmg.__file__).parent.parent}:{others}"
    ended = subprocess.run(
        [sys.executable, "-S", "-c", SCRIPT, json.dumps(COMMANDS)],
        cwd=tmp_path, env={"PYTHONPATH": places, "HOME": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert PACKAGE not in json.loads((tmp_path / "run" / "scores.json").read_text())["versions"]
