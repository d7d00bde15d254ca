"""Who may ask: requests to this machine's own names, from the page itself and, beyond this machine, with the token."""

import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs

from vmg.view.explorer.frames import as_json

COOKIE = "vmg-explorer"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
LOCAL = ("localhost", "127.0.0.1", "[::1]")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Refuses what does not come from the page, before anything else looks at it; adds headers to what is answered."""

    def __init__(self, app: App, *, names: Iterable[str] = (), token: str | None = None) -> None:
        self._app, self._token = app, token
        self._names = {*LOCAL, *(name.lower() for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(scope, headers)
        if refused is None:
            await self._app(scope, receive, _with_headers(send, self._cookie(scope)))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refused[:100]})
        else:
            await _refuse(_with_headers(send, None), refused)

    def _refused(self, scope: Scope, headers: dict[str, str]) -> str | None:
        """Why a request is refused; None where it is not."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._knows(_name_of(host)):
            return f"This server does not answer for the name {host!r:.80}: open the address that `vmg explore` says."
        asks_for_more = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if asks_for_more and origin is not None and origin.partition("://")[2] != host:
            return f"The page {origin!r:.80} is another one than this server's: it may not ask here."
        if self._token and not self._has_token(scope, headers):
            return "The token is missing or wrong: open the whole address that `vmg explore` says."
        return None

    def _knows(self, name: str) -> bool:
        """Names that lead here; with a token, any address in numbers, which no foreign name can stand for."""
        return name in self._names or (self._token is not None and _is_address(name))

    def _has_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        return any(map(self._is_token, [*_asked_token(scope), _cookie(headers)]))

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), str(self._token).encode())

    def _cookie(self, scope: Scope) -> str | None:
        """The cookie for a page that was opened with the token in its address."""
        if not self._token or not any(map(self._is_token, _asked_token(scope))):
            return None
        return f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/"


def _with_headers(send: Send, cookie: str | None) -> Send:
    """Send with the headers that every answer has."""
    added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    if cookie:
        added.append((b"set-cookie", cookie.encode()))

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *added]
        await send(message)

    return sending


async def _refuse(send: Send, sentence: str) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": as_json({"error": sentence})})


def _name_of(host: str) -> str:
    """A host's name without its port."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _asked_token(scope: Scope) -> list[str]:
    return parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])


def _cookie(headers: dict[str, str]) -> str:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return cookie.value if cookie else ""
