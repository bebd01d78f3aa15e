"""The interpreter beside Triton's interpreter, on the same computations.

    python bench/interp.py

Both run one program (tile block) after the other in Python and NumPy, so this compares like with like. Results are
checked against float64 before anything is timed.
"""

from __future__ import annotations

import environment  # isort: skip  # noqa: F401

from collections.abc import Callable
from typing import Any

import numpy as np
from table import Row, Skipped, in_turn, markdown

import tileir
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES, largest_error

GEMM_AIM = 15.0
OTHER_AIM = 3.0

Launch = Callable[[], object]


def ours(example: Example) -> tuple[Launch, dict[str, Any]]:
    """A launch of the example, checked once, and its arguments."""
    module = tileir.load(example.path)
    arguments = example.arguments(example.sizes, np.random.default_rng(0))
    answer = example.answer(arguments)
    grid = example.grid(example.sizes)

    def launch() -> None:
        module[example.kernel].launch(grid, *arguments.values(), target="interp")

    launch()
    error = largest_error(arguments, answer)
    assert error <= example.tolerance, f"{example.name}: error {error}"
    return launch, arguments


def _example(name: str, **sizes: int) -> Example:
    return next(example for example in EXAMPLES if example.name == name).resized(**sizes)


def gemm() -> list[Row]:
    """f16 inputs, f32 sums, 1024 x 1024 x 1024, tiles of 128 x 128 x 64."""
    from triton_kernels import gemm as peer

    size = 1024
    example = _example("gemm_views", M=size, N=size, K=size)
    launch, arguments = ours(example)
    peer_launch, result = peer(arguments["A"], arguments["B"])
    _check(peer_launch, result, arguments["C"], example.tolerance)
    rows = [_row(f"GEMM {size}, views", launch, peer_launch, GEMM_AIM, 3)]
    pointers, _ = ours(_example("gemm_kloop", M=size, N=size, K=size))
    return [*rows, _row(f"GEMM {size}, pointers", pointers, peer_launch, GEMM_AIM, 3)]


def vector_add() -> list[Row]:
    from triton_kernels import vector_add as peer

    example = _example("vector_add", n=1 << 20)
    launch, arguments = ours(example)
    peer_launch, result = peer(arguments["a"], arguments["b"])
    _check(peer_launch, result, arguments["c"], example.tolerance)
    return [_row("vector add, 2^20 elements, tiles of 1024", launch, peer_launch, OTHER_AIM, 3)]


def softmax() -> list[Row]:
    from triton_kernels import softmax as peer

    example = _example("softmax", rows=1024, columns=1000)
    launch, arguments = ours(example)
    peer_launch, result = peer(arguments["x"])
    _check(peer_launch, result, arguments["y"], example.tolerance)
    return [_row("softmax, 1024 rows of 1000", launch, peer_launch, OTHER_AIM, 3)]


def _check(launch: Launch, result: np.ndarray, expected: Any, tolerance: float) -> None:
    launch()
    error = largest_error({"peer": result}, {"peer": np.asarray(expected, np.float64)})
    assert error <= 2 * tolerance, f"the peer is off by {error}"


def _row(what: str, launch: Launch, peer: Launch, aim: float, runs: int) -> Row:
    mine, theirs = in_turn(launch, peer, runs=runs)
    met = theirs >= aim * mine
    return Row(what, "ms", mine * 1e3, "Triton's interpreter", theirs * 1e3, f">= {aim:g}x", met)


def _needed() -> None:
    try:
        import torch  # noqa: F401
        import triton  # noqa: F401
    except ImportError:
        raise Skipped("triton or torch is not installed: pip install '.[bench]'") from None


def measured(function: Callable[[], list[Row]]) -> Callable[[], list[Row]]:
    def measure() -> list[Row]:
        _needed()
        return function()

    return measure


MEASUREMENTS = tuple(measured(function) for function in (gemm, vector_add, softmax))

if __name__ == "__main__":
    print(markdown([row for measure in MEASUREMENTS for row in measure()]))
