"""Rules of matrix multiplication (spec: matmul#top)."""

from __future__ import annotations

from tileir.ir.types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    FNV8E5M3FNU,
    TF32,
    ElementType,
)
from tileir.ops.matmul import MmaF, MmaFScaled, MmaI
from tileir.verify.rule import CheckContext, RuleTable, Violation, listed

rules = RuleTable()

Mma = MmaF | MmaI | MmaFScaled
Match = tuple[str, str, int, str, int]
"""The name of an extent, then operand and dimension (counted without the batch) of the two that must agree."""

_PLAIN: tuple[Match, ...] = (
    ("K", "lhs", 1, "rhs", 0),
    ("M", "lhs", 0, "acc", 0),
    ("N", "rhs", 1, "acc", 1),
)
_SCALED: tuple[Match, ...] = (
    ("batch", "lhs", -1, "lhs_scale", -1),
    ("batch", "rhs", -1, "rhs_scale", -1),
    ("M", "lhs", 0, "lhs_scale", 0),
    ("N", "rhs", 1, "rhs_scale", 1),
    ("K block", "lhs_scale", 1, "rhs_scale", 0),
)
_BATCHES: tuple[Match, ...] = (("batch", "lhs", -1, "rhs", -1), ("batch", "lhs", -1, "acc", -1))


@rules("E0440", MmaF, MmaI, MmaFScaled)
def matrices(op: Mma, context: CheckContext) -> Violation | None:
    type = op.lhs.type
    return None if type.rank in (2, 3) else Violation("operand 'lhs'", "a tile of rank 2 or 3", repr(type))


@rules("E0441", MmaF, MmaI, MmaFScaled)
def extents(op: Mma, context: CheckContext) -> Violation | None:
    batched = op.lhs.type.rank - 2
    for match in (*_BATCHES, *_PLAIN, *(_SCALED if isinstance(op, MmaFScaled) else ())):
        violation = _mismatch(op, match, batched)
        if violation is not None:
            return violation
    return None


def _mismatch(op: Mma, match: Match, batched: int) -> Violation | None:
    name, first, first_dim, second, second_dim = match
    if first_dim + batched < 0:
        return None
    type, other = getattr(op, first).type, getattr(op, second).type
    wanted, found = type.shape[first_dim + batched], other.shape[second_dim + batched]
    if wanted == found:
        return None
    where = f"operand '{second}' dimension {second_dim + batched} ({name})"
    return Violation(
        where, f"{wanted}, as dimension {first_dim + batched} of '{first}'", f"{found} in {type!r} and {other!r}"
    )


_ACCUMULATORS: dict[ElementType, tuple[ElementType, ...]] = {
    F8E4M3FN: (F16, F32),
    F8E5M2: (F16, F32),
    F16: (F16, F32),
    BF16: (F32,),
    TF32: (F32,),
    F32: (F32,),
    F64: (F64,),
}


@rules("E0442", MmaF)
def accumulator(op: MmaF, context: CheckContext) -> Violation | None:
    allowed = _ACCUMULATORS[op.lhs.type.number]
    if op.acc.type.element in allowed:
        return None
    expected = f"{listed(element.name for element in allowed)} to accumulate {op.lhs.type.element!r}"
    return Violation("operand 'acc'", expected, repr(op.acc.type))


_SCALE_INPUTS: dict[ElementType, tuple[ElementType, ...]] = {
    F8E4M3FN: (F4E2M1FN,),
    F8E8M0FNU: (F8E4M3FN, F8E5M2, F4E2M1FN),
    FNV8E5M3FNU: (F4E2M1FN,),
}


@rules("E0443", MmaFScaled)
def scale_of_input(op: MmaFScaled, context: CheckContext) -> Violation | None:
    scale, found = op.lhs_scale.type.number, op.lhs.type.number
    allowed = _SCALE_INPUTS[scale]
    if found in allowed:
        return None
    return Violation(
        "operand 'lhs'", f"{listed(element.name for element in allowed)} for scales of {scale!r}", repr(op.lhs.type)
    )


@rules("E0444", MmaFScaled)
def blocks_divide(op: MmaFScaled, context: CheckContext) -> Violation | None:
    length, blocks = op.lhs.type.shape[-1], op.lhs_scale.type.shape[-1]
    if length % blocks == 0:
        return None
    return Violation("operand 'lhs_scale'", f"a divisor of K = {length} as last extent", repr(op.lhs_scale.type))


@rules("E0445", MmaFScaled)
def block_size(op: MmaFScaled, context: CheckContext) -> Violation | None:
    size = op.lhs.type.shape[-1] // op.lhs_scale.type.shape[-1]
    allowed = _block_sizes(op.lhs.type.number, op.lhs_scale.type.number)
    if size in allowed:
        return None
    pair = f"{op.lhs.type.element!r} with scales of {op.lhs_scale.type.element!r}"
    return Violation("block size K / K_scale", f"{listed(map(str, allowed))} for {pair}", str(size))


def _block_sizes(element: ElementType, scale: ElementType) -> tuple[int, ...]:
    if element is not F4E2M1FN:
        return (32,)
    return (16,) if scale is F8E4M3FN else (16, 32)
