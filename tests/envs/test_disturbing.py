"""Disturbances: the same for the same seed, more of the same for more, and none for an amount that is nothing."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from evaluation_cases import LINE, Walker

from vmg.base.errors import VMGError
from vmg.data.mazes import free_cells, maze_map
from vmg.envs import disturbances_of, disturbed, find_task, read_disturbances
from vmg.envs.disturbances import PUSHED
from vmg.envs.joints import observe
from vmg.evaluation import evaluate
from vmg.view.episodes import seen

STEPS = 24
TASKS = ("pointmaze-umaze", "antmaze-umaze", "ogbench-pointmaze-medium", "ogbench-antmaze-medium", "kitchen-partial",
         "pen-human", "Reacher-v5", "Pendulum-v1")  # fmt: skip


def task_of(name):
    return LINE if name == "line" else replace(find_task(name), horizon=STEPS)


def played(task, seed=3, steps=STEPS):
    """The states seen while acting by a fixed random sequence, one per row."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is out of date")
        env = task.make()
    rng, over = np.random.default_rng(0), False
    observation, _ = env.reset(seed=seed, options=dict(task.begin(seed)) if task.begin else None)
    states = [task.state_of(observation)]
    while len(states) <= steps and not over:
        action = rng.uniform(-1, 1, env.action_space.shape).astype(np.float32)
        observation, _, terminated, truncated, _ = env.step(action)
        states.append(task.state_of(observation))
        over = terminated or truncated
    env.close()
    return np.array(states)


def kinds(names):
    return [(name, kind) for name in names for kind in disturbances_of(task_of(name))]


@pytest.mark.parametrize(("name", "kind"), kinds(["line", *TASKS]))
def test_an_episode_is_disturbed_by_its_seed_alone(name, kind):
    task = task_of(name)
    there = disturbed(task, {kind: disturbances_of(task)[kind].usual[-1]})
    once, again, other = played(there), played(there), played(there, seed=4)
    assert np.array_equal(once, again)
    assert not np.array_equal(once[: len(other)], played(task)[: len(once)])
    assert not np.array_equal(once[: len(other)], other[: len(once)])


@pytest.mark.parametrize("name", ["line", *TASKS])
def test_an_amount_that_changes_nothing_is_the_task_itself(name):
    task = task_of(name)
    for kind, disturbance in disturbances_of(task).items():
        assert disturbed(task, {kind: disturbance.nothing}) is task


@pytest.mark.parametrize("name", ["pointmaze-umaze", "ogbench-antmaze-medium", "pen-human", "Reacher-v5"])
def test_twice_as_much_starts_twice_as_far_away(name):
    task = task_of(name)
    plain, near, far = (played(disturbed(task, {"start": amount}), steps=0)[0] for amount in (0, 0.02, 0.04))
    assert far - plain == pytest.approx(2 * (near - plain), abs=2e-4)
    assert np.abs(near - plain).max() > 0.01


def test_what_is_seen_again_after_a_move_is_what_the_environment_shows():
    for name in ("pointmaze-umaze", "pen-human", "Reacher-v5"):
        task = task_of(name)
        env = task.make()
        first, _ = env.reset(seed=0, options=dict(task.begin(0)) if task.begin else None)
        assert np.array_equal(task.state_of(observe(env)), task.state_of(first))
        env.close()


def test_nothing_starts_inside_a_wall():
    task = find_task("pointmaze-umaze")
    env = disturbed(task, {"start": 1.5}).make()
    cells = {tuple(cell) for cell in free_cells(maze_map("umaze"))}
    starts = [env.reset(seed=seed, options=dict(task.begin(seed)))[0]["achieved_goal"] for seed in range(30)]
    maze = env.unwrapped.maze
    assert all(tuple(int(n) for n in maze.cell_xy_to_rowcol(place)) in cells for place in starts)
    env.close()


@pytest.mark.parametrize("name", ["pointmaze-umaze", "kitchen-partial", "Reacher-v5"])
def test_a_push_comes_once_in_mid_episode(name):
    task = task_of(name)
    plain, pushed = played(task), played(disturbed(task, {"push": 1.0}))
    first = int(np.argmax((plain != pushed).any(1)))
    assert PUSHED[0] * STEPS <= first < PUSHED[1] * STEPS
    assert np.array_equal(plain[:first], pushed[:first])


@pytest.mark.parametrize("steps", [1, 3])
def test_a_delay_shows_what_was_seen_so_many_steps_ago(steps):
    task = task_of("pointmaze-umaze")
    plain, late = played(task), played(disturbed(task, {"delay": steps}))
    assert np.array_equal(late[steps:], plain[:-steps])
    assert np.array_equal(late[:steps], np.repeat(plain[:1], steps, axis=0))


