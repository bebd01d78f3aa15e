"""Calls: of device functions, which early documents use (text only), and of code that is linked in (13.5 preview)."""

from __future__ import annotations

from tileir.ir import types as t
from tileir.ir.attributes import ArrayAttr
from tileir.ir.core import Module, Op
from tileir.ir.declare import attr, region, variadic, variadic_output
from tileir.ir.effects import CALLEE_EFFECTS, calls_host
from tileir.ir.fields import AttrKind
from tileir.ir.traits import ALLOCATION_SCOPE, ISOLATED, SYMBOL, RegionTerminator
from tileir.ops.constraints import ANY, tile_of

INDEX_VECTOR = tile_of(t.INTS, 1)


class Func(
    Op,
    name="experimental$func",
    traits=(ISOLATED, SYMBOL, ALLOCATION_SCOPE, RegionTerminator("return")),
    aliases=("testing$func",),
):
    """A device function: called, never launched; takes and returns values of any type."""

    sym_name = attr(AttrKind.SYMBOL_NAME)
    function_type = attr(AttrKind.TYPE)
    arg_attrs = attr(AttrKind.ARRAY, default=None)
    res_attrs = attr(AttrKind.ARRAY, default=None)
    body = region()
    syntax = "experimental$func @name(%a: T, ...) [-> R | -> (R, ...)] { ... } {attrs}"


def functions_of(module: Module) -> list[Func]:
    """Return the device functions of a program."""
    return [item for item in module.items if isinstance(item, Func)]


class Call(Op, name="experimental$call", traits=(CALLEE_EFFECTS,)):
    """Runs a device function of the same module; recursion is not allowed."""

    callee = attr(AttrKind.SYMBOL)
    args = variadic(ANY)
    outputs = variadic_output(ANY, name="results")
    syntax = "experimental$call @f(%a, ...) {attrs} : (T, ...) -> R"


class PreviewCall(Op, name="preview$call", opcode=0x4002, since="13.5", traits=(calls_host(),)):
    """Calls code of a GPU that is linked in, by its name; a stand-in of the host runs in its place."""

    callee = attr(AttrKind.SYMBOL)
    const_args = attr(AttrKind.CONSTANTS, default=ArrayAttr(()))
    arg_attrs = attr(AttrKind.DICTS, default=None)
    res_attrs = attr(AttrKind.DICTS, default=None)
    args = variadic(ANY)
    outputs = variadic_output(ANY, name="results")
    syntax = "preview$call @f[<[constant, ...]>](%a, ...) {attrs} : (T, ...) -> R"
