"""The native target beside NumPy and torch, on the same arrays with the same number of threads.

    python bench/cpu.py [name ...]

Every result is checked before anything is timed. A row whose kernel has no native code says so. Kernels are the example
programs and, where those differ in element type or size, the files in ``bench/kernels``.
"""

from __future__ import annotations

import os
import sys
import tempfile

from tileir.cpu.run.pool import default_threads

THREADS = default_threads()
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", str(THREADS))

from collections.abc import Callable, Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from pathlib import Path  # noqa: E402
from time import perf_counter  # noqa: E402

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from table import Row, Skipped, in_turn, markdown  # noqa: E402

import tileir  # noqa: E402
from tileir.examples import FOLDER as EXAMPLES  # noqa: E402

KERNELS = Path(__file__).parent / "kernels"
RUNS = 7
COLD_AIM, CACHED_AIM, LAUNCH_AIM = 0.5, 0.02, 10e-6
PRODUCT_AIM, HALF_AIM, BF16_AIM, AHEAD = 0.9, 0.8, 0.6, 1.0
STREAM_AIM, FUSED_AIM, SCALING_AIM = 0.95, 4.0, 1.8

Array = np.ndarray
Action = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """One kernel and its peers. ``check`` raises AssertionError for a wrong result in the arguments."""

    name: str
    path: Path
    kernel: str
    grid: tuple[int, ...]
    arguments: tuple[object, ...]
    check: Action
    peers: dict[str, Action]
    aim: float


def torch() -> object:
    try:
        import torch
    except ImportError:
        raise Skipped("torch is not installed: pip install 'tileir[bench]'") from None
    torch.set_num_threads(THREADS)
    return torch


