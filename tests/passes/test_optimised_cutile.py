"""Kernels as cuTile Python writes them do the same after optimisation as before, bit for bit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")
sys.path.insert(0, str(Path(__file__).parent.parent / "bytecode"))

from cutile_kernels import CASES, Case, flat_arguments

import tileir
from tests.differential import outcome

HIGHEST = 3


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_kernel_of_cutile_gives_the_same(case: Case) -> None:
    data = case.export(case.versions[-1])
    module = tileir.from_bytecode(data)
    optimised = tileir.optimize(module, HIGHEST)
    args = flat_arguments(case.arguments())
    first, second = (outcome(one[case.name], case.grid, args, "interp") for one in (module, optimised))
    assert first.trap is None
    assert second.trap is None, second.trap
    assert sorted(first.printed) == sorted(second.printed)
    assert [array.tobytes() for array in first.arrays] == [array.tobytes() for array in second.arrays]
    written = tileir.to_bytecode(optimised, version=case.versions[-1])
    assert tileir.to_bytecode(tileir.from_bytecode(written), version=case.versions[-1]) == written
    assert sum(1 for _ in optimised.walk()) <= 4 * sum(1 for _ in module.walk())
