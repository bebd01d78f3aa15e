"""Miscellaneous operations (specification 8.12): facts for the compiler, and output."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.declare import SEGMENTED, AttrKind, SameType, attr, operand, optional, output, variadic
from tileir.ops.constraints import ANY, TILE, TOKEN


class Assume(Op, name="assume", opcode=0x06, traits=(SameType("value", "result"),)):
    """Hands its operand on with a promise about it; a promise that does not hold is undefined behaviour."""

    predicate = attr(AttrKind.TAGGED)
    value = operand(ANY)
    result = output(ANY)
    format = "$predicate `,` $value attr-dict `:` type($result)"


class PrintTko(Op, name="print_tko", opcode=0x55, traits=(SEGMENTED,), aliases=("print",)):
    """Prints tiles by a C format string, one conversion per operand, applied to every element."""

    text = attr(AttrKind.STRING, name="str")
    args = variadic(TILE)
    token = optional(TOKEN, since="13.2")
    result_token = output(TOKEN, since="13.2")
    format = "$str tail($args) token($token) attr-dict tail_colon_types($args) print_result($result_token)"
