"""What the explorer's server refuses: foreign names and pages, paths, what is too large, broken or makes no sense."""

import json
import socket
from contextlib import suppress

import numpy as np
import pytest
from acting_cases import agent
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import InvalidStatus

from vmg.base.errors import VMGError
from vmg.runs.requests import Request
from vmg.view.explorer.app import BODY
from vmg.view.explorer.graphs import explored
from vmg.view.explorer.playing import Wish, read_wish
from vmg.view.explorer.searching import search
from vmg.view.explorer.wants import request_of

PLANS = "/api/graphs/0/plans"
NUMBERS = st.integers(-(2**70), 2**70) | st.floats() | st.booleans() | st.none()
JSON = st.recursive(
    NUMBERS | st.text(max_size=20),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(st.text(max_size=8), each, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "[::2]"])
def test_other_names_than_this_machines_own_are_not_answered(client, host):
    assert "does not answer for the name" in client.get("/api/explorer", 403, host=host)["error"]
    assert client.get("/", 403, host=host)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "127.0.0.1", "[::1]:8"])
def test_this_machines_own_names_are_answered(client, host):
    assert client.get("/api/explorer", host=host)["graphs"]


def test_other_pages_may_not_ask(client):
    own = f"http://127.0.0.1:{client.address.port}"
    client.post(PLANS, {"want": {"recorded": True}}, origin=own)
    for origin in ("http://evil.example", "null", "", f"http://localhost:{client.address.port}", own + ".evil.example"):
        assert "another one" in client.post(PLANS, {"want": {"recorded": True}}, 403, origin=origin)["error"]
        with pytest.raises(InvalidStatus) as refused:
            client.socket(origin=origin)
        assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/..%5capp.py",
        "/static//etc/passwd",
        "/static/%00",
        "//etc/passwd",
        "/../../etc/passwd",
        "/run.json",
        "/api/graphs/0/layouts/..%2f..%2frun.json",
        "/api/graphs/0/arrays/column:99999",
        "/api/graphs/0/layouts/columns:0,99",
        "/api/graphs/0/vertices/100000",
        "/api/graphs/0/vertices/-1",
        "/api/graphs/0/vertices/" + "9" * 5000,
        "/api/graphs/0/vertices/1e3",
        "/api/graphs/9",
        "/api/graphs/x",
        "/api/graphs/0/plans/p123",
        "/api/graphs/0/episodes/recorded/100000",
        "/api/graphs/0/episodes?kind=others",
        "/nothing",
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(client, path):
    answer = client.get(path, 404)
    assert isinstance(answer, dict)
    assert answer["error"].endswith(".")


def test_requests_that_bring_too_much_are_cut_off(client):
    assert "more" in client.post(PLANS, b" " * (BODY + 1), 413)["error"]


def test_who_does_not_say_how_much_it_brings_is_cut_off_too(client):
    """The server hangs up: it does not read on what it will not use."""
    head = (
        b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    with socket.create_connection((client.address.host, client.address.port), timeout=20) as connection:
        connection.sendall(head % PLANS.encode())
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_again_and_again(connection, chunk, 100 * BODY // len(chunk))


def send_again_and_again(connection, chunk, times):
    for _ in range(times):
        connection.sendall(chunk)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "JSON object"),
        (b"", "no JSON"),
        (b"null", "JSON object"),
    ],
)
def test_broken_json_is_refused(client, body, word):
    assert word in client.post(PLANS, body, 400)["error"]


def test_other_content_and_other_methods_are_refused(client):
    assert "application/json" in client.post(PLANS, {}, 415, **{"content-type": "text/plain"})["error"]
    for method, path in (("GET", PLANS), ("POST", "/api/explorer"), ("DELETE", "/"), ("PUT", PLANS)):
        assert client.request(method, path, b"")[0] == 405


