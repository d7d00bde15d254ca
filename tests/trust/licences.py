"""Under which licences the package's dependencies stand, by what is installed of them.

python tests/trust/licences.py --json results/trust/licences.json
"""

import argparse
import json
import re
from collections import Counter
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGE = "value-memory-graph"
EXTRAS = ("envs", "view", "tables", "logs", "explore", "ray", "sweep")
"""What people install; the tools of development and the peers of benchmarks are not handed on."""
ALLOWED = {
    "0BSD", "Apache-2.0", "BSD", "BSL-1.0", "CC0-1.0", "HPND", "ISC", "MIT", "MIT-CMU", "MPL-2.0", "PSF-2.0",
    "Unlicense", "Zlib",
}  # fmt: skip
WORDS = {
    "apache": "Apache-2.0", "bsd": "BSD", "mit": "MIT", "mozilla": "MPL-2.0", "mpl": "MPL-2.0", "psf": "PSF-2.0",
    "python software foundation": "PSF-2.0", "isc": "ISC", "hpnd": "HPND", "unlicense": "Unlicense", "zlib": "Zlib",
}  # fmt: skip


def dependencies(name=PACKAGE, extras=EXTRAS, seen=None):
    """Every installed package that this one brings along."""
    seen = set() if seen is None else seen
    for found, own in required(name, extras):
        if found not in seen and found != PACKAGE and is_installed(found):  # some are for other systems
            seen |= {found} | dependencies(found, own, seen | {found})
    return seen


def required(name, extras):
    """What a package requires directly with these extras, and with which extras of its own."""
    for requirement in map(Requirement, requires(name) or ()):
        wanted = not requirement.marker or any(requirement.marker.evaluate({"extra": each}) for each in ("", *extras))
        if wanted and canonicalize_name(requirement.name) != name:
            yield canonicalize_name(requirement.name), tuple(requirement.extras)


def is_installed(name):
    try:
        return bool(distribution(name))
    except PackageNotFoundError:
        return False


def licence(name):
    """The licences of an installed package, as identifiers of SPDX where its metadata allow."""
    told = distribution(name).metadata
    lines = [told.get("License-Expression") or ""]
    if not lines[0]:
        lines = [each.rpartition("::")[2] for each in told.get_all("Classifier") or () if each.startswith("License ::")]
    if not [line for line in lines if "OSI" not in line or "::" in line]:
        lines = [(told.get("License") or "").partition("\n")[0]]
    return sorted({each for line in lines for each in identifiers(line)}) or ["unknown"]


def identifiers(text):
    """The licences that a text names; of a choice (OR) all are named."""
    for part in re.split(r"\s+(?:AND|OR)\s+|[()]", text):
        known = next((spdx for word, spdx in WORDS.items() if re.search(rf"\b{word}", part.lower())), None)
        exact = next((each for each in ALLOWED if each.lower() == part.strip().lower()), None)
        if part.strip() and part.strip() != "OSI Approved":
            yield exact or known or part.strip().partition(" WITH ")[0]


def table():
    """Direct dependencies one by one, with the extra they are for; the others counted."""
    core = {name for name, _ in required(PACKAGE, ())}
    direct = {name: {"for": "all", "licence": ", ".join(licence(name))} for name in sorted(core)}
    for extra in EXTRAS:
        for name in sorted({name for name, _ in required(PACKAGE, (extra,))} - core):
            direct.setdefault(name, {"for": extra, "licence": ", ".join(licence(name))})
    others = Counter(", ".join(licence(name)) for name in sorted(dependencies() - set(direct)))
    return {"direct": direct, "others": dict(others.most_common())}


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    result = {"command": "make licences", **table()}
    parser.parse_args().json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
