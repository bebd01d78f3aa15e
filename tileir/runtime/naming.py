"""Arguments of a launch by the names of their parameters: ``kernel.launch(grid, x=x, factor=0.5)``.

Knows: which keywords are options of a launch and which are arguments. Does not know: what an argument may be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tileir.ir.near import did_you_mean
from tileir.ir.shown import shown
from tileir.runtime.options import LaunchOptions

_OPTIONS = frozenset(LaunchOptions.__annotations__)
"""A parameter that is called like one of them is given by position."""


class CallForms:
    """The keywords of a kernel's launches, whose parameters have these names: which are arguments, which options.

    That depends on how many arguments stand before them and on what they are called. It is remembered.
    """

    def __init__(self, kernel: str, names: Sequence[str]) -> None:
        self._kernel, self._names = kernel, names
        self._known: dict[tuple[object, ...], tuple[list[str], list[str]]] = {}
        """The arguments in the order of the parameters, and the options, of forms that were right."""

    def separated(self, given: Sequence[object], keywords: Mapping[str, Any]) -> tuple[Sequence[object], LaunchOptions]:
        """All arguments of a launch in the order of the parameters, and its options.

        Raises TypeError for a keyword that is neither, and for a parameter with two arguments or none.
        """
        form = (len(given), *keywords)
        known = self._known.get(form)
        if known is None:
            known = self._known[form] = self._sorted_out(len(given), keywords)
        arguments, options = known
        if not arguments:
            return given, keywords  # type: ignore[return-value]
        values = [*given, *[keywords[name] for name in arguments]]
        return values, {name: keywords[name] for name in options}  # type: ignore[return-value]

    def _sorted_out(self, given: int, keywords: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        options = [name for name in keywords if name in _OPTIONS]
        named = {name: name for name in keywords if name not in _OPTIONS}
        arguments = in_order(self._kernel, self._names, [""] * given, named)[given:] if named else []
        return [str(name) for name in arguments], options


def in_order(kernel: str, names: Sequence[str], given: Sequence[object], named: Mapping[str, object]) -> list[object]:
    """Arguments by position, then those by name, in the order of the parameters."""
    unknown = next((name for name in named if name not in names), None)
    if unknown is not None:
        raise _unknown(kernel, names, unknown)
    twice = next((name for name in names[: len(given)] if name in named), None)
    if twice is not None:
        raise _error(kernel, f"one argument for '{shown(twice)}'", "one by position and one by name")
    missing = next((name for name in names[len(given) :] if name not in named), None)
    if missing is not None:
        raise _error(kernel, f"an argument for '{shown(missing)}'", "none")
    return [*given, *(named[name] for name in names[len(given) :])]


def _unknown(kernel: str, names: Sequence[str], keyword: str) -> TypeError:
    options = sorted({*_OPTIONS, "target", "check"})
    near = did_you_mean(keyword, [*names, *options])
    known = f"a parameter ({', '.join(map(shown, names)) or 'none'}) or an option ({', '.join(options)})"
    return _error(kernel, known, f"'{shown(keyword)}'" + (f" ({near})" if near else ""))


def _error(kernel: str, expected: str, got: str) -> TypeError:
    return TypeError(f"kernel @{shown(kernel)}: expected {expected}, got {got}")
