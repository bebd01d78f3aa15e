"""Broken promises in words (spec: misc#assume)."""

from __future__ import annotations

from tileir.ir.attributes import Bounded, DivBy, SameElements


def broken_promise(predicate: DivBy | SameElements | Bounded, element: object) -> str:
    """The message of an `assume` whose predicate does not hold for the element at an index."""
    return f"assumption {_text(predicate)} does not hold for element {element}"


def _text(predicate: DivBy | SameElements | Bounded) -> str:
    if isinstance(predicate, SameElements):
        return f"same_elements<{list(predicate.values)}>"
    if isinstance(predicate, Bounded):
        lower, upper = ("?" if bound is None else bound for bound in (predicate.lower, predicate.upper))
        return f"bounded<{lower}, {upper}>"
    groups = "" if predicate.every is None else f", every {predicate.every} along {predicate.along}"
    return f"div_by<{predicate.divisor}{groups}>"
