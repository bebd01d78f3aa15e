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
from tileir.ops.calls import Func
from tileir.passes.rebuilding import copied
from tileir.runtime.exact import exact_kernel, exact_module
from tileir.runtime.gpu import CodeVariant, Gpu
from tileir.runtime.module import Kernel, Module


def source_of(kernel: Kernel) -> KernelSource:
    """Return the source that the open route makes code of."""
    module = kernel.module
    functions = [item for item in module.items if isinstance(item, Func)]
    return KernelSource(kernel.entry, functions, items_digest([kernel.entry, *functions]))


def facts_of(count: int, watched: Sequence[int], variant: CodeVariant) -> list[ParameterFacts]:
    """Return the facts of each of `count` parameters; those `watched` may be aligned."""
    facts = [UNKNOWN] * count
    for position, holds in zip(watched, variant.aligned):
        facts[position] = ALIGNED if holds else UNKNOWN
    return facts


class OpenRoute:
    """Each kernel has code of its own, for each way in which its arguments are aligned; it `rewrites` the program
    first."""

    def __init__(self, kernel: Kernel, rewrites: bool) -> None:
        self._source = source_of(exact_kernel(kernel) if rewrites else kernel)
        self._count = len(kernel.parameters)
        self.watched = _with_facts(kernel)

    def code(self, driver: Driver, device: GpuDevice, variant: CodeVariant) -> tuple[Executable, Library, Sequence[Op]]:
        facts = facts_of(self._count, self.watched, variant)
        made = program.executable(
            self._source, device.arch, facts, shared_cache(), variant.requested, variant.wide_extents
        )
        operations = self._source.operations()
        sites = [operations[number] for number in made.sites]
        return made, Library(driver, made.binary, f"kernel @{shown(self._source.entry.sym_name)}"), sites


class VendorRoute:
    """A kernel has a cubin for each way in which its arguments are aligned. No options are taken.

    The kernels of a module with globals share one cubin, which holds them, and whose code depends on no arguments.
    """

    def __init__(self, kernel: Kernel, rewrites: bool) -> None:
        self._kernel, self._rewrites = kernel, rewrites
        self._has_globals = bool(kernel.module.globals.placed)
        self.watched = [] if self._has_globals else _with_facts(kernel)

    def code(self, driver: Driver, device: GpuDevice, variant: CodeVariant) -> tuple[Executable, Library, Sequence[Op]]:
        module = self._kernel.module
        if not self._has_globals:
            module = module.memo(("aligned", self._kernel.name, variant.aligned), lambda: self._aligned(variant))
        if self._rewrites:
            module = exact_module(module)
        cubin = module.memo(("tileiras", device.arch), lambda: vendor_cubin(module, device.arch))
        made = vendor.executable(cubin, self._kernel.name, len(self._kernel.parameters))
        key = "tileiras library", id(driver), device.ordinal
        return made, module.memo(key, lambda: Library(driver, cubin, f"module @{shown(_name(module))}")), ()

    def _aligned(self, variant: CodeVariant) -> Module:
        """Return the kernel alone, which promises the alignment of its parameters."""
        module = Module.of(copied(self._kernel.module, self._kernel.entry))
        positions = [position for position, holds in zip(self.watched, variant.aligned) if holds]
        vendor.promise_alignment(module[self._kernel.name].entry, positions)
        return module


def _with_facts(kernel: Kernel) -> list[int]:
    """Return the positions of the parameters whose alignment code may depend on."""
    return [position for position, value in enumerate(kernel.entry.body.args) if program.has_facts(value.type)]


def vendor_cubin(module: Module, arch: Arch) -> bytes:
    """Compile a module with `tileiras`. Raises UnsupportedError."""
    try:
        bytecode = encode(module)
    except DiagnosticError as error:
        raise UnsupportedError(f"the module has no bytecode: {error}", vendor.TARGET) from error
    return vendor.cubin(bytecode, arch, shared_cache())


def _name(module: Module) -> str:
    return str(module.op.attributes.get("sym_name", ""))


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
