"""The report of a small run, read in a real browser; and reports of runs that have not come far."""

import json
import re
import shutil
import sys

import pytest
from browser import CHROMIUM, Browser

from vmg.cli.main import main
from vmg.runs.run import load_run
from vmg.view.draw import draw_run
from vmg.view.figures import FIGURES
from vmg.view.report import write_report

LITTLE = ["--learn.steps", "300", "--learn.hidden-units", "32", "--learn.checkpoint-every", "150"]
LOADED = """Promise.all([...document.images].map(image => image.decode().then(() => image.naturalWidth)))"""
PLAYABLE = """Promise.all([...document.querySelectorAll("video")].map(film => new Promise(done => {
    const tell = () => done(film.error ? film.error.message : film.videoWidth);
    film.readyState >= 2 || film.error ? tell() : (film.onloadeddata = film.onerror = tell);
})))"""
SMALLEST_LETTERS = """Math.min(...[...document.querySelectorAll("body *")].filter(e => e.innerText && e.offsetWidth)
    .map(e => parseFloat(getComputedStyle(e).fontSize)))"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seen") / "run"
    data = "pointmaze:umaze?steps=3000"
    assert main(["train", data, "--out", str(folder), "--preset", "paper", "--validation", "0.2", *LITTLE]) == 0
    assert main(["build", str(folder)]) == 0
    assert main(["solve", str(folder)]) == 0
    assert main(["evaluate", str(folder), "--episodes", "6", "--baselines", "--workers", "1"]) == 0
    return folder


@pytest.fixture(scope="module")
def report(run):
    assert main(["report", str(run), "--replays", "2"]) == 0
    return run / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("There is no Chromium to open the report in: apt-get install chromium.")
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (390, True)], ids=["desk, light", "phone, dark"])
def test_the_report_opens_in_a_browser_with_everything_in_it(report, browser, width, dark):
    browser.open(report, width=width, dark=dark)
    assert browser.complaints() == []
    assert browser.requests() == [report.resolve().as_uri()]  # nothing but the page itself
    images, films = browser.evaluate(LOADED), browser.evaluate(PLAYABLE)
    assert len(images) >= 9
    assert min(images) > 300
    assert films
    assert set(films) == {960}
    assert browser.evaluate("document.documentElement.scrollWidth") <= width  # nobody has to scroll sideways
    assert browser.evaluate(SMALLEST_LETTERS) >= 12
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(22, 24, 29)" if dark else "rgb(255, 255, 255)"
    )
    assert browser.complaints() == []


def test_the_browser_would_notice_what_is_wrong(browser, tmp_path):
    file = tmp_path / "bad.html"
    file.write_text('<img src="missing.png"><script>console.error("no"); undefined_name()</script>')
    browser.open(file, width=390)
    kinds = {event["method"] for event in browser.complaints()}
    assert {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Network.loadingFailed"} <= kinds
    assert len(browser.requests()) == 2


def test_the_report_says_what_a_reader_wants_to_know(report, run):
    text = report.read_text(encoding="utf-8")
    scores = json.loads((run / "scores.json").read_text())
    for words in (
        "pointmaze:umaze?steps=3000",
        "20 % of all episodes; they are not counted here",
        "95 % interval",
        scores["protocol"],
        "All 18 episodes as a table",
        "of 6 episodes of VMG failed",
        "vmg train &#x27;pointmaze:umaze?steps=3000&#x27;",
        "--learn.steps 300",
        "evaluate",
        "umap-learn",
    ):
        assert words in text
    assert len(re.findall(r'<li class="(?:good|bad)"', text)) == 18
    assert not re.search(r'(?:src|href|srcset)="(?!data:|#)', text)


def test_the_films_lie_beside_the_report_as_files(report):
    kinds = sorted(file.suffix for file in (report.parent / "films").iterdir())
    assert kinds in ([".gif", ".mp4"], [".gif", ".gif", ".mp4", ".mp4"])


def test_runs_that_are_not_finished_have_reports_too(run, tmp_path):
    trained = tmp_path / "trained"
    shutil.copytree(run, trained)
    for name in ("scores.json", "evaluations", "seed_0/graph.npz", "seed_0/solution.npz", "seed_0/metrics.csv"):
        path = trained / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert main(["report", str(trained), "--out", str(tmp_path / "page.html")]) == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"The graph is not built yet: vmg build {trained}" in text
    assert f"Not evaluated yet: vmg evaluate {trained}" in text
    assert "trained without a folder" in text


def test_what_was_asked_of_the_run_is_listed_with_its_scores(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    few = ["--episodes", "2", "--workers", "1"]
    assert main(["retask", str(copy), "--goal", "position=1,1", "--kind", "stay", *few]) == 0
    assert main(["retask", str(copy), "--goal", "position=1,1", "--tolerance", "0.7", "--episodes", "0"]) == 0
    for name, content in (("none", "[3]"), ("cut", '{"wanted": "x"'), ("strange", '{"wanted": "x", "agents": [[]]}')):
        (copy / "retask" / f"{name}.json").write_text(content)
    assert load_run(str(copy)) == load_run(copy)
    text = write_report(load_run(str(copy)), films=0, replays=1).read_text(encoding="utf-8")
    section = text.split("<h3>Asked of this run</h3>")[1].split("<h2")[0]
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in section.split("<tr>")[2:]]
    assert [row[1] for row in rows] == ["stay", "reach"]
    assert rows[0][3] == "2"
    assert rows[1][3:] == ["only asked", "–", "–", "–"]
    assert section.count("vmg retask") == 2


def test_a_run_whose_data_is_elsewhere_has_a_report_too(run, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(run, moved)
    content = json.loads((moved / "run.json").read_text())
    (moved / "run.json").write_text(json.dumps(content | {"data": "npz:/elsewhere.npz", "task": "pointmaze-umaze"}))
    assert main(["report", str(moved), "--films", "0", "--replays", "1"]) == 0
    assert "The data could not be opened here" in (moved / "report.html").read_text(encoding="utf-8")


def test_figures_are_written_as_files_and_radii_are_scored(run, tmp_path, capsys):
    out = tmp_path / "figures"
    command = ["draw", str(run), "--out", str(out), "--themes", "dark", "--formats", "png", "--workers", "1"]
    assert main([*command, "--radii", "3", "--radius-episodes", "2", "--json"]) == 0
    files = json.loads(capsys.readouterr().out)
    drawn = {file.rpartition("/")[2].removesuffix("_dark.png") for file in files}
    assert {"graph", "floor", "episode_graph", "episode_floor", "change_floor", "histograms", "radius"} <= drawn
    assert {"training", "scores"} <= drawn
    (row,) = json.loads((run / "radii.json").read_text())["rows"]
    assert (row["radius"], row["episodes"]) == (3.0, 2)


OWN_FIGURE = """
from vmg.view import FIGURES, figure
from vmg.view.style import new_figure, styled


