"""The interpreter, alone or beside a target that must give the same.

Runs are repeated if they end and ask for nothing that only the interpreter has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tileir
from tests.differential import Outcome, assert_equal, is_inexact
from tests.interp.interp_kernels import evaluate
from tileir.ir.core import Op
from tileir.ops import reduction
from tileir.ops.calls import Func

Program = str | tileir.Kernel
REPEATED = {"check", "output"}
"""The options of launches that are repeated."""


def kernel_of(program: Program) -> tileir.Kernel:
    """The only kernel of a program."""
    if isinstance(program, tileir.Kernel):
        return program
    (kernel,) = tileir.parse(program).kernels.values()
    return kernel


class Interpreted:
    """The interpreter alone."""

    name = "interp"

    def launch(self, program: Program, *args: Any, grid: Any = 1, **options: Any) -> None:
        """Run a kernel on arrays and numbers."""
        kernel_of(program).launch(grid, *args, target="interp", **options)

    def printed(self, program: Program, *args: Any, grid: Any = 1, **options: Any) -> str:
        """The text that a kernel prints."""
        pieces: list[str] = []
        self.launch(program, *args, grid=grid, output=pieces.append, **options)
        return "".join(pieces)

    def evaluate(self, text: str, *values: Any, **options: Any) -> Any:
        """The value that device function @f returns for these values, or a tuple of several."""
        return evaluate(text, *values, **options)


class Compared(Interpreted):
    """The interpreter and one more target: whatever the first leaves or returns, the second must, too."""

    variants: tuple[str, ...] = ("",)
    """A launch is repeated for each."""
    needs_contiguous_arrays = True
    regroups_scans = True
    """True if scans of floats may be rounded in another order."""

    def outcome(self, kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[Any], variant: str) -> Outcome:
        """Run on the arrays as they are, and put back what was in them."""
        raise NotImplementedError

    def evaluated(self, text: str, *values: Any) -> Sequence[np.ndarray] | None:
        """The results of device function @f; None if it cannot be called here."""
        raise NotImplementedError

    def launch(self, program: Program, *args: Any, grid: Any = 1, **options: Any) -> None:
        kernel = kernel_of(program)
        memory = [arg for arg in args if isinstance(arg, np.ndarray)]
        memory += [placed.buffer for placed in kernel.module.globals.placed.values()]
        before = [array.copy() for array in memory]
        super().launch(kernel, *args, grid=grid, **options)
        if not options.keys() <= REPEATED or not all(map(self._is_plain, args)):
            return
        after = [array.copy() for array in memory]
        for variant in self.variants:
            _fill(memory, before)
            found = self.outcome(kernel, grid if isinstance(grid, tuple) else (grid,), args, variant)
            assert found.trap is None, found.trap
            self._compare(kernel.entry, after, found.arrays, variant)
        _fill(memory, after)

    def _is_plain(self, arg: object) -> bool:
        if isinstance(arg, np.ndarray):
            return not self.needs_contiguous_arrays or bool(arg.flags.c_contiguous)
        return isinstance(arg, np.generic | int | float)

    def evaluate(self, text: str, *values: Any, **options: Any) -> Any:
        results = super().evaluate(text, *values, **options)
        found = None if options.keys() - {"verified"} else self.evaluated(text, *values)
        if found is not None:
            expected = results if isinstance(results, tuple) else (results,)
            self._compare(_function(text), [np.asarray(result) for result in expected], found, "")
        return results

    def _compare(self, op: Op, expected: Sequence[np.ndarray], found: Sequence[np.ndarray], variant: str) -> None:
        exact = not any(is_inexact(inner) or self._regroups(inner) for inner in op.walk())
        for number, (first, second) in enumerate(zip(expected, found)):
            what = f"{self.name} {variant}, array {number}"
            assert_equal(np.array(first, order="C"), np.array(second, order="C"), exact, what)

    def _regroups(self, op: Op) -> bool:
        return self.regroups_scans and isinstance(op, reduction.Scan)


def _fill(arrays: Sequence[np.ndarray], contents: Sequence[np.ndarray]) -> None:
    for array, content in zip(arrays, contents):
        array[...] = content


def _function(text: str) -> Func:
    return next(item for item in tileir.parse(text).items if isinstance(item, Func) and item.sym_name == "f")
