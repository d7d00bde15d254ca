"""The training step on one GPU, and what was tried to speed it up.

`python -m benchmarks.gpu [--tiny] [--rows FAMILY ...] [--json FILE]`

It needs JAX and what learning needs; PyTorch, the peer, is left out where it is not installed.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path

import jax
import numpy as np

from benchmarks.generators import kitchen_like
from benchmarks.loops import Loop, Part, Variant
from benchmarks.machine import describe_machine
from benchmarks.our_training import OurTraining
from benchmarks.rows import Bar, Level, Row, check
from benchmarks.suite import announced
from benchmarks.tables import notes, table, to_json
from benchmarks.timing import compare, median_seconds
from benchmarks.torch_training import TorchTraining
from benchmarks.training import check_same
from vmg.base.console import show
from vmg.base.files import write_json
from vmg.data.episodes import Episodes
from vmg.learn import LearnConfig
from vmg.learn.models import AgentModel
from vmg.networks.mlp import layer_sizes

FP32_RATE = 67e12
"""Multiplications and additions/s of an H100 or H200 in float32 outside its tensor cores, by its datasheet."""

CUBLAS = ("xla_gpu_enable_triton_gemm", False)
TRITON = ("xla_gpu_cublas_fallback", False)
NO_GRAPHS = ("xla_gpu_enable_command_buffer", "")
ONE_GRAPH = ("xla_gpu_enable_command_buffer", "FUSION,CUBLAS,CUBLASLT,CUDNN,WHILE")

TRIED = {
    "2 steps in the loop's body": Variant(unroll=2),
    "4 steps in the loop's body": Variant(unroll=4),
    "8 steps in the loop's body": Variant(unroll=8),
    "Adam over one vector": Variant(flat=True),
    "products by cuBLAS alone": Variant(options=(CUBLAS,)),
    "products by Triton alone, fused with what is around them": Variant(options=(TRITON,)),
    "no CUDA graphs": Variant(options=(NO_GRAPHS,)),
    "the loop itself in a CUDA graph": Variant(options=(ONE_GRAPH,)),
    "matrix products in float32": Variant(precision="highest"),
    "matrix products of bfloat16": Variant(precision="BF16_BF16_F32"),
    "losses and gradients in bfloat16": Variant(half=True),
    "100 steps a call": Variant(length=100),
    "5,000 steps a call": Variant(length=5_000),
    "batch 400": Variant(batch_size=400),
    "batch 1,600": Variant(batch_size=1600),
    "32 models, 4 steps in the loop's body": Variant(models=32, unroll=4),
    "32 models, Adam over one vector": Variant(models=32, flat=True),
    "32 models, products by cuBLAS alone": Variant(models=32, options=(CUBLAS,)),
    "32 models, products by Triton alone": Variant(models=32, options=(TRITON,)),
    "32 models, losses and gradients in bfloat16": Variant(models=32, half=True),
    "32 models, batch 400": Variant(models=32, batch_size=400),
}
PARTS: dict[Part, str] = {
    "batches": "batches drawn and gathered",
    "losses": "and losses",
    "gradients": "and gradients, with plain descent",
    "all": "and Adam: all of it",
}


@dataclass(frozen=True)
class Size:
    """Steps in the data, models side by side, steps per call, and how often each is timed."""

    n_steps: int
    models: tuple[int, ...]
    length: int
    torch_length: int
    rounds: int


SIZES: dict[Level, Size] = {
    "full": Size(60_000, (1, 3, 8, 32), 1000, 100, 3),
    "tiny": Size(400, (1,), 2, 2, 1),
}
BARS = {1: Bar("at least", 6_000), 32: Bar("at least", 60_000)}


def measure(level: Level, families: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the rows of the families named, or of all."""
    size = SIZES[level]
    episodes = kitchen_like(size.n_steps, seed=0)
    for family in families or FAMILIES:
        yield from FAMILIES[family](episodes, size, level)


def _side_by_side(episodes: Episodes, size: Size, level: Level) -> Iterator[Row]:
    for n in size.models:
        yield _models(OurTraining(episodes, n), n, size, BARS.get(n) if level == "full" else None)


def _parts(episodes: Episodes, size: Size, level: Level) -> Iterator[Row]:
    models = dict.fromkeys((size.models[0], size.models[-1]))
    loops = [Loop(episodes, Variant(models=n, length=size.length, part=part)) for n in models for part in PARTS]
    _compile(loops)
    for loop in loops:
        yield _part(loop, size)


def _tried(episodes: Episodes, size: Size, level: Level) -> Iterator[Row]:
    """What was tried, each beside the loop as it is."""
    names = TRIED if level == "full" else ("Adam over one vector", "losses and gradients in bfloat16")
    tried = {name: Loop(episodes, _shortened(TRIED[name], size)) for name in names}
    bases = {n: Loop(episodes, Variant(models=n, length=size.length)) for n in (size.models[0], size.models[-1])}
    refused = _compile([*bases.values(), *tried.values()])
    checked = _check_loop(episodes)
    for name, loop in tried.items():
        if loop in refused:
            yield Row(family="gpu tried", name=f"{name}: refused", note=refused[loop])
        else:
            yield _beside_base(name, loop, bases[loop.variant.models], size, checked)


