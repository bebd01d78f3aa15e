"""Kernels of cuTile Python, as they are, as machine code for AMD: they leave what they leave on the interpreter.

Run on the hsaco machine, without a GPU. A sample: `make amd-test` runs all.
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cuda.tile", "1.7", reason="needs the package cuda-tile, version 1.7 for the newest functions")
pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
pytest.importorskip("tinygrad", reason="needs tinygrad, whose tables decode AMD's instructions")

import cuda.tile as ct

from tests.cutile.cutile_functions import CASES, Case
from tests.gpu.ttir_cutile import on_machine
from tests.thorough import sampled

ARCHS = ("gfx1100", "gfx942", "gfx1201")
SLOW = ("functions_of_one_number", "scaled_product")
SAMPLE = [(case, ARCHS[number % 2]) for number, case in enumerate(CASES) if case.name not in SLOW]
"""Every kernel that takes a second or two, on one of waves of 32 and of 64."""


def require_same(case: Case, arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Launch the kernel on both; within the tolerance of the case, which is 0 for exact functions."""
    found = []
    for machine in (None, arch):
        arguments = case.arguments()
        with on_machine(machine):
            ct.launch(None, case.grid, case.kernel, arguments)
        found.append((arguments, capsys.readouterr().out))
    (wanted, printed), (got, said) = found
    assert said == printed
    for one, other in zip(wanted, got):
        if isinstance(one, np.ndarray):
            exact, value = np.asarray(one, np.float64), np.asarray(other, np.float64)
            np.testing.assert_allclose(value, exact, rtol=case.tolerance, atol=case.tolerance, equal_nan=True)


@pytest.mark.parametrize(("case", "arch"), sampled(SAMPLE, 4), ids=lambda one: getattr(one, "name", one))
def test_a_kernel_gives_what_the_interpreter_gives(case: Case, arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    require_same(case, arch, capsys)
