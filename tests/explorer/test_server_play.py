"""Episodes on the explorer's server: played ones are those of an evaluation, stopped ones free their place."""

import json
import runpy
import time
from dataclasses import replace

import numpy as np
import pytest
from acting_cases import agent, episodes

from vmg.envs import find_task
from vmg.evaluation import evaluate, scored_by
from vmg.goals import in_vertices
from vmg.runs.notes import episodes_of
from vmg.view.explorer import playing
from vmg.view.explorer.app import SIMULATIONS
from vmg.view.explorer.graphs import explored
from vmg.view.explorer.marks import recorded_marks
from vmg.view.explorer.plans import Plans
from vmg.view.explorer.playing import Play, Wish
from vmg.view.explorer.problems import ImpossibleError

SLOW = {"seed": 0, "pictures": False, "delay": 0.05}


def test_an_episode_of_the_task_is_the_one_that_was_evaluated(client, runs):
    noted = episodes_of(runs[0], "pointmaze-umaze", "VMG", 0)[0]
    (begin, *steps, end), pictures, code = client.play({"want": None, "seed": noted.seed, "frames_per_second": 2})
    assert code == 1000
    assert (end["steps"], end["return"], end["success"]) == (noted.steps, noted.reward, noted.success)
    assert [each["step"] for each in steps] == list(range(noted.steps))
    assert all(each["path"][0] == each["vertex"] for each in steps)
    assert begin["pictures"]
    assert pictures[0][:4] == bytes(4)
    assert all(picture[4:7] == b"\xff\xd8\xff" for picture in pictures)
    _, arrays = client.get(f"/api/graphs/0/plans/{begin['plan']}")
    assert steps[0]["value"] == pytest.approx(float(arrays["values"][steps[0]["vertex"]]), rel=1e-5)
    facts, again = client.get(f"/api/graphs/0/episodes/evaluated/{noted.seed}")
    assert (facts["steps"], facts["success"]) == (noted.steps, noted.success)
    assert again["vertices"].tolist() == [each["vertex"] for each in steps]
    assert facts["marks"] == end["marks"]


def test_a_painted_goal_is_tried_as_the_command_would(client):
    task = find_task("pointmaze-umaze")
    plan = agent().plan(in_vertices(agent().built, agent().weights, [5, 6, 7]))
    alone = evaluate(plan.policy(), scored_by(task, plan), n_episodes=1, first_seed=3, workers=1).episodes[0]
    wish = {"want": {"goals": [{"vertices": [5, 6, 7]}]}, "seed": 3, "frames_per_second": 1}
    messages, pictures, _ = client.play(wish)
    end = messages[-1]
    assert (end["steps"], end["return"], end["success"]) == (alone.steps, alone.reward, alone.success)
    assert pictures
    assert "--first-seed 3" in end["code"]["command"]


def test_rewards_and_sequences_are_played(client):
    wish = {"seed": 1, "pictures": False}
    recorded = client.play({**wish, "want": {"recorded": True}})[0][-1]
    assert "scored_by" not in recorded["code"]["python"]  # the environment itself pays what was recorded
    paid = client.play({**wish, "want": {"rewards": [{"vertices": [5, 6], "weight": 1}]}})[0][-1]
    assert paid["type"] == "end"
    order = {"goals": [{"text": "position=1,1"}, {"vertices": [3]}]}
    messages = client.play({**wish, "want": order})[0]
    assert messages[0]["horizon"] == 600
    assert messages[1]["wanted"].startswith("position at 1,1")


def test_an_episode_ends_when_it_is_told_to_or_when_nobody_looks_on(client):
    with client.socket() as told, client.socket() as left:
        for socket in (told, left):
            socket.send(json.dumps(SLOW))
            assert json.loads(socket.recv(timeout=30))["type"] == "begin"
        refused, _, code = client.play(SLOW)
        assert (refused[0]["type"], code) == ("error", 4029)
        assert f"{SIMULATIONS} simulations" in refused[0]["error"]
        assert "simulations" in client.get("/api/graphs/0/episodes/evaluated/0", 429)["error"]
        told.send(json.dumps({"stop": True}))
        while (last := json.loads(told.recv(timeout=30)))["type"] == "step":
            pass
        assert (last["type"], last["ended"], last["success"]) == ("end", "stopped", None)
        left.close()
        begun = time.monotonic()
        while client.play({**SLOW, "delay": 0})[2] == 4029:
            assert time.monotonic() < begun + 10


def test_time_is_up_at_some_point(runs, monkeypatch):
    monkeypatch.setattr(playing, "LONGEST", 0.3)
    sent = []
    Play(explored(runs)[0], Wish(None, pictures=False, delay=0.1), Plans(), sent.append).run()
    assert sent[-1]["ended"] == "stopped"
    assert len(sent) < 10


def test_where_there_is_no_simulator_it_is_said(runs):
    nowhere = explored([replace(runs[0], task="Nowhere-v0")])[0]
    with pytest.raises(ImpossibleError, match=r"no simulator to play in.*Nowhere-v0"):
        Play(nowhere, Wish(None), Plans(), print).run()


def test_recorded_episodes_are_those_of_the_data(client, tmp_path):
    data = episodes()
    listed = client.get("/api/graphs/0/episodes?kind=recorded&offset=1&limit=3")
    assert listed["total"] == len(data.lengths)
    assert [each["episode"] for each in listed["episodes"]] == [1, 2, 3]
    facts, arrays = client.get("/api/graphs/0/episodes/recorded/2")
    steps = int(data.lengths[2])
    assert facts["steps"] == steps == len(arrays["rewards"])
    first = int((data.lengths[:2] + 1).sum())
    assert np.array_equal(arrays["vertices"], agent().built.labels[first : first + steps + 1])
    assert np.array_equal(arrays["x"], data.observations[first : first + steps + 1, 0])
    assert facts["return"] == pytest.approx(float(data.returns[2]))
    script = tmp_path / "recorded.py"
    script.write_text(facts["code"]["python"].replace("print(", "repr("))
    assert np.array_equal(runpy.run_path(str(script))["vertices"], arrays["vertices"])


def test_moments_worth_a_look_are_marked():
    still = np.repeat([1, 2, 3], [5, 30, 2]).astype(np.int32)
    rewards = np.zeros(36)
    rewards[34:] = 1
    assert [(mark["step"], mark["kind"]) for mark in recorded_marks(still, rewards)] == [
        (5, "stood still"),
        (35, "rewarded"),
    ]
