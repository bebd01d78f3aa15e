"""Code for AMD's GPUs beside that of Triton's own programs for the same algorithms: the table in docs/gpu.md.

    python bench/amd.py [--write]

Both are compiled by the same compiler for the same number of waves and stages, for arguments that are multiples of 16.
No GPU is needed: nothing is timed. With ``--write`` the table is put into the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import gpu_kernels
from amd_code import AmdCode, amd_code, products
from gpu_attention import CausalAttention

import tileir
from tileir.gpu.arch import amd
from tileir.gpu.compiler import CompileOptions
from tileir.gpu.program import aligned_facts, compiled
from tileir.runtime.exact import exact_kernel
from tileir.runtime.gpu_routes import source_of

ARCHS = ("gfx942", "gfx1100")
PAGE = Path(__file__).parent.parent / "docs" / "gpu.md"
BEGIN, END = "<!-- made by bench/amd.py -->\n", "<!-- end of what bench/amd.py made -->\n"
COLUMNS = ("kernel", "for", "", "waves", "main loop", "products in it", "accesses of 16 bytes", "VGPRs", "SGPRs")
COLUMNS += ("spilled", "scratch", "LDS")


@dataclass(frozen=True)
class AmdCase:
    """A kernel of ours and Triton's of the same: its name, the types of its parameters, and its constants."""

    name: str
    text: str
    peer: str
    types: tuple[str, ...]
    constants: dict[str, int] = field(default_factory=dict, hash=False)


CASES = (
    AmdCase(
        "GEMM, f16, 128x128x64",
        gpu_kernels.gemm("f16", 128, 128, 64),
        "gemm",
        ("*fp16", "*fp16", "*fp16", "i32", "i32", "i32"),
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP": 8},
    ),
    AmdCase(
        "causal attention, f16, 64x64x128",
        CausalAttention("f16", 64, 64).text(),
        "attention",
        ("*fp16", "*fp16", "*fp16", "*fp16", "i32", "fp32"),
        {"ROWS": 64, "COLUMNS": 64},
    ),
    AmdCase(
        "softmax, f32, 8192", gpu_kernels.rows("softmax", 8192), "softmax", ("*fp32", "*fp32", "i32"), {"BLOCK": 8192}
    ),
    AmdCase(
        "layer norm, f32, 8192",
        gpu_kernels.rows("layer_norm", 8192),
        "layer_norm",
        ("*fp32", "*fp32", "*fp32", "*fp32", "i32", "fp32"),
        {"BLOCK": 8192},
    ),
)


@cache
def ours(case: AmdCase, arch: str) -> tuple[AmdCode, CompileOptions]:
    """Our code, and the options that were chosen for it."""
    (kernel,) = tileir.parse(case.text).kernels.values()
    source = source_of(exact_kernel(kernel))
    made = compiled(source, amd(arch), aligned_facts(kernel.entry), ["amdgcn", "hsaco"])
    assert made.artifacts.binary is not None
    shared = made.artifacts.metadata["shared"]
    return amd_code(made.artifacts.texts["amdgcn"], made.artifacts.binary, shared), made.options


@cache
def theirs(case: AmdCase, arch: str) -> AmdCode:
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
    options = ours(case, arch)[1]
    made = triton.compile(
        ASTSource(function, signature, constants, aligned),
        target=GPUTarget("hip", arch, amd(arch).warp),
        options={"num_warps": options.num_warps, "num_stages": options.num_stages},
    )
    return amd_code(made.asm["amdgcn"], made.asm["hsaco"], made.metadata.shared)


def rows() -> Iterator[tuple[str, ...]]:
    for case in CASES:
        for arch in ARCHS:
            code, options = ours(case, arch)
            yield case.name, arch, "tileir", str(options.num_warps), *_figures(code)
            yield "", "", "Triton", str(options.num_warps), *_figures(theirs(case, arch))


def _figures(code: AmdCode) -> Iterator[str]:
    yield str(len(code.loop) or "-")
    yield str(products(code.loop) or "-")
    yield f"{code.wide} of {len(code.accesses)}"
    counts = code.vector_registers, code.scalar_registers, code.spilled, code.scratch, code.shared
    yield from map(str, counts)


def markdown() -> str:
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * 3 + "---:|" * (len(COLUMNS) - 3)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows())]) + "\n"


def main(arguments: list[str]) -> int:
    table = markdown()
    print(table, end="")
    if arguments == ["--write"]:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        _, after = rest.split(END)
        PAGE.write_text(f"{before}{BEGIN}{table}{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