def _drawn(gallery, theme):
    with styled(theme) as style:
        drawing, (axis,) = new_figure(4, 2)
        axis.hist(gallery.episodes.lengths, color=style.lines[0])
    return drawing


FIGURES.register("lengths")(figure("Lengths of episodes", lambda gallery: gallery.run.data)(_drawn))


@FIGURES.register("beside")
@figure("The graph", "Drawn beside the graph.", vector=True)
def beside(gallery, theme):
    return _drawn(gallery, theme)


@FIGURES.register("nothing")
@figure("Of nothing", "Never seen.")
def nothing(gallery, theme):
    return None
"""


@pytest.fixture
def own_figures(tmp_path, monkeypatch):
    file = tmp_path / "own_figures.py"
    file.write_text(OWN_FIGURE)
    monkeypatch.setenv("VMG_EXTENSIONS", str(file))
    monkeypatch.setattr(FIGURES, "_found", dict(FIGURES._found))  # for the other tests they are gone again
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_figures_of_ones_own_are_drawn_and_reported(run, tmp_path, own_figures):
    files = draw_run(load_run(run), tmp_path / "figures", themes=("light",), formats=("svg",))
    names = [file.name for file in files]
    assert {"lengths_light.svg", "beside_light.svg", "graph_light.svg"} <= set(names)
    assert "nothing_light.svg" not in names
    text = write_report(load_run(run), tmp_path / "page.html", films=0, replays=1).read_text(encoding="utf-8")
    titles = re.findall(r"<h2[^>]*>([^<]*)</h2>", text)
    assert titles[-2:] == ["Lengths of episodes", "How to make this run again"]
    assert "Of nothing" not in titles
    sections = dict(zip(titles, text.split("<h2")[1:], strict=True))
    assert "<figcaption>pointmaze:umaze?steps=3000</figcaption>" in sections["Lengths of episodes"]
    captions = re.findall(r"<figcaption>([^<]*)</figcaption>", sections["The graph"])
    assert captions[-1] == "Drawn beside the graph."  # after those that are built in
    assert len(captions) == 5
