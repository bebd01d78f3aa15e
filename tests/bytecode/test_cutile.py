"""Bytecode as cuTile Python writes it: read, verified, printed, written again and run."""

from functools import cache

import numpy as np
import pytest

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

from cutile_kernels import CASES, Case, Constant, flat_arguments
from reference_tools import disassemble

import tileir
from tests.thorough import sampled
from tileir import bytecode

IN_EVERY_VERSION = {"vector_add", "matrix_multiply", "skip_and_leave", "nested_loops", "print_a_tile", "row_sums"}
EXPORTS = [
    (case, version)
    for case in CASES
    for version in case.versions
    if case.name in IN_EVERY_VERSION or version in (case.versions[0], case.versions[-1])
]
over_exports = pytest.mark.parametrize(
    ("case", "version"), EXPORTS, ids=[f"{case.name}-{version}" for case, version in EXPORTS]
)
over_some_exports = pytest.mark.parametrize(
    ("case", "version"), sampled(EXPORTS, 4), ids=[f"{case.name}-{version}" for case, version in EXPORTS]
)
BY_NAME = {case.name: case for case in CASES}


@cache
def exported(name: str, version: str) -> bytes:
    return BY_NAME[name].export(version)


@over_exports
def test_the_kernel_reads_and_verifies_clean(case: Case, version: str):
    module = bytecode.decode(exported(case.name, version))
    report = tileir.verify(module, level=version)
    assert not report.diagnostics, report.render()


@pytest.mark.oracle
@over_some_exports
def test_the_kernel_prints_as_the_disassembler_prints_it(case: Case, version: str, tmp_path):
    data = exported(case.name, version)
    module = bytecode.decode(data)
    assert tileir.to_text(module, form="disassembly") == disassemble(data, tmp_path)
    assert tileir.to_text(module, form="disassembly", debug=True) == disassemble(data, tmp_path, debug=True)


@pytest.mark.oracle
@over_some_exports
def test_the_kernel_written_again_disassembles_the_same(case: Case, version: str, tmp_path):
    module = bytecode.decode(exported(case.name, version))
    again = bytecode.encode(module, version)
    for debug in (False, True):
        assert disassemble(again, tmp_path, debug) == tileir.to_text(module, form="disassembly", debug=debug)
    assert bytecode.encode(bytecode.decode(again), version) == again


@over_exports
def test_the_kernel_gives_what_numpy_gives(case: Case, version: str, capfd):
    arguments = case.arguments()
    wanted = case.expected(*map(copied, arguments))
    kernel = tileir.from_bytecode(exported(case.name, version))[case.name]
    kernel.launch(case.grid, *flat_arguments(arguments), target="interp")
    for index, expected in wanted.items():
        got = np.asarray(arguments[index], np.float64)
        np.testing.assert_allclose(got, np.asarray(expected, np.float64), rtol=case.tolerance, atol=case.tolerance)


def copied(argument: object) -> object:
    if isinstance(argument, Constant):
        return argument.value
    return argument.copy() if isinstance(argument, np.ndarray) else argument
