"""TTIR of atomic operations and of multicast memory (spec: atomics#top): each element is a transaction of its own.

Triton has each element served by one thread, also where threads hold copies, and hands the old element on to the
others. A sum of f32 in memory flushes subnormals (``atom.add.f32`` does; spec: atomics#modes); other sums keep them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.gpu.ttir.ir.code import I32, TtirType, TtirValue
from tileir.gpu.ttir.lib import transfers
from tileir.gpu.ttir.lib.tiling import places
from tileir.gpu.ttir.lib.transfers import SCOPES, SEMANTICS, block_memory, load, store
from tileir.gpu.ttir.lowering import ConstantMemory, Lower, TtirLowering
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode, MemoryOrdering, MemoryScope, MultimemReduction
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import atomics, multimem

rules: Rules[Lower] = Rules()

MODES = {
    AtomicMode.AND: 1,
    AtomicMode.OR: 2,
    AtomicMode.XOR: 3,
    AtomicMode.ADD: 4,
    AtomicMode.ADDF: 5,
    AtomicMode.MAX: 6,
    AtomicMode.MIN: 7,
    AtomicMode.UMAX: 8,
    AtomicMode.UMIN: 9,
    AtomicMode.XCHG: 10,
}
"""The numbers of Triton's operations."""

NOBODY_WRITES = ConstantMemory(bytes(8))
"""Address for compare-and-swap of masked-off elements: it expects something else there, so it only reads."""


@rules(atomics.AtomicRmw)
def lower_atomic_rmw(lowering: TtirLowering, op: atomics.AtomicRmw) -> None:
    build = lowering.build
    mask = None if op.mask is None else lowering.value(op.mask)
    pointers, argument = lowering.value(op.pointers), lowering.value(op.arg)
    found = update(lowering, op, op.mode, pointers, argument, mask, op.memory_ordering_semantics, op.memory_scope)
    old = found if mask is None else build.select(mask, found, build.bits(found.type, 0))
    lowering.bind(op.result, old)
    lowering.bind_token(op.result_token)


@rules(atomics.AtomicRedView)
def lower_atomic_red_view(lowering: TtirLowering, op: atomics.AtomicRedView) -> None:
    indices = [lowering.value(index) for index in op.index]
    pointers, mask = places(lowering, lowering.view(op.view), indices, op.inbounds)
    value = lowering.value(op.value)
    update(lowering, op, op.mode, pointers, value, mask, op.memory_ordering_semantics, op.memory_scope)
    lowering.bind_token(op.result_token)


def update(
    lowering: TtirLowering,
    op: Op,
    mode: AtomicMode,
    pointers: TtirValue,
    argument: TtirValue,
    mask: TtirValue | None,
    ordering: MemoryOrdering,
    scope: MemoryScope,
) -> TtirValue:
    """Combine each element into memory where `mask` is true; gives the old ones, elsewhere undefined ones."""
    build, element = lowering.build, argument.type.element
    if mode is AtomicMode.ADDF and element == "bf16":
        _require_bf16(lowering, op, scope)
    if mode is AtomicMode.XCHG:
        pointers, argument = _words(lowering, pointers), _word(lowering, argument)
    chosen = build.truth(True, pointers.type.shape) if mask is None else mask
    old = build.op(
        "tt.atomic_rmw",
        pointers,
        argument,
        chosen,
        type=argument.type,
        atomic_rmw_op=MODES[mode],
        sem=SEMANTICS[ordering],
        scope=SCOPES[scope],
    )
    return build.bitcast(old, element)


def _require_bf16(lowering: TtirLowering, op: Op, scope: MemoryScope) -> None:
    if scope is MemoryScope.SYS and not lowering.arch.adds_bf16_at_system_scope:
        raise lowering.unsupported(op, f"adds {t.BF16.name} with scope sys only from sm_90 on")


