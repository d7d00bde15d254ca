"""Every row in results/ carries the command that makes it, and that command is one this program understands."""

import json
import re
import shlex

import pytest
import tyro
from pages import ROOT

from vmg.cli.main import main

FILES = sorted((ROOT / "results").glob("*.json"))


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


def test_there_are_results():
    assert sum(len(rows(file)) for file in FILES) > 250
