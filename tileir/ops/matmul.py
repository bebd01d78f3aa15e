"""Matrix multiply-accumulate (spec: matmul#top): whole tiles, optionally with a leading batch dimension."""

from __future__ import annotations

from tileir.ir.attributes import Signedness
from tileir.ir.core import Op
from tileir.ir.declare import enum_attr, flag, operand, output
from tileir.ir.traits import PURE, SameElement, SameRank, SameType
from tileir.ops.constraints import (
    F32_TILE,
    I8_TILE,
    I32_TILE,
    MMA_ACC_TILE,
    MMA_INPUT_TILE,
    SCALE_TILE,
    SCALED_INPUT_TILE,
)

_MMA = (PURE, SameElement("lhs", "rhs"), SameType("acc", "result"), SameRank("lhs", "rhs", "acc"))


class MmaF(Op, name="mmaf", opcode=0x49, traits=_MMA):
    """``lhs @ rhs + acc`` of floats. `fast_acc` (13.3) permits reduced-precision sums of 8-bit inputs."""

    fast_acc = flag(since="13.3")
    lhs = operand(MMA_INPUT_TILE)
    rhs = operand(MMA_INPUT_TILE)
    acc = operand(MMA_ACC_TILE)
    result = output(MMA_ACC_TILE)
    format = "$lhs `,` $rhs `,` $acc $fast_acc attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)"


class MmaI(Op, name="mmai", opcode=0x4A, traits=_MMA):
    """``lhs @ rhs + acc`` of 8-bit integers, each operand read by its signedness; the sum is signed."""

    signedness_lhs = enum_attr(Signedness)
    signedness_rhs = enum_attr(Signedness)
    lhs = operand(I8_TILE)
    rhs = operand(I8_TILE)
    acc = operand(I32_TILE)
    result = output(I32_TILE)
    format = (
        "$lhs `,` $rhs `,` $acc $signedness_lhs $signedness_rhs attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)"
    )


class MmaFScaled(
    Op,
    name="mmaf_scaled",
    opcode=0x72,
    since="13.3",
    traits=(
        PURE,
        SameElement("lhs", "rhs"),
        SameElement("lhs_scale", "rhs_scale"),
        SameType("acc", "result"),
        SameRank("lhs", "rhs", "acc", "lhs_scale", "rhs_scale"),
    ),
):
    """``(lhs * lhs_scale) @ (rhs * rhs_scale) + acc``: each scale covers a block of elements along K."""

    lhs = operand(SCALED_INPUT_TILE)
    rhs = operand(SCALED_INPUT_TILE)
    acc = operand(F32_TILE)
    lhs_scale = operand(SCALE_TILE)
    rhs_scale = operand(SCALE_TILE)
    result = output(F32_TILE)
    format = (
        "$lhs `,` $rhs `,` $acc `,` $lhs_scale `,` $rhs_scale attr-dict "
        "`:` type($lhs) `,` type($rhs) `,` type($acc) `,` type($lhs_scale) `,` type($rhs_scale)"
    )
