"""TTIR of atomic operations (spec: atomics#top): each element is a transaction of its own.

Triton has each element served by one thread, also where threads hold copies, and hands the old element on to the
others. A sum of f32 in memory flushes subnormals (``atom.add.f32`` does; spec: atomics#modes); other sums keep them.
"""

from __future__ import annotations

from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.tiling import places
from tileir.gpu.ttir.lib.transfers import SCOPES, SEMANTICS
from tileir.gpu.ttir.lowering import ConstantMemory, Lower, TtirLowering
from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode, MemoryOrdering, MemoryScope
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import atomics

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
