"""Rows of shape operations (spec: shapes#top)."""

from __future__ import annotations

from tileir.passes.pattern import PatternRow
from tileir.passes.row import Exactness


def _exact(name: str, pattern: str, becomes: str, why: str, when: str = "") -> PatternRow:
    return PatternRow(name, "canonicalise", pattern, becomes, Exactness.EXACT, why, when)


ROWS = (
    _exact("reshape-itself", "reshape(x)", "x", "the shape stays as it is"),
    _exact("reshape-reshape", "reshape(reshape(x))", "reshape(x)", "row-major order is kept in between"),
    _exact("broadcast-itself", "broadcast(x)", "x", "the shape stays as it is"),
    _exact("broadcast-broadcast", "broadcast(broadcast(x))", "broadcast(x)", "elements are repeated in any case"),
    _exact("permute-itself", "permute(x, permutation=P)", "x", "every dimension stays where it is", "in_order(P)"),
    _exact(
        "permute-permute", "permute(permute(x, permutation=P), permutation=Q)",
        "permute(x, permutation=composed(P, Q))", "two permutations are one",
    ),
)  # fmt: skip
