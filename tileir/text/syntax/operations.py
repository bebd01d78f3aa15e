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
from tileir.text.reading.statements import ReadOp, StatementReader
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
    names: dict[type[Op], list[str]] = {}
    for name, op in spellings().items():
        names.setdefault(op, []).extend((name, PREFIX + name))
    readers: dict[str, ReadOp] = {}
    for op, spelt in names.items():
        own = OWN_SYNTAX.get(op)
        readers.update(dict.fromkeys(spelt, _made_when_used(op, spelt, readers) if own is None else own.read))
    return readers


def _made_when_used(op: type[Op], names: list[str], readers: dict[str, ReadOp]) -> ReadOp:
    """Takes the place of the function that reads `op` by its format until that is needed: a program has few of all."""

    def read(p: StatementReader) -> Op:
        made = format_reader(op)
        readers.update(dict.fromkeys(names, made))
        return made(p)

    return read
