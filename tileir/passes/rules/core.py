"""Rows of selection and of pointer offsets (spec: core#top)."""

from __future__ import annotations

from tileir.passes.pattern import PatternRow
from tileir.passes.row import Exactness


def _exact(name: str, pattern: str, becomes: str, why: str, when: str = "") -> PatternRow:
    return PatternRow(name, "canonicalise", pattern, becomes, Exactness.EXACT, why, when)


ROWS = (
    _exact("select-same", "select(c, x, x)", "x", "both values are the same one"),
    _exact("select-true", "select(1, x, y)", "x", "the condition holds everywhere"),
    _exact("select-false", "select(0, x, y)", "y", "the condition holds nowhere"),
    _exact("select-condition", "select(c, 1, 0)", "c", "an i1 is 1 where it is 1"),
    _exact("select-not", "select(c, 0, 1)", "xori(c, 1)", "an i1 is 0 where it is 1"),
    _exact("select-inverted", "select(xori(p, 1), x, y)", "select(p, y, x)", "where one does not hold the other does"),
    _exact(
        "select-equal", "select(cmpi(x, y, comparison_predicate=equal), x, y)", "y",
        "where they are equal it does not matter which",
    ),
    _exact(
        "select-equal-swapped", "select(cmpi(x, y, comparison_predicate=equal), y, x)", "x",
        "where they are equal it does not matter which",
    ),
    _exact(
        "select-not-equal", "select(cmpi(x, y, comparison_predicate=not_equal), x, y)", "x",
        "where they are equal it does not matter which",
    ),
    _exact(
        "select-not-equal-swapped", "select(cmpi(x, y, comparison_predicate=not_equal), y, x)", "y",
        "where they are equal it does not matter which",
    ),
    _exact("select-select-true", "select(c, select(c, x, y), z)", "select(c, x, z)", "the inner condition holds"),
    _exact("select-select-false", "select(c, x, select(c, y, z))", "select(c, x, z)", "the inner one does not hold"),
    _exact(
        "select-extended", "select(c, 1, 0)", "exti(c, signedness=unsigned)", "1 where the condition is 1, else 0",
        "wide_integer(result)",
    ),
    _exact(
        "select-not-extended", "select(c, 0, 1)", "exti(xori(c, 1), signedness=unsigned)",
        "0 where the condition is 1, else 1", "wide_integer(result)",
    ),
    _exact("offset-zero", "offset(x, 0)", "x", "nothing is moved"),
    _exact(
        "offset-offset", "offset(offset(x, C), D)", "offset(x, signed_sum(C, D))",
        "two moves are one if their sum fits the type of the offsets", "fits_sum(C, D)",
    ),
)  # fmt: skip
