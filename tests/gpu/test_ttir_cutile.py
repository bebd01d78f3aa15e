"""Kernels of cuTile Python as GPU code: they leave what NumPy makes of the same, and compile."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cuda.tile", "1.7", reason="needs the package cuda-tile, version 1.7 for the newest functions")

import cuda.tile as ct

import tileir
from tests.cutile.cutile_functions import CASES, Case
from tests.gpu.ttir_cutile import ARCHS, compile_kernel, on_machine
from tests.processes import run_python
from tests.thorough import sampled

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples" / "cutile").glob("*.py"))
STEP = "40"
"""Every so many of the examples of the documentation; `ttir_cutile` runs all, and compiles them."""


def launched(case: Case, arch: str) -> tuple[object, ...]:
    """The arguments after the launch."""
    arguments = case.arguments()
    with on_machine(arch):
        ct.launch(None, case.grid, case.kernel, arguments)
    return arguments


@pytest.mark.parametrize(
    ("case", "arch"), sampled(product(CASES, ["sm_80", "sm_90"]), 3), ids=lambda one: getattr(one, "name", one)
)
def test_the_functions_give_what_numpy_gives(case: Case, arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = (value.copy() if isinstance(value, np.ndarray) else value for value in case.arguments())
    with np.errstate(all="ignore"):
        wanted = case.expected(*before)
    arguments = launched(case, arch)
    tolerance = case.tolerance
    for index, expected in wanted.items():
        got, exact = np.asarray(arguments[index], np.float64), np.asarray(expected, np.float64)
        np.testing.assert_allclose(got, exact, rtol=tolerance, atol=tolerance, equal_nan=True)
    assert capsys.readouterr().out == (case.output or "")


def compile_all(kernels: Sequence[tileir.Kernel], number: int) -> None:
    """For one architecture, with or without what is known of the arguments: which, the number says."""
    assert kernels
    for kernel in kernels:
        made = compile_kernel(kernel, ARCHS[number % len(ARCHS)], bool(number % 2))
        assert made.artifacts.binary is not None


@pytest.mark.parametrize("number", sampled(range(len(CASES)), 4), ids=[case.name for case in CASES])
def test_the_functions_compile(number: int) -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    case = CASES[number]
    with on_machine(None) as machine:
        ct.launch(None, case.grid, case.kernel, case.arguments())
    compile_all(machine.kernels, number)


@pytest.mark.parametrize("number", sampled(range(len(SCRIPTS)), 4), ids=[path.stem for path in SCRIPTS])
def test_an_example_compiles(number: int) -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    pytest.importorskip("torch", reason="examples compare with torch")
    with on_machine(None) as machine:
        runpy.run_path(str(SCRIPTS[number]), run_name="__main__")
    compile_all(machine.kernels[:1], number)


@pytest.mark.parametrize("script", sampled(SCRIPTS, 3), ids=lambda path: path.stem)
def test_an_example_agrees_with_its_reference(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if "import torch" in script.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason="the example compares with torch")
    with on_machine("sm_90"):
        runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.startswith(f"{script.stem}: ")


def test_examples_of_the_documentation_print_what_it_says() -> None:
    torch = pytest.importorskip("torch", reason="the examples use torch")
    if torch.cuda.is_available():
        pytest.skip("a GPU is there: the examples use it")
    done = run_python("-m", "tests.gpu.ttir_cutile", "machine", STEP)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" examples, 0 differ\n")
