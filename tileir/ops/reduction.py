"""Reductions and scans (spec: reduction#top)."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.declare import attr, region, variadic, variadic_output
from tileir.ir.fields import AttrKind
from tileir.ir.traits import RECURSIVE_EFFECTS, RegionTerminator, SameShape
from tileir.ops.constraints import TILE

REDUCE_BLOCK = 32
"""Elements that interpreter and native code join by halving; of more, neighbouring blocks of as many are joined first
(spec: reduction#reduce)."""
SCAN_BLOCK = 8
"""Elements that they scan one after the other; the results of such blocks are scanned in blocks again
(spec: reduction#scan)."""


class Reduce(
    Op,
    name="reduce",
    opcode=0x58,
    hint="reduce",
    traits=(RECURSIVE_EFFECTS, SameShape("operands"), RegionTerminator("yield", written=True)),
):
    """Combines the elements along `dim` with the body, which must be associative and commutative.

    The body takes two scalars per operand and yields their combination; `identities` are neutral for it. Several
    operands are reduced in lock step.
    """

    dim = attr(AttrKind.I32)
    identities = attr(AttrKind.ARRAY)
    sources = variadic(TILE, name="operands")
    outputs = variadic_output(TILE, name="results")
    body = region()
    syntax = "reduce %a, ... {attrs} dim=N identities=[literal, ...] : T, ... -> R, ... (%l: E, %r: E, ...) { ... }"


class Scan(
    Op,
    name="scan",
    opcode=0x5E,
    traits=(RECURSIVE_EFFECTS, SameShape("operands"), RegionTerminator("yield", written=True)),
):
    """Inclusive running combination along `dim`, from the first index or (`reverse`) from the last."""

    dim = attr(AttrKind.I32)
    reverse = attr(AttrKind.BOOL)
    identities = attr(AttrKind.ARRAY)
    sources = variadic(TILE, name="operands")
    outputs = variadic_output(TILE, name="results")
    body = region()
    syntax = (
        "scan %a, ... {attrs} dim=N reverse=(true|false) identities=[literal, ...] : T, ... -> R, ... "
        "(%l: E, %r: E, ...) { ... }"
    )
