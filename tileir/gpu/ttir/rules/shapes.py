"""TTIR of the operations that move elements within tiles (spec: shapes#top)."""

from __future__ import annotations

from tileir.gpu.ttir.forms import held
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.subtiles import halves, joined, put, taken
from tileir.gpu.ttir.lib.words import Word, word_of
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir import types as t
from tileir.ir.rules import Rules
from tileir.ops.packing import Pack, Unpack
from tileir.ops.shapes import Broadcast, Cat, Extract, Insert, Permute, Reshape

rules: Rules[Lower] = Rules()


@rules(Broadcast)
def lower_broadcast(lowering: TtirLowering, op: Broadcast) -> TtirValue:
    return lowering.build.broadcast(lowering.value(op.source), *op.result.type.shape)


@rules(Reshape)
def lower_reshape(lowering: TtirLowering, op: Reshape) -> TtirValue:
    return lowering.build.reshape(lowering.value(op.source), *op.result.type.shape)


@rules(Permute)
def lower_permute(lowering: TtirLowering, op: Permute) -> TtirValue:
    return lowering.build.transpose(lowering.value(op.source), *op.permutation)


@rules(Cat)
def lower_cat(lowering: TtirLowering, op: Cat) -> TtirValue:
    """Concatenate: extents are powers of two, so both operands have the same along `dim`."""
    return joined(lowering.build, lowering.value(op.lhs), lowering.value(op.rhs), op.dim)


@rules(Extract)
def lower_extract(lowering: TtirLowering, op: Extract) -> TtirValue:
    numbers = lowering.tiles(op.indices)
    return taken(lowering.build, lowering.value(op.source), op.result.type.shape, numbers)


@rules(Insert)
def lower_insert(lowering: TtirLowering, op: Insert) -> TtirValue:
    whole, part = lowering.value(op.destination), lowering.value(op.source)
    return put(lowering.build, whole, part, lowering.tiles(op.indices))


# ---------------------------------------------------------------- bit streams


@rules(Pack)
def lower_pack(lowering: TtirLowering, op: Pack) -> TtirValue:
    bits = op.source.type.element.stream_bits
    stream = word_of(lowering.build, lowering.value(op.source))
    if bits < 8:
        stream = stream.resized("i8") & ((1 << bits) - 1)
    while bits < 8:
        stream = _doubled(stream, "i8", bits)
        bits *= 2
    while bits > 8:
        bits //= 2
        stream = _halved(stream, f"i{bits}", bits)
    return stream.value


@rules(Unpack)
def lower_unpack(lowering: TtirLowering, op: Unpack) -> TtirValue:
    element, bits = op.result.type.element, 8
    stream = Word(lowering.build, lowering.value(op.source))
    while bits > element.stream_bits:
        bits //= 2
        stream = _halved(stream, "i8", bits) & ((1 << bits) - 1)
    while bits < element.stream_bits:
        stream = _doubled(stream, f"i{2 * bits}", bits)
        bits *= 2
    return _as_element(stream, element)


def _as_element(stream: Word, element: t.ElementType | t.PointerType) -> TtirValue:
    """Return the value that the bits stand for, as it is held."""
    if element is t.I1:
        return stream.resized("i1").value
    if element is t.I4:
        return (stream << 4).shifted_signed(4).value
    if element is t.TF32:
        return (stream & t.TF32_MASK).as_float("f32")
    return stream.as_float(held(element))


def _halved(stream: Word, element: str, bits: int) -> Word:
    """Return twice as many elements, of `bits` bits: of each the low ones, then those above."""
    low, high = stream.resized(element), (stream >> bits).resized(element)
    return Word(stream.build, joined(stream.build, low.value, high.value, 0, by_turns=True))


def _doubled(stream: Word, element: str, bits: int) -> Word:
    """Return half as many elements, with fields of twice `bits` bits."""
    pairs = halves(stream.build, stream.value, 0, by_turns=True)
    low, high = (Word(stream.build, half).resized(element) for half in pairs)
    return low | (high << bits)
