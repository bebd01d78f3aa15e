"""Rows of floating-point operations (spec: floating#semantics).

Only what is exact to the bit, the sign of zeros and what a NaN looks like included: `mulf` by 1 would make a signalling
NaN quiet.
"""

from __future__ import annotations

from tileir.passes.pattern import PatternRow
from tileir.passes.row import Exactness


def _exact(name: str, pattern: str, becomes: str, why: str, when: str = "") -> PatternRow:
    return PatternRow(name, "canonicalise", pattern, becomes, Exactness.EXACT, why, when)


ROWS = (
    _exact("negf-negf", "negf(negf(x))", "x", "the sign is flipped twice"),
    _exact("absf-absf", "absf(absf(x))", "absf(x)", "the sign is clear already"),
    _exact("absf-negf", "absf(negf(x))", "absf(x)", "the sign is cleared in any case"),
    _exact("floor-floor", "floor(floor(x))", "floor(x)", "an integral value is its own floor"),
    _exact("ceil-ceil", "ceil(ceil(x))", "ceil(x)", "an integral value is its own ceiling"),
    _exact("ceil-floor", "ceil(floor(x))", "floor(x)", "an integral value is its own ceiling"),
    _exact("floor-ceil", "floor(ceil(x))", "ceil(x)", "an integral value is its own floor"),
    _exact(
        "not-cmpf", "xori(cmpf(x, y, comparison_predicate=P, comparison_ordering=O), 1)",
        "cmpf(x, y, comparison_predicate=negated(P), comparison_ordering=other(O))",
        "numbers are totally ordered, and with a NaN the other ordering gives the other answer",
    ),
)  # fmt: skip

_FLAGS = "rounding_mode=R, flush_to_zero=F"


def _fused(name: str, pattern: str, becomes: str) -> PatternRow:
    why = "one rounding instead of two, as the vendor's fuse-fma; both lines are kept in the location"
    return PatternRow(name, "fuse-fma", pattern, becomes, Exactness.ROUNDING, why)


FUSED = (
    _fused("addf-mulf", f"addf(mulf(x, y, {_FLAGS}), z, {_FLAGS})", f"fma(x, y, z, {_FLAGS})"),
    _fused("addf-mulf-right", f"addf(z, mulf(x, y, {_FLAGS}), {_FLAGS})", f"fma(x, y, z, {_FLAGS})"),
    _fused("subf-mulf", f"subf(mulf(x, y, {_FLAGS}), z, {_FLAGS})", f"fma(x, y, negf(z), {_FLAGS})"),
)
