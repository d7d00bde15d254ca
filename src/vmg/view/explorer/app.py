"""The endpoints. Each is a few lines over what the other modules do; `docs/explorer-api.md` lists them."""

import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from vmg.base.errors import VMGError
from vmg.base.versions import package_version
from vmg.runs import Run
from vmg.view.explorer import graphs, replays, ways
from vmg.view.explorer.frames import as_json, framed
from vmg.view.explorer.graphs import Explored
from vmg.view.explorer.guarding import Guard
from vmg.view.explorer.live import play_socket
from vmg.view.explorer.pictures import Studio, can_be_drawn, why_no_pictures
from vmg.view.explorer.plans import KEPT, Planned, Plans, Shelf, answer
from vmg.view.explorer.playing import LONGEST, run_again
from vmg.view.explorer.problems import BusyError, UnknownError, status_of
from vmg.view.explorer.searching import search
from vmg.view.explorer.vertices import vertex_facts
from vmg.view.explorer.wants import request_of

STATIC = Path(__file__).parent / "static"
BODY = 4 * 2**20
"""Bytes that a request may bring."""
SIMULATIONS = 2
"""Simulations at once."""
REPLAYS = 16
"""Episodes that were run again and are kept."""

Found = TypeVar("Found")


def make_app(runs: Sequence[Run], *, names: Sequence[str] = (), token: str | None = None) -> Starlette:
    """Return the server of these runs; `names` are those it answers for besides localhost, with the token."""
    explorer = Explorer(graphs.explored(list(runs)))
    graph = "/api/graphs/{graph}"
    routes = [
        Route("/", explorer.page),
        Route("/api/explorer", explorer.overview),
        Route(graph, explorer.graph),
        Route(f"{graph}/layouts/{{name}}", explorer.layout),
        Route(f"{graph}/arrays/{{name}}", explorer.array),
        Route(f"{graph}/edges", explorer.edges),
        Route(f"{graph}/search", explorer.search),
        Route(f"{graph}/vertices/{{vertex}}", explorer.vertex),
        Route(f"{graph}/vertices/{{vertex}}/picture", explorer.picture),
        Route(f"{graph}/plans", explorer.make_plan, methods=["POST"]),
        Route(f"{graph}/plans/{{plan}}", explorer.plan),
        Route(f"{graph}/ways", explorer.way, methods=["POST"]),
        Route(f"{graph}/episodes", explorer.episodes),
        Route(f"{graph}/episodes/recorded/{{episode}}", explorer.recorded),
        Route(f"{graph}/episodes/evaluated/{{seed}}", explorer.evaluated),
        WebSocketRoute(f"{graph}/play", explorer.play),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, names=names, token=token)],
        exception_handlers={VMGError: _said, HTTPException: _said_plainly, Exception: _failed},
        lifespan=explorer.open,
    )


