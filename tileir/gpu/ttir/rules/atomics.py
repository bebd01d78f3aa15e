"""TTIR of atomic operations and of multicast memory (spec: atomics#top): each element is a transaction of its own.

Triton has each element served by one thread, also where threads hold copies, and hands the old element on to the
others. A sum of f32 in memory flushes subnormals (``atom.add.f32`` does; spec: atomics#modes); other sums keep them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileir.gpu.executable import ConstantMemory
from tileir.gpu.ttir.ir.builder import Builder, MemoryOrder
from tileir.gpu.ttir.ir.code import TtirType, TtirValue
from tileir.gpu.ttir.lib.memory import block_memory, padding
from tileir.gpu.ttir.lib.tiling import TileElements
from tileir.gpu.ttir.lib.words import Word, word_of
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode, MemoryScope, MultimemReduction
from tileir.ir.rules import Rules
from tileir.ops import atomics, multimem

rules: Rules[Lower] = Rules()

NOBODY_WRITES = ConstantMemory(bytes(8))
"""Address for compare-and-swap of masked-off elements: it expects something else there, so it only reads."""


@rules(atomics.AtomicRmw)
def lower_atomic_rmw(lowering: TtirLowering, op: atomics.AtomicRmw) -> TtirValue:
    build = lowering.build
    mask = lowering.optional(op.mask)
    found = _updated(lowering, op, lowering.value(op.pointers), lowering.value(op.arg), mask)
    return found if mask is None else build.select(mask, found, build.bits(found.type, 0))


@rules(atomics.AtomicRedView)
def lower_atomic_red_view(lowering: TtirLowering, op: atomics.AtomicRedView) -> None:
    pointers, mask = _places(lowering, op)
    _updated(lowering, op, pointers, lowering.value(op.value), mask)


def _places(lowering: TtirLowering, op: atomics.AtomicRedView | Multimem) -> tuple[TtirValue, TtirValue | None]:
    """Return the address of each element of the tile, in all its dimensions, and whether it lies in the tensor (None:
    all do)."""
    tile = TileElements.at(lowering, lowering.view(op.view), lowering.tiles(op.index), op.inbounds)
    tile = replace(tile, kept=range(len(tile.axes)))
    return tile.pointers(), tile.inside()


def _updated(
    lowering: TtirLowering,
    op: atomics.AtomicRmw | atomics.AtomicRedView,
    pointers: TtirValue,
    argument: TtirValue,
    mask: TtirValue | None,
) -> TtirValue:
    """Combine each element into memory where `mask` is true; returns the old ones, elsewhere undefined ones."""
    build, element, order = lowering.build, argument.type.element, MemoryOrder.of(op)
    has_none = order.scope is MemoryScope.SYS and not lowering.arch.adds_bf16_at_system_scope
    if has_none and op.mode is AtomicMode.ADDF and element == "bf16":
        raise lowering.unsupported(op, f"adds {t.BF16.name} with scope sys only from sm_90 on")
    if op.mode is AtomicMode.XCHG:
        pointers, argument = build.words(pointers), word_of(build, argument).value
    return build.bitcast(build.atomic(op.mode, pointers, argument, mask, order), element)


@rules(atomics.AtomicCas)
def lower_atomic_cas(lowering: TtirLowering, op: atomics.AtomicCas) -> TtirValue:
    """Compare bits. Triton's instruction has no mask, so masked-off elements go where they change nothing."""
    build, given = lowering.build, lowering.value(op.cmp)
    pointers = build.words(lowering.value(op.pointers))
    expected, value = (word_of(build, lowering.value(operand)).value for operand in (op.cmp, op.val))
    mask = lowering.optional(op.mask)
    if mask is not None:
        aside = build.like(lowering.parameter(NOBODY_WRITES, pointers.type.pointee), pointers)
        pointers = build.select(mask, pointers, aside)
        expected = build.select(mask, expected, build.integer(expected.type, 1))
    order = MemoryOrder.of(op).attributes()
    found = build.insert("tt.atomic_cas", [pointers, expected, value], [value.type], order)[0]
    old = build.bitcast(found, given.type.element)
    return old if mask is None else build.select(mask, old, given)


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


