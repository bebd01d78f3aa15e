"""The syntax of every operation: its declared format, or code where no format can express it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tileir.ir.core import Op
from tileir.ops.calls import Call, Func, PreviewCall
from tileir.ops.control import For, If, Loop
from tileir.ops.extension import ExternElementwise, GatherLoad, Generate, ScatterStore
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.ops.reduction import Reduce, Scan
from tileir.ops.views import MakeTensorView
from tileir.text.printing.writer import Writer
from tileir.text.reading.spellings import PREFIX, spellings
from tileir.text.reading.statements import ReadOp
from tileir.text.syntax import calls, control, extension, module, reduction, views
from tileir.text.syntax.declared import format_reader, write_formatted


@dataclass(frozen=True)
class Syntax:
    """The function that reads an operation behind its name, and the one that adds its lines to a `Writer`."""

    read: ReadOp
    write: Callable[..., None]


OWN_SYNTAX: dict[type[Op], Syntax] = {
    ModuleOp: Syntax(module.read_module, module.write_module),
    Entry: Syntax(module.read_entry, module.write_entry),
    Global: Syntax(module.read_global, module.write_global),
    Func: Syntax(calls.read_func, calls.write_func),
    Call: Syntax(calls.read_call, calls.write_call),
    PreviewCall: Syntax(calls.read_preview_call, calls.write_preview_call),
    For: Syntax(control.read_for, control.write_for),
    Loop: Syntax(control.read_loop, control.write_loop),
    If: Syntax(control.read_if, control.write_if),
    Reduce: Syntax(reduction.read_reduce, reduction.write_reduce),
    Scan: Syntax(reduction.read_scan, reduction.write_scan),
    MakeTensorView: Syntax(views.read_make_tensor_view, views.write_make_tensor_view),
    ExternElementwise: Syntax(extension.read_extern_elementwise, extension.write_extern_elementwise),
    Generate: Syntax(extension.read_generate, extension.write_generate),
    GatherLoad: Syntax(extension.read_gather_load, extension.write_gather_load),
    ScatterStore: Syntax(extension.read_scatter_store, extension.write_scatter_store),
}


def write_operation(writer: Writer, op: Op, indent: str) -> None:
    """Add the lines of an operation in its own syntax."""
    own = OWN_SYNTAX.get(type(op))
    (write_formatted if own is None else own.write)(writer, op, indent)


@cache
def operations() -> dict[str, ReadOp]:
    """The function that reads an operation, by every name that it may have, with and without the dialect's prefix."""
    readers = {op: OWN_SYNTAX[op].read if op in OWN_SYNTAX else format_reader(op) for op in set(spellings().values())}
    plain = {name: readers[op] for name, op in spellings().items()}
    return plain | {PREFIX + name: read for name, read in plain.items()}
