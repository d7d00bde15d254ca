"""Tables: what the columns are, by name or by options, and how rows become episodes."""

import csv
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_episodes import assert_same, episode_sets, make_episodes

from vmg.base.errors import VMGError
from vmg.data import DataWarning, check, load

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

STATE, ACTION = ("joint_0", "joint_1", "hand_x", "hand_y"), ("a0", "a1", "a2")


def rows(episodes, state=STATE, action=ACTION, **extra):
    """One row per observation, as plainly as possible; the last row of an episode has no action and no reward."""
    action = action[: episodes.action_size]
    table = []
    for number, episode in enumerate(episodes):
        for t, seen in enumerate(episode.observations):
            acts = t < len(episode)
            table.append(
                {"episode": number, "step": t}
                | {name: float(value) for name, value in zip(state, seen, strict=False)}
                | {name: float(episode.actions[t][k]) if acts else None for k, name in enumerate(action)}
                | {"reward": float(episode.rewards[t]) if acts else None}
                | {"terminated": episode.terminated and not acts}
                | {name: value(number, t) for name, value in extra.items()}
            )  # fmt: skip
    return table


def write_csv(path, table, delimiter=",", without=()):
    names = [name for name in table[0] if name not in without]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, names, delimiter=delimiter, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(table)
    return f"table:{path}"


def write_parquet(path, table):
    parquet.write_table(pyarrow.Table.from_pylist(table), path)
    return f"table:{path}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@given(episode_sets)
@settings(max_examples=25)
def test_csv_and_parquet_hold_the_same_episodes(folder, episodes):
    table = rows(episodes)
    assert_same(load(write_csv(folder / "log.csv", table)), episodes)
    assert_same(load(write_csv(folder / "log.tsv", table, delimiter="\t")), episodes)
    assert_same(load(write_parquet(folder / "log.parquet", table)), episodes)


@pytest.fixture
def episodes():
    return make_episodes(3, [3, 1, 4], observation_size=4, action_size=2)


def test_rows_in_any_order_are_put_in_the_order_of_their_steps(tmp_path, episodes):
    table = rows(episodes)
    by_time = sorted(table, key=lambda row: row["step"])  # as an environment of many copies logs them
    assert_same(load(write_csv(tmp_path / "log.csv", by_time)), episodes)
    with pytest.raises(VMGError, match="do not stand together, and no column says how they follow"):
        load(write_csv(tmp_path / "log.csv", by_time, without=["step"]))


def test_logs_that_number_episodes_alike_are_told_apart(tmp_path, episodes):
    table = rows(episodes) + rows(episodes)
    with pytest.raises(VMGError, match=r"several have the same 'step'.*episode=LOG,episode"):
        load(write_csv(tmp_path / "log.csv", table))
    for i, row in enumerate(table):
        row["log"] = "first" if i < len(table) // 2 else "second"
    name = write_csv(tmp_path / "log.csv", table)
    assert load(f"{name}?episode=log,episode").lengths.tolist() == [3, 1, 4] * 2


def test_columns_have_names_and_so_have_groups_of_them(tmp_path, episodes):
    read = load(write_csv(tmp_path / "log.csv", rows(episodes)))
    groups = {"joint": (0, 1), "hand": (2, 3)}
    assert read.fields == {name: (i,) for i, name in enumerate(STATE)} | groups


def test_goals_counters_and_texts_are_no_part_of_the_state(tmp_path, episodes):
    extra = {
        "goal_x": lambda i, t: i, "desired_hand": lambda i, t: 1, "target": lambda i, t: i, "timestamp": lambda i, t: t,
        "seed": lambda i, t: i, "note": lambda i, t: "ok", "info_heat": lambda i, t: t,
    }  # fmt: skip
    read = load(write_csv(tmp_path / "log.csv", rows(episodes, **extra)))
    assert_same(read, episodes)
    assert read.left_out == {
        "goal_x": "a goal, 1 number", "desired_hand": "a goal, 1 number", "target": "a goal, 1 number",
        "timestamp": "1 number", "seed": "1 number", "info_heat": "1 number", "note": "text",
    }  # fmt: skip
    asked = load(f"table:{tmp_path}/log.csv?state=joint_*,goal_x")
    assert list(asked.fields) == ["joint_0", "joint_1", "goal_x", "joint"]


def test_columns_that_say_they_are_the_state_are_all_of_it(tmp_path, episodes):
    names = ("obs_0", "obs_1", "obs_2", "obs_3")
    read = load(write_csv(tmp_path / "log.csv", rows(episodes, names, heat=lambda i, t: t)))
    assert_same(read, episodes)
    assert read.left_out == {"heat": "1 number"}


