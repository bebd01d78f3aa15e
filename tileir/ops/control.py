"""Control flow (specification 8.5): structured regions of one block each, and the operations that end them."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.declare import (
    ALLOCATION_SCOPE,
    PURE,
    RECURSIVE_EFFECTS,
    TERMINATOR,
    AttrKind,
    HasParent,
    RegionTerminator,
    SameType,
    attr,
    flag,
    operand,
    region,
    variadic,
    variadic_output,
)
from tileir.ops.constraints import ANY, I1_TILE, SCALAR_I1, SCALAR_INT

_EXIT_FORMAT = "attr-dict exit_operands($operands)"


class Assert(Op, name="assert", opcode=0x05):
    """Stops the launch with `message` if any element of the condition is 0."""

    message = attr(AttrKind.STRING)
    condition = operand(I1_TILE)
    format = "$condition `,` $message attr-dict `:` type($condition)"


class Break(Op, name="break", opcode=0x0A, traits=(TERMINATOR, HasParent("if", "loop"))):
    """Leaves the innermost `loop`, through any `if` around; the operands become the results of the loop."""

    values = variadic(ANY, name="operands")
    format = _EXIT_FORMAT


class Continue(Op, name="continue", opcode=0x11, traits=(TERMINATOR, HasParent("for", "if", "loop"))):
    """Starts the next iteration of the innermost `for` or `loop` with the operands as carried values."""

    values = variadic(ANY, name="operands")
    format = _EXIT_FORMAT


class For(
    Op,
    name="for",
    opcode=0x29,
    hint="for",
    traits=(
        RECURSIVE_EFFECTS,
        ALLOCATION_SCOPE,
        SameType("lowerBound", "upperBound", "step"),
        RegionTerminator("continue", hidden=True),
    ),
):
    """Runs its body for lower bound, lower bound + step, ... while that is less than the upper bound.

    The comparison is signed, or unsigned with `unsigned` (13.2). The carried values of the last iteration are the
    results; without an iteration they are the initial values. A step that is not positive is undefined.
    """

    unsigned = flag(since="13.2", name="unsignedCmp")
    lower = operand(SCALAR_INT, name="lowerBound")
    upper = operand(SCALAR_INT, name="upperBound")
    step = operand(SCALAR_INT)
    initial = variadic(ANY, name="initValues")
    outputs = variadic_output(ANY, name="resultValues")
    body = region()
    syntax = (
        "for [unsigned] %i in (%lower to %upper, step %step) : T [iter_values(%a = %x, ...) -> (T, ...)] "
        "{ ... } {attrs}"
    )


class If(
    Op,
    name="if",
    opcode=0x32,
    traits=(RECURSIVE_EFFECTS, RegionTerminator("yield", also=("break", "continue", "return"), hidden=True)),
):
    """Runs one of two regions by a scalar condition; what it yields are the results."""

    condition = operand(SCALAR_I1)
    outputs = variadic_output(ANY, name="results")
    then = region()
    otherwise = region(optional=True)
    syntax = "if %condition [-> (T, ...)] { ... } [else { ... }] {attrs}"


class Loop(
    Op,
    name="loop",
    opcode=0x41,
    traits=(RECURSIVE_EFFECTS, ALLOCATION_SCOPE, RegionTerminator("continue", also=("break", "return"), hidden=True)),
):
    """Repeats its body until a `break`, whose operands are the results."""

    initial = variadic(ANY, name="initValues")
    outputs = variadic_output(ANY, name="resultValues")
    body = region()
    syntax = "loop [iter_values(%a = %x, ...)] [: T, ... [-> R, ...]] { ... } {attrs}"


class Return(
    Op, name="return", opcode=0x5C, traits=(TERMINATOR, HasParent("entry", "if", "loop", "experimental$func"))
):
    """Ends the tile block, or the function with the operands as its results. Inside `loop` since 13.4."""

    values = variadic(ANY, name="operands")
    format = _EXIT_FORMAT


class Yield(
    Op,
    name="yield",
    opcode=0x6D,
    traits=(PURE, TERMINATOR, HasParent("if", "reduce", "scan", "experimental$generate")),
):
    """Ends a region and hands its operands to the operation around it."""

    values = variadic(ANY, name="operands")
    format = _EXIT_FORMAT
