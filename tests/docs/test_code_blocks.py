"""Every code block that people read is run, or at least parsed: the blocks of one page in order, in one namespace."""

import re

import pytest
import tyro
from pages import DOCS, README, ROOT, SHELLS, blocks, commands

from vmg.cli.main import main

OTHER_PROGRAMS = ("cd", "git", "minari", "mkdocs", "pip", "python", "ray", "source", "tensorboard")


@pytest.mark.parametrize("page", [README, *DOCS], ids=lambda page: page.stem)
def test_the_blocks_of_a_page(page, tmp_path, monkeypatch, capsys):
    if page == README and not page.exists():
        pytest.skip("README.md is not written yet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VMG_EXTENSIONS", "")  # whatever a page sets ends with it
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))  # for programs that a page starts; a relative one is lost
    namespace, printed = {"__name__": "a_page"}, ""
    for block in blocks(page):
        if block.language == "python" and not block.mark:
            capsys.readouterr()
            code = "\n" * (block.line - 1) + block.code  # so that a traceback names the page's own lines
            exec(compile(code, str(page), "exec"), namespace)
            printed = capsys.readouterr().out
        elif block.language == "python":
            assert block.mark.startswith("not run: "), f"{block.place}: {block.mark!r} is no mark of a python block"
        elif block.language in SHELLS:
            for words in commands(block):
                check_command(words, block, monkeypatch)
        elif block.mark:
            assert block.mark == "output", f"{block.place}: {block.mark!r} is a mark of another kind of block"
            assert tidy(printed) == tidy(block.code), f"{block.place}: the block before it prints something else"


def check_command(words, block, monkeypatch):
    if words[0] == "vmg" and block.mark == "run":
        assert main(words[1:]) == 0, f"{block.place}: {' '.join(words)} failed"
    elif words[0] == "vmg":
        parse(words[1:], block, monkeypatch)
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), f"{block.place}: {words}"
    else:
        assert words[0] in OTHER_PROGRAMS, f"{block.place}: {words[0]} is not a program the pages may use"


class ParsedError(Exception):
    """The command line was understood; nothing was carried out."""


def parse(arguments, block, monkeypatch):
    """Go through a command's own parsing, with its task, preset and options, and stop before it does anything."""

    def parse_and_stop(*args, **options):
        real(*args, **options)
        raise ParsedError

    real = tyro.cli
    with monkeypatch.context() as patched:
        patched.setattr(tyro, "cli", parse_and_stop)
        try:
            code = main(arguments)
        except ParsedError:
            return
        except SystemExit as ended:
            code = ended.code
    asked_for_help = code == 0 and {"-h", "--help"} & {*arguments}
    assert asked_for_help, f"{block.place}: vmg {' '.join(arguments)} is not understood"


def tidy(text):
    return [line.rstrip() for line in text.strip().splitlines()]


def test_there_are_blocks_of_every_kind():
    found = [block for page in DOCS for block in blocks(page)]
    run = [block for block in found if block.language == "python" and not block.mark]
    assert len(run) >= 20
    assert sum(words[0] == "vmg" for block in found if block.language in SHELLS for words in commands(block)) >= 20
    assert [block for block in found if block.language in SHELLS and block.mark == "run"]
    assert [block for block in found if block.mark == "output"]


@pytest.mark.parametrize(
    "arguments",
    [["fly"], ["train", "pointmaze:umaze", "--out", "x", "--speed", "3"], ["build"], ["train", "a:b", "--task", "x"]],
)
def test_a_wrong_command_would_be_noticed(arguments, monkeypatch):
    block = next(block for page in DOCS for block in blocks(page))
    with pytest.raises(AssertionError, match="is not understood"):
        parse(arguments, block, monkeypatch)
