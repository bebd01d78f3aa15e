"""The compiler that Triton finds as the module `compiler` of its backend ``cpu``.

Triton imports it when it is itself imported, so slow imports are made where they are needed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from types import ModuleType
from typing import TYPE_CHECKING, Any

from triton.backends.compiler import BaseBackend, GPUTarget, Language

if TYPE_CHECKING:
    from collections.abc import Callable

PRECISIONS = ("tf32", "ieee", "tf32x3", "bf16x3", "bf16x6")
FLOATS_OF_8_BITS = ("fp8e5", "fp8e4nv")


@dataclass(frozen=True)
class CpuOptions:
    """The compile options of a kernel: everything that Triton's own backends take, as scripts pass it.

    Only the first options mean something here.
    """

    debug: bool = False
    sanitize_overflow: bool = True
    enable_fp_fusion: bool = False
    default_dot_input_precision: str = PRECISIONS[0]
    allowed_dot_input_precisions: tuple[str, ...] = PRECISIONS
    supported_fp8_dtypes: tuple[str, ...] = FLOATS_OF_8_BITS
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    max_num_imprecise_acc_default: int = 0
    ir_override: str | None = None
    arch: str = "cpu"
    backend_name: str = "cpu"
    extern_libs: tuple[tuple[str, str], ...] = ()
    # Hints, and properties of GPUs.
    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    maxnreg: int | None = None
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    clc: bool = False
    ptx_version: int | None = None
    ptx_options: str | None = None
    sched4reg: bool = False
    enable_reflect_ftz: bool = True
    min_shared_mem: int | None = None
    waves_per_eu: int = 0
    matrix_instr_nonkdim: int = 0
    kpack: int = 1
    allow_flush_denorm: bool = False
    schedule_hint: str = ""
    llvm_fn_attrs: str = ""
    wgp_cu_mode: str = "wgp"
    num_consumer_groups: int = 0
    num_buffers_warp_spec: int = 0
    instrumentation_mode: str = ""
    fpsan_homomorphic_casts: bool = False

    def hash(self) -> str:
        """Return the key of what is compiled, in Triton's cache: without hints, so that one kernel serves them all."""
        meaning = [(field.name, getattr(self, field.name)) for field in fields(self)[:_MEANT]]
        return hashlib.sha256(repr(meaning).encode()).hexdigest()


_MEANT = 9
"""Number of options that change the compiled kernel."""


class CpuBackend(BaseBackend):
    """Compiles Triton's kernels to Tile IR; a launch makes native code of it (`driver`)."""

    binary_ext = "tilebc"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return bool(target.backend == "cpu")

    def hash(self) -> str:
        from tileir.triton.program import version

        return version()

    def parse_options(self, opts: dict[str, Any]) -> CpuOptions:
        from triton import knobs

        known = {name: opts[name] for name in CpuOptions.__dataclass_fields__ if opts.get(name) is not None}
        fuse, known["extern_libs"] = opts.get("enable_fp_fusion"), ()
        default = knobs.language.default_fp_fusion if fuse is None else fuse
        known["enable_fp_fusion"] = default and not getattr(knobs.language, "force_disable_fp_fusion", False)
        known["default_dot_input_precision"] = knobs.language.fp32_default or PRECISIONS[0]
        return CpuOptions(**known)

    def pack_metadata(self, metadata: object) -> object:
        return metadata

    def get_codegen_implementation(self, options: CpuOptions) -> dict[str, Callable[..., object]]:
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    def get_module_map(self) -> dict[str, ModuleType]:
        from triton.language.extra.cuda import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, ctx: object) -> None:
        """Load no dialects, as Triton's own are enough."""

    def add_stages(self, stages: dict[str, Callable[..., object]], options: CpuOptions, language: Language) -> None:
        from tileir.triton.program import Stages, refuse_gluon

        if language is not Language.TRITON:
            refuse_gluon()
        made = Stages()
        stages.update({"ttir": made.ttir, "tileir": made.tileir, self.binary_ext: made.loaded})
