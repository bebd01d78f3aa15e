"""Control flow (spec: control#top): structured regions of one block each, and the operations that end them."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.declare import attr, flag, operand, optional_region, region, variadic, variadic_output
from tileir.ir.effects import MAY_STOP
from tileir.ir.fields import AttrKind
from tileir.ir.traits import (
    ALLOCATION_SCOPE,
    PURE,
    RECURSIVE_EFFECTS,
    TERMINATOR,
    HasParent,
    RegionTerminator,
    SameType,
)
from tileir.ops.constraints import ANY, I1_TILE, SCALAR_I1, SCALAR_INT


class _Exit(Op):
    """The end of a block, which hands its operands on."""

    values = variadic(ANY, name="operands")
    format = "attr-dict exit_operands($operands)"


class Assert(Op, name="assert", opcode=0x05, traits=(MAY_STOP,)):
    """Stops the launch with `message` if any element of the condition is 0."""

    message = attr(AttrKind.STRING)
    condition = operand(I1_TILE)
    format = "$condition `,` $message attr-dict `:` type($condition)"


class Break(_Exit, name="break", opcode=0x0A, traits=(TERMINATOR, HasParent("if", "loop"))):
    """Leaves the innermost `loop`, through any `if` around; the operands become the results of the loop."""


class Continue(_Exit, name="continue", opcode=0x11, traits=(TERMINATOR, HasParent("for", "if", "loop"))):
    """Starts the next iteration of the innermost `for` or `loop` with the operands as carried values."""


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
    otherwise = optional_region()
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
    _Exit, name="return", opcode=0x5C, traits=(TERMINATOR, HasParent("entry", "if", "loop", "experimental$func"))
):
    """Ends the tile block, or the function with the operands as its results. Inside `loop` since 13.4."""


class Yield(
    _Exit,
    name="yield",
    opcode=0x6D,
    traits=(PURE, TERMINATOR, HasParent("if", "reduce", "scan", "experimental$generate")),
):
    """Ends a region and hands its operands to the operation around it."""
