"""The study `grow`: the part of the data it begins with, its table and its figure, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import labelled_episodes

from vmg.base.errors import VMGError
from vmg.studies import Study, study_table
from vmg.studies.grow import _part, measure_grow
from vmg.view.studies import study_figure


def row(explore, online, again, score):
    return {
        "task": "pointmaze-large", "data": {"steps": 5_000}, "explore": explore, "online": online, "again": again,
        "share": 0.05, "score": score, "interval": [score - 5, score + 5], "models": [score - 1, score + 1],
        "vertices": [400, 410],
    }  # fmt: skip


ROWS = [
    row("none", 0, False, 40.0),
    *(
        row(kind, n, again, 50.0 + n + 10 * again)
        for kind in ("frontier", "random")
        for n in (5, 9)
        for again in (0, 1)
    ),
    row("whole", 0, True, 95.0),
]


def test_the_table_has_a_line_for_every_point():
    lines = study_table(ROWS).splitlines()
    assert len(lines) == len(ROWS) + 2
    assert (
        "| 5 %, 5,000 steps | at the frontier | 9 | trained again | **69.0** | 64.0 – 74.0 | 68, 70 | 400, 410 |"
        in lines[6]
    )


def test_the_figure_has_a_curve_for_each_way_to_explore_and_the_whole_data_set():
    pytest.importorskip("matplotlib", reason="figures need the extra `view`")
    (axis,) = study_figure(ROWS).axes
    assert axis.get_legend_handles_labels()[1] == ["all data", "frontier", "random"]
    assert [len(each[0].get_xdata()) for each in axis.containers] == [3, 3, 3, 3]


@settings(max_examples=50, deadline=None)
@given(labelled_episodes(), st.floats(0.01, 0.99))
def test_the_part_has_its_share_of_the_steps_and_no_episode_too_many(case, share):
    _, episodes = case
    part = _part(episodes, share)
    assert part.n_steps >= share * episodes.n_steps
    assert part.n_steps - part.lengths[-1] < share * episodes.n_steps
    assert np.array_equal(part.observations, episodes.observations[: len(part.observations)])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"only": "train"}, "trains and acts in turn: leave out --only"),
        ({"share": 1.5}, "--share must lie between 0 and 1"),
        ({"online": (20, 10)}, "--online be ascending numbers of episodes"),
        ({"presets": ("paper", "auto")}, "takes one preset, not paper auto"),
    ],
)
def test_what_it_refuses(options, sentence):
    with pytest.raises(VMGError, match=sentence):
        measure_grow(Study(**options), lambda rows: None)
