"""The module and what stands directly in it (spec: module#top): entries and globals."""

from __future__ import annotations

from tileir.ir.attributes import Visibility
from tileir.ir.core import Op
from tileir.ir.declare import attr, enum_attr, flag, hints, region
from tileir.ir.fields import AttrKind
from tileir.ir.spec import Placement
from tileir.ir.traits import ALLOCATION_SCOPE, ISOLATED, SYMBOL, RegionTerminator


class ModuleOp(Op, name="module", opcode=0x4B, traits=(ISOLATED, SYMBOL), placement=Placement.MODULE):
    """A program: a named list of globals and entries."""

    sym_name = attr(AttrKind.SYMBOL_NAME)
    producer = attr(AttrKind.STRING, default=None, since="13.3")
    body = region()
    syntax = "cuda_tile.module @name [attributes {...}] { ... }"


TRITON = "triton"
"""The producer of programs with views that are imported from TTIR."""


def drops_outer_tiles(op: Op) -> bool:
    """Return whether a tile of a view that lies wholly outside its tensor means nothing to the program of `op`: in
    Triton such a block is no fault."""
    while (around := op.parent_op) is not None:
        op = around
    return isinstance(op, ModuleOp) and op.producer == TRITON


class Entry(
    Op,
    name="entry",
    opcode=0x16,
    traits=(ISOLATED, SYMBOL, ALLOCATION_SCOPE, RegionTerminator("return")),
    placement=Placement.FUNCTION,
):
    """A kernel: runs once for every tile block of the grid, with scalar arguments. Returns nothing."""

    sym_name = attr(AttrKind.SYMBOL_NAME)
    function_type = attr(AttrKind.TYPE)
    arg_attrs = attr(AttrKind.ARRAY, default=None)
    res_attrs = attr(AttrKind.ARRAY, default=None, encoded=False)
    optimization_hints = hints("num_cta_in_cga", "num_worker_warps_per_cta", "occupancy")
    body = region()
    syntax = "entry @name(%a: T, ...) [optimization_hints=<...>] { ... } {attrs}"


class Global(Op, name="global", opcode=0x31, traits=(SYMBOL,), placement=Placement.GLOBAL):
    """Memory that is initialised when the module is loaded and shared by all tile blocks and launches."""

    sym_name = attr(AttrKind.SYMBOL_NAME)
    value = attr(AttrKind.DENSE)
    alignment = attr(AttrKind.I64, default=0)
    constant = flag(since="13.3")
    symbol_visibility = enum_attr(Visibility, default=Visibility.PUBLIC, since="13.3")
    syntax = "global [public|private] [constant] @name [alignment = N] {attrs} <E: literal> : T"
