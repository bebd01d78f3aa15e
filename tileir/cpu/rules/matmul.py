"""Native code for matrix multiplication (spec: matmul#top): panels, then register blocks, accumulated in place.

Products themselves are emitted by `cpu.matmul.multiplication`.

The accumulator is updated where it stands when nothing else reads it, so the accumulator of a loop over K never moves;
one narrower than what is computed with is widened and rounded in registers, once per operation. `mmaf_scaled` is
computed in f64, where scaled numbers are exact and their products stay in range.
"""

from __future__ import annotations

from dataclasses import replace

from llvmlite import ir

from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import DOUBLE, I32, I64, Num, memory_type
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.tiles import ExpressionTile, Tile, Window, fill, integer, is_dense, new_buffer, wide
from tileir.cpu.lowering.reports import warn_where
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.matmul.accumulators import Zeros
from tileir.cpu.matmul.multiplication import LoopProduct, Multiplication
from tileir.cpu.matmul.panels import Extended, factor
from tileir.cpu.matmul.policy import ProductOp, ProductPlan, is_zero
from tileir.cpu.memory.live_extents import Needs, depth_of_product, needs_of_product
from tileir.host import undefined
from tileir.ir import types as t
from tileir.ir.attributes import Signedness
from tileir.ir.rules import Rules
from tileir.ops import matmul

rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()


# ---------------------------------------------------------------- the operations


@rules(matmul.MmaF)
def lower_mmaf(lowering: Lowering, op: matmul.MmaF) -> None:
    _lower(lowering, op, lowering.tile(op.lhs), lowering.tile(op.rhs))


@rules(matmul.MmaI)
def lower_mmai(lowering: Lowering, op: matmul.MmaI) -> None:
    element, sides = lowering.products[op].product.element, ((op.lhs, op.signedness_lhs), (op.rhs, op.signedness_rhs))
    _lower(lowering, op, *(_integers(lowering.tile(factor), element, sign) for factor, sign in sides))


@strict(matmul.MmaI)
def check_sums(lowering: Lowering, op: matmul.MmaI) -> None:
    """Look for sums beyond i32 by computing them once more without clamping."""
    emit, builder = lowering.emit, lowering.builder
    sides = [(lowering.tile(op.lhs), op.signedness_lhs), (lowering.tile(op.rhs), op.signedness_rhs)]
    acc, depth = lowering.tile(op.acc), op.lhs.type.shape[-1]
    total = emit.stack(I64)

    def factor_at(side: int, index: Index) -> Int:
        tile, signedness = sides[side]
        return integer(builder, tile.at(emit, index)).extended(I64, signedness is Signedness.SIGNED)

    def beyond(index: Index) -> ir.Value:
        *batch, row, column = index
        builder.store(integer(builder, acc.at(emit, index)).extended(I64, signed=True).value, total)
        with emit.counted(I64(0), I64(depth)) as k:
            product = factor_at(0, (*batch, row, k)) * factor_at(1, (*batch, k, column))
            builder.store(builder.add(builder.load(total, typ=I64), product.value), total)
        exact = Int(builder, builder.load(total, typ=I64))
        return exact.truncated(I32).extended(I64, signed=True).differs(exact).value

    warn_where(lowering, op, op.acc.tile, beyond, undefined.SATURATION)


def _integers(tile: Tile, element: t.ElementType, signedness: Signedness) -> Tile:
    """Return 8-bit numbers of either signedness as `element`."""
    return tile if element is t.I8 else Extended(tile, element, signedness is Signedness.SIGNED)


@rules(matmul.MmaFScaled)
def lower_mmaf_scaled(lowering: Lowering, op: matmul.MmaFScaled) -> None:
    lhs = _scaled(lowering.tile(op.lhs), lowering.tile(op.lhs_scale), axis=-1)
    rhs = _scaled(lowering.tile(op.rhs), lowering.tile(op.rhs_scale), axis=-2)
    _lower(lowering, op, lhs, rhs)