def test_parts_can_be_named(tmp_path, episodes):
    renamed = {"episode": "take", "step": "when", "a0": "left", "a1": "right", "reward": "score", "terminated": "over"}
    table = [{renamed.get(name, name): value for name, value in row.items()} for row in rows(episodes)]
    name = write_csv(tmp_path / "log.csv", table)
    asked = "episode=take&step=when&action=left,right&reward=score&terminated=over"
    assert_same(load(f"{name}?{asked}"), episodes)
    assert_same(load(load(f"{name}?{asked}").source), episodes)
    assert (load(f"{name}?{asked}&state=hand_*", reward="").rewards == 0).all()


def test_end_marks_serve_where_nothing_names_the_episode(tmp_path):
    table = [{"x": x, "a0": 0.5, "done": x in (2, 5)} for x in range(6)]
    read = load(write_csv(tmp_path / "log.csv", table))
    assert (read.lengths.tolist(), read.terminated.tolist()) == ([2, 2], [True, True])


def test_next_columns_give_the_state_after_the_last_action(tmp_path):
    table = [{"episode": 0, "x": x, "a0": 0.5, "reward": x, "next_x": x + 1} for x in range(3)]
    read = load(write_csv(tmp_path / "log.csv", table))
    assert read.observations.ravel().tolist() == [0, 1, 2, 3]
    assert (read.rewards.tolist(), read.left_out) == ([0, 1, 2], {})


def test_a_reward_in_the_last_row_is_given_to_the_step_before(tmp_path):
    table = [{"episode": 0, "x": x, "a0": 0.5, "reward": float(x == 3)} for x in range(4)]
    name = write_csv(tmp_path / "log.csv", table)
    with pytest.warns(DataWarning, match="1 of 1 episodes store a reward with the last row"):
        assert load(name).rewards.tolist() == [0, 0, 1]
    arriving = load(f"{name}?reward_on_arrival=true")
    assert arriving.rewards.tolist() == load(arriving.source).rewards.tolist() == [0, 0, 1]


def test_rows_that_are_missing_are_said(tmp_path):
    table = [{"episode": i, "t": 0.5 * t, "x": t, "a0": 0.5} for i in range(2) for t in range(9)]
    assert_same(load(write_csv(tmp_path / "whole.csv", table)), load(write_csv(tmp_path / "again.csv", table[::-1])))
    with pytest.warns(DataWarning, match=r"2 times 't' goes on by more than the usual 0\.5: rows are missing there"):
        load(write_csv(tmp_path / "gaps.csv", [row for i, row in enumerate(table) if i not in (3, 4, 12)]))
    measured = [row | {"t": row["t"] + 0.01 * np.sin(i)} for i, row in enumerate(table) if i % 9 not in (0, 4)]
    assert load(write_csv(tmp_path / "measured.csv", measured)).n_steps == 12  # no word: every difference is another


def test_a_step_earns_no_two_rewards(tmp_path):
    table = [{"episode": 0, "x": x, "a0": 0.5, "reward": -x} for x in range(4)]
    with pytest.warns(DataWarning, match="1 of 1 episodes lose a reward"):
        assert load(write_csv(tmp_path / "log.csv", table)).rewards.tolist() == [0, -1, -2]


def test_cells_of_lists_are_vectors(tmp_path, episodes):
    table = [
        {"episode": i, "observation": seen.tolist(), "action": each.actions[min(t, len(each) - 1)].tolist(),
         "reward": float(each.rewards[t]) if t < len(each) else 0.0, "done": each.terminated}
        for i, each in enumerate(episodes) for t, seen in enumerate(each.observations)
    ]  # fmt: skip
    read = load(write_parquet(tmp_path / "log.parquet", table))
    assert_same(read, episodes)
    assert read.fields == {"observation": (0, 1, 2, 3)}
    table[2]["observation"] = [1.0]
    with pytest.raises(VMGError, match="lists in the column 'observation' are of different lengths"):
        load(write_parquet(tmp_path / "log.parquet", table))


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("x,a0\n1,2\n", "", r"no column says which episode .*\?episode=COLUMN'. Its columns: x, a0\."),
        ("episode,x\n0,1\n", "", r"no column looks like an action. Name columns or patterns: .*\?action="),
        ("day,x\n0,1\n", "?episode=day", r"or patterns: 'table:.*\?episode=day&action=NAME,NAME_\*'"),
        ("episode,a0\n0,1\n", "", "no column looks like a state"),
        ("episode,x,a0\n0,1,2\n", "?action=u_*", r"no column matches action=u_\*. Its columns: episode, x, a0"),
        ("episode,x,a0\n0,1,2\n", "?reward=x,a0", "reward must be one column, but 'x,a0' means x, a0"),
        ("episode,x,a0\n0,hi,2\n", "?state=x", "the column 'x' holds 'hi' in line 2, which is no number\\.$"),
        ("episode,x,a0\n0,1,2\n0,ERR,2\n0,3,2\n", "?state=x", "'x' holds 'ERR' in line 3, which is no number\\.$"),
        ("episode,x,y,a0\n0,1,1,2\n0,2,ERR,2\n0,3,3,2\n", "", "'y' holds 'ERR' in line 3.* no number, but most"),
        ("episode,x,a0\n0,1,2\n0,1,N/A\n0,1,2\n", "", "'a0' holds 'N/A' in line 3, which is no number, but most"),
        ("episode,at,x,a0\n0,8:00,1,2\n0,8:01,2,2\n", "?step=at", "'at' holds '8:00' in line 2.* of time need no step"),
        ("episode;x;a0\n0;1,5;2\n0;2,5;2\n", "", "'x' holds '1,5' in line 2.*no number .decimals need a point"),
        ("episode,x,a0\n0,1\n", "", "line 2 has 2 cells, but the first has 3 names"),
        ("0,1,2\n0,1,2\n", "", "the first line must name the columns, but has the number 0"),
        ("episode,x,x\n0,1,2\n", "", "two columns are called 'x'"),
        ("episode,x,a0\n", "", "not a single row"),
        ("episode,x,gain,a0\n0,1,2,2\n0,1,2,2\n0,3,,\n", "", "gain would be part of the state, but .* reward=gain"),
        ("episode,x,a0\n0,1,2\n0,,2\n0,3,2\n", "", "observations of episode 0, row 1, column 0 \\(x\\), is nan"),
    ],
)
def test_tables_that_cannot_be_read_are_answered_with_a_cure(tmp_path, text, options, sentence):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(VMGError, match=sentence):
        load(f"table:{tmp_path}/log.csv{options}")


