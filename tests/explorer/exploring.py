"""The explorer's server in a thread, and a client of it, over real connections."""

import json
import threading
import time
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from vmg.view.explorer.frames import unframed
from vmg.view.explorer.serving import Address, listen, server


@contextmanager
def serving(runs, host="127.0.0.1", token=None):
    """Serve runs in a thread of this process; yields a client."""
    with closing(listen("127.0.0.1", 0)) as listening:
        served = server(runs, host, token)
        thread = threading.Thread(target=served.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not served.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield Client(Address("127.0.0.1", listening.getsockname()[1], token))
        finally:
            served.should_exit = True
            thread.join()


class Client:
    """Asks a server, one connection per request."""

    def __init__(self, address):
        self.address = address

    def request(self, method, path, body=None, headers=(), **options):
        """Return status, headers and body; header names are in lower case."""
        connection = HTTPConnection(self.address.host, self.address.port, timeout=60)
        try:
            connection.request(method, path, body, dict(headers), **options)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def get(self, path, status=200, **headers):
        """Return JSON, or facts and arrays, or bytes."""
        return _read(self.request("GET", path, headers=headers), status)

    def post(self, path, content, status=200, **headers):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return _read(self.request("POST", path, body, {"content-type": "application/json", **headers}), status)

    def plan(self, want, graph=0, status=200):
        return self.post(f"/api/graphs/{graph}/plans", {"want": want}, status)

    def socket(self, graph=0, **options):
        return connect(f"ws://{self.address.host}:{self.address.port}/api/graphs/{graph}/play", **options)

    def play(self, wish, graph=0):
        """Return all messages of an episode, its pictures, and how the connection was closed."""
        messages, pictures = [], []
        with self.socket(graph) as socket:
            with suppress(ConnectionClosed):  # of a graph that there is not; why is read below
                socket.send(json.dumps(wish))
            try:
                while True:
                    message = socket.recv(timeout=60)
                    (pictures if isinstance(message, bytes) else messages).append(message)
            except ConnectionClosed:
                return [json.loads(each) for each in messages], pictures, socket.close_code


def _read(answer, status):
    found, headers, body = answer
    assert found == status, (found, body[:500])
    if headers["content-type"] == "application/octet-stream":
        return unframed(body)
    return json.loads(body) if headers["content-type"] == "application/json" else body
