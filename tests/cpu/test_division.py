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

QUOTIENTS = """
entry @divide(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>, %result: tile<ptr<i32>>) {{
  %i = iota : tile<512xi32>
  %512 = constant <i32: 512> : tile<512xi32>
  %x1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
  %xs = broadcast %x1 : tile<1xptr<i32>> -> tile<512xptr<i32>>
  %xi = offset %xs, %i : tile<512xptr<i32>>, tile<512xi32> -> tile<512xptr<i32>>
  %lhs, %t0 = load_ptr_tko weak %xi : tile<512xptr<i32>> -> tile<512xi32>, token
  {divisor}
  %quotient = divi %lhs, %rhs {sign} : tile<512xi32>
  %rest = remi %lhs, %rhs {sign} : tile<512xi32>
  %r1 = reshape %result : tile<ptr<i32>> -> tile<1xptr<i32>>
  %rs = broadcast %r1 : tile<1xptr<i32>> -> tile<512xptr<i32>>
  %to = offset %rs, %i : tile<512xptr<i32>>, tile<512xi32> -> tile<512xptr<i32>>
  %behind = offset %to, %512 : tile<512xptr<i32>>, tile<512xi32> -> tile<512xptr<i32>>
  %s0 = store_ptr_tko weak %to, %quotient : tile<512xptr<i32>>, tile<512xi32> -> token
  %s1 = store_ptr_tko weak %behind, %rest : tile<512xptr<i32>>, tile<512xi32> -> token
}}
"""
SPREAD = """%y1, %t1 = load_ptr_tko weak %y : tile<ptr<i32>> -> tile<i32>, token
  %y2 = reshape %y1 : tile<i32> -> tile<1xi32>
  %rhs = broadcast %y2 : tile<1xi32> -> tile<512xi32>"""
TILE = """%y1 = reshape %y : tile<ptr<i32>> -> tile<1xptr<i32>>
  %ys = broadcast %y1 : tile<1xptr<i32>> -> tile<512xptr<i32>>
  %yi = offset %ys, %i : tile<512xptr<i32>>, tile<512xi32> -> tile<512xptr<i32>>
  %rhs, %t1 = load_ptr_tko weak %yi : tile<512xptr<i32>> -> tile<512xi32>, token"""


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


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("is_tile", [True, False])
def test_quotients_next_to_a_multiple_are_exact(signed: bool, is_tile: bool) -> None:
    """Multiples of a divisor and their neighbours, where a quotient changes, up to the largest numbers."""
    kind, sign = np.dtype("i4" if signed else "u4"), "signed" if signed else "unsigned"
    rng, most = np.random.default_rng(3), np.iinfo(kind).max
    divisors = [1, 2, 3, 5, 7, 9, 10, 49, 127, 641, 3136, 65535, 65537, 1 << 30, most - 1, most]
    divisors += [-1, -2, -3, -7, -3136, -most, -most - 1] if signed else [(1 << 31) + 1]
    kernel = tileir.parse(QUOTIENTS.format(sign=sign, divisor=TILE if is_tile else SPREAD))["divide"]
    for divisor in divisors:
        factors = np.concatenate([rng.integers(0, most // abs(divisor) + 1, 80), [0, 1, most // abs(divisor)]])
        near = (factors[:, None] * abs(divisor) + np.arange(-1, 2)).ravel()
        near = np.concatenate([near, -near - 1 if signed else near, [most, np.iinfo(kind).min, most - 1]])
        x = np.resize(near.clip(np.iinfo(kind).min, most), 512).astype(kind)
        y = np.full(512, divisor, kind)
        results = {}
        for target in ("interp", "cpu"):
            found = results[target] = np.zeros((2, 512), np.int32)
            kernel.launch(1, x.view(np.int32), y.view(np.int32), found, target=target)
        assert results["cpu"].tobytes() == results["interp"].tobytes(), divisor
