"""Integer division (spec: division#top): quotients in three roundings, and remainders."""

from __future__ import annotations

from tileir.ir.attributes import Rounding, Signedness
from tileir.ir.core import Op
from tileir.ir.declare import enum_attr, operand, output
from tileir.ir.traits import ELEMENTWISE, NO_MEMORY_EFFECT, PURE, SameShape, SameType
from tileir.ops.constraints import INT_TILE


class DivI(Op, name="divi", opcode=0x15, traits=(NO_MEMORY_EFFECT, ELEMENTWISE, SameType("lhs", "rhs", "result"))):
    """Quotient, truncated (`zero`), floored (`negative_inf`) or ceiled (`positive_inf`). Dividing by 0 is undefined."""

    signedness = enum_attr(Signedness)
    rounding = enum_attr(Rounding, default=Rounding.ZERO)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = "$lhs `,` $rhs $signedness clause($rounding) attr-dict `:` type($result)"


class RemI(
    Op,
    name="remi",
    opcode=0x5A,
    traits=(PURE, ELEMENTWISE, SameType("result", "lhs", "rhs"), SameShape("result", "lhs", "rhs")),
):
    """Remainder of the truncated quotient; signed, it has the sign of the dividend. Dividing by 0 is undefined."""

    signedness = enum_attr(Signedness)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = "$lhs `,` $rhs $signedness attr-dict `:` type($result)"
