"""Every row of integers is proved for i1, i8, i16, i32 and i64, by z3 on bit vectors.

The meaning of each integer operation is a term of bit vectors (spec: integer#semantics, spec: division#semantics),
written apart from `numerics`. `small_widths` turns a row into operations.

Both sides are proved equal for all contents; a broken overflow promise wraps. Conditions of rows are about types here,
and choose the types.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from small_widths import Instance, instances

from tileir.ir import types as t
from tileir.ir.attributes import Predicate, Rounding, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ops import conversion, core, division, integer
from tileir.passes.canonicalise import PATTERNS
from tileir.passes.facts import splat_of
from tileir.passes.pattern import PatternRow
from tileir.passes.rebuilding import Exactness

z3 = pytest.importorskip("z3", reason="z3-solver is not installed: no row is proved")

WIDTHS = (t.I1, t.I8, t.I16, t.I32, t.I64)
MOST_MILLISECONDS = 20_000

NOT_PROVED = {
    "floats": {"negf-negf", "absf-absf", "absf-negf", "floor-floor", "ceil-ceil", "ceil-floor", "floor-ceil"}
    | {"not-cmpf"},
    "bits read as another type": {"bitcast-itself", "bitcast-bitcast"},
    "pointers": {"ptr-to-ptr-itself", "ptr-to-ptr-twice", "ptr-to-int-to-ptr", "ptr-to-int-cast"}
    | {"offset-zero", "offset-offset"},
    "shapes": {"reshape-itself", "reshape-reshape", "broadcast-itself", "broadcast-broadcast"}
    | {"permute-itself", "permute-permute"},
}
"""Rows that bit vectors do not reach, by reason; `test_rows` decides them."""

LEFT_OUT = set().union(*NOT_PROVED.values())
PROVED = [row for row in PATTERNS if row.name not in LEFT_OUT]


# ---------------------------------------------------------------- operations as terms


def _signed(op: Op) -> bool:
    return op.signedness is Signedness.SIGNED  # type: ignore[attr-defined]


def _bit(holds):
    return z3.If(holds, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def _less(op: Op, x, y):
    return x < y if _signed(op) else z3.ULT(x, y)


def _compared(op: integer.CmpI, x, y):
    less, more = _less(op, x, y), _less(op, y, x)
    return _bit(
        {
            Predicate.EQUAL: x == y,
            Predicate.NOT_EQUAL: x != y,
            Predicate.LESS_THAN: less,
            Predicate.LESS_THAN_OR_EQUAL: z3.Not(more),
            Predicate.GREATER_THAN: more,
            Predicate.GREATER_THAN_OR_EQUAL: z3.Not(less),
        }[op.comparison_predicate]
    )


def _high(op: Op, x, y):
    width = x.size()
    return z3.Extract(2 * width - 1, width, z3.ZeroExt(width, x) * z3.ZeroExt(width, y))


def _quotient(op: division.DivI, x, y):
    truncated, rest = (x / y, z3.SRem(x, y)) if _signed(op) else (z3.UDiv(x, y), z3.URem(x, y))
    negative = (x ^ y) < 0 if _signed(op) else z3.BoolVal(False)
    one = z3.BitVecVal(1, x.size())
    if op.rounding is Rounding.NEGATIVE_INF:
        return z3.If(z3.And(rest != 0, negative), truncated - one, truncated)
    if op.rounding is Rounding.POSITIVE_INF:
        return z3.If(z3.And(rest != 0, z3.Not(negative)), truncated + one, truncated)
    return truncated


def _extended(op: conversion.ExtI, x):
    more = op.results[0].tile.element.bits - x.size()
    return z3.SignExt(more, x) if _signed(op) else z3.ZeroExt(more, x)


TERMS: dict[type[Op], Callable] = {
    integer.AbsI: lambda op, x: z3.If(x < 0, -x, x),
    integer.AddI: lambda op, x, y: x + y,
    integer.AndI: lambda op, x, y: x & y,
    integer.CmpI: _compared,
    integer.MaxI: lambda op, x, y: z3.If(_less(op, x, y), y, x),
    integer.MinI: lambda op, x, y: z3.If(_less(op, x, y), x, y),
    integer.MulI: lambda op, x, y: x * y,
    integer.MulhiI: _high,
    integer.NegI: lambda op, x: -x,
    integer.OrI: lambda op, x, y: x | y,
    integer.ShlI: lambda op, x, y: x << y,
    integer.ShrI: lambda op, x, y: x >> y if _signed(op) else z3.LShR(x, y),
    integer.SubI: lambda op, x, y: x - y,
    integer.XOrI: lambda op, x, y: x ^ y,
    division.DivI: _quotient,
    division.RemI: lambda op, x, y: z3.SRem(x, y) if _signed(op) else z3.URem(x, y),
    conversion.ExtI: _extended,
    conversion.TruncI: lambda op, x: z3.Extract(op.results[0].tile.element.bits - 1, 0, x),
    core.Select: lambda op, c, x, y: z3.If(c == 1, x, y),
}


def terms_of(block: Block, known: dict[Value, object]) -> dict[Value, object]:
    """The terms of all values of a block of tiles of one element, by those of its arguments."""
    found = dict(known)
    for op in block.ops:
        if isinstance(op, core.Constant):
            element = op.results[0].tile.element
            found[op.results[0]] = z3.BitVecVal(splat_of(op.results[0]), element.bits)
        else:
            found[op.results[0]] = TERMS[type(op)](op, *(found[value] for value in op.operands))
    return found


# ---------------------------------------------------------------- proofs


def counterexample(row: PatternRow) -> str | None:
    """Contents for which the sides of a row differ, None if there are none; fails where z3 cannot tell in time."""
    decided = 0
    for instance in instances(row, (1,), WIDTHS):
        decided += 1
        found = _difference(instance)
        if found is not None:
            return found
    assert decided, f"{row.name}: no choice of types fits the row"
    return None


def _difference(instance: Instance) -> str | None:
    args = dict(zip(instance.types, Block(list(instance.types.values())).args))
    known = {args[name]: z3.BitVec(name, type.element.bits) for name, type in instance.types.items()}
    block, first, second = instance.built(args)
    found = terms_of(block, known)
    solver = z3.Solver()
    solver.set("ctrl_c", False)  # its handler of interrupts would change what they do in this process
    solver.set("timeout", MOST_MILLISECONDS)
    solver.add(found[first] != found[second])
    answer = solver.check()
    assert answer != z3.unknown, f"{instance.row.name} on {instance.types}: {solver.reason_unknown()}"
    return _shown(instance, args, known, solver.model()) if answer == z3.sat else None


def _shown(instance: Instance, args: dict[str, Value], known: dict[Value, object], model) -> str:
    contents = (f"{name} = {model.eval(known[value], model_completion=True)}" for name, value in args.items())
    return f"{instance.types}: {', '.join(contents)}"


def test_every_pattern_is_proved_or_listed_with_its_reason() -> None:
    assert LEFT_OUT - {row.name for row in PATTERNS} == set()
    assert all(row.kind is Exactness.EXACT for row in PROVED)


@pytest.mark.parametrize("row", PROVED, ids=lambda row: row.name)
def test_both_sides_of_a_row_of_integers_are_equal_at_every_width(row: PatternRow) -> None:
    assert counterexample(row) is None


def test_every_width_is_proved() -> None:
    row = next(row for row in PATTERNS if row.name == "addi-addi")
    assert {instance.result.element for instance in instances(row, (1,), WIDTHS)} == set(WIDTHS)


@pytest.mark.parametrize(
    ("pattern", "becomes", "shown"),
    [
        ("addi(x, 1)", "x", "x = "),
        ("shri(shli(x, C), C, signedness=unsigned)", "x", "C = "),
        ("divi(x, -1, signedness=S)", "negi(x)", "x = "),
        ("maxi(x, y, signedness=S)", "maxi(x, y, signedness=signed)", "y = "),
        (
            "cmpi(x, y, comparison_predicate=P, signedness=S)",
            "cmpi(y, x, comparison_predicate=P, signedness=S)",
            "y = ",
        ),
        ("mulhii(x, 2)", "0", "x = "),
    ],
)
def test_a_wrong_row_is_found_with_its_counterexample(pattern: str, becomes: str, shown: str) -> None:
    wrong = PatternRow("wrong", "canonicalise", pattern, becomes, Exactness.EXACT, "it is not")
    found = counterexample(wrong)
    assert found is not None
    assert shown in found
