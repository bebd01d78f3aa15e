"""How the code of a loaded kernel is made for a GPU: through Triton's compiler, or by `tileiras`.

Knows: what of a module each route is given, and what of its code kernels share. Does not know: how code is made
(`gpu.program`, `gpu.vendor`) or launched (`runtime.gpu`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.bytecode import encode
from tileir.cache import shared_cache
from tileir.gpu import program, vendor
from tileir.gpu.arch import Arch
from tileir.gpu.driver import Device, Driver
from tileir.gpu.executable import Executable
from tileir.gpu.kept import Library
from tileir.gpu.program import ALIGNED, UNKNOWN, Source
from tileir.ir.core import Op
from tileir.ir.diagnostics import DiagnosticError, UnsupportedError
from tileir.ops.extension import Func
from tileir.runtime.module import Kernel, Module
from tileir.text.printer import items_text


def source_of(kernel: Kernel) -> Source:
    """What the open route makes code of."""
    module = kernel.module
    functions = [item for item in module.items if isinstance(item, Func)]
    return Source(kernel.entry, functions, items_text(module, [kernel.entry, *functions]))


class OpenRoute:
    """Each kernel has code of its own, for each way in which its arguments are aligned."""

    def __init__(self, kernel: Kernel) -> None:
        self._source = source_of(kernel)
        arguments = kernel.entry.body.args
        self._count = len(arguments)
        self.watched = [position for position, value in enumerate(arguments) if program.has_facts(value.type)]

    def code(self, driver: Driver, device: Device, aligned: Sequence[bool]) -> tuple[Executable, Library, Sequence[Op]]:
        facts = [UNKNOWN] * self._count
        for position, holds in zip(self.watched, aligned):
            facts[position] = ALIGNED if holds else UNKNOWN
        made = program.executable(self._source, device.arch, facts, shared_cache())
        operations = self._source.operations()
        sites = [operations[number] for number in made.sites]
        return made, Library(driver, made.cubin, f"kernel @{made.kernel}"), sites


class VendorRoute:
    """All kernels of a module share one cubin, in which the globals are too. Nothing is told of the arguments."""

    watched: Sequence[int] = ()

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def code(self, driver: Driver, device: Device, aligned: Sequence[bool]) -> tuple[Executable, Library, Sequence[Op]]:
        module = self._kernel.module
        cubin = module.prepared(("tileiras", device.arch), lambda: vendor_cubin(module, device.arch))
        made = vendor.executable(cubin, self._kernel.name, len(self._kernel.parameters))
        key = "tileiras library", id(driver), device.ordinal
        return made, module.prepared(key, lambda: Library(driver, cubin, f"module @{_name(module)}")), ()


def vendor_cubin(module: Module, arch: Arch) -> bytes:
    """What `tileiras` makes of a module. Raises UnsupportedError."""
    try:
        bytecode = encode(module)
    except DiagnosticError as error:
        raise UnsupportedError(f"the module has no bytecode: {error}", vendor.TARGET) from error
    return vendor.cubin(bytecode, arch, shared_cache())


def _name(module: Module) -> str:
    return str(module.op.attributes.get("sym_name", ""))
