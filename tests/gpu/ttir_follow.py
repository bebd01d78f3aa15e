"""Lets a test of the interpreter run its programs on the TTIR machine as well: what it says holds for both.

Knows: which launches can be followed: those on whole arrays that do not ask for anything of the interpreter.
Does not know: the tests, nor how the machine is started (`ttir_target`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.differential import assert_equal, is_inexact
from tests.gpu import ttir_target
from tileir.runtime.module import Kernel

ARCHS = ("sm_80", "sm_90")

sys.path.append(str(Path(__file__).parent.parent / "interp"))
# The tests of the interpreter import what they share from there.


def follow_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every plain launch is repeated on the same arrays, as code for an architecture without and with descriptors."""
    launch = Kernel.launch

    def both(self: Kernel, grid: object, *args: object, **options: object) -> None:
        if options.keys() - {"target", "check"} or not all(map(_is_plain, args)):
            launch(self, grid, *args, **options)
            return
        arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
        before = [array.copy() for array in arrays]
        launch(self, grid, *args, **options)
        after = [array.copy() for array in arrays]
        for arch in ARCHS:
            _put_back(arrays, before)
            extents = grid if isinstance(grid, tuple) else (grid,)
            _compare(self, after, ttir_target.outcome(self, extents, args, arch).arrays, arch)
        _put_back(arrays, after)

    monkeypatch.setattr(Kernel, "launch", both)


def _is_plain(arg: object) -> bool:
    if isinstance(arg, np.ndarray):
        return bool(arg.flags.c_contiguous)
    return isinstance(arg, np.generic | int | float)


def _put_back(arrays: list[np.ndarray], contents: list[np.ndarray]) -> None:
    for array, content in zip(arrays, contents):
        array[...] = content


def _compare(kernel: Kernel, expected: list[np.ndarray], got: list[np.ndarray], arch: str) -> None:
    exact = not any(map(is_inexact, kernel.entry.walk()))
    for number, (first, second) in enumerate(zip(expected, got)):
        assert_equal(first, second, exact, f"array {number} on {arch}")
