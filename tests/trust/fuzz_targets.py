"""What is fuzzed: each target draws one input and does with it what a user would; only `VMGError` may end it.

Every target is a function of hypothesis' `data`, and a property: what is accepted must also work.
"""

import json
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from damages import FOREIGN
from data_files import KINDS
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from odd_values import ODD
from public_calls import calls
from trust_cases import agent, episodes, place

import vmg
from vmg.agent import folder as folders
from vmg.base import files

Draw = Any


@contextmanager
def refused_or_not() -> Iterator[None]:
    """Allow the one exception that users see."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            yield
        except vmg.VMGError as error:
            if not str(error).strip():
                raise RuntimeError("an empty sentence") from error


@cache
def workplace() -> Path:
    return Path(tempfile.mkdtemp(prefix="vmg-fuzz-"))


def tidy() -> None:
    """Remove what the targets made."""
    if workplace.cache_info().currsize:
        shutil.rmtree(workplace(), ignore_errors=True)
        workplace.cache_clear()
        data_set.cache_clear()
        agent_folder.cache_clear()


@cache
def data_set(kind: str) -> tuple[str, dict[Path, bytes]]:
    folder = workplace() / kind
    folder.mkdir()
    name = KINDS[kind](folder)
    return name, {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@cache
def agent_folder(along: str) -> dict[Path, bytes]:
    folder = workplace() / f"agent along {along}"
    agent(along=along).save(folder)
    kept = (".json", ".npz", ".safetensors")
    return {path: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in kept}


@st.composite
def damaged(draw: Draw, content: bytes, others: tuple[bytes, ...]) -> bytes:
    """Bytes after one to four accidents."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(content) - 1, 0)))
        how = draw(st.sampled_from(["flip", "cut", "insert", "overwrite", "remove", "splice", "foreign"]))
        some = draw(st.binary(max_size=12)) if how in ("insert", "overwrite") else b""
        if how == "flip" and content:
            content = content[:at] + bytes([content[at] ^ 1 << draw(st.integers(0, 7))]) + content[at + 1 :]
        elif how == "cut":
            content = content[:at]
        elif how == "insert":
            content = content[:at] + some + content[at:]
        elif how == "overwrite":
            content = content[:at] + some + content[at + len(some) :]
        elif how == "remove":
            content = content[:at] + content[at + draw(st.integers(1, 64)) :]
        elif how == "splice":
            content = content[:at] + draw(st.sampled_from(others))[at:]
        elif how == "foreign":
            content = draw(st.sampled_from(sorted(FOREIGN.values()))) + content[at:]
    return content


def files_of_data(data: Draw) -> None:
    """A data set's file, damaged."""
    name, whole = data_set(data.draw(st.sampled_from(sorted(KINDS))))
    path = data.draw(st.sampled_from(list(whole)))
    path.write_bytes(data.draw(damaged(whole[path], tuple(whole.values()))))
    try:
        with refused_or_not():
            vmg.data.summarise(vmg.load(name))
    finally:
        path.write_bytes(whole[path])


def files_of_an_agent(data: Draw) -> None:
    """An agent's file, damaged: refused, or it decides as before."""
    along = data.draw(st.sampled_from(["edges", "recordings"]))
    whole = agent_folder(along)
    path = data.draw(st.sampled_from(list(whole)))
    path.write_bytes(data.draw(damaged(whole[path], tuple(whole.values()))))
    try:
        with refused_or_not():
            same_decisions(vmg.Agent.load(path.parent), along, settings_changed=path.name == "config.json")
    finally:
        path.write_bytes(whole[path])


def same_decisions(read: vmg.Agent, along: str, *, settings_changed: bool) -> None:
    if read.graph is None or read.routes is None:
        return
    rows = episodes().observations[::7]
    now = read.policy().decide(rows)
    if not settings_changed:
        assert np.array_equal(now.actions, agent(along=along).policy().decide(rows).actions), "it acts differently"


