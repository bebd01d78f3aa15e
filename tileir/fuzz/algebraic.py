"""A program with integers modulo 2^32 in place of floats, so that sums and products may be taken in any order.

    addf, subf, mulf, fma, mmaf       addi, subi, muli, and sums of products: associative, commutative, distributive
    maxf, minf, cmpf, absf            the same of signed integers
    ftof, itof                        the number itself, modulo 2^32
    divf x, y                         x times a number that only y decides
    exp, sqrt, ...                    a number that only the operands and the operation decide
    constants                         integers as they are; 0.1 is some odd number, everywhere the same

Two programs that differ in the order of sums, in what is fused or tiled, then agree to the bit; a wrong index, a lost
term or a race does not. Identities of real numbers alone, such as that of exp (x + y), do not hold here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import ArrayAttr, AtomicMode, Attribute, FloatAttr, IntegerAttr, Signedness
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.loc import Location
from tileir.ops import atomics, control, conversion, core, floating, integer, matmul, misc, reduction
from tileir.ops.module import Entry, Global
from tileir.ops.shapes import Broadcast, Reshape
from tileir.passes.facts import DenseElements, content_array, dense, splat
from tileir.passes.rebuilding import ChangeLog, Rebuilding

RING = t.I32
TARGET = "algebraic"
_MODULUS = 1 << RING.bits
_SIGNED = {"signedness": Signedness.SIGNED}
_INTEGER_OPS: dict[type[Op], type[Op]] = {
    floating.AddF: integer.AddI,
    floating.SubF: integer.SubI,
    floating.MulF: integer.MulI,
    floating.NegF: integer.NegI,
    floating.AbsF: integer.AbsI,
    floating.MaxF: integer.MaxI,
    floating.MinF: integer.MinI,
}
_UNINTERPRETED = (floating.Sqrt, floating.Ceil, floating.Floor, floating.RemF)
_REFUSED = ("packing", "extension", "multimem")


def algebraic(module: Module) -> Module:
    """Return the program over the ring. Raises `UnsupportedError` for what looks at the bits of floats."""
    return _Algebraic(ChangeLog()).module(module)


def ring_type(type: t.Type) -> t.Type:
    """Return the type with i32 in place of floats."""
    if isinstance(type, t.TileType):
        return t.TileType(type.shape, _ring_element(type.element))
    if isinstance(type, t.TensorViewType):
        return t.TensorViewType(_ring_element(type.element), type.shape, type.strides, type.attr)
    if isinstance(type, t.FunctionType):
        return t.FunctionType(map(ring_type, type.inputs), map(ring_type, type.results))
    return _ring_view(type) if isinstance(type, t.TileViewType) else type


def _ring_element(element: t.Type) -> t.Type:
    if isinstance(element, t.PointerType):
        return t.PointerType(_ring_element(element.pointee), element.attr)
    return RING if isinstance(element, t.ElementType) and element.is_float else element


def _ring_view(type: t.TileViewType) -> t.Type:
    """Return the view's type; padding other than 0 needs floats, and becomes 0."""
    tensor = ring_type(type.tensor_view)
    padding = type.padding if tensor is type.tensor_view or type.padding is None else t.PaddingValue.ZERO
    return type.of_tensor(tensor, padding)


def ring_number(number: float) -> int:
    """Return the integer for a constant: an integer stands for itself, anything else for an odd number of its own."""
    if np.isfinite(number) and float(number).is_integer():
        return int(number) % _MODULUS
    return _code(repr(float(number)))


