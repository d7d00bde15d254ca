"""The drawings in docs/images are those that docs/drawings.py makes."""

import re
import runpy
from xml.etree import ElementTree

import pytest
from pages import DOCS, ROOT

DRAWN = runpy.run_path(str(ROOT / "docs" / "drawings.py"))["DRAWINGS"]
IMAGES = ROOT / "docs" / "images"


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing_is_the_one_its_function_makes(name):
    made = DRAWN[name]().svg()
    assert (IMAGES / f"{name}.svg").read_text(encoding="utf-8") == made, "python docs/drawings.py draws them again"


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing_says_what_it_shows_and_follows_the_readers_colours(name):
    root = ElementTree.fromstring((IMAGES / f"{name}.svg").read_text(encoding="utf-8"))
    space = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{space}title")
    light, dark = root.findtext(f"{space}style").split("@media (prefers-color-scheme: dark)")
    named = {name for element in root.iter() for name in element.get("class", "").split()}
    for rules in (light, dark):
        assert named <= set(re.findall(r"\.([\w-]+)\{", rules))


def test_every_picture_is_shown_somewhere():
    shown = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *DOCS))
    assert [file.name for file in IMAGES.iterdir() if file.name not in shown] == []