def arrays_of_an_agent(data: Draw) -> None:
    """Arrays of a graph or of routes, changed and sealed again: refused, or everything can be asked."""
    along = data.draw(st.sampled_from(["edges", "recordings"]))
    whole = agent_folder(along)
    path = next(iter(whole)).with_name(data.draw(st.sampled_from(["graph.npz", "solution.npz"])))
    arrays = {name: array for name, array in files.read_npz(path).items() if name != folders.CONTENT}
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(arrays)))
        arrays[name] = data.draw(changed_array(arrays[name]))
    if path.name == "graph.npz":
        path.with_name("solution.npz").unlink()
    np.savez(path, **arrays, **{folders.CONTENT: folders._content(arrays)})
    try:
        with refused_or_not():
            read = vmg.Agent.load(path.parent)
            plan = read.plan(place())
            plan.explain(episodes().observations[0])
            if read.routes is not None:
                read.policy().decide(episodes().observations[::7])
                read.routes.path(0)
    finally:
        for each, content in whole.items():
            each.write_bytes(content)


@st.composite
def changed_array(draw: Draw, array: np.ndarray) -> np.ndarray:
    """An array with other entries, another order, another shape or another type."""
    how = draw(st.sampled_from(["entry", "entry", "entry", "order", "rows", "type", "shape", "other"]))
    if how == "entry" and array.size and array.dtype.kind in "iuf":
        changed = array.copy()
        numbers = [-1, 0, 1, 2, 5, 100, 2**31 - 1, *([np.nan, np.inf, 1e30, -0.5] if array.dtype.kind == "f" else [])]
        number = np.array(draw(st.sampled_from(numbers))).astype(array.dtype)
        changed.reshape(-1)[draw(st.integers(0, array.size - 1))] = number
        return changed
    if how == "order" and array.ndim:
        return np.random.default_rng(draw(st.integers(0, 99))).permutation(array)
    if how == "rows" and array.ndim:
        return array[: draw(st.integers(0, len(array)))]
    if how == "type" and array.dtype.kind in "iuf":
        return array.astype(draw(st.sampled_from(["f8", "f4", "i8", "i4", "u1", "U8"])))
    if how == "shape":
        return draw(st.sampled_from([array[None], array[..., None], array.reshape(-1), array.reshape(-1)[:1]]))
    return draw(hnp.arrays(st.sampled_from(["f8", "i4", "u1", "U3", "c8"]), hnp.array_shapes(min_dims=0, max_dims=3)))


NUMBER = st.integers() | st.floats() | st.sampled_from([10**30, -1, 0, 1e308])
JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=8) | NUMBER,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)


def settings(data: Draw) -> None:
    """Entries of config.json, changed: refused, or settings that are written and read again as the same."""
    whole = json.loads(next(c for p, c in agent_folder("edges").items() if p.name == "config.json"))["config"]
    for _ in range(data.draw(st.integers(1, 2))):
        at, keys = whole, []
        while isinstance(at, dict) and at and (not keys or data.draw(st.integers(0, 3))):
            keys.append(data.draw(st.sampled_from(sorted(at))))
            at, within = at[keys[-1]], at
        within[keys[-1]] = data.draw(JSON | st.sampled_from(["edges", "recordings", "greedy", "kmeans", "nearest"]))
    with refused_or_not():
        read = vmg.AgentConfig.from_dict(whole, place="config")
        assert vmg.AgentConfig.from_dict(json.loads(json.dumps(read.to_dict())), place="config") == read


ODD_OR_DRAWN = (
    st.sampled_from(sorted(ODD)).map(ODD.__getitem__)
    | JSON
    | hnp.arrays(st.sampled_from(["f4", "f8", "i8", "?", "U2"]), hnp.array_shapes(min_dims=0, max_dims=3, max_side=4))
)


def public_functions(data: Draw) -> None:
    """A public function, one to three of its arguments odd."""
    quick = {name: call for name, call in calls().items() if not call.long and call.good}
    call = quick[data.draw(st.sampled_from(sorted(quick)))]
    arguments = dict(call.good)
    for name in data.draw(st.lists(st.sampled_from(sorted(arguments)), min_size=1, max_size=3, unique=True)):
        arguments[name] = data.draw(ODD_OR_DRAWN)
    try:
        with refused_or_not():
            call.function(**arguments)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError):
        if not any(callable(value) for value in arguments.values()):  # a function given may fail as it likes
            raise