@rules(atomics.AtomicCas)
def lower_atomic_cas(lowering: TtirLowering, op: atomics.AtomicCas) -> None:
    """Compare bits. Triton's instruction has no mask, so masked-off elements go where they change nothing."""
    build, type = lowering.build, lowering.type_of(op.result)
    pointers, expected = _words(lowering, lowering.value(op.pointers)), _word(lowering, lowering.value(op.cmp))
    value, given = _word(lowering, lowering.value(op.val)), lowering.value(op.cmp)
    if op.mask is not None:
        mask = lowering.value(op.mask)
        aside = build.like(lowering.parameter(NOBODY_WRITES, pointers.type.pointee), pointers)
        pointers = build.select(mask, pointers, aside)
        expected = build.select(mask, expected, build.integer(expected.type, 1))
    sem, scope = SEMANTICS[op.memory_ordering_semantics], SCOPES[op.memory_scope]
    found = build.op("tt.atomic_cas", pointers, expected, value, type=value.type, sem=sem, scope=scope)
    old = build.bitcast(found, type.element)
    lowering.bind(op.result, old if op.mask is None else build.select(lowering.value(op.mask), old, given))
    lowering.bind_token(op.result_token)


def _words(lowering: TtirLowering, pointers: TtirValue) -> TtirValue:
    """Return pointers to integers instead of floats."""
    return lowering.build.bitcast(pointers, f"!tt.ptr<i{pointers.type.of(pointers.type.pointee).bits}>")


def _word(lowering: TtirLowering, value: TtirValue) -> TtirValue:
    return lowering.build.bitcast(value, f"i{value.type.bits}")


# ---------------------------------------------------------------- multicast memory


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
    words = _view_words(lowering, op, op.view, op.index, op.inbounds)
    run = read if op.memory_scope is None else read_once
    name = f"multimem.ld_reduce{_strength(op)}.global{_reduction(op.reduction, words)}"
    found = _taken(lowering, words, run(lowering, name, words.addresses, words.mask, words.type))
    if words.mask is not None:
        outside = transfers.padding(lowering, op, lowering.view(op.view).type)
        found = lowering.build.select(words.mask, found, lowering.build.bits(found.type, outside))
    lowering.bind(op.reduced_values, found)
    lowering.bind_token(op.result_token)


@rules(multimem.MultimemReduceView)
def lower_reduce(lowering: TtirLowering, op: multimem.MultimemReduceView) -> None:
    build = lowering.build
    words = _view_words(lowering, op, op.view, op.index, op.inbounds)
    value = _placed(lowering, words, lowering.value(op.tile))
    if words.shift is not None:
        rest = build.op("arith.shli", build.integer(words.type, NEGATIVE_ZERO), _other_shift(lowering, words.shift))
        value = build.op("arith.ori", value, rest)
    name = f"multimem.red{_strength(op)}.global{_reduction(op.reduction, words)}"
    write_once(lowering, name, words.addresses, words.mask, value)
    lowering.bind_token(op.result_token)


