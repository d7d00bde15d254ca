"""Fuzz everything that reads, for so many seconds, and count the inputs: `make fuzz SECONDS=300 SEED=1`."""

import argparse
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from fuzz_targets import TARGETS, tidy
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from vmg.base.files import write_json
from vmg.base.versions import versions

AT_ONCE = 50
QUICK = {
    "changed settings",
    "public functions with odd arguments",
    "observations of any shape and size",
    "tables of text",
}
"""Targets that open few files: four times as many inputs take no longer."""


def one_round(counts, name, number, inputs=AT_ONCE):
    """Try so many inputs, which the number decides."""
    patient = settings(
        max_examples=inputs, deadline=None, database=None, verbosity=Verbosity.quiet, print_blob=False,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
    )  # fmt: skip

    @seed(number)
    @patient
    @given(st.data())
    def try_one(data):
        counts[name] += 1
        TARGETS[name](data)

    try_one()


def fuzz(seconds, first_seed):
    """Go round the targets until the time is up; return the inputs of each, and what went wrong."""
    counts, failures, began, round_number = Counter(dict.fromkeys(TARGETS, 0)), [], time.monotonic(), 0
    broken = set()
    while time.monotonic() - began < seconds:
        for name in sorted(set(TARGETS) - broken):
            try:
                inputs = 4 * AT_ONCE if name in QUICK else AT_ONCE
                one_round(counts, name, 1_000_003 * first_seed + round_number, inputs)
            except Exception:
                failures.append(f"{name}:\n{traceback.format_exc()}")
                broken.add(name)
        round_number += 1
        if broken == set(TARGETS):
            break
    return counts, failures, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, required=True)
    options = parser.parse_args()
    try:
        counts, failures, took = fuzz(options.seconds, options.seed)
    finally:
        tidy()
    found = {"inputs in all": sum(counts.values()), **counts, "inputs not answered as they should be": len(failures)}
    content = {"command": "make fuzz", "seed": options.seed, "seconds": round(took, 1), "versions": versions()}
    write_json(options.json, {**content, "counts": found, "failures": len(failures)})
    print("\n\n".join(failures), *(f"{number:8,} {name}" for name, number in found.items()), sep="\n")  # noqa: T201
    return min(len(failures), 1)


if __name__ == "__main__":
    sys.exit(main())