def observations(data: Draw) -> None:
    """Observations of any shape, type and size: refused, or actions that can be carried out."""
    policy = agent(along=data.draw(st.sampled_from(["edges", "recordings"]))).policy()
    shape = data.draw(st.sampled_from([(4,), (1, 4), (3, 4), (0, 4), (5,), (2, 2, 4), ()]))
    numbers = data.draw(hnp.arrays(st.sampled_from(["f4", "f8", "f2", "i8", "?"]), shape))
    with refused_or_not():
        actions = policy.act(numbers if data.draw(st.booleans()) else numbers.tolist())
        low, high = (np.array(each) for each in (agent().data.action_low, agent().data.action_high))
        assert np.isfinite(actions).all(), "an action that is not finite"
        assert ((actions >= low) & (actions <= high)).all(), "an action that nobody recorded"
        assert len(policy.decide(numbers)) == (1 if len(shape) == 1 else shape[0])


def arrays_of_episodes(data: Draw) -> None:
    """Arrays that may be episodes: refused, or a graph can be built, solved and walked."""
    lengths = data.draw(st.lists(st.integers(-1, 4), max_size=4))
    n, size = max(sum(lengths), 0), data.draw(st.integers(0, 3))
    width = st.sampled_from([0, 0, 0, 0, 1, -1])
    kinds = st.sampled_from(["f4", "f8", "f2", "i4", "?", "c8", "U2", "O"])

    def drawn(*shape: int) -> np.ndarray:
        dtype = data.draw(kinds) if data.draw(st.integers(0, 5)) == 0 else "f8"
        numbers = st.floats(-1e3, 1e3) if data.draw(st.integers(0, 3)) else None
        return data.draw(hnp.arrays(dtype, shape, elements=numbers if dtype == "f8" else None))

    rows = max(n + len(lengths) + data.draw(width), 0)
    with refused_or_not():
        made = vmg.Episodes(drawn(rows, size), drawn(max(n + data.draw(width), 0), 1), drawn(n), lengths,
                            np.zeros(len(lengths), bool), np.ones(len(lengths), bool))  # fmt: skip
        graph = vmg.build(made.observations, made, data.draw(st.sampled_from([0.0, 0.5, 10.0, 1e30])))
        routes = vmg.solve(graph, vmg.reward(graph, made), 0.9)
        assert all(routes.path(vertex)[-1] == routes.targets[vertex] for vertex in range(graph.n_vertices))


def tables_of_text(data: Draw) -> None:
    """A table of text: refused, or episodes."""
    cell = st.sampled_from(["0", "1", "-1.5", "nan", "inf", "1e400", "", "x", '"', "true", " 2 ", "0x1", "1_0"])
    names = st.sampled_from(
        ["episode", "obs_0", "obs_1", "action", "action_0", "reward", "done", "t", "next_obs_0", ""]
    )
    header = data.draw(st.lists(names, max_size=6))
    rows = data.draw(st.lists(st.lists(cell, min_size=len(header), max_size=len(header)), max_size=8))
    path, mark = workplace() / "drawn.csv", data.draw(st.sampled_from(",;\t"))
    lines = [mark.join(each) for each in ([header, *rows] if data.draw(st.booleans()) else [*rows, header])]
    path.write_text("\n".join(lines) + data.draw(st.text(max_size=3)), encoding="utf-8", errors="replace")
    with refused_or_not():
        vmg.data.summarise(vmg.load(f"table:{path}"))


TARGETS: dict[str, Callable[[Draw], None]] = {
    "damaged files of data sets": files_of_data,
    "damaged files of agents": files_of_an_agent,
    "changed arrays of graphs and routes": arrays_of_an_agent,
    "changed settings": settings,
    "public functions with odd arguments": public_functions,
    "observations of any shape and size": observations,
    "arrays that may be episodes": arrays_of_episodes,
    "tables of text": tables_of_text,
}
"""By what one input is, in words."""