def flops(episodes: Episodes, batch_size: int = 100) -> float:
    """Multiplications and additions of one step's matrix products, forwards and backwards.

    The gradient of a product is two products; what enters a network as data needs no gradient, which saves one.
    """
    total, config = 0.0, LearnConfig()
    for name, sizes in layer_sizes(AgentModel(config).parts(episodes), config.hidden_units).items():
        rows = 2 * batch_size if name == "state_encoder" else batch_size
        products = [2.0 * rows * n_in * n_out for n_in, n_out in pairwise(sizes)]
        total += 3 * sum(products) - (products[0] if name in ("state_encoder", "translator") else 0)
    return total


def _shortened(variant: Variant, size: Size) -> Variant:
    length = variant.length if size.length == 1000 else size.length
    return replace(variant, models=min(variant.models, size.models[-1]), length=length)


def _compile(loops: Sequence[Loop]) -> dict[Loop, str]:
    """Compile all loops at once, on all cores: one after another would take minutes. Return those that cannot be."""
    refused = {}
    with ThreadPoolExecutor() as pool:
        started = {loop: pool.submit(loop.run) for loop in loops}
        for loop, running in started.items():
            try:
                running.result()
            except jax.errors.JaxRuntimeError as error:
                refused[loop] = str(error).splitlines()[0]
    return refused


def _check_loop(episodes: Episodes, length: int = 5) -> str:
    """Take the same few steps from the same weights; later ones would differ by rounding, which grows."""
    ours, loop = OurTraining(episodes).run(length), Loop(episodes, Variant(length=length)).run()
    same = all(np.allclose(ours[name], loop[name], rtol=0.02) for name in ours)
    return check(same, "the loop that is varied has the product's losses")


def _models(training: OurTraining, n: int, size: Size, bar: Bar | None) -> Row:
    seconds = median_seconds(lambda: training.run(size.length), size.rounds)
    speed = n * size.length / seconds
    return Row(
        family="gpu",
        name="training, models side by side",
        size=_described(n),
        unit="steps/s",
        ours=speed,
        bar=bar,
        amount=n,
        note=f"steps of all models together; {_rate(training.learner.episodes, speed)}",
    )


def _beside_torch(episodes: Episodes, size: Size, level: Level) -> Iterator[Row]:
    """PyTorch with its fused Adam, launched step by step, and as a CUDA graph."""
    ours = OurTraining(episodes)
    device = "cuda" if jax.default_backend() == "gpu" else "cpu"
    for captured in (False, True) if device == "cuda" else (False,):
        peer = TorchTraining(episodes, fused=True, device=device)
        checked = check_same(OurTraining(episodes), peer)
        peer.torch.set_float32_matmul_precision("high")  # TF32, as JAX does
        if captured:
            peer.capture()
        found = compare(lambda: ours.run(size.length), lambda p=peer: p.run(size.torch_length), size.rounds)  # type: ignore[misc]
        peer.torch.set_float32_matmul_precision("highest")
        yield Row(
            family="gpu",
            name="training step, GPU",
            size=_described(1),
            unit="steps/s",
            ours=size.length / found.ours,
            peer_name="PyTorch, CUDA graph" if captured else "PyTorch eager",
            peer=size.torch_length / found.peer,
            checked=checked,
            note="both with TF32 products where the card has them; PyTorch with fused Adam",
        )


def _part(loop: Loop, size: Size) -> Row:
    n = loop.variant.models
    return Row(
        family="gpu parts",
        name=PARTS[loop.variant.part],
        size=_described(n),
        ours=median_seconds(loop.run, size.rounds) / size.length,
        amount=n,
        note="seconds per step of all models, with everything before it",
    )


def _beside_base(name: str, loop: Loop, base: Loop, size: Size, checked: str) -> Row:
    found = compare(loop.run, base.run, size.rounds)
    variant = loop.variant
    speed = variant.models * variant.length / found.ours
    states = f"; {speed * variant.batch_size:,.0f} states/s" if variant.batch_size != base.variant.batch_size else ""
    return Row(
        family="gpu tried",
        name=name,
        size=_described(variant.models, variant.batch_size),
        unit="steps/s",
        ours=speed,
        peer_name="as it is",
        peer=base.variant.models * base.variant.length / found.peer,
        checked=checked,
        note=f"{variant.length:,} steps per call{states}",
    )


def _described(models: int, batch_size: int = 100) -> str:
    return f"{models} model{'s' if models > 1 else ''}, batch {batch_size:,}"


def _rate(episodes: Episodes, speed: float) -> str:
    rate = speed * flops(episodes)
    return f"{rate / 1e12:.2f} TFLOP/s, {100 * rate / FP32_RATE:.1f} % of 67"


FAMILIES: dict[str, Callable[[Episodes, Size, Level], Iterator[Row]]] = {
    "models": _side_by_side,
    "parts": _parts,
    "tried": _tried,
    "torch": _beside_torch,
}
"""Models side by side, where a step's time goes, what was tried to shorten it; last PyTorch, which may not be there."""


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="sizes that only show that everything runs")
    parser.add_argument("--json", type=Path, help="write the rows to this file too")
    parser.add_argument("--rows", nargs="*", choices=FAMILIES, default=(), help="only these families of rows")
    options = parser.parse_args()
    level: Level = "tiny" if options.tiny else "full"
    began, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    machine = describe_machine() | {"device": jax.devices()[0].device_kind}
    rows: list[Row] = []
    for row in announced("gpu", partial(measure, families=options.rows), level):
        rows.append(row)
        if options.json:  # row by row, so that a run that is stopped keeps what it measured
            write_json(options.json, to_json(rows, level, machine, began, time.perf_counter() - clock))
    show(table(rows, f"{level} run, {began}, {machine['device']}"))
    show(notes(rows))


if __name__ == "__main__":
    main()
