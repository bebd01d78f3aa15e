"""Miscellaneous operations (spec: misc#top): facts for the compiler, and output."""

from __future__ import annotations

from tileir.ir.attributes import AssumePredicate
from tileir.ir.core import Op
from tileir.ir.declare import attr, operand, optional, output, variadic
from tileir.ir.effects import PRINTS, PROMISES
from tileir.ir.fields import Attr, AttrKind
from tileir.ir.traits import SEGMENTED, SameType
from tileir.ops.constraints import ANY, TILE, TOKEN


class Assume(Op, name="assume", opcode=0x06, traits=(PROMISES, SameType("value", "result"))):
    """Hands its operand on with a promise about it; a promise that does not hold is undefined behaviour."""

    predicate: Attr[AssumePredicate] = attr(AttrKind.TAGGED)
    value = operand(ANY)
    result = output(ANY)
    format = "$predicate `,` $value attr-dict `:` type($result)"


class PrintTko(Op, name="print_tko", opcode=0x55, traits=(SEGMENTED, PRINTS), aliases=("print",)):
    """Prints tiles by a C format string, one conversion per operand, applied to every element."""

    text = attr(AttrKind.STRING, name="str")
    args = variadic(TILE)
    token = optional(TOKEN, since="13.2")
    result_token = output(TOKEN, since="13.2")
    format = "$str tail($args) token($token) attr-dict tail_colon_types($args) print_result($result_token)"