def tiles(extent: int, tile: int) -> int:
    return -(-extent // tile)


def close(got: Array, expected: Array, tolerance: float) -> None:
    """Every element is right to within `tolerance` of the largest."""
    error = np.max(np.abs(np.asarray(got, np.float64) - expected)) / np.max(np.abs(expected))
    assert error <= tolerance, f"off by {error:.2g} of the largest element, expected at most {tolerance:g}"


def normal(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32)


# ---------------------------------------------------------------- matrix products

SIZE = 2048


def _product(
    name: str,
    path: Path,
    kernel: str,
    given: tuple[Array, Array],
    out: Array,
    peers: dict[str, Action],
    transposed: bool,
    aim: float,
) -> Case:
    a, b = given

    def check() -> None:
        right = b.T if transposed else b
        close(out, a.astype(np.float64) @ right.astype(np.float64), 1e-5)

    extents = (SIZE,) * 6
    grid = (tiles(SIZE, 128), tiles(SIZE, 128))
    return Case(name, path, kernel, grid, (a, b, out, *extents), check, peers, aim)


def gemm_f32() -> Case:
    a, b = normal(SIZE, SIZE), normal(SIZE, SIZE)
    mine, theirs = np.zeros((SIZE, SIZE), np.float32), np.zeros((SIZE, SIZE), np.float32)
    peers = {"NumPy f32": lambda: np.matmul(a, b.T, out=theirs)}
    return _product("GEMM f32 2048", KERNELS / "gemm_f32.mlir", "gemm_views", (a, b), mine, peers, True, PRODUCT_AIM)


def gemm_f16() -> Case:
    a, b = normal(SIZE, SIZE), normal(SIZE, SIZE)
    narrow = a.astype(np.float16), b.astype(np.float16)
    mine, theirs = np.zeros((SIZE, SIZE), np.float32), np.zeros((SIZE, SIZE), np.float32)
    peers = {"NumPy f32": lambda: np.matmul(a, b, out=theirs)}
    path = EXAMPLES / "gemm_kloop.mlir"
    return _product("GEMM f16 -> f32 2048", path, "gemm_kloop_kernel", narrow, mine, peers, False, HALF_AIM)


def gemm_bf16() -> Case:
    library = torch()
    a, b = (normal(SIZE, SIZE).astype(ml_dtypes.bfloat16) for _ in range(2))
    x, y = (library.from_numpy(array.astype(np.float32)).bfloat16() for array in (a, b))
    mine = np.zeros((SIZE, SIZE), np.float32)
    peers = {"torch bf16": lambda: x @ y.T}
    return _product(
        "GEMM bf16 -> f32 2048", KERNELS / "gemm_bf16.mlir", "gemm_views", (a, b), mine, peers, True, BF16_AIM
    )


def gemm_i8() -> Case:
    library = torch()
    random = np.random.default_rng(0)
    a, b = (random.integers(-128, 128, (SIZE, SIZE)).astype(np.int8) for _ in range(2))
    x, y = library.from_numpy(a), library.from_numpy(b)
    mine = np.zeros((SIZE, SIZE), np.int32)
    peers = {"torch._int_mm": lambda: library._int_mm(x, y.T)}
    return _product("mmai i8 -> i32 2048", KERNELS / "gemm_i8.mlir", "gemm_views", (a, b), mine, peers, True, AHEAD)


# ---------------------------------------------------------------- memory

MANY = 1 << 26


def _saxpy(name: str, path: Path, shape: tuple[int, ...], grid: tuple[int, ...]) -> Case:
    library = torch()
    x, y = normal(*shape), np.zeros(shape, np.float32)
    tensor, out = library.from_numpy(x), library.zeros(shape)

    def check() -> None:
        close(y, np.float64(2.5) * x, 1e-6)

    peers = {"torch.add(out=)": lambda: library.add(out, tensor, alpha=2.5, out=out)}
    return Case(name, path, "saxpy", grid, (x, y, 2.5, *shape), check, peers, STREAM_AIM)


def saxpy() -> Case:
    grid = (tiles(MANY, 4096),)
    return _saxpy("SAXPY 64Mi f32, views", KERNELS / "saxpy_vector.mlir", (MANY,), grid)


def saxpy_matrix() -> Case:
    shape, grid = (8192, 8192), (tiles(8192, 128), tiles(8192, 256))
    return _saxpy("SAXPY 8192 x 8192 f32, tiles of 128 x 256", EXAMPLES / "saxpy.mlir", shape, grid)


def _vector_add(name: str, path: Path, block: int) -> Case:
    library = torch()
    a, b, c = normal(MANY), normal(MANY), np.zeros(MANY, np.float32)
    x, y, z = library.from_numpy(a), library.from_numpy(b), library.zeros(MANY)

    def check() -> None:
        assert np.array_equal(c, a + b)

    peers = {"torch.add(out=)": lambda: library.add(x, y, out=z)}
    return Case(name, path, "vector_add", (tiles(MANY, block),), (a, b, c, MANY), check, peers, STREAM_AIM)


def add_views() -> Case:
    return _vector_add("vector add 64Mi f32, views", KERNELS / "vector_add_views.mlir", 4096)


def add_pointers() -> Case:
    return _vector_add("vector add 64Mi f32, pointers", EXAMPLES / "vector_add.mlir", 1024)


def transpose() -> Case:
    library = torch()
    x = normal(4096, 4096)
    y = np.zeros_like(x)
    tensor, out = library.from_numpy(x), library.zeros(4096, 4096)

    def check() -> None:
        assert np.array_equal(y, x.T)

    peers = {"NumPy": lambda: np.copyto(y, x.T), "torch": lambda: out.copy_(tensor.T)}
    grid = (tiles(4096, 64), tiles(4096, 32))
    path = EXAMPLES / "transpose.mlir"
    return Case("transpose 4096 x 4096 f32", path, "transpose", grid, (x, y, 4096, 4096), check, peers, AHEAD)


def total() -> Case:
    library = torch()
    x, sum = np.random.default_rng(0).random(MANY, np.float32), np.zeros(1, np.float32)
    tensor = library.from_numpy(x)

    def check() -> None:
        # Kept from overflowing by starting anew; each launch adds to what is there.
        close(sum, x.sum(dtype=np.float64, keepdims=True), 1e-3)
        sum[0] = 0

    peers = {"NumPy": lambda: x.sum(), "torch": lambda: tensor.sum()}
    grid = (tiles(MANY, 4096),)
    path = EXAMPLES / "reduction.mlir"
    return Case("sum of 64Mi f32", path, "total", grid, (x, sum, MANY), check, peers, AHEAD)


# ---------------------------------------------------------------- rows

ROWS = COLUMNS = 4096


def softmax() -> Case:
    library = torch()
    x = normal(ROWS, COLUMNS)
    y, tensor = np.zeros_like(x), library.from_numpy(x)

    def check() -> None:
        powers = np.exp(x.astype(np.float64))
        close(y, powers / powers.sum(axis=1, keepdims=True), 5e-6)

    peers = {"torch.softmax": lambda: library.softmax(tensor, 1)}
    arguments = (x, y, ROWS, COLUMNS)
    return Case(
        "softmax 4096 x 4096 f32", KERNELS / "softmax.mlir", "softmax", (ROWS,), arguments, check, peers, FUSED_AIM
    )


def layer_norm() -> Case:
    library = torch()
    x, weight, bias = normal(ROWS, COLUMNS), normal(COLUMNS), normal(COLUMNS)
    y = np.zeros_like(x)
    tensor, scale, shift = (library.from_numpy(array) for array in (x, weight, bias))

    def check() -> None:
        centred = x - x.mean(axis=1, dtype=np.float64, keepdims=True)
        deviation = np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + 1e-5)
        close(y, centred / deviation * weight + bias, 5e-6)

    peers = {"torch layer_norm": lambda: library.nn.functional.layer_norm(tensor, (COLUMNS,), scale, shift, 1e-5)}
    arguments = (x, weight, bias, y, ROWS, COLUMNS, 1e-5)
    path = KERNELS / "layer_norm.mlir"
    return Case("layer norm 4096 x 4096 f32", path, "layer_norm", (ROWS,), arguments, check, peers, FUSED_AIM)


