"""Serving the page: on a free port of this machine, or on others with a token; opens the browser."""

import secrets
import socket
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Timer
from typing import Any

from threadpoolctl import threadpool_limits

from vmg.base.errors import VMGError, require
from vmg.base.lazy import LazyModule
from vmg.runs import Run

app: Any = LazyModule("vmg.view.explorer.app")  # needs the extra `explore`

LOCALHOST = ("localhost", "127.0.0.1", "::1")
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
    uvicorn = require("uvicorn", "explore")
    require("starlette", "explore")
    require("websockets", "explore")
    listening = _listening(host, port)
    address = Address(host, listening.getsockname()[1], None if host in LOCALHOST else secrets.token_urlsafe(24))
    tell(f"The explorer is at {address.url}   (Ctrl-C ends it)")
    if address.token:
        tell(
            "Others can reach it with this address alone: whoever has the token can see the run and start simulations."
        )
    served = app.make_app(runs, names=_names(host), token=address.token)
    config = uvicorn.Config(
        served, log_level="warning", access_log=False, server_header=False, proxy_headers=False, ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE, timeout_graceful_shutdown=2,
    )  # fmt: skip
    if open_page:
        opening = Timer(0.5, webbrowser.open, (address.url,))
        opening.daemon = True
        opening.start()
    with threadpool_limits(1):  # as evaluation does: the same sums, the same episodes
        uvicorn.Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why there is none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise VMGError(
            f"Nothing can be served at {host}, port {port}: {error}. Choose another --port, or none for a free one."
        ) from error
    return listening


def _names(host: str) -> list[str]:
    """The names that lead here, where it is not this machine alone."""
    return [] if host in LOCALHOST else [host, socket.gethostname(), socket.getfqdn()]