def test_an_index_that_a_library_added_is_no_part_of_the_state(tmp_path, episodes):
    table = [{"": i} | row | {"__index_level_0__": i} for i, row in enumerate(rows(episodes))]
    read = load(write_csv(tmp_path / "log.csv", table))
    assert_same(read, episodes)
    assert read.left_out == {"__index_level_0__": "1 number"}


def test_without_pyarrow_the_package_to_install_is_named(tmp_path, episodes, monkeypatch):
    name = write_parquet(tmp_path / "log.parquet", rows(episodes))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(VMGError, match="needs the package 'pyarrow', which is not installed"):
        load(name)
    assert_same(load(write_csv(tmp_path / "log.csv", rows(episodes))), episodes)


def test_other_files_are_named(tmp_path):
    (tmp_path / "log.parquet").write_text("no")
    with pytest.raises(VMGError, match=r"log\.parquet is not a readable Parquet file"):
        load(f"table:{tmp_path}/log.parquet")
    with pytest.raises(VMGError, match="does not exist"):
        load(f"table:{tmp_path}/none.csv")
    with pytest.raises(VMGError, match=r"Did you mean table:runs/log\.csv\?"):
        load("runs/log.csv")


def test_long_files_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("vmg.data.readers.table_files.ROWS_AT_ONCE", 2)
    episodes = make_episodes(0, [3, 4, 2])
    assert_same(load(write_csv(tmp_path / "log.csv", rows(episodes))), episodes)
    named = [row | {"episode": "abc"[row["episode"]]} for row in rows(episodes)]
    assert_same(load(write_csv(tmp_path / "log.csv", named)), episodes)
    assert np.unique(episodes.lengths).size == 3


@given(st.lists(st.sampled_from(["0,1,2,x", "", '0,1,2,"x\ny"']), max_size=9), st.sampled_from(["0,1,ERR,x", "0,1"]))
@settings(max_examples=40, deadline=None)
def test_what_is_wrong_in_a_table_is_said_with_its_line_in_the_file(tmp_path_factory, before, bad):
    """Empty lines and cells of several lines included."""
    file = tmp_path_factory.mktemp("lines") / "log.csv"
    text = "\n".join(["episode,x,a0,note", "0,1,2,x", *before, bad, "0,1,2,x", "0,1,2,x"])
    file.write_text(text)
    line = 1 + text[: text.index(bad + "\n")].count("\n") if bad == "0,1,ERR,x" else 1 + text.split("\n").index(bad)
    with pytest.raises(VMGError, match=rf"\bline {line}\b"):
        load(f"table:{file}?action=a0&state=x")


def test_a_target_that_may_be_a_reading_stays_and_is_named_where_it_never_changes_in_an_episode(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["episode,step,level,target_level,goal_level,a_0"]
    for episode in range(10):
        target = rng.normal()
        lines += [f"{episode},{step},{rng.normal()},{target},{target},{rng.normal()}" for step in range(8)]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    source = f"table:{tmp_path / 'log.csv'}"
    episodes = load(source)
    assert list(episodes.fields) == ["level", "target_level"]
    assert list(episodes.left_out) == ["goal_level"]
    said = " ".join(check(episodes))
    assert "Observation column 1 (target_level) differs between episodes and never changes within one" in said
    assert "--keys '[0:1]'" in said
    assert list(load(source, keys=["[0:1]"]).fields) == ["level"]
