"""Arguments of a launch by the names of their parameters: ``kernel.launch(grid, x=x, factor=0.5)``.

Knows: which keywords are options of a launch and which are arguments. Does not know: what an argument may be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tileir.ir.shown import shown
from tileir.runtime.options import LaunchOptions

_OPTIONS = frozenset(LaunchOptions.__annotations__)
"""A parameter that is called like one of them is given by position."""


def separated(
    kernel: str, names: Sequence[str], given: Sequence[object], keywords: Mapping[str, Any]
) -> tuple[Sequence[object], LaunchOptions]:
    """All arguments of a launch in the order of the parameters, which have these names, and its options.

    Raises TypeError for a keyword that is neither, and for a parameter with two arguments or none.
    """
    if keywords.keys() <= _OPTIONS:
        return given, keywords  # type: ignore[return-value]
    named = {name: value for name, value in keywords.items() if name not in _OPTIONS}
    options = {name: value for name, value in keywords.items() if name in _OPTIONS}
    return in_order(kernel, names, given, named), options  # type: ignore[return-value]


def in_order(kernel: str, names: Sequence[str], given: Sequence[object], named: Mapping[str, object]) -> list[object]:
    """Arguments by position, then those by name, in the order of the parameters."""
    unknown = next((name for name in named if name not in names), None)
    if unknown is not None:
        known = ", ".join(map(shown, names)) or "none"
        raise _error(
            kernel, f"a parameter ({known}) or an option ({', '.join(sorted(_OPTIONS))})", f"'{shown(unknown)}'"
        )
    twice = next((name for name in names[: len(given)] if name in named), None)
    if twice is not None:
        raise _error(kernel, f"one argument for '{shown(twice)}'", "one by position and one by name")
    missing = next((name for name in names[len(given) :] if name not in named), None)
    if missing is not None:
        raise _error(kernel, f"an argument for '{shown(missing)}'", "none")
    return [*given, *(named[name] for name in names[len(given) :])]


def _error(kernel: str, expected: str, got: str) -> TypeError:
    return TypeError(f"kernel @{shown(kernel)}: expected {expected}, got {got}")
