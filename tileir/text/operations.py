"""Which function reads which operation, by every name it may be written with."""

from __future__ import annotations

from functools import cache

from tileir.ir.core import Op
from tileir.ops import SPELLINGS
from tileir.ops.control import For, If, Loop
from tileir.ops.core import Reduce, Scan
from tileir.ops.extension import Call, ExternElementwise, Func, GatherLoad, Generate, ScatterStore
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.ops.views import MakeTensorView
from tileir.text import extensions, items, regions
from tileir.text.plan import ReadOp, format_reader

PREFIX = "cuda_tile."
_EARLY_PREFIX = "experimental$"
_OWN_SYNTAX: dict[type[Op], ReadOp] = {
    ModuleOp: items.read_module,
    Entry: items.read_entry,
    Func: items.read_func,
    Global: items.read_global,
    For: regions.read_for,
    Loop: regions.read_loop,
    If: regions.read_if,
    Reduce: regions.read_reduce,
    Scan: regions.read_scan,
    Generate: regions.read_generate,
    MakeTensorView: extensions.read_make_tensor_view,
    Call: extensions.read_call,
    ExternElementwise: extensions.read_extern_elementwise,
    GatherLoad: extensions.read_gather_load,
    ScatterStore: extensions.read_scatter_store,
}


@cache
def spellings() -> dict[str, type[Op]]:
    """Every name without the dialect's prefix; early documents also write ``experimental.`` for ``experimental$``."""
    names = SPELLINGS | {name: op for op in SPELLINGS.values() for _, name in op.spec.spellings}
    dotted = {name.replace("$", "."): op for name, op in names.items() if name.startswith(_EARLY_PREFIX)}
    return names | dotted


@cache
def operations() -> dict[str, ReadOp]:
    """The reader of every name, with and without the dialect's prefix."""
    readers: dict[type[Op], ReadOp] = {}
    for op in spellings().values():
        if op not in readers:
            readers[op] = _OWN_SYNTAX[op] if op in _OWN_SYNTAX else format_reader(op, op.spec.format or "")
    plain = {name: readers[op] for name, op in spellings().items()}
    return plain | {PREFIX + name: read for name, read in plain.items()}
