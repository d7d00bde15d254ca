"""Ctrl-C that is heard wherever it comes: Python drops what is raised in destructors and while it collects garbage."""

import signal
import sys
from typing import Any

AGAIN = 0.01
"""Seconds after which an interrupt that was dropped comes again."""


def listen() -> None:
    """Hear interrupts from now on, unless whoever started this process wants them ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    heard = False

    def hear(number: int, frame: Any) -> None:
        nonlocal heard
        heard = True
        raise KeyboardInterrupt

    def dropped(found: Any) -> None:
        if isinstance(found.exc_value, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        elif not heard:  # what an interrupt has left half made may complain when it is thrown away
            sys.__unraisablehook__(found)

    signal.signal(signal.SIGINT, hear)
    signal.signal(signal.SIGALRM, hear)
    sys.unraisablehook = dropped
