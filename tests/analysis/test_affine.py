"""Expressions, ranges and axes of values, as a reader would work them out."""

from __future__ import annotations

import pickle

import pytest

import tileir
from tileir.analysis import affine
from tileir.analysis.affine import Affines
from tileir.analysis.expressions import number, of
from tileir.analysis.ranges import MAX_GRID, Range
from tileir.analysis.symbols import BlockId, Kind, Lane, ScalarParameter, function
from tileir.ir.core import Value
from tileir.tools.lsp.neighbours import AxisInfo, axes

HEAD = "%x, %y, %z = get_tile_block_id : tile<i32>"
ROWS = """
  %extent = constant <i32: 128> : tile<i32>
  %first = muli %x, %extent : tile<i32>
  %first_1 = reshape %first : tile<i32> -> tile<1xi32>
  %firsts = broadcast %first_1 : tile<1xi32> -> tile<128xi32>
  %lanes = iota : tile<128xi32>
  %row = addi %firsts, %lanes : tile<128xi32>"""


def neighbours(known: Affines, value: Value) -> tuple[AxisInfo, ...]:
    return axes(known.of(value).form, value.tile, known.promised_range)


def last(*lines: str) -> tuple[Affines, Value]:
    """A program as it is known, and the result of its last operation."""
    body = "\n  ".join((HEAD, *lines))
    text = f"entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %long: tile<i64>) {{\n  {body}\n}}"
    entry = tileir.parse(text)["k"].entry
    return Affines(entry.body), entry.body.ops[-2].results[0]


BLOCK, LANE, N = of(BlockId(0)), of(Lane(0, 128)), of(ScalarParameter(1, 32))


def test_a_row_is_the_sum_of_the_first_and_the_lane() -> None:
    known, row = last(ROWS)
    assert known.of(row).form == BLOCK * 128 + LANE
    assert known.of(row).signed.needs == frozenset()
    assert known.range(row) == Range(1, 0, 128 * MAX_GRID + 127)
    assert neighbours(known, row) == (AxisInfo(128, 128, 1),)


def test_a_product_is_right_only_if_it_does_not_wrap() -> None:
    known, product = last(ROWS, "%ns = broadcast %n1 : tile<1xi32> -> tile<128xi32>".replace("%n1", "%first_1"),
                          "%p2 = muli %row, %ns : tile<128xi32>")  # fmt: skip
    found = known.of(product)
    assert found.form == (BLOCK * 128 + LANE) * BLOCK * 128 and not found.needs
    (need,) = found.signed.needs
    assert (need.form, need.low, need.high, need.promised) == (found.form, -(1 << 31), (1 << 31) - 1, False)


def test_a_flag_is_a_promise() -> None:
    known, total = last("%t = addi %n, %n overflow<no_signed_wrap> : tile<i32>")
    (need,) = known.of(total).signed.needs
    assert need.promised
    assert known.range(total) == Range(2, -(1 << 31), (1 << 31) - 1)


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("%r = divi %row, %extents unsigned rounding<zero> : tile<128xi32>", BLOCK),
        ("%r = remi %row, %extents unsigned : tile<128xi32>", LANE),
        ("%r = shri %row, %seven signed : tile<128xi32>", BLOCK),
        ("%r = shli %row, %seven : tile<128xi32>", BLOCK * (1 << 14) + LANE * 128),
        ("%r = andi %row, %mask : tile<128xi32>", LANE),
        ("%r = ori %firsts, %lanes : tile<128xi32>", BLOCK * 128 + LANE),
        ("%r = xori %firsts, %lanes : tile<128xi32>", BLOCK * 128 + LANE),
        ("%r = maxi %row, %lanes signed : tile<128xi32>", BLOCK * 128 + LANE),
        ("%r = subi %row, %firsts : tile<128xi32>", LANE),
        ("%r = exti %row signed : tile<128xi32> -> tile<128xi64>", BLOCK * 128 + LANE),
        ("%r = divi %row, %seven signed rounding<negative_inf> : tile<128xi32>",
         function(Kind.FLOOR, BLOCK * 128 + LANE, number(7))),
    ],
)  # fmt: skip
def test_functions_of_a_row(line: str, form: object) -> None:
    constants = [
        f"%{name} = constant <i32: {value}> : tile<128xi32>"
        for name, value in (("extents", 128), ("seven", 7), ("mask", 127))
    ]
    known, result = last(ROWS, *constants, line)
    assert known.of(result).form == form


def test_a_tile_is_cut_and_joined_again() -> None:
    known, joined = last(
        ROWS,
        "%a = reshape %row : tile<128xi32> -> tile<8x16xi32>",
        "%b = permute %a [1, 0] : tile<8x16xi32> -> tile<16x8xi32>",
        "%c = permute %b [1, 0] : tile<16x8xi32> -> tile<8x16xi32>",
        "%d = reshape %c : tile<8x16xi32> -> tile<2x4x16xi32>",
        "%e = reshape %d : tile<2x4x16xi32> -> tile<128xi32>",
    )
    assert known.of(joined).form == BLOCK * 128 + LANE


