"""The same command gives the same bytes, however many threads, workers and whatever hash seed a process has."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import vmg
from vmg.graph.nearest import VertexIndex

COMMANDS = """
import sys
from vmg.cli.main import main
folder, workers = sys.argv[1:]
train = ["train", "pointmaze:umaze?steps=900&seed=3", "--out", folder, "--preset", "paper", "--learn.steps", "30"]
for command in (
    [*train, "--learn.hidden-units", "16", "--seeds", "0", "1"],
    ["build", folder, "--graph.radius", "0.1", "--graph.recordings"],
    ["solve", folder, "--solve.paths", "recordings"],
    ["evaluate", folder, "--episodes", "3", "--workers", workers],
):
    assert main(command) == 0, command
"""
COMPILED_ANEW = {"XLA_FLAGS": "", "JAX_ENABLE_COMPILATION_CACHE": "false"}  # by each, and as outside of the tests
FILES = ("config.json", "weights.safetensors", "graph.npz", "solution.npz")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same commands in two processes that differ in all that should not matter."""
    made = {}
    for threads, hash_seed in (("1", "0"), ("2", "12345")):
        folder = tmp_path_factory.mktemp("same") / f"run-{threads}"
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, threads) | {"PYTHONHASHSEED": hash_seed} | COMPILED_ANEW
        command = [sys.executable, "-c", COMMANDS, str(folder), threads]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        made[threads] = folder
    return made


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", FILES)
def test_agents_are_the_same_bytes(runs, name, seed):
    assert digest(runs["1"] / f"seed_{seed}" / name) == digest(runs["2"] / f"seed_{seed}" / name)


def test_seeds_differ(runs):
    assert digest(runs["1"] / "seed_0" / "weights.safetensors") != digest(runs["1"] / "seed_1" / "weights.safetensors")


def test_episodes_are_the_same_with_one_worker_and_with_two(runs):
    lines = {}
    for threads, folder in runs.items():
        (notes,) = folder.glob("evaluations/*_VMG_seed_0.jsonl")
        episodes = [json.loads(line) for line in notes.read_text().splitlines()[1:]]
        lines[threads] = sorted(episodes, key=lambda episode: episode["seed"])
    assert lines["1"] == lines["2"]
    assert len(lines["1"]) == 3


def test_solving_again_is_the_same_bytes():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=(3001, 3)), 0).astype(np.float32)
    episodes = vmg.Episodes.from_list([(walk, np.zeros((3000, 1)), rng.normal(size=3000), False, True)])

    def solved():
        graph = vmg.build(walk, episodes, 1.5, recordings=True)
        for paths in ("edges", "recordings"):
            routes = vmg.solve(graph, vmg.reward(graph, episodes), 0.999999, paths=paths)
            yield {name: array.tobytes() for name, array in routes.arrays().items()}

    assert list(solved()) == list(solved())


def test_many_points_at_once_on_all_cores_have_the_vertices_of_each_alone():
    """More than 10,000 points are looked up on all cores."""
    rng = np.random.default_rng(0)
    vertices, points = (rng.normal(size=(n, 4)).astype(np.float32) for n in (500, 12_000))
    index = VertexIndex(vertices)
    together = index.nearest(points)
    alone = [index.nearest(point[None])[0] for point in points[::50]]
    assert together[::50].tolist() == alone


WRITTEN_DOWN = "7e115352848a5a231b09b547a542d80f1d919d7656d3a38bb816325f38941ccc"


def test_from_the_same_features_every_machine_makes_the_same_graph_and_routes():
    """Held to bytes that were written down once: only whole numbers go in, so that nothing else can differ."""
    places = np.array([(31 * i * i + 7 * i) % 1009 for i in range(4002)]).reshape(2001, 2)
    paid = np.array([(i * i) % 11 == 3 for i in range(2000)], float)
    walk = (places / 64).astype(np.float32)
    episodes = vmg.Episodes.from_list([(walk, np.zeros((2000, 1)), paid, False, True)])
    graph = vmg.build(walk, episodes, 0.7, recordings=True)
    digests = hashlib.sha256()
    for options in ({}, {"search_steps": 3}, {"paths": "recordings"}):
        for array in vmg.solve(graph, vmg.reward(graph, episodes), 0.97, **options).arrays().values():
            digests.update(array.tobytes())
    digests.update(graph.labels.tobytes())
    assert digests.hexdigest() == WRITTEN_DOWN
