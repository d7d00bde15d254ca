"""A real browser, spoken to over a pipe in its own DevTools protocol: no driver to install."""

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One headless Chromium with one page. What the page says, asks the network for or fails at is noted."""

    def __init__(self, profile: Path) -> None:
        their_end_in, self._out = os.pipe()
        self._in, their_end_out = os.pipe()
        options = f"--headless=new --no-sandbox --disable-gpu --remote-debugging-pipe --user-data-dir={profile}"
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "{CHROMIUM}" {options} about:blank 3<&{their_end_in} 4>&{their_end_out}'],
            pass_fds=(their_end_in, their_end_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_end_in)
        os.close(their_end_out)
        self._buffer, self._number, self._session = b"", 0, None
        self.events = []
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Send a command and return its result; events that arrive meanwhile are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def of_browser(self, method, **parameters):
        """Send a command to the browser itself, not to its page."""
        page, self._session = self._session, None
        try:
            return self.call(method, **parameters)
        finally:
            self._session = page

    def open(self, file: Path, *, width: int, dark: bool = False):
        """Show a file as wide as a device, and wait until it is there."""
        self.visit(file.resolve().as_uri(), width=width, dark=dark)

    def visit(self, url: str, *, width: int, dark: bool = False):
        """Show what is at an address as wide as a device, and wait until it is there."""
        self.events.clear()
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def evaluate(self, expression):
        """Return what a JavaScript expression, or the promise it makes, comes to."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def complaints(self):
        """Errors and warnings of the page: exceptions, the console, the browser's log, requests that failed.

        That graphics are drawn by the processor here is no fault of the page.
        """
        bad = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Network.loadingFailed")
        found = [event for event in self.events if event.get("method") in bad]
        return [event for event in found if event["params"].get("entry", {}).get("source") != "rendering"]

    def requests(self):
        """Everything the page asked for, inline data aside."""
        sent = [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]
        return [url for url in sent if not url.startswith("data:")]

    def screenshot(self, file: Path, *, whole: bool = True):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self._process.terminate()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def _read(self):
        while b"\0" not in self._buffer:
            arrived = os.read(self._in, 1 << 20)
            assert arrived, "the browser is gone"
            self._buffer += arrived
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)
