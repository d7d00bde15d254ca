"""Serving the page: on a free port of this machine, or on others with a token; opens the browser."""

import secrets
import socket
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from threading import Timer
from typing import Any

from threadpoolctl import threadpool_limits

from vmg.base.errors import VMGError, require
from vmg.base.lazy import LazyModule
from vmg.runs import Run

app: Any = LazyModule("vmg.view.explorer.app")  # needs the extra `explore`

LOCALHOST = ("localhost", "127.0.0.1", "::1")
BACKLOG = 512
LARGEST_MESSAGE = 2**20
"""Bytes that a page may send over a WebSocket at once."""


@dataclass(frozen=True)
class Address:
    """Where the page is served, and the token it takes there; None on this machine alone."""

    host: str
    port: int
    token: str | None = None

    @property
    def url(self) -> str:
        name = self.host if self.host not in ("0.0.0.0", "::") else socket.gethostname()
        name = f"[{name}]" if ":" in name else name
        return f"http://{name}:{self.port}/" + (f"?token={self.token}" if self.token else "")


def serve(runs: Sequence[Run], *, host: str, port: int, open_page: bool, tell: Callable[[str], None]) -> None:
    """Serve runs until interrupted."""
    for module in ("starlette", "uvicorn", "websockets"):
        require(module, "explore")
    with closing(listen(host, port)) as listening:
        token = None if host in LOCALHOST else secrets.token_urlsafe(24)
        address = Address(host, listening.getsockname()[1], token)
        tell(f"The explorer is at {address.url}   (Ctrl-C ends it)")
        if token:
            tell("Whoever has this address, with its token, can see the runs and start simulations.")
        if open_page:
            opening = Timer(0.5, webbrowser.open, (address.url,))
            opening.daemon = True
            opening.start()
        with threadpool_limits(1):  # as evaluation does: the same sums, the same episodes
            server(runs, host, token).run(sockets=[listening])


def server(runs: Sequence[Run], host: str, token: str | None) -> Any:
    """Return what answers requests, uvicorn's server, before it runs."""
    uvicorn = require("uvicorn", "explore")
    config = uvicorn.Config(
        app.make_app(runs, names=_names(host), token=token), log_level="warning", access_log=False,
        server_header=False, proxy_headers=False, ws="websockets-sansio", ws_max_size=LARGEST_MESSAGE,
        timeout_graceful_shutdown=2,
    )  # fmt: skip
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why there is none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once only through what is said to be TCP; else a small answer waits 40 ms for its own head
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)  # who comes before anything is loaded waits
    except (OSError, OverflowError) as error:
        listening.close()
        raise VMGError(
            f"Nothing can be served at {host}, port {port}: {error}. Choose another --port, or none for a free one."
        ) from error
    return listening


def _names(host: str) -> list[str]:
    """The names that lead here, where it is not this machine alone."""
    return [] if host in LOCALHOST else [host, socket.gethostname(), socket.getfqdn()]
