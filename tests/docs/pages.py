"""The Markdown pages of the project and the fenced blocks in them.

A block may carry a mark, an HTML comment just before it:

    <!-- not run: reason -->     a python block that is only read
    <!-- run -->                 a sh block whose commands are carried out, not only parsed
    <!-- output -->              a text block: exactly what the python block before it prints
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").rglob("*.md"))
SHELLS = ("sh", "bash", "shell", "console")

_MARK = re.compile(r"<!--\s*(run|output|not run: *\S.*?|table: \w+|end of table)\s*-->")


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    """Of its first line of content, from 1."""
    language: str
    mark: str
    code: str

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    found, fence, start, mark, language = [], "", 0, "", ""
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if fence:
            if line.strip() == fence:
                found.append(Block(page, start, language, mark, "\n".join(lines[start - 1 : number - 1]) + "\n"))
                fence, mark = "", ""
        elif opened := re.match(r"(\s*)(`{3,})\s*([\w-]*)", line):
            assert not opened[1], f"{page.name}:{number}: a block must not be indented, or it would not be tested"
            fence, start, language = opened[2], number + 1, opened[3]
        elif line.strip():
            marked = _MARK.fullmatch(line.strip())
            assert marked or not line.startswith("<!--"), f"{page.name}:{number}: not a known mark: {line}"
            mark = marked[1] if marked else ""
    assert not fence, f"{page.name}: the block that begins in line {start} has no end"
    return found


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a shell block, each split into words; in a console block only what follows a prompt."""
    for line in block.code.replace("\\\n", " ").splitlines():
        if block.language == "console" and not line.startswith("$ "):
            continue
        if words := shlex.split(line.removeprefix("$ "), comments=True):
            yield words


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return re.sub(r"^(`{3,}).*?^\1\s*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
