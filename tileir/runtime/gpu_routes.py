"""Routes from a module to a loaded GPU kernel, and the target of each: through Triton's compiler, or by `tileiras`.

Code is made in `gpu.program` and `gpu.vendor`, and launched by `runtime.gpu`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.bytecode import encode
from tileir.cache import shared_cache
from tileir.gpu import program, vendor
from tileir.gpu.arch import Arch
from tileir.gpu.compiler import require_triton
from tileir.gpu.cuda_driver import cuda_driver
from tileir.gpu.driver import Driver, GpuDevice, Library
from tileir.gpu.executable import Executable
from tileir.gpu.hip_driver import hip_driver
from tileir.gpu.program import ALIGNED, UNKNOWN, KernelSource
from tileir.gpu.ttir.lowering import ParameterFacts
from tileir.ir.core import Op
from tileir.ir.diagnostics import DiagnosticError, UnsupportedError
from tileir.ir.digest import items_digest
from tileir.ir.escaping import shown
from tileir.ir.types import PointerType
from tileir.ops.calls import functions_of
from tileir.passes.rebuilding import copied
from tileir.runtime.exact import exact_kernel, exact_module, specialised
from tileir.runtime.gpu import CodeVariant, Gpu
from tileir.runtime.module import Kernel, Module


def source_of(kernel: Kernel) -> KernelSource:
    """Return the source that the open route makes code of."""
    functions = functions_of(kernel.module)
    return KernelSource(kernel.entry, functions, items_digest([kernel.entry, *functions]))


def facts_of(count: int, watched: Sequence[int], variant: CodeVariant) -> list[ParameterFacts]:
    """Return the facts of each of `count` parameters; those `watched` may be aligned."""
    facts = [UNKNOWN] * count
    for position, holds in zip(watched, variant.aligned):
        facts[position] = ALIGNED if holds else UNKNOWN
    return facts


class OpenRoute:
    """Each kernel has code of its own, for each way in which its arguments are aligned or 1; it `rewrites` the program
    first."""

    def __init__(self, kernel: Kernel, rewrites: bool) -> None:
        self._kernel, self._rewrites = kernel, rewrites
        self._count = len(kernel.parameters)
        self._sources: dict[tuple[bool, ...], KernelSource] = {}
        self.watched = _with_facts(kernel)

    def source(self, variant: CodeVariant) -> KernelSource:
        """Return the program that is lowered."""
        if variant.ones not in self._sources:
            kernel = _rewritten(self._kernel, self.watched, variant) if self._rewrites else self._kernel
            self._sources[variant.ones] = source_of(kernel)
        return self._sources[variant.ones]

    def code(self, driver: Driver, device: GpuDevice, variant: CodeVariant) -> tuple[Executable, Library, Sequence[Op]]:
        facts, source = facts_of(self._count, self.watched, variant), self.source(variant)
        made = program.executable(source, device.arch, facts, shared_cache(), variant.requested, variant.by_address)
        operations = source.operations()
        sites = [operations[number] for number in made.sites]
        return made, Library(driver, made.binary, f"kernel @{shown(source.entry.sym_name)}"), sites


class VendorRoute:
    """A kernel has a cubin for each way in which its arguments are aligned or 1. No options are taken.

    The kernels of a module with globals share one cubin, which holds them, and whose code depends on no arguments.
    """

    def __init__(self, kernel: Kernel, rewrites: bool) -> None:
        self._kernel, self._rewrites = kernel, rewrites
        self._has_globals = bool(kernel.module.globals.placed)
        self.watched = [] if self._has_globals else _with_facts(kernel)

    def code(self, driver: Driver, device: GpuDevice, variant: CodeVariant) -> tuple[Executable, Library, Sequence[Op]]:
        module = self._kernel.module
        if not self._has_globals:
            which = "promising", self._kernel.name, self._rewrites, variant.aligned, variant.ones
            module = module.memo(which, lambda: self._promising(variant))
        elif self._rewrites:
            module = exact_module(module)
        cubin = module.memo(("tileiras", device.arch), lambda: vendor_cubin(module, device.arch))
        made = vendor.executable(cubin, self._kernel.name, len(self._kernel.parameters))
        key = "tileiras library", id(driver), device.ordinal
        name = str(module.op.attributes.get("sym_name", ""))
        return made, module.memo(key, lambda: Library(driver, cubin, f"module @{shown(name)}")), ()

    def _promising(self, variant: CodeVariant) -> Module:
        """Return the kernel alone, which promises the alignment of its parameters."""
        kernel = _rewritten(self._kernel, self.watched, variant) if self._rewrites else self._kernel
        module = Module.of(copied(kernel.module, kernel.entry))
        positions = [position for position, holds in zip(self.watched, variant.aligned) if holds]
        vendor.promise_alignment(module[self._kernel.name].entry, positions)
        return module


def _with_facts(kernel: Kernel) -> list[int]:
    """Return the positions of the parameters that code may depend on."""
    return [position for position, value in enumerate(kernel.entry.body.args) if program.has_facts(value.type)]


def _rewritten(kernel: Kernel, watched: Sequence[int], variant: CodeVariant) -> Kernel:
    """Return the kernel after exact rewrites, made for integers that are 1 where the variant says so."""
    parameters = kernel.entry.body.args
    ones = [position for position, holds in zip(watched, variant.ones) if holds]
    ones = [position for position in ones if not isinstance(parameters[position].tile.element, PointerType)]
    return specialised(kernel, dict.fromkeys(ones, 1)) if ones else exact_kernel(kernel)


def vendor_cubin(module: Module, arch: Arch) -> bytes:
    """Compile a module with `tileiras`. Raises UnsupportedError."""
    try:
        bytecode = encode(module)
    except DiagnosticError as error:
        raise UnsupportedError(f"the module has no bytecode: {error}", vendor.TARGET) from error
    return vendor.cubin(bytecode, arch, shared_cache())


# ---------------------------------------------------------------- targets


def open_target() -> Gpu:
    """Return the target ``cuda``. Raises ImportError where something that it needs is missing."""
    require_triton()
    description = "NVIDIA's GPUs, through Triton's compiler; memory accesses are not checked"
    return Gpu("cuda", description, cuda_driver(), OpenRoute)


def amd_target() -> Gpu:
    """Return the target ``hip``. Raises ImportError where something that it needs is missing."""
    require_triton()
    description = "AMD's GPUs, through Triton's compiler; memory accesses are not checked"
    return Gpu("hip", description, hip_driver(), OpenRoute)


def vendor_target() -> Gpu:
    """Return the target ``cuda:tileiras``. Raises ImportError where something that it needs is missing."""
    vendor.require_program()
    description = "NVIDIA's GPUs, through the vendor's assembler; memory accesses are not checked"
    return Gpu(vendor.TARGET, description, cuda_driver(), VendorRoute, gives_output=False)