def test_noisy_actions_stay_within_what_the_environment_takes():
    task = task_of("Pendulum-v1")
    env, taken = disturbed(task, {"noise": 3.0}).make(), []
    step = env.env.step
    env.env.step = lambda action: taken.append(action) or step(action)
    env.reset(seed=0)
    for _ in range(50):
        env.step(np.zeros(1, np.float32))
    assert np.abs(taken).max() == 2.0
    assert np.std(taken) > 1
    env.close()


def test_noise_on_the_arm_leaves_the_fingers_alone():
    env, taken = disturbed(find_task("kitchen-partial"), {"arm-noise": 0.3}).make(), []
    step = env.env.step
    env.env.step = lambda action: taken.append(action) or step(action)
    env.reset(seed=0)
    env.step(np.zeros(9, np.float32))
    assert (taken[0][:7] != 0).all()
    assert (taken[0][7:] == 0).all()
    env.close()


def test_sensors_do_not_touch_the_goal_that_is_named():
    task = task_of("pointmaze-umaze")
    seen_so = []
    for amount in (0, 0.5):
        env = disturbed(task, {"sensors": amount}).make()
        seen_so.append(env.reset(seed=0, options=dict(task.begin(0)))[0])
        env.close()
    plain, noisy = seen_so
    assert np.array_equal(plain["desired_goal"], noisy["desired_goal"])
    assert not np.array_equal(plain["achieved_goal"], noisy["achieved_goal"])


def test_two_disturbances_at_once_are_drawn_as_each_alone():
    task = task_of("pointmaze-umaze")
    both = played(disturbed(task, {"push": 1.0, "start": 0.1}), steps=0)
    assert np.array_equal(both, played(disturbed(task, {"start": 0.1}), steps=0))


def test_workers_and_amounts_of_nothing_change_no_score():
    disturb = {"noise": 0.4, "sensors": 0.1, "delay": 1}
    alone = evaluate(Walker(), LINE, n_episodes=8, workers=1, disturb=disturb)
    assert evaluate(Walker(), LINE, n_episodes=8, workers=2, disturb=disturb) == alone
    plain = evaluate(Walker(), LINE, n_episodes=8, workers=1)
    assert evaluate(Walker(), LINE, n_episodes=8, workers=1, disturb={"noise": 0, "delay": 0}) == plain
    assert alone.episodes != plain.episodes
    assert "noise 0.4" in alone.task
    assert "delay 1 steps" in alone.protocol


def test_a_disturbed_task_can_be_filmed():
    env = seen(disturbed(find_task("pointmaze-umaze"), {"push": 1.0})).make()
    assert env.render_mode == "rgb_array"
    env.close()


def test_words_name_amounts_one_by_one_or_at_once():
    task = find_task("kitchen-partial")
    assert read_disturbances(["start=0,0.1", "push=0.3"], task) == [{"start": 0}, {"start": 0.1}, {"push": 0.3}]
    assert read_disturbances(["start=0.1,0.2+push=0.3"], task) == [
        {"start": 0.1, "push": 0.3},
        {"start": 0.2, "push": 0.3},
    ]
    assert read_disturbances(["kettle"], task) == [{"kettle": 1}, {"kettle": 3}]
    assert read_disturbances(["delay=1", "delay=1"], task) == [{"delay": 1}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("wind=3", r"called 'wind' disturbs kitchen-partial\. What can: start \(rad, .*delay \(steps\)\.$"),
        ("start=much", r"'start=much' is no disturbance: write NAME=AMOUNT"),
        (
            "start=-1",
            r"start is a number from 0 to 1,000,000 \(rad, normal, on each of the arm's seven joints\), not -1",
        ),
        ("noise=nan", r"noise is a number from 0 to 1,000,000 .* not nan"),
        ("delay=1.5", r"delay is a whole number from 0 to 1,000,000 \(steps\), not 1\.5"),
        ("delay=1e20", r"delay is a whole number .* not 1e\+20"),
        ("start=0.1+start=0.2", r"names 'start' twice: several amounts of one are start=0\.05,0\.1"),
        ("", r"called '' disturbs"),
    ],
)
def test_words_that_name_no_disturbance_are_answered_with_what_there_is(words, said):
    with pytest.raises(VMGError, match=said):
        read_disturbances([words], find_task("kitchen-partial"))


def test_an_environment_without_joints_has_what_any_has():
    assert list(disturbances_of(LINE)) == ["noise", "sensors", "delay"]
    with pytest.raises(VMGError, match="What can: noise"):
        disturbed(LINE, {"start": 0.1})