def _code(text: str) -> int:
    """Return an odd number that a text decides."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "little") | 1


def _is_float(value: Value) -> bool:
    type = value.type
    return isinstance(type, t.TileType) and isinstance(type.element, t.ElementType) and type.element.is_float


class _Algebraic(Rebuilding):
    """The walk that replaces floats."""

    def copy(self, op: Op) -> Op:
        """Copy an operation that only moves numbers, with other types."""
        made = super().copy(op)
        made.results = tuple([Value(ring_type(one.type), made, one.index) for one in made.results])
        for name, content in made.attributes.items():
            if isinstance(content, t.FunctionType):
                made.attributes[name] = ring_type(content)
        return made

    def empty_like(self, block: Block) -> Block:
        made = Block([ring_type(argument.type) for argument in block.args])
        made.arg_locs, made.arg_names = block.arg_locs, block.arg_names
        return made

    def visit(self, op: Op) -> None:
        rewritten = self._rewritten(op)
        if rewritten is None:
            super().visit(op)
        else:
            self.bind(op.results, rewritten)

    def _rewritten(self, op: Op) -> Sequence[Value] | None:
        """Return the values that replace the results; None if the operation stays."""
        floats = any(map(_is_float, (*op.operands, *op.results)))
        if isinstance(op, Global) and op.value.element.is_float:
            return self._global(op)
        if isinstance(op, Entry) or not floats:
            return None
        if isinstance(op, core.Constant):
            return self._constant(_ring_content(op.value), op.loc)
        if isinstance(op, conversion.FToF):
            return self.given(op.operands)
        if isinstance(op, conversion.IToF):
            return self._resized(op)
        if isinstance(op, misc.PrintTko):
            raise UnsupportedError(f"'{op.spec.name}' of floats", TARGET, op.loc)
        return self._arithmetic(op)

    def _arithmetic(self, op: Op) -> Sequence[Value] | None:
        if type(op) in _INTEGER_OPS:
            kind = _INTEGER_OPS[type(op)]
            signedness = _SIGNED if "signedness" in kind.spec.attr_index else {}
            return self.emit(
                kind(self.given(op.operands), [ring_type(op.results[0].type)], dict(signedness), (), op.loc)
            )
        if isinstance(op, floating.Fma):
            lhs, rhs, acc = self.given(op.operands)
            return [self._binary(integer.AddI, self._binary(integer.MulI, lhs, rhs, op.loc), acc, op.loc)]
        if isinstance(op, floating.CmpF):
            lhs, rhs = self.given(op.operands)
            fields = {"comparison_predicate": op.comparison_predicate, "lhs": lhs, "rhs": rhs, **_SIGNED}
            return self.emit(integer.CmpI.build([op.result.type], op.loc, **fields))
        if isinstance(op, floating.DivF):
            lhs, rhs = self.given(op.operands)
            return [self._binary(integer.MulI, lhs, self._decided(op, [rhs]), op.loc)]
        if isinstance(op, matmul.MmaF):
            return [self._product(op)]
        return self._other(op)

    def _other(self, op: Op) -> Sequence[Value] | None:
        if isinstance(op, _UNINTERPRETED) or op.spec.chapter == "functions":
            return [self._decided(op, self.given(op.operands))]
        if isinstance(op, reduction.Reduce | reduction.Scan):
            return self._fold(op)
        if isinstance(op, atomics.AtomicRmw | atomics.AtomicRedView):
            return self._atomic(op)
        looks = isinstance(op, conversion.Bitcast | conversion.FToI | atomics.AtomicCas | matmul.MmaFScaled)
        if looks or op.spec.chapter in _REFUSED:
            raise UnsupportedError(f"'{op.spec.name}' of floats", TARGET, op.loc)
        return None

    # ------------------------------------------------------------ pieces

    def _constant(self, content: DenseElements, loc: Location) -> Sequence[Value]:
        return self.emit(core.Constant.build([content.type], loc, value=content))

    def _binary(self, kind: type[Op], lhs: Value, rhs: Value, loc: Location) -> Value:
        return self.emit(kind.build([lhs.type], loc, lhs=lhs, rhs=rhs))[0]

    def _all(self, like: Value, number: int, loc: Location) -> Value:
        return self._constant(splat(like.tile, number), loc)[0]

    def _decided(self, op: Op, operands: Sequence[Value]) -> Value:
        """Return a number that the operands, one after the other, and the operation with its attributes decide."""
        name, loc = op.spec.name, op.loc
        found: Value | None = None
        for at, operand in enumerate(operands):
            value = operand
            if value.tile.number is not RING:
                value = self._extended(value, loc)
            mixed = self._binary(integer.XOrI, value, self._all(value, _code(f"{name} {at}"), loc), loc)
            mixed = self._binary(integer.MulI, mixed, self._all(value, _code(f"{name} factor {at}"), loc), loc)
            shift = {"lhs": mixed, "rhs": self._all(value, 15, loc), "signedness": Signedness.UNSIGNED}
            high = self.emit(integer.ShrI.build([mixed.type], loc, **shift))[0]
            mixed = self._binary(integer.MulI, self._binary(integer.XOrI, mixed, high, loc),
                                 self._all(value, _code(f"{name} last {at}"), loc), loc)  # fmt: skip
            found = mixed if found is None else self._binary(integer.AddI, found, mixed, loc)
        assert found is not None, "a function has operands"
        return found

    def _extended(self, value: Value, loc: Location) -> Value:
        """Return an integer of another width as one of the ring."""
        type = value.tile.with_element(RING)
        if value.tile.number.bits == RING.bits:
            return value
        if value.tile.number.bits < RING.bits:
            fields = {"from": value, **_SIGNED}
            return self.emit(conversion.ExtI.build([type], loc, **fields))[0]
        return self.emit(conversion.TruncI.build([type], loc, **{"from": value}))[0]

    def _resized(self, op: conversion.IToF) -> Sequence[Value]:
        (value,) = self.given(op.operands)
        type = value.tile.with_element(RING)
        if value.tile.number.bits < RING.bits:
            fields = {"from": value, "signedness": op.signedness}
            return self.emit(conversion.ExtI.build([type], op.loc, **fields))
        return [self._extended(value, op.loc)]

    def _fold(self, op: reduction.Reduce | reduction.Scan) -> Sequence[Value]:
        made = self.copy(op)
        made.attributes["identities"] = ArrayAttr(tuple(map(_ring_identity, op.identities)))
        return self.emit(made)

    def _atomic(self, op: atomics.AtomicRmw | atomics.AtomicRedView) -> Sequence[Value]:
        if op.mode not in (AtomicMode.ADDF, AtomicMode.XCHG):
            raise UnsupportedError(f"'{op.spec.name}' {op.mode.text} of floats", TARGET, op.loc)
        made = self.copy(op)
        made.attributes["mode"] = AtomicMode.ADD if op.mode is AtomicMode.ADDF else op.mode
        return self.emit(made)

    def _product(self, op: matmul.MmaF) -> Value:
        """Return ``lhs @ rhs + acc`` as a sum of products."""
        lhs, rhs, acc = self.given(op.operands)
        *batch, rows, inner = lhs.tile.shape
        columns = rhs.tile.shape[-1]
        full = t.TileType((*batch, rows, inner, columns), RING)
        left = self._spread(lhs, (*batch, rows, inner, 1), full, op.loc)
        right = self._spread(rhs, (*batch, 1, inner, columns), full, op.loc)
        products = self._binary(integer.MulI, left, right, op.loc)
        return self._binary(integer.AddI, self._sum(products, len(batch) + 1, acc.tile, op.loc), acc, op.loc)

    def _spread(self, value: Value, shape: tuple[int, ...], full: t.TileType, loc: Location) -> Value:
        (thin,) = self.emit(Reshape.build([t.TileType(shape, RING)], loc, source=value))
        return self.emit(Broadcast.build([full], loc, source=thin))[0]

    def _sum(self, value: Value, dim: int, type: t.TileType, loc: Location) -> Value:
        scalar = t.tile(RING)
        body = Block([scalar, scalar])
        total = body.append(integer.AddI.build([scalar], loc, lhs=body.args[0], rhs=body.args[1])).results[0]
        body.append(control.Yield([total], [], {}, (), loc, (1,)))
        identities = ArrayAttr((IntegerAttr(0, RING),))
        fields = {"dim": dim, "identities": identities, "operands": [value], "body": body}
        return self.emit(reduction.Reduce.build([type], loc, **fields))[0]

    def _global(self, op: Global) -> Sequence[Value]:
        made = self.copy(op)
        made.attributes["value"] = _ring_content(op.value)
        return self.emit(made)


def _ring_content(content: DenseElements) -> DenseElements:
    type = content.type.with_element(RING)
    with np.errstate(invalid="ignore"):
        numbers = content_array(content).astype(np.float64)
    ring = np.array([ring_number(number) for number in numbers.ravel().tolist()], np.uint32)
    return dense(type, ring.reshape(numbers.shape).view(np.int32))


def _ring_identity(identity: Attribute) -> Attribute:
    """Return an identity of the right type; identities have no part in results."""
    return IntegerAttr(0, RING) if isinstance(identity, FloatAttr) else identity
