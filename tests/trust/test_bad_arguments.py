"""Every public function, one argument at a time odd: a sentence, or a legal value. Never another exception."""

import inspect
import signal
import warnings

import pytest
from odd_values import ODD
from public_calls import FOR_EXTENSIONS, MADE_FOR_USERS, calls, public

import vmg
from vmg.base.settings import Settings

SECONDS = 20


def is_settings(name):
    thing = public()[name.partition(".")[0]]
    return inspect.isclass(thing) and issubclass(thing, Settings)


def takes_arguments(name):
    return any(parameter != "self" for parameter in inspect.signature(public()[name]).parameters)


def test_every_public_function_has_a_call_here():
    left = {name for name in public() if name not in MADE_FOR_USERS | FOR_EXTENSIONS and takes_arguments(name)}
    left -= {name for name in left if is_settings(name) and not name.startswith("TaskGoal.")} | {"TaskGoal.from_dict"}
    assert left == set(calls())


@pytest.mark.parametrize("name", sorted(calls()))
def test_odd_arguments_are_refused_in_a_sentence_or_legal(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a text may be the name of a file
    call, wrong = calls()[name], []
    for parameter in call.good:
        for odd, value in ODD.items():
            legal = odd in call.legal.get(parameter, ())
            if legal and call.long:
                continue
            if (said := answer(call.function, {**call.good, parameter: value})) not in (
                "refused",
                "done" if legal else "",
            ):
                wrong.append(f"{parameter} = {odd}: {said}")
    assert not wrong, "\n".join(wrong)
    assert not list(tmp_path.iterdir()) or call.long


def answer(function, arguments):
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            function(**arguments)
    except vmg.VMGError as error:
        return "refused" if str(error).strip() else "an empty sentence"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    return "done"


def too_long(*_):
    raise TimeoutError(f"more than {SECONDS} seconds")
