"""Jobs on the machines of a Ray cluster. Each worker is an actor that asks for the cores and GPUs its work needs.

A worker that dies, alone or with its machine, is replaced as soon as there is room, and its job is done again: what a
job gives depends on the job alone. A worker that hangs is waited for: Ray tells only of those that die.
"""

import logging
import os
import socket
import sys
import traceback
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, redirect_stdout, suppress
from types import ModuleType
from typing import Any

from vmg.base.console import say
from vmg.base.errors import VMGError, require
from vmg.base.registry import VARIABLE
from vmg.base.versions import package_version
from vmg.evaluation.executors.base import EXECUTORS, Work

TRIES = 3
"""Workers that may die on one job, or one after the other before they have begun."""
PATIENCE = 60.0
"""Seconds without any worker after which is said what is waited for."""
CLOSING = 10.0
"""Seconds that a worker may take to close what it opened."""
RAY = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is told to anybody
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # as it will be in later versions, so that Ray need not warn of it
    "RAY_DEDUP_LOGS": "0",  # what it has to say comes at once
    "RAY_agent_register_timeout_ms": "120000",  # Ray's 15 s are short for a machine that is busy
    "RAY_raylet_start_wait_time_s": "120",  # and so are its 30
}
"""How Ray is told to be, where nobody has told it."""
CARRIED = (VARIABLE, "MINARI_DATASETS_PATH", "MUJOCO_GL", "JAX_PLATFORMS", "XLA_FLAGS")
"""Variables of the environment that a worker needs as they are here."""


@EXECUTORS.register("ray")
def run_on_ray(work: Work, jobs: Sequence[Any], workers: int | None, address: str | None = None) -> Iterator[Any]:
    """Do the jobs on a cluster: at an address `ray://HOST`, or the one that this machine belongs to, or a new one here.

    Without a number of workers there are as many as the cluster has room for now.
    """
    crew = _Crew(_connected(address), work, jobs)
    try:
        yield from crew.results(workers)
    finally:
        crew.kill()


def cluster_gpus(address: str | None = None) -> int:
    """Return how many GPUs a cluster has."""
    return int(_connected(address).cluster_resources().get("GPU", 0))


def _connected(address: str | None) -> ModuleType:
    """Connect to the cluster, unless this process is connected already."""
    for name, value in RAY.items():
        os.environ.setdefault(name, value)
    ray = require("ray", "ray")
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            where = address or os.environ.get("RAY_ADDRESS") or "this machine"
            alone = "--on ray alone uses this machine" if address else "after `ray stop` a new one is started here"
            raise VMGError(
                f"There is no Ray cluster to connect to at {where} ({_last_line(error)}). Start one with `ray start "
                f"--head`, and name it from elsewhere, --on ray://HOST:10001; {alone}."
            ) from error
    return ray


class _Hand:
    """A worker, in a process somewhere in the cluster."""

    def open(self, version: str, environment: dict[str, str], path: list[str], work: bytes) -> None:
        """Open the work, with the modules and extensions that are found where it comes from."""
        if (own := package_version()) != version:
            raise VMGError(
                f"The machine {socket.gethostname()} of the cluster has version {own} of this package, and this one "
                f"has {version}: install the same on both."
            )
        os.environ.update(environment)
        sys.path.extend(place for place in path if place not in sys.path)
        self._opened = ExitStack()
        self._do = self._opened.enter_context(require("ray.cloudpickle", "ray").loads(work).open())

    def do(self, job: Any) -> Any:
        try:
            return self._do(job)
        except Exception as error:
            error.add_note(f"It was raised by a worker on {socket.gethostname()}:\n{traceback.format_exc()}")
            raise

    def close(self) -> None:
        self._opened.close()


