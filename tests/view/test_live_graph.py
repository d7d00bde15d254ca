"""The graph inside a report, in a real browser: it says what is under the pointer, and zooms."""

import pytest
from acting_cases import agent
from browser import CHROMIUM, Browser
from viewing_cases import TASK, episode, layouts

from vmg.view import Gallery
from vmg.view.live_graph import bundled, live_graph
from vmg.view.page import document

PANE = "document.querySelector('figure.live').pane"


@pytest.fixture
def gallery():
    return Gallery(None, agent(), TASK, layouts=layouts(), episode=episode())


@pytest.fixture
def browser(tmp_path):
    if CHROMIUM is None:
        pytest.skip("There is no Chromium to open the report in: apt-get install chromium.")
    opened = Browser(tmp_path / "profile")
    yield opened
    opened.close()


def test_the_graph_answers_to_the_pointer_and_zooms(gallery, browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(document("Graph", [], {"The graph": live_graph(gallery)}), encoding="utf-8")
    browser.open(file, width=900)
    browser.evaluate(f"new Promise(done => setInterval(() => {PANE} && {PANE}.scale && done(), 20))")
    vertex = browser.evaluate(f"(p => p.vertexAt(...p.camera.toScreen(...p.place(5))))({PANE})")
    x, y = browser.evaluate(
        f"(p => (r => p.camera.toScreen(...p.place(5)).map((v, i) => v + [r.left, r.top][i]))"
        f"(p.element.getBoundingClientRect()))({PANE})"
    )
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    said = browser.evaluate("document.querySelector('figure.live .tip').innerText")
    assert said.startswith(f"vertex {vertex} · value ")
    visits = int((gallery.agent.built.labels == vertex).sum())
    assert said.endswith(f" · {visits} recorded states")
    browser.evaluate("document.querySelector('figure.live canvas.overlay').focus()")
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-300)
    browser.evaluate(f"new Promise(done => setInterval(() => {PANE}.camera.zoom > 1 && done(), 20))")
    assert browser.complaints() == []
    assert browser.requests() == [file.resolve().as_uri()]


def test_a_bundle_needs_nothing_else():
    text = bundled("report.js")
    assert "import " not in text
    assert "\nexport " not in text
    assert text.index("class Renderer") < text.index("class Pane")


def test_before_it_is_solved_there_is_no_graph(gallery):
    assert live_graph(Gallery(None, agent())) == []
