"""Errors as a user of cuTile is told of them: an argument of a launch is named by cuTile and here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from tileir.ir.escaping import type_name
from tileir.runtime.arguments import NEGATED, is_negated

FIRST_COLUMN = 0
"""cuTile's number for the first column of a line."""
Error = TypeVar("Error", TypeError, ValueError, OverflowError)


@dataclass(frozen=True)
class Place:
    """An argument of a launch, or an item of one: ``path`` is ``xs`` or ``xs[2]``.

    `cutile_name` is what cuTile calls it: ``kernel argument #0`` or ``item #2 of kernel argument #0``.
    """

    kernel: str
    path: str
    cutile_name: str

    def item(self, index: int) -> Place:
        return Place(self.kernel, f"{self.path}[{index}]", f"item #{index} of {self.cutile_name}")

    def error(self, kind: type[Error], expected: str, got: str, cutile: str = "") -> Error:
        """Return an error whose text begins with cuTile's own, where cuTile has one: suites match it."""
        return worded(kind, cutile, f"kernel '{self.kernel}', argument '{self.path}': expected {expected}, got {got}")

    def invalid(self, expected: str, value: object, cutile: str) -> TypeError:
        """Return a value of a type that is not taken there; `cutile` is what cuTile finds wrong with it."""
        got = NEGATED if is_negated(value) else type_name(value)
        return self.error(TypeError, expected, got, f"Invalid {self.cutile_name}: {cutile}")


def worded(kind: type[Error], cutile: str, ours: str) -> Error:
    """Return an error of a launch: cuTile's text, if it has one, and what can be said better."""
    return kind(f"{cutile} ({ours})" if cutile else ours)


def cutile_type_name(value: object) -> str:
    """Return a type as C code names it: with its module only if it is built into an extension."""
    kind = type(value)
    return kind.__name__ if kind.__flags__ & _HEAP_TYPE else type_name(value)


_HEAP_TYPE = 1 << 9
"""``Py_TPFLAGS_HEAPTYPE``: a class that Python code made."""


_ADVICE = {
    "breakpoint()": "'tileir cutile --debug' steps through a kernel, with breakpoints in the file; print(x), "
    "ct.printf() show values, ct.assert_() states what must hold, --sanitize finds races and accesses outside arrays",
}
"""Replacements for constructs that cuTile refuses in kernels."""


def with_advice(error: Exception) -> Exception:
    """Return the same cuTile error with advice on what to use instead."""
    message = getattr(error, "message", None)
    if isinstance(message, str):
        found = [advice for what, advice in _ADVICE.items() if message.startswith(what)]
        error.message = "\n    ".join([message, *found])  # type: ignore[attr-defined]
    return error