def rms_norm() -> Case:
    library = torch()
    x, weight = normal(ROWS, COLUMNS), normal(COLUMNS)
    y = np.zeros_like(x)
    tensor, scale = library.from_numpy(x), library.from_numpy(weight)

    def check() -> None:
        root = np.sqrt(np.square(x.astype(np.float64)).mean(axis=1, keepdims=True) + 1e-6)
        close(y, x / root * weight, 5e-6)

    peers = {"torch rms_norm": lambda: library.nn.functional.rms_norm(tensor, (COLUMNS,), scale, 1e-6)}
    arguments = (x, weight, y, ROWS, COLUMNS, 1e-6)
    path = KERNELS / "rms_norm.mlir"
    return Case("RMS norm 4096 x 4096 f32", path, "rms_norm", (ROWS,), arguments, check, peers, FUSED_AIM)


def attention() -> Case:
    library = torch()
    heads, length = 8, 1024
    q, k, v = (normal(heads, length, 64) * scale for scale in (1.0, 0.5, 2.0))
    out = np.zeros_like(q)
    tensors = [library.from_numpy(array)[None] for array in (q, k, v)]

    def check() -> None:
        scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2) * 0.125
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        close(out, powers / powers.sum(axis=2, keepdims=True) @ v, 1e-5)

    peers = {"torch attention": lambda: library.nn.functional.scaled_dot_product_attention(*tensors)}
    grid, arguments = (tiles(length, 64), heads), (q, k, v, out, heads, length, 0.125)
    path = KERNELS / "attention.mlir"
    return Case("attention 8 x 1024 x 64 f32", path, "attention", grid, arguments, check, peers, AHEAD)


CASES = (
    gemm_f32,
    gemm_f16,
    gemm_bf16,
    gemm_i8,
    saxpy,
    saxpy_matrix,
    add_views,
    add_pointers,
    transpose,
    total,
    softmax,
    layer_norm,
    rms_norm,
    attention,
)

