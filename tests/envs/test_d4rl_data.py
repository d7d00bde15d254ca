"""The script that makes data in D4RL's form: who walks where, and what is kept of a kitchen."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium_robotics")
sys.path.append(str(Path(__file__).parents[2]))

from benchmarks import d4rl_data

from vmg.data import Episodes, load, save
from vmg.envs import task_of
from vmg.envs.families import d4rl

SETS = [f"antmaze-{kind}-d4rl" for kind in d4rl.KINDS_OF_MAZES]


@pytest.fixture
def ant(tmp_path):
    """An ant that knows nothing."""
    rng, sizes = np.random.default_rng(0), {"0": (29, 16), "1": (16, 16), "mean": (16, 8), "log_std": (16, 8)}
    arrays = {f"{layer}/w": rng.normal(0, 0.1, size) for layer, size in sizes.items()}
    np.savez(tmp_path / "ant.npz", **arrays, **{f"{layer}/b": np.zeros(size[1]) for layer, size in sizes.items()})
    return tmp_path / "ant.npz"


@pytest.mark.parametrize("name", SETS)
def test_starts_and_goals_lie_in_free_cells_and_off_their_middles(name):
    maze, rng = name.split("-")[1], np.random.default_rng(0)
    ends = [d4rl_data._ends(name, rng) for _ in range(300)]
    free = np.array([d4rl.cell_place(cell) for cell in d4rl.cells_of(maze, "r.gG")])
    for places, most in (
        (np.array(each), most) for each, most in zip(zip(*ends, strict=True), (1.0, 1.5), strict=True)
    ):
        off = places[:, None] - free
        assert ((off >= 0) & (off <= most)).all(2).any(1).all()
    cells = {tuple(((goal - 0.75) / d4rl.CELL).round().tolist()) for _, goal in ends}
    assert len(cells) == {"umaze": 1, "medium-play": 3, "large-play": 7}.get(name[8:-5], len(free))


@pytest.mark.parametrize("maze", d4rl.MAZES)
def test_who_follows_the_next_cell_arrives(maze):
    free = d4rl.cells_of(maze, "r.gG")
    for goal in free:
        for start in free:
            here, steps = start, 0
            while here != goal:
                before, here, steps = here, d4rl_data._next_cell(maze, here, goal), steps + 1
                assert here in free
                assert abs(before[0] - here[0]) + abs(before[1] - here[1]) == 1
                assert steps < len(free)


def test_episodes_go_on_and_pay_where_the_evaluations_goal_is(ant, monkeypatch):
    monkeypatch.setattr(d4rl_data, "STEPS", 12)
    walks = d4rl_data._walked(d4rl_data._Job("antmaze-umaze-diverse-d4rl", ant, 3, seed=1))
    assert [(states.shape, actions.shape) for states, actions in walks] == [((13, 29), (12, 8))] * 3
    assert all(np.abs(actions).max() <= 1 for _, actions in walks)
    again = d4rl_data._walked(d4rl_data._Job("antmaze-umaze-diverse-d4rl", ant, 3, seed=1))
    np.testing.assert_array_equal(walks[2][0], again[2][0])
    assert len({tuple(states[0]) for states, _ in walks}) == 3


@pytest.mark.parametrize(("form", "size"), [("d4rl", 60), ("positions", 30), ("d4rl-noise", 60)])
def test_a_kitchen_set_is_brought_to_d4rls_form(form, size, tmp_path):
    observations = np.random.default_rng(0).normal(size=(8, 59))
    save(Episodes.from_list([(observations, np.zeros((7, 9)), np.arange(7), False, True)]), tmp_path / "set.npz")
    name = f"kitchen-partial-{form}"
    d4rl_data.main([name, "--from", f"npz:{tmp_path / 'set.npz'}", "--out", str(tmp_path / "made")])
    made = load(f"npz:{tmp_path / 'made' / name}.npz")
    assert (made.observation_size, task_of(f"npz:{tmp_path / 'made' / name}.npz").name) == (size, name)
    apart = np.abs(made.observations[:, :9] - observations[:, :9]).max()
    assert 0.001 < apart <= 0.0101 if form == "d4rl-noise" else apart < 1e-6
    np.testing.assert_array_equal(made.rewards, np.arange(7))


def test_what_is_needed_is_asked_for(tmp_path):
    for name, option in (("kitchen-partial-d4rl", "--from"), ("antmaze-umaze-d4rl", "--ant")):
        with pytest.raises(SystemExit, match=option):
            d4rl_data.main([name, "--out", str(tmp_path)])