class _Crew:
    """Workers, what each was asked last, and the jobs that nobody has begun."""

    def __init__(self, ray: ModuleType, work: Work, jobs: Sequence[Any]) -> None:
        self._ray, self._jobs = ray, jobs
        self._open = deque(range(len(jobs)))
        self._asked: dict[Any, tuple[Any, int | None]] = {}
        self._hands: list[Any] = []
        self._ended_on: Counter[int] = Counter()
        self._ended_early = 0
        self._needs = {"num_cpus": getattr(work, "cores", 1), "num_gpus": getattr(work, "gpus", 0)}
        self._work = ray.put(require("ray.cloudpickle", "ray").dumps(work))

    def results(self, workers: int | None) -> Iterator[Any]:
        """Yield what each job gives, as they end."""
        for _ in range(min(workers or self._room(), len(self._jobs))):
            self._hire()
        missing = len(self._jobs)
        while missing:
            for asked in self._ended():
                hand, job = self._asked.pop(asked)
                try:
                    content = self._ray.get(asked)
                except self._ray.exceptions.RayTaskError as error:
                    raise _cause(error) from None
                except self._ray.exceptions.RayError as error:
                    self._replace(hand, job, error)
                    continue
                self._give_job(hand)
                if job is None:
                    self._ended_early = 0
                else:
                    missing -= 1
                    yield content

    def kill(self) -> None:
        """End all workers."""
        for hand in self._hands:
            self._end(hand)
        self._hands.clear()

    def _end(self, hand: Any) -> None:
        with suppress(self._ray.exceptions.RayError, RuntimeError):  # it, or the cluster, is gone already
            self._ray.kill(hand)

    def _room(self) -> int:
        """Workers that the cluster has room for, if nobody else uses it."""
        whole = self._ray.cluster_resources()
        kinds = (("CPU", self._needs["num_cpus"]), ("GPU", self._needs["num_gpus"]))
        return max(1, min(int(whole.get(kind, 0) // needed) for kind, needed in kinds if needed))

    def _ended(self) -> list[Any]:
        with redirect_stdout(sys.stderr):  # Ray has its own remarks, and standard output is for results
            ended, _ = self._ray.wait(list(self._asked), timeout=PATIENCE)
        if not ended and all(job is None for _, job in self._asked.values()):
            say("Waiting for the cluster: no machine has room for a worker yet, or it takes long to begin.")
        return list(ended)

    def _hire(self) -> None:
        hand = self._ray.remote(**self._needs)(_Hand).remote()
        self._hands.append(hand)
        environment = {name: os.environ[name] for name in CARRIED if name in os.environ}
        self._asked[hand.open.remote(package_version(), environment, sys.path, self._work)] = hand, None

    def _give_job(self, hand: Any) -> None:
        """Give a worker another job; one that has nothing left to do ends, which makes room for others."""
        if self._open:
            job = self._open.popleft()
            self._asked[hand.do.remote(self._jobs[job])] = hand, job
        else:
            self._ray.wait([hand.close.remote()], timeout=CLOSING)
            self._hands.remove(hand)
            self._end(hand)

    def _replace(self, hand: Any, job: int | None, error: Exception) -> None:
        self._hands.remove(hand)
        self._end(hand)
        if job is None:
            self._ended_early += 1
            if self._ended_early >= TRIES:
                raise VMGError(
                    f"The workers of the cluster could not begin: {_first_line(error)} Install version "
                    f"{package_version()} of this package on every machine, or stay on this one: --on processes."
                )
        else:
            self._ended_on[job] += 1
            name = _name(self._jobs[job])
            if self._ended_on[job] >= TRIES:
                raise VMGError(
                    f"The worker of the cluster that did {name} died: {_first_line(error)} It was the last of {TRIES} "
                    "that tried. Do it on this machine to see why: --on here."
                )
            say(f"A worker of the cluster died: {name} is done again.")
            self._open.appendleft(job)
        if self._open:
            self._hire()


def _name(job: Any) -> str:
    return getattr(job, "name", f"the episode of seed {job}")


def _first_line(error: Exception) -> str:
    return f"{str(error).strip().splitlines()[0].rstrip('.')}."


def _last_line(error: Exception) -> str:
    """What Ray passes on from another process ends with the reason."""
    return str(error).strip().splitlines()[-1].rstrip(".")


def _cause(error: Any) -> BaseException:
    """Return what was raised by the worker, as it was."""
    return error.cause if isinstance(error.cause, BaseException) else RuntimeError(str(error))
