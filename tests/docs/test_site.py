"""The site builds without a warning, and asks nothing of the network."""

import os
import re
import subprocess
import sys

import pytest
from browser import CHROMIUM, Browser
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


@pytest.mark.skipif(CHROMIUM is None, reason="There is no Chromium: apt-get install chromium.")
def test_its_search_works_from_a_folder(site, tmp_path):
    browser = Browser(tmp_path)
    try:
        browser.open(site / "index.html", width=1200)
        found = browser.evaluate(SEARCH)
        assert any(page.endswith("/glossary.html") for page in found)
        assert not browser.complaints()
        assert all(asked.startswith("file:") for asked in browser.requests())
    finally:
        browser.close()


SEARCH = """new Promise(resolve => {
  const input = document.querySelector("input[name=query]")
  input.focus()
  input.value = "low-level policy"
  input.dispatchEvent(new Event("keyup", { bubbles: true }))
  setInterval(() => {
    const links = [...document.querySelectorAll(".md-search-result__link")].map(link => link.href.replace(/[?#].*/, ""))
    if (links.length) resolve(links)
  }, 50)
  setTimeout(() => resolve([]), 20000)
})"""
"""What a reader does: types words into the search box; the pages that are then listed."""
