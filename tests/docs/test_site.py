"""The site builds without a warning, and asks nothing of the network."""

import os
import re
import subprocess
import sys

import pytest
from pages import DOCS, ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    return folder


def test_every_page_is_there(site):
    assert {page.stem for page in DOCS} == {file.stem for file in site.glob("*.html")} - {"404"}


def test_how_to_contribute_is_shown_from_its_one_source(site):
    shown = (site / "contributing.html").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert all(heading in shown for heading in headings)


def test_no_page_asks_the_network_for_anything(site):
    for file in site.glob("*.html"):
        asked = re.findall(
            r"<(?:script|img|source|iframe)\b[^>]*?\b(?:src|srcset)=\"?(https?:[^\" >]+)", file.read_text("utf-8")
        )
        asked += re.findall(r"<link\b[^>]*rel=\"?stylesheet[^>]*href=\"?(https?:[^\" >]+)", file.read_text("utf-8"))
        assert not asked, f"{file.name} asks for {asked}"
