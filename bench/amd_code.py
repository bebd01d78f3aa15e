"""AMD machine code in assembler text: its loops, and the resources a kernel takes.

It reads the output of Triton's compiler and the metadata of a hsaco.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tileir.gpu.object_files import metadata_of

_LABEL = re.compile(r"^(\.LBB\d+_\d+):")
_INSTRUCTION = re.compile(r"^\s+([a-z]\w+)\b(.*)")
_PRODUCT = re.compile(r"v_(s?mfmac?|s?wmma\w*?)_")
_ACCESS = re.compile(r"(global|buffer|flat)_(load|store)_\w+")
_WIDE = re.compile(r"_(dwordx4|b128)$")
_SPILL = re.compile(r"scratch_(load|store)_")


@dataclass(frozen=True)
class AmdCode:
    """A kernel: its instructions by name, those of its main loop (the shortest of those with the most products), and
    registers and bytes of a thread and of a block."""

    names: tuple[str, ...]
    loop: tuple[str, ...]
    vector_registers: int
    scalar_registers: int
    spilled: int
    """Registers that are spilled, of both kinds."""
    scratch: int
    """Bytes of memory that a thread has for itself."""
    shared: int
    """Bytes of LDS of a block."""

    @property
    def accesses(self) -> list[str]:
        """Loads and stores of the memory of the GPU."""
        return [name for name in self.names if _ACCESS.match(name)]

    @property
    def wide(self) -> int:
        """Accesses that move 16 bytes for each lane."""
        return sum(_WIDE.search(name) is not None for name in self.accesses)

    @property
    def scratch_accesses(self) -> int:
        return sum(_SPILL.match(name) is not None for name in self.names)


def products(names: tuple[str, ...]) -> int:
    """The instructions that multiply matrices."""
    return sum(_PRODUCT.match(name) is not None for name in names)


def amd_code(assembly: str, hsaco: bytes, shared: int) -> AmdCode:
    """The one kernel of a file, whose blocks are given `shared` bytes of LDS at a launch."""
    names, loops = _parsed(assembly)
    (kernel,) = metadata_of(hsaco)["amdhsa.kernels"]
    spilled = kernel[".vgpr_spill_count"] + kernel[".sgpr_spill_count"]
    return AmdCode(
        tuple(names),
        max((tuple(names[a : b + 1]) for a, b in loops), key=lambda loop: (products(loop), -len(loop)), default=()),
        kernel[".vgpr_count"],
        kernel[".sgpr_count"],
        spilled,
        kernel[".private_segment_fixed_size"],
        kernel[".group_segment_fixed_size"] + shared,
    )


def _parsed(assembly: str) -> tuple[list[str], list[tuple[int, int]]]:
    """The instructions, and from where to where loops go."""
    names: list[str] = []
    labels: dict[str, int] = {}
    spans: list[tuple[int, int]] = []
    for line in assembly.splitlines():
        if label := _LABEL.match(line):
            labels[label[1]] = len(names)
        elif found := _INSTRUCTION.match(line):
            target = re.search(r"\.LBB\d+_\d+", found[2])
            if found[1].startswith(("s_cbranch", "s_branch")) and target and target[0] in labels:
                spans.append((labels[target[0]], len(names)))
            names.append(found[1])
    return names, spans
