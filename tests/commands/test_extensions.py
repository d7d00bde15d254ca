"""What a stranger's file adds is there for the commands, and for the processes they start."""

import json

import pytest

from vmg.cli.main import main

EXTENSION = '''
"""Everything others can add, in one file."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from matplotlib.figure import Figure as Canvas

from vmg.data import READERS, Episodes, Reader
from vmg.envs import Task, TaskGoal
from vmg.evaluation import EXECUTORS
from vmg.graph import EDGE_SOURCES, ROUTES, EdgeRoutes, add_edges
from vmg.networks import LOW_LEVELS, Translator
from vmg.view import FIGURES, figure


def walks(name, **options):
    rng = np.random.default_rng(int(name))
    episodes = []
    for _ in range(20):
        actions = rng.uniform(-1, 1, (30, 2))
        places = np.cumsum(np.concatenate([rng.uniform(-1, 1, (1, 2)), 0.3 * actions]), axis=0)
        episodes.append((places, actions, (places[1:, 0] > 2).astype(float), False, True))
    return Episodes.from_list(episodes, source=f"walks:{name}")


READERS.add("walks", Reader(walks, example="walks:7"))


@LOW_LEVELS.register("bold")
@dataclass(frozen=True, kw_only=True)
class Bold(Translator):
    """The translator, but its actions are twice as large."""

    kind: ClassVar[str] = "bold"
    factor: float = 2.0
    """How much larger."""

    def actor(self, weights):
        act = super().actor(weights)
        return lambda observations, goals: self.factor * act(observations, goals)


@EDGE_SOURCES.register("skips")
def skips(graph, episodes):
    """An edge from every vertex to the next by number, at a price."""
    n = graph.n_vertices
    return add_edges(graph, "skips", np.arange(n - 1), np.arange(1, n), steps=5, prices=0.5)


@ROUTES.register("same")
class Same(EdgeRoutes):
    kind = "same"


@EXECUTORS.register("backwards")
def backwards(work, jobs, workers) -> Iterator:
    with work.open() as do:
        for job in reversed(jobs):
            yield do(job)


@FIGURES.register("lengths")
@figure("Steps of the episodes", "How many steps each recorded episode has.")
def lengths(gallery, theme):
    canvas = Canvas()
    canvas.subplots().hist(gallery.agent.built.lengths)
    return canvas


class Meadow:
    def reset(self, *, seed=None, options=None):
        rng = np.random.default_rng(seed)
        self.place, self.goal = rng.uniform(-1, 1, 2), rng.uniform(-1, 1, 2)
        return self.seen(), {}

    def step(self, action):
        self.place = self.place + 0.3 * np.clip(action, -1, 1)
        there = bool(np.linalg.norm(self.place - self.goal) < 0.5)
        return self.seen(), float(there), there, False, {"is_success": there}

    def seen(self):
        return {"place": self.place.astype(np.float32), "desired_goal": self.goal.astype(np.float32)}

    def close(self):
        pass


meadow = Task(
    name="meadow", environment=Meadow, keys=("place",), horizon=40, fields={"place": (0, 1)},
    goal=TaskGoal(columns=(0, 1), tolerance=0.5), protocol="Within 0.5 of the goal in 40 steps.",
)
'''


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("extension") / "strangers_extension.py"
    file.write_text(EXTENSION)
    return file


@pytest.fixture(scope="module")
def run(file, tmp_path_factory):
    """A walk by commands in which everything is the stranger's."""
    patch = pytest.MonkeyPatch()
    patch.delenv("VMG_EXTENSIONS", raising=False)
    folder = tmp_path_factory.mktemp("walk") / "run"
    train = ["train", "walks:7", "--out", str(folder), "--task", f"{file}:meadow", "--low-level", "bold"]
    train += ["--preset", "paper"]
    settings = ["--learn.low-level.factor", "1.5", "--learn.steps", "200", "--learn.hidden-units", "16"]
    extended = ["--extension", str(file)]
    assert main([*train, *settings, *extended]) == 0
    assert main(["build", str(folder), "--graph.edges", "recorded", "skips", *extended]) == 0
    assert main(["solve", str(folder), "--solve.paths", "same", *extended]) == 0
    yield folder
    patch.undo()


def test_a_reader_answers_data_info(file, capsys):
    assert main(["data", "info", "walks:7", "--json", "--extension", str(file)]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 600


def test_the_strangers_kinds_are_in_the_agent(run):
    config = json.loads((run / "seed_0" / "config.json").read_text())["config"]
    assert config["learn"]["low_level"]["kind"] == "bold"
    assert config["learn"]["low_level"]["factor"] == 1.5
    assert config["graph"]["edges"] == ["recorded", "skips"]
    assert config["graph"]["goal_columns"] == [0, 1]
    assert config["solve"]["paths"] == "same"


@pytest.mark.parametrize("executor", ["backwards", "processes"])
def test_a_task_and_an_executor_are_evaluated_with(run, file, executor, capsys):
    command = ["evaluate", str(run), "--episodes", "4", "--workers", "2", "--executor", executor]
    assert main([*command, "--json", f"--extension={file}"]) == 0
    scores = json.loads(capsys.readouterr().out)["VMG"][0]
    assert [episode["seed"] for episode in scores["episodes"]] == [0, 1, 2, 3]
    assert scores["task"] == "meadow"


def test_a_new_goal_in_the_strangers_task(run, file, capsys):
    command = ["retask", str(run), "--goal", "place=0.5,0.5", "--episodes", "2", "--workers", "1", "--json"]
    assert main([*command, "--extension", str(file)]) == 0
    assert json.loads(capsys.readouterr().out)["agents"][0]["plans"][0]["known"]


def test_a_figure_has_its_place_in_the_report(run, file):
    assert main(["evaluate", str(run), "--episodes", "2", "--workers", "1", "--extension", str(file)]) == 0
    assert main(["report", str(run), "--films", "0", "--replays", "0", "--extension", str(file)]) == 0
    page = (run / "report.html").read_text()
    assert "Steps of the episodes" in page
    assert "How many steps each recorded episode has." in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["data", "info", "walks:7", "--extension", "nowhere.py"], "The file nowhere.py does not exist"),
        (["data", "info", "walks:7", "--extension"], "--extension needs a file or a module"),
        (["train", "pointmaze:umaze", "--out", "x", "--low-level", "timid"], "There is no low-level policy 'timid'"),
        (["train", "pointmaze:umaze", "--out", "x", "--task", "nowhere.py:meadow"], "nowhere.py does not exist"),
    ],
)
def test_what_is_not_there_is_said(arguments, words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VMG_EXTENSIONS", raising=False)
    assert main(arguments) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert words.replace("nowhere.py", str(tmp_path / "nowhere.py")) in said or words in said
