"""Kernels through tiles of pointers against the same through views, as they are and optimised, on the CPU.

    python bench/pointers.py [--cpu] [name ...]

All forms of a kernel run in turn on the same arrays, on one thread, and must leave the same bits. A figure is the time
of a pointer form by that of the view form as it is; `-O3` has the pass ``raise``, and so do `-O2` and it together.

A second table compares the machine code of pointer forms, as they are and at -O3, as `bench/optimise.py` does; with
``--cpu`` it is left out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import tileir  # noqa: E402
from bench.optimise import SECOND, machine_code_lines  # noqa: E402
from tileir.passes.pipeline import LEVELS  # noqa: E402

KERNELS = ROOT / "bench" / "kernels"
RUNS = 15
ENOUGH = 0.04
"""Seconds that the launches of one run take together."""
RAISING = (*LEVELS[2], "raise", *LEVELS[2])
HEAD = """\
| kernel | pointers, -O0 | pointers, -O2 | pointers, -O2 and `raise` | pointers, -O3 |
|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Pair:
    """A kernel by pointers and by views, and one launch of both."""

    name: str
    pointers: str
    views: str
    grid: tuple[int, ...]
    arguments: Callable[[], list[object]]


def normal(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def _gemm(m: int, n: int, k: int) -> list[object]:
    arrays = (normal(m, k, dtype=np.float16), normal(k, n, dtype=np.float16), np.zeros((m, n), np.float32))
    return [*arrays, m, n, k, k, n, n]


def _softmax(columns: int) -> list[object]:
    return [normal(256, columns), np.zeros((256, columns), np.float32), 256, columns]


def _layer_norm(columns: int) -> list[object]:
    vectors = [normal(columns), normal(columns), np.zeros((256, columns), np.float32)]
    return [normal(256, columns), *vectors, 256, columns, 1e-5]


def _saxpy(count: int) -> list[object]:
    return [normal(count), normal(count), 1.5, count]


def pairs() -> list[Pair]:
    """Each kernel in whole tiles, and with tiles that stick out."""
    names = [
        ("GEMM", "gemm_f16_pointers", "gemm_f16_views", (4, 4),
         {"512": partial(_gemm, 512, 512, 512), "504 x 488 x 496": partial(_gemm, 504, 488, 496)}),
        ("softmax", "softmax_rows_pointers", "softmax", (256,),
         {"4096": partial(_softmax, 4096), "4000": partial(_softmax, 4000)}),
        ("layer norm", "layer_norm_pointers", "layer_norm", (256,),
         {"4096": partial(_layer_norm, 4096), "4000": partial(_layer_norm, 4000)}),
        ("saxpy", "saxpy_pointers", "saxpy_vector", (64,),
         {"2^18": partial(_saxpy, 1 << 18), "2^18 - 77": partial(_saxpy, (1 << 18) - 77)}),
    ]  # fmt: skip
    return [
        Pair(f"{name}, {size}", pointers, views, grid, made)
        for name, pointers, views, grid, sizes in names
        for size, made in sizes.items()
    ]


def forms(pair: Pair) -> list[tileir.Kernel]:
    """The view form as it is, then the pointer forms of the table."""
    views, pointers = (tileir.load(KERNELS / f"{name}.mlir") for name in (pair.views, pair.pointers))
    raised = pointers
    for _ in range(2):
        raised = tileir.optimize(raised, passes=RAISING)
    modules = [views, pointers, tileir.optimize(pointers, 2), raised, tileir.optimize(pointers, 3)]
    return [kernel for module in modules for kernel in module.kernels.values()]


def measured(pair: Pair) -> str:
    """A line of the table: the least times of some runs, in time of the processor."""
    kernels, arguments = forms(pair), pair.arguments()
    arrays = [value for value in arguments if isinstance(value, np.ndarray)]
    before = [array.copy() for array in arrays]

    def launched(kernel: tileir.Kernel, repeats: int) -> float:
        for array, content in zip(arrays, before):
            array[...] = content
        begin = time.process_time()
        for _ in range(repeats):
            kernel.launch(pair.grid, *arguments, threads=1, optimize=False)
        return (time.process_time() - begin) / repeats

    results = []
    for kernel in kernels:
        launched(kernel, 1)
        results.append([array.tobytes() for array in arrays])
    assert all(result == results[0] for result in results), f"{pair.name}: the forms differ"
    repeats = 1 + int(ENOUGH / launched(kernels[0], 1))
    times = [[launched(kernel, repeats) for kernel in kernels] for _ in range(RUNS)]
    best = [min(column) for column in zip(*times)]
    return f"| {pair.name} | " + " | ".join(f"{one / best[0]:.2f}x" for one in best[1:]) + " |"


def main() -> int:
    names = [word for word in sys.argv[1:] if word != "--cpu"]
    chosen = [pair for pair in pairs() if not names or any(name in pair.name for name in names)]
    print(HEAD + "\n".join(map(measured, chosen)), flush=True)
    if "--cpu" not in sys.argv:
        print(SECOND, end="")
        for kernel in dict.fromkeys(pair.pointers for pair in chosen):
            plain = tileir.load(KERNELS / f"{kernel}.mlir")
            ends = (next(iter(module.kernels.values())) for module in (plain, tileir.optimize(plain, 3)))
            print("\n".join(machine_code_lines(kernel, *ends)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
