"""Names for columns: what keeps them, who checks them, and how a change of order shows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_episodes import assert_same, episode_sets, make_episodes

from vmg.base.errors import VMGError
from vmg.base.settings import read_record
from vmg.data import Episodes, concatenate, from_arrays, load, save
from vmg.data.facts import DataFacts
from vmg.data.fields import column_names, columns_in_words, field_columns, fields_in_words, moved_fields

NAMES = {"joints": (0, 1), "hand": (2,)}


def named(fields=NAMES):
    return Episodes.from_list(list(map(_parts, make_episodes(0, [3, 2, 4, 1]))), source="log", fields=fields)


def _parts(episode):
    return episode.observations, episode.actions, episode.rewards, episode.terminated, episode.truncated


def test_every_way_to_new_episodes_keeps_the_names(tmp_path):
    episodes = named()
    save(episodes, tmp_path / "own.npz")
    for new in (
        episodes.subset([2, 0]),
        episodes.filter(lambda each: len(each) > 1),
        *episodes.split(0.5, seed=0),
        episodes.relabel(np.zeros(episodes.n_steps)),
        concatenate([episodes, episodes]),
        load(f"npz:{tmp_path}/own.npz"),
        from_arrays(episodes.observations, episodes.actions, lengths=episodes.lengths, fields=NAMES),
    ):
        assert new.fields == NAMES


def test_joined_sets_keep_the_names_on_which_they_agree():
    other = named({"joints": (0, 1), "more": (2,)})
    assert concatenate([named(), other]).fields == {"joints": (0, 1)}


def test_sets_with_their_columns_in_another_order_are_not_joined(tmp_path):
    (tmp_path / "one.csv").write_text("episode,x,y,a0\n0,1,5,2\n0,2,6,2\n")
    (tmp_path / "other.csv").write_text("episode,y,x,a0\n0,5,1,2\n0,6,2,2\n")
    one, other = (load(f"table:{tmp_path}/{name}.csv") for name in ("one", "other"))
    with pytest.raises(VMGError, match=r"different orders: x was 0 and is 1; y was 1 and is 0\..* state=NAME,NAME"):
        concatenate([one, one, other])
    both = concatenate([one, load(f"table:{tmp_path}/other.csv?state=x,y")])
    assert both.observations.tolist() == [[1, 5], [2, 6]] * 2


@given(episode_sets)
def test_names_are_no_part_of_the_content(episodes):
    again = Episodes.from_list(list(map(_parts, episodes)), fields={"all": range(episodes.observation_size)})
    assert_same(again, episodes)
    assert again.digest == episodes.digest


@pytest.mark.parametrize("fields", [{"a": (3,)}, {"a": ()}, {"a": (0, 0)}, {"a": 1}, {"a": "01"}, [("a", (0,))]])
def test_names_of_columns_that_are_not_there_are_refused(fields):
    with pytest.raises(VMGError, match=r"^log: .*field"):
        named(fields)


def test_an_agent_remembers_them_and_facts_of_before_have_none():
    facts = DataFacts.of(named())
    assert facts.fields == NAMES
    written = {
        "source": "log", "digest": "0", "episodes": 1, "steps": 2, "observation_size": 3, "action_size": 1,
        "action_low": [0.0], "action_high": [1.0],
    }  # fmt: skip
    assert read_record(DataFacts, written, place="data").fields == {}
    assert read_record(DataFacts, written | {"fields": {"hand": [1, 2]}}, place="data").fields == {"hand": (1, 2)}
    with pytest.raises(VMGError, match="the field 'hand' must name different columns of the observation, 0 to 2"):
        read_record(DataFacts, written | {"fields": {"hand": [1, 9]}}, place="data")


def test_names_in_a_file_that_are_no_json_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", observations=np.ones((3, 2)), actions=np.ones((2, 1)), lengths=[2], fields="hand")
    with pytest.raises(VMGError, match=r"a\.npz: fields is not JSON"):
        load(f"npz:{tmp_path}/a.npz")


@given(st.lists(st.tuples(st.sampled_from(["", "a", "b.c", "d"]), st.integers(1, 4)), unique_by=lambda each: each[0]))
def test_parts_side_by_side_share_the_columns_out(sizes):
    total = sum(size for _, size in sizes)
    fields = field_columns(sizes)
    claimed = [column for columns in fields.values() for column in columns]
    assert claimed == sorted(set(claimed))
    assert all(len(fields[name]) == size for name, size in sizes if name)
    assert len(set(column_names(fields, total))) == total


def test_a_column_has_its_most_exact_name():
    fields = {"wrist": (1,), "state": (0, 1, 2), "hand": (2, 3)}
    assert column_names(fields, 5) == ["state[0]", "wrist", "hand[0]", "hand[1]", "4"]


def test_names_in_words():
    assert columns_in_words([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7, 8"
    assert fields_in_words({"joints": range(9), "hand": (12, 13)}) == "joints (0-8), hand (12, 13)"
    assert fields_in_words({}) == "none"


def test_another_order_shows_and_unknown_names_say_nothing():
    before = {"achieved_goal": (0, 1), "observation": (2, 3, 4)}
    after = {"observation": (0, 1, 2), "achieved_goal": (3, 4)}
    assert moved_fields(before, after) == "achieved_goal was 0, 1 and is 3, 4; observation was 2-4 and is 0-2"
    assert moved_fields(before, before) == moved_fields(before, {}) == moved_fields({}, after) == ""
    assert moved_fields(before, {"other": (0,)}) == ""
