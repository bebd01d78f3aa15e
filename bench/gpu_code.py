"""Code for GPUs beside that of Triton's own programs for the same algorithms: the tables in docs/gpu.md.

    python bench/gpu_code.py amd|nvidia [--write]

Both are compiled by the same compiler for the same number of warps and stages, for arguments that are multiples of 16;
for NVIDIA's GPUs `tileiras` compiles our program too, if it is installed. No GPU is needed: nothing is timed. With
``--write`` the table is put into the page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import gpu_kernels
from amd_code import AmdCode, amd_code, products
from gpu_attention import CausalAttention

import tileir
from tests.gpu.machine_code import machine_code
from tileir.bytecode import encode
from tileir.cache import shared_cache
from tileir.gpu import vendor
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import Artifacts, CompileOptions, binary_stage
from tileir.gpu.object_files import cubin_kernels
from tileir.gpu.program import ALIGNED, aligned_facts, compiled
from tileir.passes.rebuilding import copied
from tileir.runtime.exact import exact_kernel
from tileir.runtime.gpu_routes import source_of

PAGE = Path(__file__).parent.parent / "docs" / "gpu.md"


@dataclass(frozen=True)
class Case:
    """A kernel of ours and Triton's of the same: its name, the types of its parameters, and its constants."""

    name: str
    text: str
    peer: str
    types: tuple[str, ...]
    constants: dict[str, int] = field(default_factory=dict, hash=False)


CASES = (
    Case(
        "GEMM, f16, 128x128x64",
        gpu_kernels.gemm("f16", 128, 128, 64),
        "gemm",
        ("*fp16", "*fp16", "*fp16", "i32", "i32", "i32"),
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP": 8},
    ),
    Case(
        "causal attention, f16, 64x64x128",
        CausalAttention("f16", 64, 64).text(),
        "attention",
        ("*fp16", "*fp16", "*fp16", "*fp16", "i32", "fp32"),
        {"ROWS": 64, "COLUMNS": 64},
    ),
    Case(
        "softmax, f32, 8192", gpu_kernels.rows("softmax", 8192), "softmax", ("*fp32", "*fp32", "i32"), {"BLOCK": 8192}
    ),
    Case(
        "layer norm, f32, 8192",
        gpu_kernels.rows("layer_norm", 8192),
        "layer_norm",
        ("*fp32", "*fp32", "*fp32", "*fp32", "i32", "fp32"),
        {"BLOCK": 8192},
    ),
)


@dataclass(frozen=True)
class Code:
    """Machine code, and the shared memory of a block in bytes; `text` is the assembler's where there is one."""

    binary: bytes
    text: str
    shared: int


@cache
def ours(case: Case, arch: str) -> tuple[Code, CompileOptions]:
    """Our code, and the options that were chosen for it."""
    (kernel,) = tileir.parse(case.text).kernels.values()
    source = source_of(exact_kernel(kernel))
    stages = ["amdgcn", "hsaco"] if arch.startswith("gfx") else ["cubin"]
    made = compiled(source, arch_named(arch), aligned_facts(kernel.entry), stages)
    return _code(made.artifacts), made.options


def _code(artifacts: Artifacts) -> Code:
    assert artifacts.binary is not None
    return Code(artifacts.binary, artifacts.texts.get("amdgcn", ""), artifacts.metadata["shared"])


@cache
def theirs(case: Case, arch: str) -> Code:
    """Code of Triton's program, compiled in the same way."""
    import triton
    import triton_gpu
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    function: Any = getattr(triton_gpu, case.peer)
    names = function.arg_names
    signature = dict(zip(names, case.types)) | dict.fromkeys(case.constants, "constexpr")
    aligned = {(position,): [["tt.divisibility", 16]] for position, type in enumerate(case.types) if type != "fp32"}
    constants = {(names.index(name),): value for name, value in case.constants.items()}
    options, known = ours(case, arch)[1], arch_named(arch)
    made = triton.compile(
        ASTSource(function, signature, constants, aligned),
        target=GPUTarget("hip", arch, known.warp) if arch.startswith("gfx") else GPUTarget("cuda", int(arch[3:]), 32),
        options={"num_warps": options.num_warps, "num_stages": options.num_stages},
    )
    return Code(made.asm[binary_stage(known)], made.asm.get("amdgcn", ""), made.metadata.shared)


