"""The explorer's page in a real browser, with a hand on its mouse."""

import time

from browser import Browser

READY = "document.getElementById('loading').hidden && explorer.pane.renderer.vertices.settled"
PLACE = """(() => {{
    const box = explorer.pane.element.getBoundingClientRect(), [x, y] = explorer.pane.camera.toScreen({place});
    return [box.left + x, box.top + y];
}})()"""


class Page(Browser):
    """One tab with the explorer in it."""

    def explore(self, url, *, width, dark=False):
        self.visit("about:blank", width=width, dark=dark)  # so that a new part after the # loads the page anew
        self.visit(url, width=width, dark=dark)
        self.until("Boolean(window.explorer?.pane)")
        self.until(READY, 120)

    def until(self, expression, seconds=60.0):
        """Wait until an expression is true, and return what it is."""
        end = time.monotonic() + seconds
        while not (found := self._now(expression)):
            assert time.monotonic() < end, f"{expression} did not come true; the page says {self.said()!r}"
            time.sleep(0.03)
        return found

    def _now(self, expression):
        """What an expression is; None while the page is being left for another."""
        try:
            return self.evaluate(expression)
        except AssertionError as error:
            if "navigated or closed" not in str(error):
                raise
            return None

    def appears(self, selector, seconds=60.0):
        self.until(f"document.querySelector('{selector}') !== null", seconds)

    def said(self):
        """What the page complains about to its user."""
        return self.evaluate(
            "document.getElementById('error').hidden ? '' : document.getElementById('error').innerText"
        )

    def text(self, selector):
        return self.evaluate(f"document.querySelector('{selector}')?.innerText ?? ''")

    def press(self, selector):
        """Click the middle of an element, as a person does."""
        box = f"document.querySelector('{selector}')"
        self.evaluate(f"{box}.scrollIntoView({{block: 'center'}})")
        x, y = self.evaluate(f"(r => [r.left + r.width / 2, r.top + r.height / 2])({box}.getBoundingClientRect())")
        self.click(x, y)

    def at_vertex(self, vertex):
        """Where a vertex is on the screen."""
        self.evaluate("document.getElementById('stage').scrollIntoView({block: 'center'})")
        return self.evaluate(PLACE.format(place=f"...explorer.pane.place({vertex})"))

    def at_place(self, x, y):
        """Where a place of the layout is on the screen."""
        self.evaluate("document.getElementById('stage').scrollIntoView({block: 'center'})")
        return self.evaluate(PLACE.format(place=f"{x}, {y}"))

    def click(self, x, y):
        self.drag([(x, y)])

    def drag(self, places):
        """Press the mouse at the first place, go to the others, and let go."""
        self._mouse("mouseMoved", places[0], 0)
        self._mouse("mousePressed", places[0], 1)
        for place in places[1:]:
            self._mouse("mouseMoved", place, 1)
        self._mouse("mouseReleased", places[-1], 0)

    def _mouse(self, kind, place, buttons):
        x, y = place
        click = {} if kind == "mouseMoved" else {"clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, **click)
