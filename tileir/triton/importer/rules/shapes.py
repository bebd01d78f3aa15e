"""Shapes of tensors, and the grid."""

from __future__ import annotations

from tileir.ir import types as t
from tileir.ops.core import GetNumTileBlocks, GetTileBlockId, Iota
from tileir.ops.integer import AddI
from tileir.ops.shapes import Cat, Extract, Permute
from tileir.triton.importer.faults import mismatch
from tileir.triton.importer.importing import Importing, ImportRules, Results, integer, integers, one_of
from tileir.triton.importer.syntax import MlirOperation

rules = ImportRules()
_AXES = ("x", "y", "z")


@rules("tt.get_program_id", "tt.get_num_programs")
def grid(importing: Importing, op: MlirOperation) -> Results:
    axis = _AXES.index(one_of(op, "axis", _AXES, index=0))
    cls = GetTileBlockId if op.name == "tt.get_program_id" else GetNumTileBlocks
    return importing.build.insert(cls, [t.tile(t.I32)] * 3)[axis]


@rules("tt.make_range")
def make_range(importing: Importing, op: MlirOperation) -> Results:
    build, type, start = importing.build, importing.result_type(op), integer(op, "start")
    if len(type.shape) != 1 or integer(op, "end") - start != type.count:
        raise mismatch(f"expected a result of {integer(op, 'end') - start} numbers")
    numbers = build.op(Iota, type)
    return build.same(AddI, numbers, build.integer(type, start)) if start else numbers


@rules("tt.splat", "tt.broadcast")
def broadcast(importing: Importing, op: MlirOperation) -> Results:
    (value,) = importing.operands(op, 1)
    return importing.build.broadcast(value, importing.result_type(op).shape)


@rules("tt.reshape", "tt.expand_dims")
def reshape(importing: Importing, op: MlirOperation) -> Results:
    """Reshape in row-major order, even where the compiler would be free to reorder the elements."""
    (value,) = importing.operands(op, 1)
    return importing.build.reshaped(value, importing.result_type(op).shape)


@rules("tt.unsplat")
def unsplat(importing: Importing, op: MlirOperation) -> Results:
    (value,) = importing.operands(op, 1)
    return importing.build.reshaped(value, ())


@rules("tt.trans")
def transpose(importing: Importing, op: MlirOperation) -> Results:
    (value,) = importing.operands(op, 1)
    order = integers(op, "order")
    if sorted(order) != list(range(value.tile.rank)):
        raise mismatch(f"expected an order of {value.tile.rank} dimensions")
    type = t.TileType([value.tile.shape[axis] for axis in order], value.tile.element)
    return importing.build.op(Permute, type, source=value, permutation=order)


@rules("tt.cat")
def concatenate(importing: Importing, op: MlirOperation) -> Results:
    """Concatenate in order, which is one of the permitted orders."""
    lhs, rhs = importing.operands(op, 2)
    return importing.build.op(Cat, importing.result_type(op), lhs=lhs, rhs=rhs, dim=0)


@rules("tt.join")
def join(importing: Importing, op: MlirOperation) -> Results:
    build, operands = importing.build, importing.operands(op, 2)
    shape = operands[0].tile.shape
    lhs, rhs = (build.reshaped(operand, (*shape, 1)) for operand in operands)
    return build.op(Cat, t.TileType((*shape, 2), lhs.tile.element), lhs=lhs, rhs=rhs, dim=len(shape))


@rules("tt.split")
def split(importing: Importing, op: MlirOperation) -> Results:
    build, (value,) = importing.build, importing.operands(op, 1)
    if not value.tile.shape or value.tile.shape[-1] != 2:
        raise mismatch("expected a tensor whose last dimension is 2")
    shape = value.tile.shape[:-1]
    halves = t.TileType((*shape, 1), value.tile.element)
    zero = build.integer(t.tile(t.I32), 0)
    return [
        build.reshaped(build.op(Extract, halves, source=value, indices=[*[zero] * len(shape), index]), shape)
        for index in (zero, build.integer(t.tile(t.I32), 1))
    ]
