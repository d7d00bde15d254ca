"""The explorer's server answers what the agent itself would, whoever asks and however many at once."""

import random
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from acting_cases import agent, follower
from exploring import Client, serving
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from vmg.base.files import read_json
from vmg.cli.main import main
from vmg.goals import in_vertices
from vmg.graph import reachable_from
from vmg.view.explorer.frames import framed, unframed
from vmg.view.explorer.plans import KEPT, Shelf
from vmg.view.explorer.serving import Address
from vmg.view.explorer.steps import steps_to_end

WANTS = {
    "recorded": {"recorded": True},
    "painted": {"goals": [{"vertices": [5, 6, 7]}]},
    "painted, avoiding": {
        "goals": [{"vertices": [5]}],
        "avoid": [{"vertices": [20, 21]}, {"text": "0,1=-2..-0.5,-2..0"}],
    },
    "in words": {"goals": [{"text": "position=1,1"}], "stay": True},
    "in order": {"goals": [{"text": "position=1,1"}, {"vertices": [3]}], "tolerance": 0.3},
    "any": {"goals": [{"text": "position=1,1"}, {"vertices": [3]}], "join": "any"},
    "all": {"goals": [{"text": "position=1,1"}, {"text": "velocity=0,0"}], "join": "all", "tolerance": 0.4},
    "rewards": {"rewards": [{"vertices": [1, 2, 3, 9], "weight": 1}, {"vertices": [12], "weight": -0.5}]},
}


def an_edge(number=10):
    graph = agent().built
    return [int(graph.tails[number]), int(graph.heads[number])]


def test_arrays_are_those_of_the_graph(client):
    graph = agent().built
    facts = client.get("/api/graphs/0")
    assert (facts["vertices"], facts["edges"]) == (graph.n_vertices, graph.n_edges)
    assert facts["fields"]["position"] == [0, 1]
    _, edges = client.get("/api/graphs/0/edges")
    assert np.array_equal(edges["tails"], graph.tails)
    assert np.array_equal(edges["heads"], graph.heads)
    assert edges["counts"].sum() == np.count_nonzero(graph.slots < graph.n_edges)
    assert client.get("/api/graphs/0/arrays/visits")[1]["values"].sum() == len(graph.labels)
    assert np.array_equal(client.get("/api/graphs/0/arrays/column:2")[1]["values"], graph.states[:, 2])
    for name in ["floor", "columns:0,1"]:
        _, places = client.get(f"/api/graphs/0/layouts/{name}")
        assert np.array_equal(np.stack([places["x"], places["y"]], 1), graph.states[:, :2])
    assert np.isfinite(client.get("/api/graphs/0/layouts/pca")[1]["x"]).all()


@pytest.mark.parametrize("graph", [0, 1], ids=["edges", "recordings"])
@pytest.mark.parametrize("want", WANTS.values(), ids=WANTS)
def test_a_plan_is_the_one_that_its_code_makes(client, want, graph, tmp_path, runs):
    want = {**want, "without_edges": [an_edge()]} if graph == 0 else want
    facts, arrays = client.plan(want, graph)
    script = tmp_path / "made.py"
    script.write_text(facts["code"]["python"].replace("print(", "repr("))
    made = runpy.run_path(str(script))["plan"].stages[0]
    np.testing.assert_allclose(arrays["values"], made.values, rtol=1e-5)
    assert arrays["goals"].tolist() == np.flatnonzero(made.goal_vertices).tolist()
    assert main(shlex.split(facts["code"]["command"])[1:]) == 0
    newest = max((runs[graph].folder / "retask").iterdir(), key=lambda file: file.stat().st_mtime_ns)
    answered = read_json(newest)["agents"][0]["plans"][0]
    assert answered["reaching_vertices"] == round(facts["reach"] * len(arrays["values"]))
    again, same = client.get(f"/api/graphs/{graph}/plans/{facts['plan']}")
    assert again["milliseconds"]["cached"]
    assert np.array_equal(same["values"], arrays["values"])


@pytest.mark.parametrize("whose", [agent, follower], ids=["edges", "recordings"])
def test_steps_are_those_of_each_route(whose):
    plan = whose().plan(in_vertices(whose().built, whose().weights, [3, 4]))
    steps = steps_to_end(plan)
    assert np.array_equal(np.isfinite(steps), plan.can_reach)
    for vertex in np.flatnonzero(plan.can_reach)[::5]:
        entry = vertex if whose is agent else plan.routes.starts[vertex]
        assert steps[vertex] == pytest.approx(plan.routes.cost(entry) if entry >= 0 else 0.0)


