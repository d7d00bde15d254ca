"""Notes of episodes that a kill has cut, or somebody changed: the one is left out, the other is said."""

import json

import pytest
from evaluation_cases import LINE, Walker

import vmg
from vmg.base.errors import VMGError
from vmg.evaluation import evaluate
from vmg.runs import Run
from vmg.runs.notes import Measured, Trial, episodes_of, remembered, scores_together

TRIAL = Trial(n_episodes=5, executor="here")


@pytest.fixture
def measured(tmp_path):
    found = Measured(Run("made up", vmg.AgentConfig(), folder=tmp_path), LINE, "VMG", 0, {})
    found.scores(Walker(), TRIAL)
    return found


def noted(measured):
    return episodes_of(measured.run, "line", "VMG", 0)


def test_notes_cut_anywhere_are_read_as_far_as_they_are_whole_and_then_completed(measured):
    whole, scores = measured.path.read_bytes(), evaluate(Walker(), LINE, n_episodes=5, executor="here")
    ends = [i for i, byte in enumerate(whole, 1) if byte == ord("\n")]
    for cut in [*range(ends[0], len(whole), 61), *ends, *(end - 1 for end in ends[1:])]:
        measured.path.write_bytes(whole[:cut])
        assert noted(measured) == list(scores.episodes[: sum(end <= cut for end in ends[1:])])
        assert measured.scores(Walker(), TRIAL) == scores
        assert measured.path.read_bytes() == whole


def test_what_is_noted_whole_is_read_beside_who_writes(measured, monkeypatch):
    before = measured.path.stat().st_mtime_ns
    monkeypatch.setattr("vmg.runs.notes.held", None)  # the folder is another's
    (found,) = scores_together([(measured, Walker)], TRIAL)
    assert found == evaluate(Walker(), LINE, n_episodes=5, executor="here")
    assert measured.path.stat().st_mtime_ns == before


def test_notes_of_a_task_whose_file_has_changed_do_not_count(tmp_path):
    """Another environment has other episodes, though it has the same name."""
    file = tmp_path / "line.py"
    file.write_text("length = 1")
    measured = Measured(Run("made up", vmg.AgentConfig(), task=f"{file}:line", folder=tmp_path), LINE, "VMG", 0, {})
    before = measured.identity
    assert measured.identity == before
    file.write_text("length = 2")
    assert measured.identity != before


def test_notes_of_older_versions_tell_less_and_are_read(measured):
    first, *episodes = map(json.loads, measured.path.read_text().splitlines())
    for episode in episodes:
        for name in ("likeness", "planned", "stalled", "fell"):
            del episode[name]
    measured.path.write_text("".join(json.dumps(each) + "\n" for each in [first, *episodes]))
    assert [episode.steps for episode in noted(measured)] == [episode["steps"] for episode in episodes]
    assert all(episode.failure is None for episode in noted(measured))


@pytest.mark.parametrize("wrong", ["5", "[]", '{"seed": 1}', '{"nonsense": 1}', "{", '{"seed": "0"}', "[" * 5000])
def test_a_line_that_is_no_episode_is_said(measured, wrong):
    lines = measured.path.read_text().splitlines()
    measured.path.write_text("\n".join([*lines[:2], wrong, *lines[2:]]) + "\n")
    for ask in (noted, lambda notes: notes.scores(Walker(), TRIAL)):
        with pytest.raises(VMGError, match=r"jsonl is not readable: .*\. Delete it, and evaluate again\."):
            ask(measured)
    measured.path.unlink()
    assert len(measured.scores(Walker(), TRIAL).episodes) == 5


def test_notes_of_many_processes_end_in_the_order_of_their_seeds(measured):
    before = measured.path.read_text().splitlines()
    measured.path.write_text("\n".join([before[0], *reversed(before[1:])]) + "\n")
    measured.scores(Walker(), TRIAL)
    assert measured.path.read_text().splitlines() == before


@pytest.mark.parametrize("wrong", [{}, [1], "text"])
def test_a_file_that_remembers_nothing_of_ours_is_said(tmp_path, wrong):
    file = tmp_path / "graphs.json"
    file.write_text(json.dumps(wrong))
    with pytest.raises(VMGError, match=r"graphs\.json is not readable: .*Delete it"):
        remembered(file, {}, dict)
