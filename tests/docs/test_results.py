"""Every row in results/ carries the command that makes it, and that command is one this program understands."""

import json
import re
import shlex

import pytest
import tyro
from pages import ROOT

from vmg.agent.folder import renewed
from vmg.agent.settings import AgentConfig
from vmg.base.settings import read_record
from vmg.cli.main import main
from vmg.envs import find_task

FILES = sorted((ROOT / "results").glob("*.json"))
BY_HAND = {"by-hand", "skills", "skills-again", "other-tasks", "new-task-kitchen"}
"""They may have rows with settings that version 0.1 had for each task."""


def rows(file):
    content = json.loads(file.read_text(encoding="utf-8"))
    return content if isinstance(content, list) else content.get("rows", [content])


class ParsedError(Exception):
    """The command line was understood; nothing was carried out."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_row_names_its_command(file, monkeypatch):
    commands = {row["command"] for row in rows(file)}
    real = tyro.cli

    def parse_and_stop(*arguments, **options):
        real(*arguments, **options)
        raise ParsedError

    monkeypatch.setattr(tyro, "cli", parse_and_stop)
    for command in commands:
        for part in command.split(" && "):
            words = shlex.split(part)
            if words[0] == "vmg":
                with pytest.raises(ParsedError):
                    main(words[1:])
            else:
                assert re.fullmatch(
                    r"python -m benchmarks(\.gpu|\.explorer(_page)?|\.scale \d+)?( --rows \w+)?", part
                ), part


@pytest.mark.parametrize("file", [file for file in FILES if file.stem not in BY_HAND], ids=lambda file: file.stem)
def test_no_row_needs_a_preset_that_is_gone(file):
    for command in {row["command"] for row in rows(file)}:
        named = re.findall(r"--presets?((?: [a-z]+)+)", command)
        assert set(" ".join(named).split()) <= {"auto", *find_task("kitchen-partial").presets}, command


def test_what_was_chosen_by_hand_has_settings_this_program_knows_and_a_row_from_the_same_data_beside_it():
    beside = {(row["task"], row["data"].get("digest")) for row in rows(ROOT / "results" / "auto.json")}
    found = rows(ROOT / "results" / "by-hand.json")
    assert len(found) == 13
    for row in found:
        settings = row["settings"] if "low_level" in row["settings"]["learn"] else renewed(row["settings"])
        assert isinstance(read_record(AgentConfig, settings, place=row["task"]), AgentConfig)
        assert row["preset"] not in find_task(row["task"]).presets
        assert (row["task"], row["data"]["digest"]) in beside


def test_there_are_results():
    assert sum(len(rows(file)) for file in FILES) > 250
