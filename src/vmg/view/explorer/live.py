"""A page that looks on while an episode is played: a WebSocket here, a thread with the simulator there."""

import json
from collections.abc import Callable
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING, Any

import anyio
from anyio import CapacityLimiter, from_thread, to_thread
from anyio.abc import ObjectReceiveStream
from starlette.websockets import WebSocket, WebSocketDisconnect

from vmg.base.errors import VMGError
from vmg.view.explorer.frames import as_json
from vmg.view.explorer.playing import Play, read_wish
from vmg.view.explorer.problems import status_of

if TYPE_CHECKING:
    from vmg.view.explorer.app import Explorer

BUFFER = 64
"""Messages that wait for a slow page; then the simulation waits, too."""
ENOUGH = 8
"""With so many messages waiting, pictures are left out."""
PATIENCE = 10.0
"""Seconds within which a page says what it wants to see."""
CODES = {429: 4029, 409: 4009}
"""Why a connection is closed."""

Message = dict[str, Any] | bytes


async def play_socket(explorer: "Explorer", socket: WebSocket) -> None:
    """Play one episode for one page, or say in a sentence why not."""
    await socket.accept()
    try:
        shown = explorer.find(socket.path_params["graph"])
        with anyio.fail_after(PATIENCE):
            wish = read_wish(_read(await socket.receive_text()), shown.seed)
        with explorer.simulation():
            await _played(socket, lambda send, stop: Play(shown, wish, explorer.plans, send, stop).run())
    except VMGError as error:
        await _close(socket, str(error), CODES.get(status_of(error), 4000))
    except TimeoutError:
        await _close(socket, "Nothing was asked for: say what to play.", 4000)
    except WebSocketDisconnect:
        return


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise VMGError(f"This is no JSON: {str(error)[:200]}.") from error


async def _played(socket: WebSocket, run: Callable[[Callable[[Message], None], Event], Any]) -> None:
    """Run an episode in a thread; it stops when the page says so or goes away."""
    stop, gone, failed = Event(), Event(), list[VMGError]()
    sending, receiving = anyio.create_memory_object_stream[Message](BUFFER)

    def send(message: Message) -> None:
        if gone.is_set() or (isinstance(message, bytes) and sending.statistics().current_buffer_used >= ENOUGH):
            return
        try:
            from_thread.run(sending.send, message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            stop.set()

    def play() -> None:
        try:
            run(send, stop)
        except VMGError as error:
            failed.append(error)

    async with anyio.create_task_group() as listening:
        listening.start_soon(_listen, socket, stop, gone)
        async with anyio.create_task_group() as forwarding:
            forwarding.start_soon(_forward, receiving, socket, stop, gone)
            async with sending:
                await to_thread.run_sync(play, limiter=CapacityLimiter(1))
        listening.cancel_scope.cancel()
    if failed:
        raise failed[0]
    await _close(socket, None, 1000)


async def _listen(socket: WebSocket, stop: Event, gone: Event) -> None:
    """Stop when the page says so, or goes away."""
    try:
        while True:
            said = _read(await socket.receive_text())
            if isinstance(said, dict) and said.get("stop"):
                stop.set()
    except WebSocketDisconnect:
        gone.set()
    except VMGError:
        stop.set()
    finally:
        if gone.is_set():
            stop.set()


async def _forward(receiving: ObjectReceiveStream[Message], socket: WebSocket, stop: Event, gone: Event) -> None:
    """Send what happens to the page, until it is gone."""
    async with receiving:
        try:
            async for message in receiving:
                await _send(socket, message)
        except (WebSocketDisconnect, RuntimeError):  # what is sent to a closed connection
            gone.set()
            stop.set()


async def _send(socket: WebSocket, message: Message) -> None:
    if isinstance(message, bytes):
        await socket.send_bytes(message)
    else:
        await socket.send_text(as_json(message).decode())


async def _close(socket: WebSocket, sentence: str | None, code: int) -> None:
    """Say why, if there is something to say, and close; a page that is gone is told nothing."""
    with suppress(WebSocketDisconnect, RuntimeError):
        if sentence is not None:
            await _send(socket, {"type": "error", "error": sentence})
        await socket.close(code)
