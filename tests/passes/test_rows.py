"""Every row of the optimiser is decided: patterns on all values of small types, the others by programs.

A row without such a test fails `test_every_row_is_decided`.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from small_widths import Instance, constant, contents, evaluate, instances, names, pairs_of_half
from structural import PROGRAMS

from tileir.interp.evaluation import evaluated
from tileir.ir import types as t
from tileir.ir.core import Block, Value
from tileir.passes.canonicalise import PATTERNS, Canonicalise
from tileir.passes.pattern import PatternRow
from tileir.passes.pipeline import PASSES
from tileir.passes.rebuilding import ChangeLog, Exactness, Row

LOOPED = 1
"""Names beyond two that are gone through one value at a time."""
ALL_ROWS = [row for one in PASSES.values() for row in one.rows]


def test_every_row_is_decided() -> None:
    decided = {row.name for row in PATTERNS} | PROGRAMS.keys()
    assert {row.name for row in ALL_ROWS} - decided == set()
    assert PROGRAMS.keys() - {row.name for row in ALL_ROWS} == set()


def test_a_name_is_that_of_one_row() -> None:
    found = [row.name for row in ALL_ROWS]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("row", ALL_ROWS, ids=lambda row: row.name)
def test_a_row_says_why(row: Row) -> None:
    assert row.why
    assert row.pattern
    assert row.becomes
    assert row.pass_name in PASSES


@pytest.mark.parametrize("row", [row for row in PATTERNS if row.kind is Exactness.EXACT], ids=lambda row: row.name)
def test_both_sides_of_a_pattern_are_the_same_on_all_values_of_small_types(row: PatternRow) -> None:
    """All i1, all pairs of i8, all f16 and bf16, with every case of every attribute."""
    assert decide(row), "no choice of types fits the row"


def decide(row: PatternRow) -> int:
    """Compare both sides for every choice of types and attributes; gives the number of choices."""
    decided = 0
    for instance in instances(row, (1,)):
        decided += 1
        for values in inputs(instance):
            compare(instance, values)
    return decided


def inputs(instance: Instance):
    """Arrays for the names: all pairs of the first two, with each value of the others."""
    found = list(instance.types)
    each = [values_of(instance.types[name], len(found)) for name in found]
    if is_shape_row(instance.row):
        type = instance.types["x"]
        yield {"x": np.arange(type.count).astype(np.int8).reshape(type.shape)}
        return
    first = np.meshgrid(*each[:2], indexing="ij")
    for rest in itertools.product(*each[2:]):
        arrays = [grid.ravel() for grid in first]
        arrays += [np.full(arrays[0].shape, value, axis.dtype) for value, axis in zip(rest, each[2:])]
        yield dict(zip(found, arrays))


def is_shape_row(row: PatternRow) -> bool:
    return row.matched.op.spec.chapter == "shapes"


def values_of(type: t.TileType, count: int) -> np.ndarray:
    every = contents(type.element)
    if count > 1 and len(every) > 256:
        return pairs_of_half().view(every.dtype)
    if count > 3 and len(every) > 16:
        return np.array([0, 1, 2, -1, 127, -128, 85, -86], every.dtype)
    return every


def compare(instance: Instance, arrays: dict[str, np.ndarray]) -> None:
    shape = next(iter(arrays.values())).shape if arrays else (1,)
    block = Block(list(instance.types.values()))
    args = dict(zip(instance.types, block.args))
    if instance.row.name == "offset-offset":
        compare_offsets(instance, args, arrays)
        return
    made, first, second = instance.built(args)
    found = evaluate(made, {args[name]: array for name, array in arrays.items()})
    shape = first.type.shape if is_shape_row(instance.row) else shape
    one, other = (np.broadcast_to(found[value], shape) for value in (first, second))
    same = np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()
    assert same, instance  # not the comparison itself: pytest would look for the shortest difference, for minutes


def compare_offsets(instance: Instance, args: dict[str, Value], arrays: dict[str, np.ndarray]) -> None:
    """The sum of two constants is in the pattern, so that they must be constants here too."""
    address = np.array([1 << 40], np.uint64)
    for one, two in ((3, 5), (-100, -28), (127, -128), (0, 0)):
        values = {"x": args["x"], "C": constant(instance.types["C"], one), "D": constant(instance.types["D"], two)}
        made, first, second = instance.built(values)
        known = {args["x"]: address}
        for name in "CD":
            known |= evaluate(values[name].owner.parent, {})
        found = evaluate(made, known)
        assert found[first] == found[second] == address + np.uint64(4 * (one + two) % (1 << 64))


@pytest.mark.parametrize("row", PATTERNS, ids=lambda row: row.name)
def test_the_pass_applies_the_row(row: PatternRow) -> None:
    *_, instance = instances(row, (4,))
    block = Block([type for name, type in instance.types.items() if not name.isupper()])
    variables = [name for name in instance.types if not name.isupper()]
    values: dict[str, Value] = dict(zip(variables, block.args))
    made = Block()
    for number, name in enumerate(name for name in names(row.matched) if name.isupper()):
        values[name] = made.append(constant(instance.types[name], 3 + number).owner).results[0]
    log = ChangeLog()
    walk = Canonicalise(log, evaluated)
    walk.bind(list(values.values()), list(values.values()))
    pattern, _, _ = instance.built(values)
    walk.into(Block(), pattern.ops)
    assert row in [change.row for change in log.changes]


@pytest.mark.parametrize(
    ("pattern", "becomes"),
    [
        ("addi(x, 1)", "x"),
        ("shri(shli(x, C), C, signedness=unsigned)", "x"),
        ("maxi(x, y, signedness=S)", "maxi(x, y, signedness=signed)"),
        ("divi(x, -1, signedness=S)", "negi(x)"),
        ("absf(x)", "x"),
        ("negf(absf(x))", "negf(x)"),
        ("select(c, x, y)", "x"),
        ("cmpi(x, y, comparison_predicate=P, signedness=S)", "cmpi(y, x, comparison_predicate=P, signedness=S)"),
    ],
)
def test_a_wrong_row_is_noticed(pattern: str, becomes: str) -> None:
    name = "absf-absf" if "absf" in pattern else "wrong"
    wrong = PatternRow(name, "canonicalise", pattern, becomes, Exactness.EXACT, "it is not")
    with pytest.raises(AssertionError):
        decide(wrong)
