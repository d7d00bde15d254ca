"""What `vmg info` and `vmg evaluate` print."""

import io
from dataclasses import replace

from acting_cases import agent
from rich.console import Console

from vmg.evaluation import EpisodeScore, Scores
from vmg.view.tables import agent_table, scores_table, settings_rows


def printed(table):
    text = io.StringIO()
    Console(file=text, width=200).print(table)
    return text.getvalue()


def scores(*returns):
    episodes = (
        EpisodeScore(seed, 10 * seed, reward, reward > 0, "success" if reward > 0 else "time out")
        for seed, reward in enumerate(returns, 1)
    )
    return Scores("a task", "How it is scored.", (0.0, 1.0), tuple(episodes))


def test_scores_of_several_models_are_one_row():
    text = printed(scores_table({"VMG": [scores(1.0, 0.0), scores(1.0, 1.0)]}))
    assert "a task: 2 models, 2 episodes each, last checkpoint" in text
    row = next(line for line in text.splitlines() if "VMG" in line)
    assert all(cell in row for cell in ("75.0", "75", "15", "3 success, 1 time out"))


def test_failures_pace_and_what_was_off_the_graph_are_told():
    episodes = (
        EpisodeScore(
            0, 150, 1.0, True, "success", {}, {"off_graph": 0.125, "start": 0.0, "from_starts": 0.0}, 100.0, 9
        ),
        EpisodeScore(1, 300, 0.0, False, "time out", stalled=250),
    )
    text = printed(scores_table({"VMG": [Scores("a task", "", (0.0, 1.0), episodes)]}))
    row = next(line for line in text.splitlines() if "VMG" in line)
    assert all(cell in row for cell in ("1.50", "12.5", "1 success, 1 time out (1 jam)"))


def test_an_agent_is_described_with_its_graph_and_every_setting(tmp_path):
    agent().save(tmp_path)
    content, table = agent_table(tmp_path)
    text = printed(table)
    assert content["graph"]["vertices"] == agent().built.n_vertices
    assert "steps per edge; solved" in text
    assert "low_level.inputs relative" in text
    replace(agent(), graph=None, routes=None).save(tmp_path)
    content, table = agent_table(tmp_path)
    assert (content["graph"], content["solved"]) == (None, False)
    assert "no graph yet" in printed(table)


def test_settings_within_settings_are_named_one_by_one():
    rows = settings_rows(agent().config)
    assert ("learn", "low_level.kind", "translator") in rows
    assert ("graph", "goal_columns", "0 1") in rows
    assert ("learn", "low_level.columns", "none") in rows