@rules(multimem.MultimemStoreView)
def lower_store(lowering: TtirLowering, op: multimem.MultimemStoreView) -> None:
    words = _view_words(lowering, op, op.view, op.index, op.inbounds)
    value = _placed(lowering, words, lowering.value(op.tile))
    if words.shift is not None:
        _store_halves(lowering, op, words, words.shift, value)
    else:
        run = write if op.memory_scope is None else write_once
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
        write(
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


def _view_words(
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


_LETTERS = {32: "r", 64: "l"}
"""The registers of a width."""


def read(lowering: TtirLowering, name: str, addresses: TtirValue, mask: TtirValue | None, type: TtirType) -> TtirValue:
    """Return the result of ``name result, [address]`` for each address where `mask` holds, elsewhere 0; for every
    copy."""
    letter = _LETTERS[type.bits]
    text = f"mov.b{type.bits} $0, 0; setp.ne.b32 %chosen, $2, 0; @%chosen {name} $0, [$1];"
    return _run(lowering, text, f"=&{letter},l,r", [addresses, _flags(lowering, addresses, mask)], type)


def write(lowering: TtirLowering, name: str, addresses: TtirValue, mask: TtirValue | None, value: TtirValue) -> None:
    """Emit ``name [address], value`` where `mask` holds; for every copy."""
    text = f"mov.b32 $0, 0; setp.ne.b32 %chosen, $3, 0; @%chosen {name} [$1], $2;"
    operands = [addresses, value, _flags(lowering, addresses, mask)]
    _run(lowering, text, f"=&r,l,{_LETTERS[value.type.bits]},r", operands, addresses.type.of("i32"))


def read_once(
    lowering: TtirLowering, name: str, addresses: TtirValue, mask: TtirValue | None, type: TtirType
) -> TtirValue:
    """Call `read` once for each element."""
    build, bits = lowering.build, type.bits
    claims, results = _fresh(lowering, addresses.type.of("i32")), _places(lowering, type)
    text = (
        f".reg .b{bits} %found; {_claim(4)} "
        f"@%chosen {name} %found, [$1]; @%chosen st.relaxed.gpu.global.b{bits} [$3], %found;"
    )
    operands = [addresses, _number(lowering, claims), _number(lowering, results), _flags(lowering, addresses, mask)]
    _run(lowering, text, "=&r,l,l,l,r", operands, addresses.type.of("i32"))
    lowering.barrier()
    found = load(lowering, results)
    return found if mask is None else build.select(mask, found, build.integer(type, 0))


def write_once(
    lowering: TtirLowering, name: str, addresses: TtirValue, mask: TtirValue | None, value: TtirValue
) -> None:
    """Call `write` once for each element."""
    claims = _fresh(lowering, addresses.type.of("i32"))
    text = f"{_claim(4)} @%chosen {name} [$1], $3;"
    operands = [addresses, _number(lowering, claims), value, _flags(lowering, addresses, mask)]
    _run(lowering, text, f"=&r,l,l,{_LETTERS[value.type.bits]},r", operands, addresses.type.of("i32"))


def _claim(flag: int) -> str:
    """Set ``%chosen`` where operand `flag` is not 0 and the word at operand 2 was still 0."""
    return (
        f"mov.b32 $0, 1; setp.ne.b32 %chosen, ${flag}, 0; "
        "@%chosen atom.relaxed.gpu.global.exch.b32 $0, [$2], 1; setp.eq.b32 %chosen, $0, 0;"
    )


def _run(
    lowering: TtirLowering, text: str, constraints: str, operands: Sequence[TtirValue], type: TtirType
) -> TtirValue:
    return lowering.build.asm(f"{{ .reg .pred %chosen; {text} }}", constraints, operands, type, pure=False)


def _flags(lowering: TtirLowering, addresses: TtirValue, mask: TtirValue | None) -> TtirValue:
    chosen = lowering.build.truth(True, addresses.type.shape) if mask is None else mask
    return lowering.build.resized(chosen, I32.element, signed=False)


def _fresh(lowering: TtirLowering, type: TtirType) -> TtirValue:
    """Return a word for each element, all 0. In a loop it is that of the iteration before, which must have ended."""
    found = _places(lowering, type)
    lowering.barrier()
    store(lowering, found, lowering.build.integer(type, 0))
    lowering.barrier()
    return found


def _places(lowering: TtirLowering, type: TtirType) -> TtirValue:
    """Return a place in memory for each element of a tensor."""
    build = lowering.build
    base = build.bitcast(block_memory(lowering, type.count * type.bits // 8), f"!tt.ptr<{type.element}>")
    return build.op("tt.addptr", build.splat(base, *type.shape), build.numbers(*type.shape))


def _number(lowering: TtirLowering, pointers: TtirValue) -> TtirValue:
    return lowering.build.cast("tt.ptr_to_int", pointers, "i64")