def vendors(case: Case, arch: str) -> Code:
    """Code of the vendor's assembler for our program."""
    (kernel,) = tileir.parse(case.text).kernels.values()
    module = tileir.Module.of(copied(exact_kernel(kernel).module))
    (entry,) = (one.entry for one in module.kernels.values())
    facts = aligned_facts(entry)
    vendor.promise_alignment(entry, [position for position, fact in enumerate(facts) if fact is ALIGNED])
    return Code(vendor.cubin(encode(module), arch_named(arch), shared_cache()), "", 0)


@dataclass(frozen=True)
class Table:
    """The table of a vendor: the columns behind that of the peer, and the figures of some code in them."""

    archs: tuple[str, ...]
    columns: tuple[str, ...]
    figures: Callable[[Code], Iterator[str]]

    def rows(self) -> Iterator[tuple[str, ...]]:
        for case in CASES:
            for arch in self.archs:
                code, options = ours(case, arch)
                yield case.name, arch, "tileir", str(options.num_warps), *self.figures(code)
                yield "", "", "Triton", str(options.num_warps), *self.figures(theirs(case, arch))
                if not arch.startswith("gfx") and vendor.program() is not None:
                    yield "", "", "tileiras", "", *self.figures(vendors(case, arch))


def _amd_figures(made: Code) -> Iterator[str]:
    code: AmdCode = amd_code(made.text, made.binary, made.shared)
    yield str(len(code.loop) or "-")
    yield str(products(code.loop) or "-")
    yield f"{code.wide} of {len(code.accesses)}"
    counts = code.vector_registers, code.scalar_registers, code.spilled, code.scratch, code.shared
    yield from map(str, counts)


def _nvidia_figures(made: Code) -> Iterator[str]:
    code = machine_code(made.binary)
    (info,) = cubin_kernels(made.binary).values()
    loop = max((one.names for one in code.nests), key=lambda names: _products(names) / len(names), default=())
    accesses = [name for name in code.names if name.startswith(("LDG", "STG", "LDGSTS"))]
    yield str(len(code.names))
    yield str(len(loop) if _products(loop) else "-")
    yield str(_products(loop) or "-")
    yield f"{sum('128' in name for name in accesses)} of {len(accesses)}"
    yield str(sum(name.startswith(("UTMALDG", "UTMASTG")) for name in code.names))
    yield from map(str, (info.registers, code.stack, made.shared or "-"))


def _products(names: Sequence[str]) -> int:
    """The instructions that multiply matrices."""
    return sum(name.startswith(("HMMA", "HGMMA", "UTCHMMA")) for name in names)


TABLES = {
    "amd": Table(
        ("gfx942", "gfx1100"),
        ("waves", "main loop", "products in it", "accesses of 16 bytes", "VGPRs", "SGPRs", "spilled", "scratch", "LDS"),
        _amd_figures,
    ),
    "nvidia": Table(
        ("sm_80", "sm_90", "sm_100"),
        ("warps", "instructions", "main loop", "products in it", "accesses of 16 bytes", "TMA", "registers", "stack",
         "shared"),
        _nvidia_figures,
    ),
}  # fmt: skip


def markdown(table: Table) -> str:
    columns = "kernel", "for", "", *table.columns
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * 3 + "---:|" * (len(columns) - 3)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in table.rows())]) + "\n"


def main(arguments: list[str]) -> int:
    name, *others = arguments
    table = markdown(TABLES[name])
    print(table, end="")
    if others == ["--write"]:
        begin, end = f"<!-- made by bench/gpu_code.py {name} -->\n", f"<!-- end of the table {name} -->\n"
        before, rest = PAGE.read_text(encoding="utf-8").split(begin)
        PAGE.write_text(f"{before}{begin}{table}{end}{rest.split(end)[1]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] not in [[name] for name in TABLES]:
        sys.exit(f"usage: python bench/gpu_code.py {'|'.join(TABLES)} [--write]")
    sys.exit(main(sys.argv[1:]))