def test_a_way_goes_along_edges_and_is_stitched_from_recordings(client):
    graph, want = agent().built, {"goals": [{"vertices": [3]}]}
    start = next(v for v in range(graph.n_vertices) if v != 3 and reachable_from(graph, v)[3])
    for place in ({"vertex": start}, {"episode": 1, "step": 2}, {"start": 0}, {"state": graph.states[start].tolist()}):
        found = client.post("/api/graphs/0/ways", {"want": want, "from": place})
        stage = found["stages"][0]
        assert [[edge["tail"], edge["head"]] for edge in stage["edges"]] == [
            list(hop) for hop in pairwise(stage["path"])
        ]
        assert all(edge["count"] > 0 for edge in stage["edges"])
        if found["possible"]:
            assert found["path"][-1] == 3
            joined = [vertex for piece in stage["pieces"] for vertex in piece["vertices"]]
            assert set(found["path"]) <= {*joined, found["path"][0]}
    assert found["possible"]
    assert found["from"]["vertex"] == start


def test_what_is_gone_is_not_passed_and_what_is_missing_is_said(client):
    want = {"goals": [{"vertices": [3]}]}
    place = {"vertex": int(np.nanargmax(client.plan(want)[1]["steps"]))}
    free = client.post("/api/graphs/0/ways", {"want": want, "from": place})
    assert free["possible"]
    middle = free["path"][len(free["path"]) // 2]
    around = client.post("/api/graphs/0/ways", {"want": {**want, "avoid": [{"vertices": [middle]}]}, "from": place})
    assert middle not in around["path"]
    first = free["path"][:2]
    other = client.post("/api/graphs/0/ways", {"want": {**want, "without_edges": [first]}, "from": place})
    assert first not in [list(hop) for hop in pairwise(other["path"])]
    into = [edge["vertex"] for edge in client.get("/api/graphs/0/vertices/3")["into"]]
    cut = {**want, "without_edges": [[vertex, 3] for vertex in into]}
    missing = client.post("/api/graphs/0/ways", {"want": cut, "from": place})
    assert not missing["possible"]
    assert "No recorded way" in missing["said"]
    assert missing["stages"][0]["nearest"]["vertex"] != 3


def test_rewards_that_pay_nothing_are_shown_no_way(client):
    want = {"rewards": [{"vertices": [3], "weight": 0}]}
    found = client.post("/api/graphs/0/ways", {"want": want, "from": {"vertex": 0}})
    assert not found["possible"]
    assert "so no way is better than another" in found["said"]
    assert (found["path"], found["steps"], found["stages"][0]["pieces"]) == ([0], 0, [])


def test_goals_at_once_that_no_state_has_are_planned_in_an_order(client):
    goals = [{"text": "position=1,1"}, {"text": "velocity=1..9,-9..9"}]
    want = {"goals": goals, "join": "all", "before": [[0, 1]], "tolerance": 0.4}
    facts, arrays = client.plan(want)
    assert facts["kind"] == "together"
    assert len(arrays["values"]) == agent().built.n_vertices
    found = client.post("/api/graphs/0/ways", {"plan": facts["plan"], "from": {"episode": 0, "step": 0}})
    assert found["said"].startswith("Task: position at 1,1")
    assert len(found["stages"]) <= 2
    assert "before=[(parts[0], parts[1])]" in found["code"]["python"]
    assert "--before 1,2" in found["code"]["command"]


def test_a_vertex_says_what_the_graph_knows_of_it(client):
    graph = agent().built
    plan, arrays = client.plan(WANTS["painted"])
    for vertex in (0, 7, graph.n_vertices - 1):
        found = client.get(f"/api/graphs/0/vertices/{vertex}?plan={plan['plan']}")
        assert [each["value"] for each in found["state"]] == pytest.approx(graph.states[vertex].tolist())
        assert found["visits"] == np.count_nonzero(graph.labels == vertex)
        assert found["out_count"] == graph.first_edge[vertex + 1] - graph.first_edge[vertex]
        assert found["value"] == pytest.approx(float(arrays["values"][vertex]), rel=1e-5)
        assert found["path"][0] == vertex
        assert found["why"].endswith(".")


def test_a_state_is_drawn_where_the_environment_can_be_put_into_it(client):
    picture = client.get("/api/graphs/0/vertices/3/picture")
    assert picture.startswith(b"\x89PNG")
    assert picture != client.get("/api/graphs/0/vertices/60/picture")
    assert picture == client.get("/api/graphs/0/vertices/3/picture")


def test_vertices_are_found(client):
    graph = agent().built
    found = client.get("/api/graphs/0/search?text=velocity%5B0%5D%3E0.5")["vertices"]
    assert found == np.flatnonzero(graph.states[:, 2] > 0.5).tolist()[:1000]
    assert client.get("/api/graphs/0/search?text=12")["vertices"] == [12]
    way = client.get("/api/graphs/0/search?text=episode+0")["vertices"]
    assert way[0] == graph.labels[0]
    nearest = client.get("/api/graphs/0/search?text=position%3D1,1")["vertices"][0]
    gaps = np.linalg.norm(graph.states[:, :2] - [1, 1], axis=1)
    assert nearest == int(np.argmin(gaps))


def test_200_requests_at_once_are_answered_right(client):
    """Of all kinds, some for the same plan: each answer is the one that is given when nobody else asks."""
    graph = agent().built
    few = [{"goals": [{"vertices": [vertex]}]} for vertex in range(0, 40, 4)]
    alone = {
        want["goals"][0]["vertices"][0]: agent()
        .plan(in_vertices(graph, agent().weights, want["goals"][0]["vertices"]))
        .values.astype(np.float32)
        for want in few
    }
    order = random.Random(0)

    def ask(number):
        kind = number % 4
        if kind == 0:
            want = order.choice(few)
            _, arrays = client.plan(want)
            return np.array_equal(arrays["values"], alone[want["goals"][0]["vertices"][0]])
        if kind == 1:
            return client.get(f"/api/graphs/0/vertices/{number % 50}")["vertex"] == number % 50
        if kind == 2:
            return len(client.get("/api/graphs/1/edges")[1]["tails"]) == follower().built.n_edges
        return client.post("/api/graphs/0/ways", {"want": few[0], "from": {"vertex": number % 50}})["path"][-1] >= 0

    with ThreadPoolExecutor(200) as pool:
        assert Counter(pool.map(ask, range(200))) == {True: 200}


def test_plans_are_kept_within_a_bound(client):
    first, _ = client.plan({"goals": [{"vertices": [0]}]})
    for vertex in range(1, KEPT + 1):
        client.plan({"goals": [{"vertices": [vertex]}]})
    assert "ask for what is wanted again" in client.get(f"/api/graphs/0/plans/{first['plan']}", 404)["error"]
    assert client.plan({"goals": [{"vertices": [0]}]})[0]["plan"] == first["plan"]


def test_what_many_ask_for_is_made_once_and_what_fails_is_tried_again():
    shelf, made = Shelf(2), []

    def make():
        made.append(1)
        return len(made)

    with ThreadPoolExecutor(8) as pool:
        assert {found for found, _ in pool.map(lambda _: shelf.get("a", make), range(50))} == {1}
    with pytest.raises(ZeroDivisionError):
        shelf.get("b", lambda: 1 / 0)
    assert shelf.get("b", make) == (2, False)
    shelf.get("c", make)
    assert len(shelf) == 2
    assert shelf.get("a", make) == (4, False)


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=3),
        st.one_of(*(arrays(kind, array_shapes(max_dims=1)) for kind in ("<f4", "<i4", "u1"))),
        max_size=4,
    )
)
def test_frames_hold_what_was_put_into_them(given_arrays):
    facts, found = unframed(framed({"name": "é", "n": float("nan")}, given_arrays))
    assert facts == {"name": "é", "n": None}
    assert found.keys() == given_arrays.keys()
    assert all(
        np.array_equal(found[name], given_arrays[name], equal_nan=found[name].dtype.kind == "f") for name in found
    )


