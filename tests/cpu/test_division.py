"""Integer division stops the launch at a zero divisor, and nothing else does."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Batch, operation

import tileir
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.core import Op
from tileir.ops.division import DivI, RemI

PROGRAM = """
entry @divide(%source: tile<ptr<i32>>, %scalar: tile<i32>, %result: tile<ptr<i32>>) {{
  %i = iota : tile<8xi32>
  %one = reshape %source : tile<ptr<i32>> -> tile<1xptr<i32>>
  %all = broadcast %one : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %from = offset %all, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %lhs, %token = load_ptr_tko weak %from : tile<8xptr<i32>> -> tile<8xi32>, token
  {divisor}
  %quotient = divi %lhs, %rhs signed : tile<8xi32>
  %two = reshape %result : tile<ptr<i32>> -> tile<1xptr<i32>>
  %rest = broadcast %two : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %to = offset %rest, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %stored = store_ptr_tko weak %to, %quotient : tile<8xptr<i32>>, tile<8xi32> -> token
}}
"""
SCALAR = """%flat = reshape %scalar : tile<i32> -> tile<1xi32>
  %rhs = broadcast %flat : tile<1xi32> -> tile<8xi32>"""
CONSTANT = "%rhs = constant <i32: {}> : tile<8xi32>"


@pytest.fixture(scope="module")
def divided() -> tuple[Batch, list[Op]]:
    """Quotients and remainders of tiles and single elements of every width, in every rounding."""
    types = [t.TileType(shape, element) for element in t.INTS[1:] for shape in ((), (64,))]
    modes = (Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)
    ops = [operation(DivI, [tile, tile], tile, rounding=mode) for tile in types for mode in modes]
    ops += [operation(RemI, [tile, tile], tile) for tile in types]
    batch = Batch()
    for op in ops:
        batch.add(op)
    return batch, ops


def filled(op: Op, number: int) -> np.ndarray:
    type = op.results[0].type
    return np.full(type.shape, number, f"i{type.element.bits // 8}")


@pytest.mark.parametrize("place", [0, 63])
def test_any_zero_divisor_traps(divided: tuple[Batch, list[Op]], place: int) -> None:
    batch, ops = divided
    for number, op in enumerate(ops):
        ones, divisor = filled(op, 1), filled(op, 1)
        assert batch.run(number, op, [ones, ones])[0] == 0
        divisor.ravel()[place % divisor.size] = 0
        assert batch.run(number, op, [ones, divisor])[0] == 1


def test_the_smallest_integer_divided_by_minus_one_is_itself(divided: tuple[Batch, list[Op]]) -> None:
    batch, ops = divided
    for number, op in enumerate(ops):
        smallest = filled(op, -(1 << (op.results[0].type.element.bits - 1)))
        status, result = batch.run(number, op, [smallest, filled(op, -1)])
        assert status == 0
        assert (result == (smallest if isinstance(op, DivI) else 0)).all()


def launch(divisor: str, scalar: int) -> np.ndarray:
    source = np.array([-(2**31), -7, -1, 0, 1, 7, 100, 2**31 - 1], np.int32)
    result = np.zeros_like(source)
    kernel = tileir.parse(PROGRAM.format(divisor=divisor))["divide"]
    kernel.launch((1, 1, 1), source, np.int32(scalar), result, target="cpu")
    return result


def test_a_zero_divisor_is_reported_with_its_place() -> None:
    with pytest.raises(tileir.Trap, match="integer division by zero"):
        launch(SCALAR, 0)
    with pytest.raises(tileir.Trap, match="integer division by zero"):
        launch(CONSTANT.format(0), 0)


@pytest.mark.parametrize("divisor", [1, -1, 3, -3, 2**31 - 1, -(2**31)])
def test_constant_and_repeated_divisors_divide_alike(divisor: int) -> None:
    expected = [-(2**31), 7, 1, 0, -1, -7, -100, -(2**31) + 1] if divisor == -1 else None
    numbers = launch(SCALAR, divisor).tolist()
    assert numbers == launch(CONSTANT.format(divisor), 0).tolist()
    if expected is not None:
        assert numbers == expected