# ---------------------------------------------------------------- measuring


def launcher(case: Case, threads: int = THREADS) -> Action:
    """A launch of the case; the kernel is loaded afresh."""
    kernel = tileir.load(case.path)[case.kernel]
    grid = (*case.grid, 1, 1)[:3]
    return lambda: kernel.launch(grid, *case.arguments, target="cpu", threads=threads)


def compared(case: Case) -> list[Row]:
    launch = launcher(case)
    launch()
    case.check()
    rows = []
    for peer, action in case.peers.items():
        mine, theirs = in_turn(launch, action, runs=RUNS)
        rows.append(_row(case.name, mine, peer, theirs, case.aim))
    return rows


def _row(name: str, mine: float, peer: str, theirs: float, aim: float) -> Row:
    return Row(name, "ms", mine * 1e3, peer, theirs * 1e3, f">= {aim:g}x", theirs >= aim * mine)


def scaling() -> list[Row]:
    case = gemm_f32()
    two, one = in_turn(launcher(case, 2), launcher(case, 1), runs=RUNS)
    return [_row("GEMM f32 2048, 2 threads", two, "1 thread", one, SCALING_AIM)]


EMPTY = "entry @empty() { return }"
TAKES = "entry @takes(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>) { return }"


def launches() -> list[Row]:
    """Cost of a launch that does nothing."""
    array = np.zeros(16, np.float32)
    rows = []
    for name, text, arguments in (("no arguments", EMPTY, ()), ("two arrays, a number", TAKES, (array, array, 3))):
        (kernel,) = tileir.parse(text).kernels.values()
        seconds = _shortest(lambda kernel=kernel, arguments=arguments: kernel.launch(1, *arguments, target="cpu"))
        aim = f"<= {LAUNCH_AIM * 1e6:g} us"
        rows.append(Row(f"empty launch, {name}", "us", seconds * 1e6, "", None, aim, seconds <= LAUNCH_AIM))
    return rows


def _shortest(action: Action, batches: int = 100, size: int = 200) -> float:
    """Seconds that one of many calls takes, in the best batch: what else the machine does only adds."""
    return min(_batch(action, size) for _ in range(batches))


def _batch(action: Action, size: int) -> float:
    begin = perf_counter()
    for _ in range(size):
        action()
    return (perf_counter() - begin) / size


def compiling(cases: Sequence[Case]) -> list[Row]:
    """Lowering and compiling a kernel, and loading it again from the cache."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEIR_CACHE_DIR"] = folder
        for case in cases:
            cold, cached = _prepared(case), min(_prepared(case) for _ in range(3))
            rows.append(_limit(f"{case.name}: cold compile", cold, COLD_AIM))
            rows.append(_limit(f"{case.name}: from the cache", cached, CACHED_AIM))
    return rows


def _prepared(case: Case) -> float:
    from tileir.runtime.native import program_of

    kernel = tileir.load(case.path)[case.kernel]
    begin = perf_counter()
    program_of(kernel)
    return perf_counter() - begin


def _limit(name: str, seconds: float, aim: float) -> Row:
    return Row(name, "ms", seconds * 1e3, "", None, f"<= {aim * 1e3:g} ms", seconds <= aim)


def _measured(make: Callable[[], Case]) -> Callable[[], list[Row]]:
    return lambda: compared(make())


def _compiling() -> list[Row]:
    return compiling([make() for make in CASES])


MEASUREMENTS: dict[str, Callable[[], list[Row]]] = {
    **{make.__name__: _measured(make) for make in CASES},
    "scaling": scaling,
    "launches": launches,
    "compiling": _compiling,
}


def main(names: Sequence[str]) -> int:
    rows: list[Row] = []
    notes: list[str] = []
    for name in names or MEASUREMENTS:
        try:
            rows += MEASUREMENTS[name]()
        except (Skipped, tileir.UnsupportedError) as reason:
            notes.append(f"* {name} left out: {reason}")
    print(markdown(rows), *notes, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
