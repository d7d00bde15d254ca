"""Models that learn with an executor: the folder they leave is that of a training on this machine, byte for byte."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from vmg.base.errors import VMGError
from vmg.cli.main import main
from vmg.envs import find_task
from vmg.evaluation import EXECUTORS
from vmg.runs import Run, load_run
from vmg.runs.learning import PARTS, learn_on
from vmg.runs.stages import _trainings, train_baselines

DATA = "pointmaze:umaze?steps=600"
LITTLE = ["--preset", "paper", "--seeds", "3", "0", "--learn.steps", "40", "--learn.checkpoint-every", "20",
          "--learn.hidden-units", "8", "--validation", "0.2"]  # fmt: skip


def sent(thing):
    """What arrives on another machine."""
    return pickle.loads(pickle.dumps(thing))


@EXECUTORS.register("same-disk")
def on_the_same_disk(work, jobs, workers):
    for job in reversed(jobs):
        with sent(work).open() as do:
            yield sent(do(sent(job)))


@EXECUTORS.register("other-disk")
def on_another_disk(work, jobs, workers):
    assert len(jobs) == 2
    yield from on_the_same_disk(replace(work, mark="of another machine"), jobs, workers)


@EXECUTORS.register("dies")
def dies_after_one(work, jobs, workers):
    yield from on_the_same_disk(replace(work, mark="of another machine"), jobs[:1], workers)
    raise VMGError("The cluster is gone.")


def train(folder, *options):
    return main(["train", DATA, "--out", str(folder), *LITTLE, *options])


def content(folder: Path) -> dict[str, bytes]:
    """Every file but the logs for TensorBoard, which tell the time, and what names the folder itself."""
    files = (file for file in folder.rglob("*") if file.is_file() and "tensorboard" not in file.parts)
    return {str(file.relative_to(folder)): file.read_bytes() for file in files if file.name != "README.md"}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("here") / "run"
    assert train(folder) == 0
    return content(folder)


@pytest.mark.parametrize("executor", ["same-disk", "other-disk"])
def test_the_folder_is_that_of_this_machine(executor, here, tmp_path):
    assert train(tmp_path / "run", "--on", executor) == 0
    assert content(tmp_path / "run") == here
    assert {file.name for file in (tmp_path / "run" / "training" / "tensorboard").iterdir()} == {"seed_3", "seed_0"}


def test_a_driver_that_was_stopped_learns_only_what_is_missing(here, tmp_path, monkeypatch):
    assert train(tmp_path / "run", "--on", "dies") == 2
    parts = tmp_path / "run" / "training" / PARTS
    assert (parts / "seed_3" / "training_state.safetensors").exists()
    before = (parts / "seed_3" / "training_state.safetensors").stat().st_mtime_ns

    @EXECUTORS.register("one-job")
    def one_job(work, jobs, workers):
        assert [part.seed for job in jobs for part in job.parts] == [0]
        assert (parts / "seed_3" / "training_state.safetensors").stat().st_mtime_ns == before
        yield from on_the_same_disk(work, jobs, workers)

    assert train(tmp_path / "run", "--on", "one-job") == 0
    assert content(tmp_path / "run") == here


def test_what_was_begun_here_goes_on_there(here, tmp_path):
    run = load_run(here_folder(tmp_path, "--learn.steps", "20"))
    longer = replace(run, config=replace(run.config, learn=replace(run.config.learn, steps=40)))
    (training,) = _trainings([longer], "training")
    learn_on("other-disk", [training], [longer.config.learn])
    found = {name: file for name, file in content(run.folder / "training").items()}
    assert found == {
        name.removeprefix("training/"): file for name, file in here.items() if name.startswith("training/")
    }


def here_folder(tmp_path, *options):
    assert train(tmp_path / "run", *options) == 0
    return tmp_path / "run"


def test_a_worker_still_busy_in_the_folder_is_let_be(here, tmp_path, monkeypatch):
    @EXECUTORS.register("busy")
    def busy(work, jobs, workers):
        for job in jobs:
            for part in job.parts:
                part.folder.mkdir(parents=True)
                monkeypatch.setattr("vmg.runs.learning.held", refused)
        yield from on_the_same_disk(work, jobs, workers)

    assert train(tmp_path / "run", "--on", "busy") == 0
    assert content(tmp_path / "run") == here


def refused(folder):
    raise VMGError("another process writes there")


def test_baselines_learn_there_too(tmp_path):
    config = find_task("pointmaze-umaze").preset("paper")
    config = replace(config, learn=replace(config.learn, steps=20, hidden_units=8))
    runs = [Run(DATA, config, folder=tmp_path / on) for on in ("here", "same-disk")]
    for run in runs:
        train_baselines(run, on=run.folder.name)
    one, other = (content(run.folder) for run in runs)
    assert one == other
    assert {"baselines/BC/metrics.csv", "baselines/GCBC/metrics.csv"} <= set(one)
