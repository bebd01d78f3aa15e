"""Tile IR as TTIR, by the open route to GPUs, and as Tile IR again computes the same."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tests.differential import exact_part, outcome
from tests.golden.arguments import Run, arguments, runs
from tests.targets import ttir
from tests.thorough import sampled
from tileir.gpu.executable import BlockMemory, ConstantMemory, Hidden
from tileir.ir.diagnostics import UnsupportedError
from tileir.triton import from_ttir

ARCH = "sm_80"
RUNS = [(f"{file}.{entry}", text, entry, run) for file, text, entry, run in runs()]
each_run = pytest.mark.parametrize(("place", "text", "entry", "run"), RUNS, ids=[run[0] for run in RUNS])
BOOLEANS = {"memory.small_types"}
"""Programs with arrays of i1, which TTIR has as bytes."""


def memory(hidden: Hidden, blocks: int) -> np.ndarray | None:
    """What a parameter that the route has added points to; None for what needs the host."""
    if isinstance(hidden, ConstantMemory):
        return np.frombuffer(hidden.content, np.int8).copy()
    return np.zeros(hidden.size * blocks, np.int8) if isinstance(hidden, BlockMemory) else None


@each_run
@pytest.mark.parametrize("target", sampled(["cpu", "interp"], 2))
def test_a_golden_program_computes_the_same(place: str, text: str, entry: str, run: Run, target: str) -> None:
    kernel = tileir.parse(text)[entry]
    try:
        lowered = ttir.lowered(kernel, ARCH)
    except UnsupportedError as error:
        pytest.skip(str(error))
    if "tt.elementwise_inline_asm" in lowered.text:
        pytest.skip("inline assembly")
    (again,) = from_ttir(lowered.text).kernels.values()
    added = [memory(hidden, int(np.prod(run.grid))) for hidden in lowered.hidden]
    if place in BOOLEANS or any(one is None for one in added):
        pytest.skip("arguments that TTIR has otherwise")
    args = arguments(kernel, run)
    first = outcome(kernel, run.grid, args, "interp")
    if first.trap is not None:
        pytest.skip("undefined on a GPU")
    second = outcome(again, run.grid, [*args, *added], target)
    assert second.trap is None
    exact = len(exact_part(kernel.entry)) == sum(1 for _ in kernel.entry.walk())
    for mine, other in zip(first.arrays, second.arrays):
        if exact:
            assert mine.tobytes() == other.tobytes()
        else:
            np.testing.assert_allclose(other.astype("f8"), mine.astype("f8"), rtol=1e-3, atol=1e-5)