@rules(multimem.MultimemLoadReduceView)
def lower_load_reduce(lowering: TtirLowering, op: multimem.MultimemLoadReduceView) -> TtirValue:
    words = Words.of(lowering, op)
    found = words.read(f"multimem.ld_reduce{_strength(op)}.global{words.reduction(op.reduction)}", _is_strong(op))
    if words.shift is not None:
        found = (found >> words.shift).resized("i16")
    result = found.as_float(words.element.name)
    if words.mask is not None:
        outside = padding(lowering, op, lowering.view(op.view).type)
        result = lowering.build.select(words.mask, result, lowering.build.bits(result.type, outside))
    return result


@rules(multimem.MultimemReduceView)
def lower_reduce(lowering: TtirLowering, op: multimem.MultimemReduceView) -> None:
    words = Words.of(lowering, op)
    value = words.placed(lowering.value(op.tile))
    if words.shift is not None:
        value = value | words.in_other_half(NEGATIVE_ZERO, words.shift)
    words.write(f"multimem.red{_strength(op)}.global{words.reduction(op.reduction)}", value, once=True)


@rules(multimem.MultimemStoreView)
def lower_store(lowering: TtirLowering, op: multimem.MultimemStoreView) -> None:
    """Store words. Halves take two steps; copies of an element each do this, with the same result in the end."""
    words = Words.of(lowering, op)
    value = words.placed(lowering.value(op.tile))
    if words.shift is None:
        words.write(f"multimem.st{_strength(op)}.global.b{words.element.bits}", value, _is_strong(op))
    elif _is_strong(op):
        why = "with an ordering other than weak: no GPU has multicast stores of 16 bits"
        raise lowering.unsupported(op, f"cannot store {words.element.name} {why}")
    else:
        for name, operand in (("and", words.in_other_half(0xFFFF, words.shift)), ("or", value)):
            words.write(f"multimem.red.relaxed.cta.global.{name}.b32", operand, once=False)


def _is_strong(op: Multimem) -> bool:
    return op.memory_scope is not None


def _strength(op: Multimem) -> str:
    """Return the ordering and the scope as PTX writes them."""
    scope = "" if op.memory_scope is None else f".{_SCOPES[op.memory_scope]}"
    return f".{op.memory_ordering_semantics.text}{scope}"


_CLAIM = (
    "mov.b32 $0, 1; setp.ne.b32 %chosen, $4, 0; "
    "@%chosen atom.relaxed.gpu.global.exch.b32 $0, [$2], 1; setp.eq.b32 %chosen, $0, 0;"
)
"""Sets ``%chosen`` where operand 4 is not 0 and the word at operand 2 was still 0."""
_LETTERS = {32: "r", 64: "l"}
"""The registers of a width."""