class Explorer:
    """All that requests share: the graphs, the plans that are kept, and how much may go on at once."""

    def __init__(self, shown: list[Explored]) -> None:
        self.shown, self.plans, self.studio = shown, Plans(), Studio()
        self.watched: Shelf[Any] = Shelf(REPLAYS)
        self._version = package_version()  # takes a tenth of a second to find

    @asynccontextmanager
    async def open(self, _: Starlette) -> AsyncIterator[None]:
        """Allow as much planning at once as there are cores, and a few simulations."""
        self._planning = CapacityLimiter(max(2, os.cpu_count() or 1))
        self._drawing = CapacityLimiter(SIMULATIONS)
        self.simulations = CapacityLimiter(SIMULATIONS)
        try:
            yield
        finally:
            self.studio.close()

    # --- what there is ------------------------------------------------------------------------------------------------

    async def page(self, _: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def overview(self, _: Request) -> Response:
        limits = {"plans": KEPT, "simulations": SIMULATIONS, "body": BODY, "play_seconds": LONGEST}
        listed = [each.listed for each in self.shown]
        return _json({"version": self._version, "graphs": listed, "limits": limits})

    async def graph(self, request: Request) -> Response:
        shown = self.find(request.path_params["graph"])
        return _json(await self.work(lambda: {**graphs.facts(shown), "play": _play_facts(shown)}))

    async def layout(self, request: Request) -> Response:
        shown, name = self.find(request.path_params["graph"]), request.path_params["name"]
        return _framed(await self.work(partial(_layout, shown, name)))

    async def array(self, request: Request) -> Response:
        shown, name = self.find(request.path_params["graph"]), request.path_params["name"]
        return _framed(await self.work(lambda: framed({"name": name}, {"values": shown.array(name)})))

    async def edges(self, request: Request) -> Response:
        shown = self.find(request.path_params["graph"])
        return _framed(await self.work(partial(_edges, shown)))

    async def search(self, request: Request) -> Response:
        shown, text = self.find(request.path_params["graph"]), request.query_params.get("text", "")
        return _json(await self.work(partial(search, shown, text)))

    # --- a vertex -----------------------------------------------------------------------------------------------------

    async def vertex(self, request: Request) -> Response:
        shown, name = self.find(request.path_params["graph"]), request.query_params.get("plan")
        number = _whole(request.path_params["vertex"], "vertex")

        def find() -> dict[str, Any]:
            vertex = shown.checked(number)
            planned = self.plans.find(shown, name) if name else None
            return {**vertex_facts(shown, vertex, planned), "picture": can_be_drawn(shown)}

        return _json(await self.work(find))

    async def picture(self, request: Request) -> Response:
        shown, number = self.find(request.path_params["graph"]), _whole(request.path_params["vertex"], "vertex")

        def draw() -> bytes:
            return self.studio.picture(shown, shown.checked(number))

        return Response(await to_thread.run_sync(draw, limiter=self._drawing), media_type="image/png")

    # --- plans --------------------------------------------------------------------------------------------------------

    async def make_plan(self, request: Request) -> Response:
        began, shown = time.perf_counter(), self.find(request.path_params["graph"])
        content, stage = await _body(request), _stage(request)

        def plan() -> bytes:
            planned, cached = self.plans.get(shown, request_of(content.get("want"), shown.seed))
            return answer(planned, stage, began=began, cached=cached)

        return _framed(await self.work(plan))

    async def plan(self, request: Request) -> Response:
        began, shown = time.perf_counter(), self.find(request.path_params["graph"])
        name, stage = request.path_params["plan"], _stage(request)
        return _framed(await self.work(lambda: answer(self.plans.find(shown, name), stage, began=began, cached=True)))

    async def way(self, request: Request) -> Response:
        shown, content = self.find(request.path_params["graph"]), await _body(request)
        place = content.get("from")
        if isinstance(place, dict) and "start" in place:
            seed = _whole(str(place["start"]), "start")
            state, label = await self.simulate(partial(ways.start_of, shown, seed))
        else:
            state, label = await self.work(partial(ways.state_from, shown, place))
        return _json(await self.work(lambda: ways.way(self._planned(shown, content), state, label)))

    def _planned(self, shown: Explored, content: dict[str, Any]) -> Planned:
        if content.get("plan") is not None:
            return self.plans.find(shown, str(content["plan"]))
        return self.plans.get(shown, request_of(content.get("want"), shown.seed))[0]

    # --- episodes -----------------------------------------------------------------------------------------------------

    async def episodes(self, request: Request) -> Response:
        shown, asked = self.find(request.path_params["graph"]), request.query_params
        offset, limit = _whole(asked.get("offset", "0"), "offset"), _whole(asked.get("limit", "100"), "limit")
        kind = asked.get("kind", "recorded")
        return _json(await self.work(partial(replays.listed, shown, kind, offset, min(limit, replays.MOST))))

    async def recorded(self, request: Request) -> Response:
        shown, number = self.find(request.path_params["graph"]), _whole(request.path_params["episode"], "episode")
        return _framed(await self.work(lambda: replays.recorded(shown, shown.checked_episode(number))))

    async def evaluated(self, request: Request) -> Response:
        shown, seed = self.find(request.path_params["graph"]), _whole(request.path_params["seed"], "seed")

        def watch() -> bytes:
            episode, _ = self.watched.get((shown.number, seed), lambda: run_again(shown, seed, self.plans))
            return replays.replayed(shown, episode)

        return _framed(await self.simulate(watch))

    async def play(self, websocket: Any) -> None:
        await play_socket(self, websocket)

    # --- how it is done -----------------------------------------------------------------------------------------------

    def find(self, graph: str) -> Explored:
        """Return a graph by its number."""
        number = _whole(graph, "graph")
        if number >= len(self.shown):
            raise UnknownError(f"There is no graph {number}: there are 0 to {len(self.shown) - 1}.")
        return self.shown[number]

    async def work(self, do: Callable[[], Found]) -> Found:
        """Do something in a thread, when it is its turn."""
        return await to_thread.run_sync(do, limiter=self._planning)

    async def simulate(self, do: Callable[[], Found]) -> Found:
        """Do something with a simulator in a thread, or say that there are too many at once."""
        with self.simulation():
            return await to_thread.run_sync(do, limiter=self._drawing)

    @contextmanager
    def simulation(self) -> Iterator[None]:
        """Count as a simulation while the block runs, or say that there are too many at once."""
        one = object()
        try:
            self.simulations.acquire_on_behalf_of_nowait(one)
        except anyio.WouldBlock as error:
            raise BusyError(
                f"{SIMULATIONS} simulations are running, as many as are allowed at once: stop one, or wait."
            ) from error
        try:
            yield
        finally:
            self.simulations.release_on_behalf_of(one)


def _play_facts(shown: Explored) -> dict[str, Any]:
    why = "" if shown.task else f"There is no simulator to play in. {shown.why_no_task}"
    missing = why_no_pictures(shown)
    return {"possible": not why, "why": why, "pictures": not missing, "why_no_pictures": missing}


def _layout(shown: Explored, name: str) -> bytes:
    layout = shown.layout(name)
    columns, names = layout.columns, shown.columns
    x, y = (names[column] for column in columns) if columns else ("", "")
    facts = {"name": name, "title": layout.title, "note": layout.note, "x": x, "y": y}
    return framed(facts, {"x": layout.points[:, 0], "y": layout.points[:, 1]})


def _edges(shown: Explored) -> bytes:
    graph = shown.graph
    return framed({}, {"tails": graph.tails, "heads": graph.heads, "counts": graph.counts[: graph.n_edges]})


async def _body(request: Request) -> dict[str, Any]:
    """Read a request's JSON, or say what is wrong with it before all of it has come."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "Requests bring JSON: send it with the content type application/json.")
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > BODY:
            sentence = f"A request may bring {BODY:,} bytes, and this one brings more."
            raise HTTPException(413, sentence, {"connection": "close"})  # or the rest of it would be read
    try:
        read = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"This is no JSON: {str(error)[:200]}.") from error
    if not isinstance(read, dict):
        raise HTTPException(400, "A request is a JSON object, {...}.")
    return read


def _stage(request: Request) -> int:
    return _whole(request.query_params.get("stage", "0"), "stage")


def _whole(text: str, name: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise UnknownError(f"A {name} is a whole number from 0 on, not {text!r:.40}.")
    return int(text)


def _json(content: Any, status: int = 200) -> Response:
    return Response(as_json(content), status, media_type="application/json")


def _framed(content: bytes) -> Response:
    return Response(content, media_type="application/octet-stream")


async def _said(_: Request, error: Exception) -> Response:
    assert isinstance(error, VMGError)
    return _json({"error": str(error)}, status_of(error))


async def _said_plainly(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = {404: "There is nothing at this address.", 405: "This address takes other requests."}
    answer = _json({"error": sentence.get(error.status_code, error.detail)}, error.status_code)
    answer.headers.update(error.headers or {})
    return answer


async def _failed(_: Request, error: Exception) -> Response:
    return _json({"error": f"The server failed: {type(error).__name__}. What it prints says more."}, 500)
