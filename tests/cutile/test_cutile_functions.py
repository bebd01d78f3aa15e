"""Every function of cuTile that a kernel may call runs on every target, or docs/cutile.md says why not."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cuda.tile", "1.7", reason="needs the package cuda-tile, version 1.7 for the newest functions")

import cuda.tile as ct
from cutile_functions import CASES, Case

from tileir import cutile

DOCS = Path(__file__).parents[2] / "docs" / "cutile.md"
TARGETS = ("interp", "cpu")


def called_in_kernels() -> set[str]:
    """The names of the library that the kernels of `cutile_functions` call."""
    trees = [ast.parse(inspect.getsource(case.kernel._annotated_function.pyfunc)) for case in CASES]
    calls = [node.func for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {call.attr for call in calls if isinstance(call, ast.Attribute) and getattr(call.value, "id", "") == "ct"}


def callable_in_kernels() -> set[str]:
    """The functions of the public interface that the library marks as its own inside kernels."""
    return {name for name in ct.__all__ if hasattr(getattr(ct, name), "_cutile_python_stub")}


def documented_as_not_run() -> set[str]:
    """The functions in the table of docs/cutile.md that says what cannot be run."""
    section = DOCS.read_text(encoding="utf-8").split("## What cannot be run", 1)[1]
    return set(re.findall(r"^\| `ct\.(\w+)", section, re.MULTILINE))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_functions_give_what_numpy_gives(case: Case, target: str, capfd):
    arguments = case.arguments()
    copies = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    with np.errstate(all="ignore"):
        wanted = case.expected(*copies)
    with cutile.on(target):
        ct.launch(None, case.grid, case.kernel, arguments)
    for index, expected in wanted.items():
        got = np.asarray(arguments[index], np.float64)
        np.testing.assert_allclose(
            got, np.asarray(expected, np.float64), rtol=case.tolerance, atol=case.tolerance, equal_nan=True
        )
    if case.output is not None:
        assert capfd.readouterr().out == case.output


def test_every_function_of_the_public_interface_is_called_or_documented():
    assert callable_in_kernels() - called_in_kernels() == documented_as_not_run()
