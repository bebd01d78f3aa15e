"""The GPU targets beside torch, on the same CUDA tensors: the source of figures where there is a GPU.

    python bench/gpu.py [name ...]

Every result is checked before anything is timed. Times are those of the device, between two events on the stream, with
the cache emptied before each; the last rows are the cost of a launch to the program. Without a GPU it says so and ends.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import gpu_kernels as kernels
from gpu_attention import CausalAttention
from table import Row, Skipped, markdown

import tileir

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

OPEN, VENDOR = "cuda", "cuda:tileiras"
RUNS = 20
PRODUCT_AIM, VENDOR_AIM, STREAM_AIM, ROW_AIM, ATTENTION_AIM, LAUNCH_AIM = 0.7, 1.0, 0.9, 1.0, 0.5, 10e-6
FLUSHED_BYTES = 1 << 28
"""More than the second-level cache of any GPU holds."""

Action = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """A kernel that is ready to be launched.

    ``prepare`` puts into the result what nothing must be left of (or what it starts from), ``check`` raises
    AssertionError for a wrong result.
    """

    name: str
    versions: Sequence[str]
    """Programs that do the same with different tiles: the fastest counts."""
    kernel: str
    grids: Sequence[tuple[int, ...]]
    arguments: tuple[object, ...]
    prepare: Action
    check: Action
    peer: str
    peer_action: Action
    aim: float
    share: float = 1.0
    """Work of the kernel, as a multiple of that of the peer's action."""


def normal(*shape: int, dtype: str) -> torch.Tensor:
    torch.manual_seed(len(shape))
    return torch.randn(shape, device="cuda", dtype=getattr(torch, dtype))


def close(got: torch.Tensor, expected: torch.Tensor, tolerance: float) -> None:
    """The results are right to within `tolerance`, by the root of the summed squares."""
    error = float((got.double() - expected.double()).norm() / expected.double().norm())
    assert error <= tolerance, f"off by {error:.2g}, expected at most {tolerance:g}"


def poison(result: torch.Tensor, value: float = float("nan")) -> Action:
    return lambda: result.fill_(value)


