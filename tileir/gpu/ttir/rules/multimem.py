"""TTIR of multicast memory (spec: multimem#top): PTX ``multimem`` instructions, from sm_90 on.

The instructions know no single element of 16 bits, only pairs in a word of 32. Of a word that is read, one half is
taken. Where one half is added to, -0 is added to the other, which leaves every number as it is (and makes a signalling
NaN a quiet one). A store clears the bits of the element, then sets those of its value: 16 bits can be stored weakly
only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.gpu.ttir.ir.code import TtirType, TtirValue
from tileir.gpu.ttir.lib import elect_thread, transfers
from tileir.gpu.ttir.lib.tiling import places
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.attributes import MemoryScope, MultimemReduction
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import multimem

rules: Rules[Lower] = Rules()

_NAMES = {
    MultimemReduction.ADD: ("add", "u"),
    MultimemReduction.MIN: ("min", "s"),
    MultimemReduction.MAX: ("max", "s"),
    MultimemReduction.AND: ("and", "b"),
    MultimemReduction.OR: ("or", "b"),
    MultimemReduction.XOR: ("xor", "b"),
    MultimemReduction.UMIN: ("min", "u"),
    MultimemReduction.UMAX: ("max", "u"),
}
"""The operation, and how it reads integers."""

_SCOPES = {MemoryScope.TL_BLK: "cta", MemoryScope.DEVICE: "gpu", MemoryScope.SYS: "sys"}

Multimem = multimem.MultimemLoadReduceView | multimem.MultimemReduceView | multimem.MultimemStoreView

NEGATIVE_ZERO = 0x8000
"""The bits of -0 in f16 and bf16."""


@dataclass(frozen=True)
class Words:
    """The words that hold the elements of a tile: their addresses as i64, which of them are there (None: all), and for
    elements of 16 bits where in the word one begins, as i32."""

    element: t.ElementType
    addresses: TtirValue
    mask: TtirValue | None
    shift: TtirValue | None

    @property
    def type(self) -> TtirType:
        return self.addresses.type.of("i32" if self.shift is not None else f"i{self.element.bits}")


@rules(multimem.MultimemLoadReduceView)
def lower_load_reduce(lowering: TtirLowering, op: multimem.MultimemLoadReduceView) -> None:
    words = _words(lowering, op, op.view, op.index, op.inbounds)
    run = elect_thread.read if op.memory_scope is None else elect_thread.read_once
    name = f"multimem.ld_reduce{_strength(op)}.global{_reduction(op.reduction, words)}"
    found = _taken(lowering, words, run(lowering, name, words.addresses, words.mask, words.type))
    if words.mask is not None:
        found = lowering.build.select(words.mask, found, _outside(lowering, op, found.type.shape))
    lowering.bind(op.reduced_values, found)
    lowering.bind_token(op.result_token)


def _outside(lowering: TtirLowering, op: multimem.MultimemLoadReduceView, shape: tuple[int, ...]) -> TtirValue:
    """Return the value that elements outside the tensor read as. Types of these operations have all padding values."""
    view = lowering.view(op.view).type
    found = transfers.padding(lowering.build, view.element, view.padding, shape)
    assert found is not None
    return found


@rules(multimem.MultimemReduceView)
def lower_reduce(lowering: TtirLowering, op: multimem.MultimemReduceView) -> None:
    build = lowering.build
    words = _words(lowering, op, op.view, op.index, op.inbounds)
    value = _placed(lowering, words, lowering.value(op.tile))
    if words.shift is not None:
        rest = build.op("arith.shli", build.integer(words.type, NEGATIVE_ZERO), _other_shift(lowering, words.shift))
        value = build.op("arith.ori", value, rest)
    name = f"multimem.red{_strength(op)}.global{_reduction(op.reduction, words)}"
    elect_thread.write_once(lowering, name, words.addresses, words.mask, value)
    lowering.bind_token(op.result_token)


@rules(multimem.MultimemStoreView)
def lower_store(lowering: TtirLowering, op: multimem.MultimemStoreView) -> None:
    words = _words(lowering, op, op.view, op.index, op.inbounds)
    value = _placed(lowering, words, lowering.value(op.tile))
    if words.shift is not None:
        _store_halves(lowering, op, words, words.shift, value)
    else:
        run = elect_thread.write if op.memory_scope is None else elect_thread.write_once
        name = f"multimem.st{_strength(op)}.global.b{words.element.bits}"
        run(lowering, name, words.addresses, words.mask, value)
    lowering.bind_token(op.result_token)


def _store_halves(
    lowering: TtirLowering, op: multimem.MultimemStoreView, words: Words, shift: TtirValue, value: TtirValue
) -> None:
    """Store halves; copies of an element each do this, with the same result in the end."""
    build = lowering.build
    if op.memory_scope is not None:
        why = "with an ordering other than weak: no GPU has multicast stores of 16 bits"
        raise lowering.unsupported(op, f"cannot store {words.element.name} {why}")
    kept = build.op("arith.shli", build.integer(words.type, 0xFFFF), _other_shift(lowering, shift))
    for name, operand in (("and", kept), ("or", value)):
        elect_thread.write(
            lowering,
            f"multimem.red.relaxed.{_SCOPES[MemoryScope.TL_BLK]}.global.{name}.b32",
            words.addresses,
            words.mask,
            operand,
        )


# ---------------------------------------------------------------- names


def _strength(op: Multimem) -> str:
    """Return the ordering and the scope as PTX writes them."""
    if op.memory_scope is None:
        return f".{op.memory_ordering_semantics.text}"
    return f".{op.memory_ordering_semantics.text}.{_SCOPES[op.memory_scope]}"


def _reduction(reduction: MultimemReduction, words: Words) -> str:
    name, reading = _NAMES[reduction]
    if not words.element.is_float:
        return f".{name}.{reading}{words.element.bits}"
    return f".{name}.{words.element.name}{'' if words.shift is None else 'x2'}"


# ---------------------------------------------------------------- words


def _words(
    lowering: TtirLowering, op: Op, view: core.Value, index: Sequence[core.Value], inbounds: Sequence[bool]
) -> Words:
    """Return the words of the tile at an index."""
    build = lowering.build
    if not lowering.arch.has_multicast:
        raise lowering.unsupported(op, "needs multicast memory, which GPUs have from sm_90 on")
    found = lowering.view(view)
    indices = [lowering.value(value) for value in index]
    pointers, mask = places(lowering, found, indices, inbounds)
    addresses = build.cast("tt.ptr_to_int", pointers, "i64")
    if found.type.element.bits != 16:
        return Words(found.type.element, addresses, mask, None)
    aligned = build.op("arith.andi", addresses, build.integer(addresses.type, -4))
    half = build.op(
        "arith.andi", build.resized(addresses, "i32", signed=False), build.integer(addresses.type.of("i32"), 2)
    )
    return Words(found.type.element, aligned, mask, build.op("arith.shli", half, build.integer(half.type, 3)))


def _placed(lowering: TtirLowering, words: Words, tile: TtirValue) -> TtirValue:
    """Return the elements as words in which all other bits are 0."""
    build = lowering.build
    bits = build.bitcast(tile, f"i{tile.type.bits}")
    if words.shift is None:
        return bits
    return build.op("arith.shli", build.resized(bits, "i32", signed=False), words.shift)


def _taken(lowering: TtirLowering, words: Words, found: TtirValue) -> TtirValue:
    """Return the elements in words."""
    build = lowering.build
    if words.shift is not None:
        found = build.resized(build.op("arith.shrui", found, words.shift), "i16", signed=False)
    return build.bitcast(found, words.element.name)


def _other_shift(lowering: TtirLowering, shift: TtirValue) -> TtirValue:
    """Return the bit at which the other half of each word begins."""
    return lowering.build.op("arith.xori", shift, lowering.build.integer(shift.type, 16))
