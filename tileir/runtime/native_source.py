"""The source of native code: what of a loaded kernel the compiler is given, as it is or rewritten.

Knows: which parts of a module code depends on. Does not know: how code is made (`cpu.run.program`) or launched
(`native`).
"""

from __future__ import annotations

from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.run.program import NativeSource
from tileir.ir.digest import items_digest
from tileir.ops.calls import Func
from tileir.ops.module import Entry
from tileir.runtime.exact import exact_kernel
from tileir.runtime.module import Kernel, Module


def source_of(kernel: Kernel, checks: CheckLevel, rewrites: bool) -> NativeSource:
    """The source of the code of a kernel, which is rewritten exactly if `rewrites` is set."""

    def items() -> tuple[Entry, list[Func]]:
        made = exact_kernel(kernel) if rewrites else kernel
        return made.entry, _functions(made.module)

    digest = items_digest([kernel.entry, *_functions(kernel.module)])
    return NativeSource(kernel.name, digest, tuple(kernel.module.globals.addresses), checks, items, rewrites)


def _functions(module: Module) -> list[Func]:
    return [item for item in module.items if isinstance(item, Func)]
