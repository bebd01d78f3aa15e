"""cuTile kernels on the target `cpu`, beside torch eager on the same arrays.

    python bench/cutile.py

The kernels are those of ``examples/cutile``. Prints a table; the results of both sides are compared before anything is
timed. Both make a new result each time, or both write into one that is there (``out=``).
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from table import Row, Skipped, in_turn, markdown

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "cutile"))

AIM_OF_A_LAUNCH = 60.0
"""Microseconds of a second launch, from Python."""

EAGER = "torch eager"
Comparison = tuple[str, Callable[[], object], str, Callable[[], object]]
"""A comparison: the name and call of tileir, and the name and call of torch."""


def measurements() -> list[Row]:
    """Milliseconds of each kernel and of torch. Raises Skipped where torch or cuda-tile is missing."""
    try:
        import cuda.tile  # noqa: F401
        import torch
    except ImportError as error:
        raise Skipped(f"cuTile kernels need cuda-tile and torch ({error})") from error
    from tileir import cutile

    torch.manual_seed(0)
    with cutile.on("cpu"):
        return [row(*comparison) for comparison in comparisons()] + [launch_row()]


def comparisons() -> Iterator[Comparison]:
    import torch

    a, b = torch.randn(2, 1024, 1024)
    matmul = example("matmul").matmul
    yield "matmul, 1024, f32, tiles of 128", lambda: matmul(a, b, 128, 128, 64), EAGER, lambda: a @ b
    x, y = torch.randn(2, 16, 256, 256)
    batched = example("batched_matmul").batched_matmul
    yield "batched matmul, 16 x 256, f32", lambda: batched(x, y, 64, 64, 64), EAGER, lambda: x @ y
    rows = torch.randn(4096, 1000)
    softmax = example("softmax").softmax
    yield "softmax, 4096 rows of 1000", lambda: softmax(rows), EAGER, lambda: torch.softmax(rows, 1)
    weight, bias = torch.randn(2, 1000)
    norm = example("layer_norm").layer_norm
    eager_norm = torch.nn.functional.layer_norm
    yield (
        "layer norm, 4096 rows of 1000",
        lambda: norm(rows, weight, bias, piece=256),
        EAGER,
        lambda: eager_norm(rows, (1000,), weight, bias),
    )
    q, k, v = torch.randn(3, 8, 512, 64)
    attention = example("attention").attention
    eager_attention = torch.nn.functional.scaled_dot_product_attention
    yield (
        "attention, 8 heads, 512 x 64, f32",
        lambda: attention(q, k, v, queries=64, keys=64),
        EAGER,
        lambda: eager_attention(q, k, v),
    )
    table, indices = torch.randn(10000, 256), torch.randint(10000, (4096,), dtype=torch.int32)
    gather = example("gather_scatter")
    out, chosen = torch.empty(2, 4096, 256)
    yield (
        "gather, 4096 rows of 256",
        lambda: gather.moved(gather.look_up, table, indices, out),
        "torch.index_select(out=)",
        lambda: torch.index_select(table, 0, indices, out=chosen),
    )


def row(what: str, ours: Callable[[], object], peer: str, peers: Callable[[], object]) -> Row:
    import torch

    torch.testing.assert_close(ours(), peers(), rtol=1e-3, atol=1e-3)
    seconds, eager = in_turn(ours, peers)
    return Row(what, "ms", seconds * 1e3, peer, eager * 1e3, "-", seconds <= eager)


def launch_row() -> Row:
    """The least of many: what a launch of one block costs from Python, the block included."""
    import cuda.tile as ct
    import torch

    kernel = example("vector_add").vector_add
    a, b, out = torch.zeros(3, 256)
    arguments = (a, b, out, 256)
    launches = timeit.repeat(lambda: ct.launch(0, (1,), kernel, arguments), number=20, repeat=200)
    least = min(launches) / 20 * 1e6
    return Row(
        "a second launch, one block, three tensors",
        "us",
        least,
        "-",
        None,
        f"<= {AIM_OF_A_LAUNCH:.0f} us",
        least <= AIM_OF_A_LAUNCH,
    )


def example(name: str) -> ModuleType:
    """The module of an example."""
    return import_module(name)


if __name__ == "__main__":
    try:
        print(markdown(measurements()))
    except Skipped as reason:
        print(f"* left out: {reason}")