def test_groups_of_neighbours() -> None:
    known, quarter = last(
        ROWS,
        "%fours = constant <i32: 4> : tile<128xi32>",
        "%q = divi %row, %fours unsigned rounding<zero> : tile<128xi32>",
    )
    assert neighbours(known, quarter) == (AxisInfo(1, 1, 4),)
    known, rest = last(
        ROWS,
        "%eights = constant <i32: 8> : tile<128xi32>",
        "%q = remi %row, %eights unsigned : tile<128xi32>",
    )
    assert neighbours(known, rest) == (AxisInfo(8, 1, 1),)


def test_promises_reach_ranges_and_axes() -> None:
    known, at = last(
        "%a = assume div_by<16>, %p : tile<ptr<f32>>",
        "%m = assume bounded<0, 1000>, %n : tile<i32>",
        "%m8 = assume div_by<8>, %m : tile<i32>",
        "%q = offset %a, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>",
        "%one = reshape %q : tile<ptr<f32>> -> tile<1xptr<f32>>",
        "%all = broadcast %one : tile<1xptr<f32>> -> tile<64xptr<f32>>",
        "%lanes = iota : tile<64xi32>",
        "%r = offset %all, %lanes : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>",
    )
    assert neighbours(known, at) == (AxisInfo(64, 16, 1),)


CARRIED = """
  %p_1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %ps = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %lanes = iota : tile<8xi32>
  %start = offset %ps, %lanes : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %end = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%at = %start) -> (tile<8xptr<f32>>) {
    STEP
    continue %next : tile<8xptr<f32>>
  }"""
OFFSET = "%next = offset %at, BY : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>"
SPREAD = "%i_1 = reshape %i : tile<i32> -> tile<1xi32>\n    %is = broadcast %i_1 : tile<1xi32> -> tile<8xi32>\n    "


@pytest.mark.parametrize(
    ("step", "uniform"),
    [
        ("%by = constant <i32: 16> : tile<8xi32>\n    " + OFFSET.replace("BY", "%by"), True),
        (SPREAD + OFFSET.replace("BY", "%is"), True),
        (OFFSET.replace("BY", "%lanes"), False),
    ],
)
def test_pointers_that_a_loop_carries(step: str, uniform: bool) -> None:
    """Moved by one distance they stay neighbours; moved by one each they go apart, evenly."""
    known, result = last(CARRIED.replace("STEP", step))
    argument = result.op.regions[0].args[1]
    move = known.move(argument)
    assert move is not None and move.is_uniform == uniform
    assert affine.is_even(known.of(argument), (8,))
    assert affine.unit_dimension(known.of(argument), (8,), 4) == (0 if uniform else None)


def test_numbers_that_wrap_twice_are_not_even() -> None:
    known, at = last(
        ROWS,
        "%n_1 = reshape %n : tile<i32> -> tile<1xi32>",
        "%ns = broadcast %n_1 : tile<1xi32> -> tile<128xi32>",
        "%far = muli %row, %ns : tile<128xi32>",
        "%p_1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>",
        "%ps = broadcast %p_1 : tile<1xptr<f32>> -> tile<128xptr<f32>>",
        "%a = offset %ps, %far : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>",
        "%back = subi %lanes, %far : tile<128xi32>",
        "%b = offset %a, %back : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>",
    )
    assert not affine.is_even(known.of(at), (128,))
    assert affine.is_even(known.of(at.op.operands[0]), (128,))


def test_expressions_can_be_pickled() -> None:
    known, quotient = last(ROWS, "%ns = broadcast %first_1 : tile<1xi32> -> tile<128xi32>",
                           "%q = divi %row, %ns signed rounding<zero> : tile<128xi32>")  # fmt: skip
    found = known.of(quotient).form
    assert pickle.loads(pickle.dumps(found)) == found


def test_what_is_used_twice_many_times_over_is_unknown_in_the_end() -> None:
    """A sort compares and exchanges: each of its steps has the one before it several times."""
    lines = ["%r0 = iota : tile<64xi32>", "%c = constant <i1: true> : tile<64xi1>"]
    for step in range(60):
        lines += [f"%x{step} = xori %r{step}, %r{step} : tile<64xi32>" if step % 2 else
                  f"%x{step} = muli %r{step}, %r{step} : tile<64xi32>",
                  f"%r{step + 1} = select %c, %r{step}, %x{step} : tile<64xi1>, tile<64xi32>",
                  f"%s{step} = reshape %r{step + 1} : tile<64xi32> -> tile<8x8xi32>"]  # fmt: skip
    known, value = last(*lines)
    assert len(known.of(value).form.symbols()) == 1