def cdiv(extent: int, tile: int) -> int:
    return -(-extent // tile)


# ---------------------------------------------------------------- the kernels

GEMM_TILES = ((128, 256, 64), (256, 128, 64), (128, 128, 64), (128, 128, 32))
ELEMENTS = {"bf16": "bfloat16", "f16": "float16"}


def gemm(element: str, size: int) -> Case:
    a, b = (normal(size, size, dtype=ELEMENTS[element]) for _ in range(2))
    mine = torch.empty_like(a)
    return Case(
        f"GEMM {element} {size}",
        [kernels.gemm(element, *tile) for tile in GEMM_TILES],
        "gemm",
        [(cdiv(size, m) * cdiv(size, n),) for m, n, _ in GEMM_TILES],
        (a, b, mine, size, size, size),
        poison(mine),
        lambda: close(mine, a.float() @ b.float(), 1e-2),
        "torch.matmul",
        lambda: torch.matmul(a, b),
        PRODUCT_AIM,
    )


MANY = 1 << 28
"""Floats of 1 GiB."""


TOUCHED = 3 / 2
"""Both kernels below move 3 GiB, the copy of 1 GiB that they are compared with moves 2."""


def vector_add() -> Case:
    a, b = (normal(MANY, dtype="float32") for _ in range(2))
    c = torch.empty_like(a)
    return Case(
        "vector add 1 GiB f32", [kernels.text("vector_add_views")], "vector_add", [(cdiv(MANY, 4096),)],
        (a, b, c, MANY), poison(c), lambda: close(c, a + b, 1e-6),
        "device copy", lambda: c.copy_(a), STREAM_AIM, TOUCHED,
    )  # fmt: skip


def saxpy() -> Case:
    x = normal(MANY, dtype="float32")
    y, copy = torch.empty_like(x), torch.empty_like(x)
    return Case(
        "SAXPY 1 GiB f32", [kernels.text("saxpy_vector")], "saxpy", [(cdiv(MANY, 4096),)],
        (x, y, 2.5, MANY), poison(y, 1.0), lambda: close(y, 2.5 * x + 1.0, 1e-6),
        "device copy", lambda: copy.copy_(x), STREAM_AIM, TOUCHED,
    )  # fmt: skip


ROWS = COLUMNS = 8192


def softmax() -> Case:
    x = normal(ROWS, COLUMNS, dtype="float32")
    y = torch.empty_like(x)
    return Case(
        "softmax 8192 x 8192 f32", [kernels.rows("softmax", COLUMNS)], "softmax", [(ROWS,)],
        (x, y, ROWS, COLUMNS), poison(y),
        lambda: close(y, torch.softmax(x.double(), 1), 1e-5),
        "torch.softmax", lambda: torch.softmax(x, 1), ROW_AIM,
    )  # fmt: skip


def layer_norm() -> Case:
    x = normal(ROWS, COLUMNS, dtype="float32")
    weight, bias = (normal(COLUMNS, dtype="float32") for _ in range(2))
    y = torch.empty_like(x)
    function = torch.nn.functional.layer_norm
    return Case(
        "layer norm 8192 x 8192 f32", [kernels.rows("layer_norm", COLUMNS)], "layer_norm", [(ROWS,)],
        (x, weight, bias, y, ROWS, COLUMNS, 1e-5), poison(y),
        lambda: close(y, function(x.double(), (COLUMNS,), weight.double(), bias.double(), 1e-5), 1e-5),
        "torch layer_norm", lambda: function(x, (COLUMNS,), weight, bias, 1e-5), ROW_AIM,
    )  # fmt: skip


ATTENTION_TILES = ((128, 128), (128, 64), (64, 64))


def attention() -> Case:
    heads, length, width = 16, 8192, 128
    q, k, v = (normal(heads, length, width, dtype="float16") for _ in range(3))
    out = torch.empty_like(q)
    function = torch.nn.functional.scaled_dot_product_attention
    return Case(
        "causal attention 16 x 8192 x 128 f16",
        [CausalAttention("f16", *tile).text() for tile in ATTENTION_TILES],
        "attention",
        [(length // rows, heads) for rows, _ in ATTENTION_TILES],
        (q, k, v, out, heads, length, width**-0.5), poison(out),
        lambda: close(out, function(q[None], k[None], v[None], is_causal=True)[0], 1e-2),
        "torch SDPA", lambda: function(q[None], k[None], v[None], is_causal=True), ATTENTION_AIM,
    )  # fmt: skip


# ---------------------------------------------------------------- measuring


def device_seconds(*actions: Action) -> list[float]:
    """Median seconds that each takes on the device, run in turn; three warm-ups each."""
    cache = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda")
    for action in actions * 3:
        action()
    times = [[_once(action, cache) for action in actions] for _ in range(RUNS)]
    return [statistics.median(column) for column in zip(*times)]


def _once(action: Action, cache: torch.Tensor) -> float:
    cache.zero_()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    action()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3


def fastest(case: Case, target: str) -> Action:
    """The launch of the version that takes the least time, each of them checked."""
    launches = []
    for text, grid in zip(case.versions, case.grids):
        launch = _launcher(text, case, grid, target)
        case.prepare()
        launch()
        torch.cuda.synchronize()
        case.check()
        launches.append(launch)
    if len(launches) == 1:
        return launches[0]
    times = device_seconds(*launches)
    return launches[times.index(min(times))]


def _launcher(text: str, case: Case, grid: tuple[int, ...], target: str) -> Action:
    kernel = tileir.parse(text)[case.kernel]
    return lambda: kernel.launch(grid, *case.arguments, target=target)


def compared(case: Case) -> list[Row]:
    """The open route beside the peer, and beside the vendor's assembler where it is installed."""
    launch = fastest(case, OPEN)
    mine, theirs = device_seconds(launch, case.peer_action)
    rows = [_row(case.name, mine, case.peer, theirs * case.share, case.aim)]
    try:
        vendor = fastest(case, VENDOR)
    except tileir.UnsupportedError as reason:
        raise Skipped(f"{case.name} through the vendor's assembler: {reason}") from None
    mine, theirs = device_seconds(launch, vendor)
    return [*rows, _row(case.name, mine, "tileiras", theirs, VENDOR_AIM)]


def _row(name: str, mine: float, peer: str, theirs: float, aim: float) -> Row:
    return Row(name, "ms", mine * 1e3, peer, theirs * 1e3, f">= {aim:g}x", theirs >= aim * mine)


EMPTY = "entry @empty() { return }"
TAKES = "entry @takes(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>) { return }"


def launches() -> list[Row]:
    """Cost of a launch to the program that makes it, when everything has been compiled and loaded."""
    array = torch.zeros(16, device="cuda")
    found = []
    for name, text, arguments in (("no arguments", EMPTY, ()), ("two arrays, a number", TAKES, (array, array, 3))):
        (kernel,) = tileir.parse(text).kernels.values()
        seconds = min(_batch(kernel, arguments) for _ in range(20))
        aim = f"<= {LAUNCH_AIM * 1e6:g} us"
        found.append(Row(f"empty launch, {name}", "us", seconds * 1e6, "", None, aim, seconds <= LAUNCH_AIM))
    return found


def _batch(kernel: tileir.Kernel, arguments: tuple[object, ...], size: int = 200) -> float:
    """Seconds a launch takes to be handed to the device; few enough that its queue does not fill."""
    torch.cuda.synchronize()
    begin = perf_counter()
    for _ in range(size):
        kernel.launch(1, *arguments, target=OPEN)
    return (perf_counter() - begin) / size


MEASUREMENTS: dict[str, Callable[[], list[Row]]] = {
    "gemm_bf16_4096": lambda: compared(gemm("bf16", 4096)),
    "gemm_f16_4096": lambda: compared(gemm("f16", 4096)),
    "gemm_bf16_8192": lambda: compared(gemm("bf16", 8192)),
    "gemm_f16_8192": lambda: compared(gemm("f16", 8192)),
    "vector_add": lambda: compared(vector_add()),
    "saxpy": lambda: compared(saxpy()),
    "softmax": lambda: compared(softmax()),
    "layer_norm": lambda: compared(layer_norm()),
    "attention": lambda: compared(attention()),
    "launches": launches,
}


def main(names: Sequence[str]) -> int:
    if torch is None or not torch.cuda.is_available():
        print("left out: no GPU here that torch can use")
        return 0
    rows: list[Row] = []
    notes: list[str] = []
    for name in names or MEASUREMENTS:
        try:
            rows += MEASUREMENTS[name]()
        except (Skipped, tileir.UnsupportedError, AssertionError) as reason:
            notes.append(f"* {name} left out: {reason}")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}:\n\n{markdown(rows)}", *notes, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