def test_the_command_serves_until_it_is_interrupted(runs):
    command = [sys.executable, "-m", "vmg", "explore", str(runs[0].folder), "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            port = int(process.stderr.readline().partition("127.0.0.1:")[2].partition("/")[0])
            found = Client(Address("127.0.0.1", port)).get("/api/explorer")
            assert found["graphs"][0]["run"] == str(runs[0].folder)
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_the_command_serves_no_run_without_a_graph(runs, tmp_path, capsys):
    unbuilt = shutil.copytree(runs[0].folder, tmp_path / "run")
    for missing, cure in (("graph.npz", f"yet: vmg build {unbuilt}."), ("config.json", "call `vmg train` again")):
        for folder in unbuilt.glob("seed_*"):
            (folder / missing).unlink()
        assert main(["explore", str(unbuilt), "--no-open"]) == 2
        assert cure in capsys.readouterr().err


def test_another_machine_needs_the_token(runs):
    with serving(runs, host="0.0.0.0", token="right") as client:
        assert "token" in client.get("/api/explorer", 403)["error"]
        assert "token" in client.get("/api/explorer?token=wrong", 403, cookie="vmg-explorer=wrong")["error"]
        status, headers, _ = client.request("GET", "/api/explorer?token=right")
        assert status == 200
        assert "HttpOnly; SameSite=Strict" in headers["set-cookie"]
        client.get("/api/explorer", cookie=headers["set-cookie"].partition(";")[0])
        client.get("/api/explorer?token=right", host="192.168.1.5:80")
        client.get("/api/explorer?token=right", 403, host="evil.example")