def _scaled(tile: Tile, scale: Tile, axis: int) -> Tile:
    """Return the tile as f64, each block of elements along `axis` multiplied by its scale."""
    block = tile.type.shape[axis] // scale.type.shape[axis]

    def compute(emit: Emitter, index: Index) -> Num:
        builder, place = emit.builder, list(index)
        place[axis] = builder.udiv(index[axis], I64(block))
        numbers = (wide(builder, tile.at(emit, index)), wide(builder, scale.at(emit, tuple(place))))
        return Num(t.F64, wide=builder.fmul(*(builder.fpext(number, DOUBLE) for number in numbers)))

    return ExpressionTile(tile.type.with_element(t.F64), compute)


# ---------------------------------------------------------------- where sums stand


def _lower(lowering: Lowering, op: ProductOp, lhs: Tile, rhs: Tile) -> None:
    """Multiply into the accumulator; a `swapped` product, which is the transposed one, into a transposed copy."""
    plan, is_float_zero = lowering.products[op], op.acc.tile.number.is_float and is_zero(op.acc)
    is_new = not plan.swapped and is_float_zero and not lowering.strict
    acc = new_zeros(lowering.emit, op.acc.tile) if is_new else accumulator(lowering, op)
    with lowering.emit.region():
        if plan.swapped:
            _multiply_transposed(lowering.emit, plan, (rhs, lhs), acc)
        else:
            panels = lowering.panels.get(op)
            depth = depth_of_product(lowering, op) if isinstance(op, matmul.MmaF) else None
            _multiply_into(lowering.emit, plan, (lhs, rhs), acc, needs_of_product(lowering, op), panels, depth)
    lowering.values[op.result] = Window(acc.type, acc.base, acc.strides)


def new_zeros(emit: Emitter, type: t.TileType) -> Zeros:
    """Return an uninitialised dense buffer for sums that start from 0."""
    buffer = new_buffer(emit, type)
    return Zeros(type, buffer.base, buffer.strides)


def accumulator(lowering: Lowering, op: ProductOp) -> Window:
    """Return a dense buffer with the elements of the accumulator: its own buffer if nothing else will read it."""
    value = op.acc
    tile = lowering.tile(value)
    if isinstance(tile, Window) and not tile.shared and is_dense(tile) and lowering.here.fusion.used_once(value):
        return tile
    buffer = lowering.place_for(value, op)
    fill(lowering.emit, buffer, tile)
    return buffer


def _multiply_transposed(emit: Emitter, plan: ProductPlan, factors: tuple[Tile, Tile], acc: Window) -> None:
    """Multiply into a transposed copy of the accumulator."""
    *batch, rows, columns = acc.type.shape
    copy = new_buffer(emit, t.tile(acc.type.element, *batch, columns, rows))
    *outer, down, along = copy.strides
    mirror = Window(acc.type, copy.base, (*outer, along, down))
    fill(emit, mirror, acc)
    _multiply_into(emit, plan, factors, copy)
    fill(emit, acc, mirror)


def _multiply_into(
    emit: Emitter,
    plan: ProductPlan,
    factors: tuple[Tile, Tile],
    acc: Window,
    needed: Needs | None = None,
    panels: LoopProduct | None = None,
    depth: ir.Value | None = None,
) -> None:
    """Accumulate the product of the left and the right factor, batch by batch, or deferred; at least the `needed` part,
    over `depth` of K if given.

    `panels`: those of factors that are not packed into new ones each time.
    """
    shape, builder = plan.shape, emit.builder
    all_batches = acc.type.shape[0] if acc.type.rank == 3 else 1
    batches = I64(all_batches) if needed is None or needed.batches is None else needed.batches
    with emit.counted(I64(0), batches) as which:
        offset = builder.mul(which, I64(shape.m * shape.n))
        base = builder.gep(acc.base, [offset], source_etype=memory_type(acc.element))
        left = factor(emit, factors[0], which, k_first=plan.swapped)
        right = factor(emit, factors[1], which, k_first=not plan.swapped)
        if needed is not None:
            left, right = replace(left, needed=needed.rows), replace(right, needed=needed.columns)
        here = replace(acc, base=base, strides=())
        Multiplication(emit, plan, left, right, here, panels, depth).emit_all()