WRONG = {
    "nothing": {},
    "two things": {"recorded": True, "goals": [{"vertices": [1]}]},
    "no vertices": {"goals": [{"vertices": []}]},
    "text for vertices": {"goals": [{"vertices": ["1"]}]},
    "half a vertex": {"goals": [{"vertices": [0.5]}]},
    "true for a vertex": {"goals": [{"vertices": [True]}]},
    "below 0": {"goals": [{"vertices": [-1]}]},
    "beyond the graph": {"goals": [{"vertices": [10**9]}]},
    "beyond all": {"goals": [{"vertices": [10**30]}]},
    "no goal": {"goals": [{}]},
    "an unknown key": {"goals": [{"vertices": [1]}], "colour": "red"},
    "an unknown field": {"goals": [{"text": "nowhere=1"}]},
    "a file": {"goals": [{"text": "/etc/passwd"}]},
    "an unknown join": {"goals": [{"vertices": [1]}], "join": "xor"},
    "an unknown skill": {"goals": [{"skill": "juggling"}]},
    "no edge": {"recorded": True, "without_edges": [[0, 0]]},
    "half an edge": {"recorded": True, "without_edges": [[0]]},
    "everything avoided": {"recorded": True, "avoid": [{"text": "position=-99..99,-99..99"}]},
    "infinite": {"rewards": [{"vertices": [1], "weight": "inf"}]},
    "no weight": {"rewards": [{"vertices": [1]}]},
    "too many": {"goals": [{"vertices": [1]}] * 100},
    "a tolerance in words": {"goals": [{"text": "position=1,1"}], "tolerance": "near"},
    "before itself": {"goals": [{"vertices": [1]}, {"vertices": [2]}], "join": "all", "before": [[0, 1], [1, 0]]},
    "a list": [],
    "a file to run": {"rewards": "file.py:function"},
}


@pytest.mark.parametrize("want", WRONG.values(), ids=WRONG)
def test_a_want_that_makes_no_sense_is_refused(client, want):
    answer = client.plan(want, status=400)
    assert answer["error"][-1] in ".)"
    assert len(answer["error"]) < 1000


@pytest.mark.parametrize(
    "place", [None, {}, {"vertex": "1"}, {"vertex": 1.5}, {"state": [1]}, {"state": "x"}, {"state": [None] * 4}, [1]]
)
def test_a_place_that_is_none_is_refused(client, place):
    assert client.post("/api/graphs/0/ways", {"want": {"recorded": True}, "from": place}, 400)["error"]


@given(JSON)
def test_any_json_is_a_want_or_is_refused_in_a_sentence(want):
    with suppress(VMGError):
        assert isinstance(request_of(want, 0), Request)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: JSON | st.lists(st.fixed_dictionaries({}, optional={"vertices": JSON, "text": JSON, "weight": JSON}))
            for name in (
                "recorded",
                "goals",
                "rewards",
                "avoid",
                "without_edges",
                "before",
                "join",
                "tolerance",
                "stay",
            )
        },
    )
)
def test_anything_in_the_places_of_a_want_is_read_or_refused(want):
    with suppress(VMGError):
        assert isinstance(request_of(want, 0), Request)


@given(
    JSON | st.fixed_dictionaries({}, optional={name: JSON for name in ("want", "seed", "delay", "frames_per_second")})
)
def test_any_json_says_what_to_play_or_is_refused(wish):
    with suppress(VMGError):
        assert isinstance(read_wish(wish, 0), Wish)


@given(
    st.text(max_size=30)
    | st.from_regex(r"(velocity\[0\]|position|0,1|episode |visits)(=|>|<)?-?[0-9.e]{0,6}", fullmatch=True)
)
def test_any_text_is_searched_for_or_refused(runs_shown, text):
    with suppress(VMGError):
        found = search(runs_shown, text)["vertices"]
        assert np.isin(found, np.arange(agent().built.n_vertices)).all()


@pytest.fixture(scope="session")
def runs_shown(runs):
    return explored(runs)[0]


def test_every_answer_forbids_what_comes_from_elsewhere(client):
    paths = [("/api/explorer", 200), ("/nothing", 404), ("/api/graphs/0/edges", 200), ("/static/app.js", None)]
    for path, status in paths:
        found, headers, _ = client.request("GET", path)
        assert status in (None, found)
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "http" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    assert client.request("GET", "/api/explorer", headers={"host": "evil.example"})[1]["content-security-policy"]


def test_sockets_that_ask_for_nonsense_are_told_so(client):
    for wish in ("{", json.dumps([]), json.dumps({"seed": -1}), json.dumps({"want": {"goals": []}})):
        with client.socket() as connection:
            connection.send(wish)
            assert json.loads(connection.recv(timeout=20))["type"] == "error"
    messages, _, code = client.play({}, graph=7)
    assert (messages[0]["type"], code) == ("error", 4000)