@dataclass(frozen=True)
class Words:
    """The words that hold the elements of a tile: their addresses as i64, which of them are there (None: all), and for
    elements of 16 bits where in the word one begins, as i32."""

    lowering: TtirLowering
    element: t.ElementType
    addresses: Word
    mask: TtirValue | None
    shift: Word | None = None

    @staticmethod
    def of(lowering: TtirLowering, op: Multimem) -> Words:
        """Return the words of the tile that an operation is about."""
        build, view = lowering.build, lowering.view(op.view)
        if not lowering.arch.has_multicast:
            raise lowering.unsupported(op, "needs multicast memory, which GPUs have from sm_90 on")
        pointers, mask = _places(lowering, op)
        addresses = Word(build, build.cast("tt.ptr_to_int", pointers, "i64"))
        if view.type.element.bits != 16:
            return Words(lowering, view.type.element, addresses, mask)
        return Words(lowering, view.type.element, addresses & -4, mask, (addresses.resized("i32") & 2) << 3)

    @property
    def type(self) -> TtirType:
        return self.addresses.value.type.of(f"i{max(self.element.bits, 32)}")

    def reduction(self, reduction: MultimemReduction) -> str:
        """Return an operation and the type of its elements as PTX writes them."""
        name, reading = _NAMES[reduction]
        if not self.element.is_float:
            return f".{name}.{reading}{self.element.bits}"
        return f".{name}.{self.element.name}{'' if self.shift is None else 'x2'}"

    def placed(self, tile: TtirValue) -> Word:
        """Return the elements as words in which all other bits are 0."""
        bits = word_of(self.lowering.build, tile)
        return bits if self.shift is None else bits.resized("i32") << self.shift

    def in_other_half(self, bits: int, shift: Word) -> Word:
        """Return words with these bits beside the elements."""
        return shift.constant(bits) << (shift ^ 16)

    def read(self, name: str, once: bool) -> Word:
        """Return the result of ``name result, [address]`` for each address where `mask` holds, elsewhere 0.

        A thread runs it for every copy that it has of an element, or `once` for each element.
        """
        build, bits, letter = self.lowering.build, self.type.bits, _LETTERS[self.type.bits]
        if not once:
            text = f"mov.b{bits} $0, 0; setp.ne.b32 %chosen, $2, 0; @%chosen {name} $0, [$1];"
            return self._run(text, f"=&{letter},l,r", [], self.type)
        claims, results = self._claims(), self._places(self.type)
        text = (
            f".reg .b{bits} %found; {_CLAIM} "
            f"@%chosen {name} %found, [$1]; @%chosen st.relaxed.gpu.global.b{bits} [$3], %found;"
        )
        self._run(text, "=&r,l,l,l,r", [_number(build, claims), _number(build, results)])
        self.lowering.barrier()
        found = Word(build, build.load(results))
        return found if self.mask is None else Word(build, self.mask).choose(found, 0)

    def write(self, name: str, value: Word, once: bool) -> None:
        """Emit ``name [address], value`` where `mask` holds, for every copy or `once` for each element."""
        letter = _LETTERS[value.width]
        if once:
            claims = _number(self.lowering.build, self._claims())
            self._run(f"{_CLAIM} @%chosen {name} [$1], $3;", f"=&r,l,l,{letter},r", [claims, value.value])
        else:
            text = f"mov.b32 $0, 0; setp.ne.b32 %chosen, $3, 0; @%chosen {name} [$1], $2;"
            self._run(text, f"=&r,l,{letter},r", [value.value])

    def _run(self, text: str, constraints: str, between: Sequence[TtirValue], type: TtirType | None = None) -> Word:
        """Emit code whose operands are the addresses, those of `between` and the mask; an i32 unless it has a type."""
        build, addresses = self.lowering.build, self.addresses.value
        chosen = build.truth(True, addresses.type.shape) if self.mask is None else self.mask
        operands = [addresses, *between, build.resized(chosen, "i32", signed=False)]
        type = type or addresses.type.of("i32")
        return Word(build, build.asm(f"{{ .reg .pred %chosen; {text} }}", constraints, operands, type, pure=False))

    def _claims(self) -> TtirValue:
        """Return a word for each element, all 0. In a loop it is that of the iteration before, which must have
        ended."""
        type = self.addresses.value.type.of("i32")
        found = self._places(type)
        self.lowering.barrier()
        self.lowering.build.store(found, self.lowering.build.integer(type, 0))
        self.lowering.barrier()
        return found

    def _places(self, type: TtirType) -> TtirValue:
        """Return a place in memory for each element of a tensor."""
        build = self.lowering.build
        base = build.bitcast(block_memory(self.lowering, type.count * type.bits // 8), f"!tt.ptr<{type.element}>")
        return build.op("tt.addptr", build.splat(base, *type.shape), build.numbers(*type.shape))


def _number(build: Builder, pointers: TtirValue) -> TtirValue:
    return build.cast("tt.ptr_to_int", pointers, "i64")
