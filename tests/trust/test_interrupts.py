"""Ctrl-C is heard wherever it comes, also where Python drops what is raised."""

import subprocess
import sys

import pytest

MOMENTS = {
    "in a destructor": "class Thing:\n    def __del__(self):\n        signal.raise_signal(signal.SIGINT)\n\nThing()",
    "while garbage is collected": "gc.callbacks.append(lambda *_: signal.raise_signal(signal.SIGINT))\ngc.collect()",
    "anywhere": "signal.raise_signal(signal.SIGINT)",
}
SCRIPT = """
import gc, signal, sys, time
import vmg.__main__ as program

def run(arguments=None):
{moment}
    gc.callbacks.clear()
    for _ in range(500):
        time.sleep(0.01)
    return 0

program.cli = type("Commands", (), {{"main": staticmethod(run)}})
sys.argv = ["vmg", "build", "run"]
sys.exit(program.main())
"""


def ran(moment: str) -> subprocess.CompletedProcess[str]:
    body = "\n".join(f"    {line}" for line in moment.splitlines())
    script = SCRIPT.format(moment=body)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupt_ends_the_command_in_one_sentence(moment):
    ended = ran(MOMENTS[moment])
    assert (ended.returncode, ended.stderr) == (130, "Interrupted. Call the same command again to go on.\n")


def test_what_an_interrupt_left_half_made_says_nothing():
    half = (
        "class Half:\n    def __del__(self):\n        self.owned\n\nheld = Half()\nsignal.raise_signal(signal.SIGINT)"
    )
    ended = ran(half)
    assert (ended.returncode, ended.stderr) == (130, "Interrupted. Call the same command again to go on.\n")


def test_an_error_in_a_destructor_is_told_where_nobody_interrupted():
    half = "class Half:\n    def __del__(self):\n        self.owned\n\nHalf()\nreturn 0"
    ended = ran(half)
    assert ended.returncode == 0
    assert "has no attribute 'owned'" in ended.stderr


def test_a_process_that_ignores_interrupts_goes_on_ignoring_them():
    script = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + SCRIPT.format(
        moment="    signal.raise_signal(signal.SIGINT)\n    return 0"
    )
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0
