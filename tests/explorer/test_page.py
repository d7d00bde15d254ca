"""The explorer in a real browser: looked at, asked, given new tasks with the mouse, played and replayed."""

import re
from urllib.parse import urlsplit

import pytest
from browser import CHROMIUM
from explorer_page import Page

WIDTHS = pytest.mark.parametrize("width", [1300, 400], ids=["desk", "phone"])
VALUES = "Array.from(explorer.pane.plan.arrays.values)"


@pytest.fixture(scope="module")
def url(client):
    return client.address.url


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("There is no Chromium to open the explorer in: apt-get install chromium.")
    opened = Page(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def page(tab, url):
    """The page, which must not complain or ask anybody else for anything."""
    yield tab
    assert tab.complaints() == []
    assert {urlsplit(asked).netloc for asked in tab.requests() if not asked.startswith("blob:")} <= {
        urlsplit(url).netloc,
        "",
    }


@pytest.fixture(autouse=True)
def hints_are_known(tab, url):
    tab.visit(url, width=1300)
    tab.evaluate("localStorage.setItem('vmg-explorer-hints', 'seen')")


def test_a_first_visit_is_greeted_with_three_sentences(page, url):
    page.evaluate("localStorage.clear()")
    page.explore(url, width=1300)
    assert page.evaluate("document.querySelectorAll('#hints p').length") == 3
    page.press("#hints button")
    assert page.evaluate("document.getElementById('hints').hidden")


@WIDTHS
def test_a_vertex_is_clicked_and_explained(page, url, width):
    page.explore(url, width=width, dark=width < 600)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click(*page.at_vertex(7))
    page.until("document.querySelector('#view-vertex h2').innerText.startsWith('Vertex ')")
    chosen = int(re.search(r"Vertex (\d+)", page.text("#view-vertex h2"))[1])
    assert chosen == page.evaluate("explorer.pane.shown.selected")
    assert {"position[0]", "velocity[1]"} <= set(re.findall(r"\w+\[\d\]", page.text("#view-vertex")))
    assert page.said() == ""


@WIDTHS
def test_a_way_is_asked_for_and_drawn(page, url, width):
    page.explore(url, width=width)
    page.press("#tab-ask")
    vertices = page.evaluate("explorer.facts.vertices")
    page.click(*page.at_vertex(vertices // 2))
    page.appears("#view-ask .said")
    assert "vertex" in page.text("#view-ask .said")
    way = page.evaluate("explorer.pane.shown.way")
    assert way == [] or set(way) <= set(range(vertices))
    assert page.text("#view-ask select") != ""


@WIDTHS
def test_painting_changes_values_and_an_episode_is_played_and_replayed(page, url, width):
    page.explore(url, width=width)
    before = page.evaluate(VALUES)
    page.press("#tab-task")
    stroke(page, 1.0, -0.9)
    painted = page.evaluate(VALUES)
    assert painted != before
    assert "ms to new colours" in page.text("#timing")
    assert page.evaluate("explorer.wanted.painted.size") > 0

    page.press("#tool-forbidden")
    stroke(page, 1.0, 0.0)
    assert page.evaluate("explorer.wanted.forbidden.size") > 0
    assert page.evaluate(VALUES) != painted
    assert "vertices" in page.text("#view-task .chips:nth-of-type(3)") or page.evaluate(
        "explorer.wanted.forbidden.size"
    )

    page.evaluate("explorer.wanted.forbidden.clear(), explorer.solve()")
    page.evaluate("document.querySelector('#view-play select[aria-label=Speed]').value = '0'")
    page.press("#view-task .main")
    page.until("document.getElementById('view-play').dataset.ended", 90)
    assert page.evaluate("document.querySelectorAll('#view-play tbody tr').length") > 5
    assert page.evaluate("document.querySelector('#view-play img').naturalWidth") > 100
    assert page.text("#view-play .said") != ""

    page.press("#tab-replay")
    page.appears("#view-replay tbody tr")
    page.press("#view-replay tbody tr")
    page.appears("#view-replay .timeline")
    page.evaluate("document.querySelector('#view-replay input').value = 20")
    page.evaluate("document.querySelector('#view-replay input').dispatchEvent(new Event('input'))")
    assert page.evaluate("explorer.pane.shown.trail.length") == 21
    assert page.said() == ""


def stroke(page, x, y):
    left, top = page.at_place(x, y)
    page.evaluate("explorer.lastStroke = null")
    page.drag([(left - 8, top), (left, top + 3), (left + 8, top + 5)])
    page.until("explorer.lastStroke && !explorer.solving")


def test_an_evaluated_episode_is_replayed_with_the_values_it_had(page, url):
    page.explore(url, width=1300)
    page.press("#tab-replay")
    page.evaluate("explorer.panels.replay.open('evaluated', 0)")
    page.appears("#view-replay .timeline", 60)
    assert page.evaluate("explorer.pane.plan.plan !== explorer.plan.plan")
    page.press("#tab-vertex")
    page.until("explorer.pane.plan.plan === explorer.plan.plan")


def test_a_link_reproduces_the_view(page, url):
    page.explore(url, width=1300)
    page.press("#tab-task")
    stroke(page, -0.8, -1.0)
    page.evaluate("explorer.setColour('steps')")
    page.evaluate("explorer.pane.camera.zoomAt(200, 200, 2), explorer.rememberCamera()")
    link = page.until("location.hash.includes('camera') && location.hash.includes('steps') && location.href")
    wanted, camera = page.evaluate("[explorer.want, explorer.pane.camera.zoom]")
    page.explore(link, width=1300)
    assert page.evaluate("explorer.want") == wanted
    assert page.evaluate("explorer.pane.camera.zoom") == pytest.approx(camera, rel=1e-4)
    assert page.evaluate("[explorer.pane.colour, explorer.tab]") == ["steps", "task"]


def test_two_plans_stand_side_by_side_and_code_can_be_had(page, url):
    page.explore(url, width=1300)
    page.press("#tab-task")
    stroke(page, -0.8, -1.0)
    page.press("#compare")
    page.until("explorer.comparison.pane?.plan?.name === 'the recorded rewards'")  # painted tasks have no other graph
    assert page.evaluate("explorer.pane.plan.plan !== explorer.comparison.pane.plan.plan")
    assert page.said() == ""
    page.press("#code-button")
    assert "agent.plan(" in page.text("#code")


def test_the_keyboard_does_what_the_mouse_does(page, url):
    page.explore(url, width=1300)
    page.evaluate("document.querySelector('#pane-a .overlay').focus()")
    x = page.evaluate("explorer.pane.camera.x")
    for key in ("ArrowRight", "+", "Enter"):
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key, text="\r" if key == "Enter" else "")
    assert page.evaluate("explorer.pane.camera.x") > x
    assert page.evaluate("explorer.pane.camera.zoom") > 1
    unnamed = page.evaluate(UNNAMED)
    assert unnamed == []


UNNAMED = """[...document.querySelectorAll("button, select, input, [role=application]")].filter(each => each.offsetWidth
    && !(each.innerText || each.ariaLabel || each.title || each.labels?.length)).map(each => each.outerHTML)"""
"""What can be used, and has no name for those who cannot see it."""


def test_goals_one_after_the_other_have_values_each(page, url):
    page.explore(url, width=1300)
    page.press("#tab-task")
    stroke(page, 1.0, -0.9)
    page.evaluate("document.querySelector('#view-task input').value = 'position=1,1'")
    page.evaluate("explorer.lastStroke = null, document.querySelector('#view-task form').requestSubmit()")
    page.until("explorer.lastStroke && !explorer.solving")
    first = page.evaluate(VALUES)
    page.press("#view-task .said + p + ul li:last-child button")
    page.until("explorer.pane.plan.name === explorer.plan.stages[1]")
    assert page.evaluate(VALUES) != first


def test_episodes_are_found_by_number(page, url):
    page.explore(url, width=1300)
    page.evaluate("document.getElementById('search-text').value = 'episode 3'")
    page.evaluate("document.getElementById('search').requestSubmit()")
    page.appears("#view-replay .timeline")
    assert "Recorded episode 3" in page.text("#view-replay")


def test_what_cannot_be_done_is_said(page, url):
    page.explore(url, width=1300)
    page.press("#tab-task")
    page.evaluate("document.querySelector('#view-task input').value = 'nonsense=1'")
    page.evaluate("document.querySelector('#view-task form').requestSubmit()")
    assert "nonsense" in page.until("document.getElementById('error').innerText")
    page.events[:] = [event for event in page.events if "400" not in str(event.get("params", {}).get("entry", ""))]


def test_another_graph_is_opened_in_the_same_way(page, url):
    page.explore(f"{url}#colour=visits", width=1300)
    page.evaluate("document.getElementById('graph').value = '1'")
    page.evaluate("document.getElementById('graph').dispatchEvent(new Event('change'))")
    page.until("window.explorer?.facts?.id === 1 && explorer.pane.colour === 'visits'")
    page.until("document.getElementById('loading').hidden")
    assert page.evaluate("location.hash").startswith("#graph=1")
