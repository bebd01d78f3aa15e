"""The GPU architectures that code can be made for.

Knows: their names and what each can do, as far as lowering depends on it (spec: support#architectures).
Does not know: what the machine at hand has (`gpu.driver`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.hints import ARCHITECTURES

MAX_WARPS, MAX_STAGES = 32, 16
"""Warps of a block and depth of software pipelines: the most that can be asked for."""
UNKNOWN_TO_COMPILERS = (107,)
CAPABILITIES = tuple(
    capability
    for capability in (int(name.removeprefix("sm_")) for name in ARCHITECTURES)
    if capability not in UNKNOWN_TO_COMPILERS
)
"""Ampere (8.0-8.8), Ada (8.9), Hopper (9.0), Blackwell (10.0-12.1)."""

SHARED_MEMORY = dict.fromkeys((80, 87), 163 << 10) | dict.fromkeys((90, 100, 103, 110), 227 << 10)
"""By capability (CUDA C++ programming guide, technical specifications per compute capability)."""


@dataclass(frozen=True)
class Arch:
    """A compute capability, as major * 10 + minor."""

    capability: int

    @property
    def name(self) -> str:
        return f"sm_{self.capability}"

    @property
    def shared_memory(self) -> int:
        """Bytes of shared memory that a block can have; of the small models where that is not told."""
        return SHARED_MEMORY.get(self.capability, 99 << 10)

    @property
    def has_descriptors(self) -> bool:
        """Whether the tensor memory accelerator copies tiles by descriptor."""
        return self.capability >= 90

    @property
    def has_fp8(self) -> bool:
        """Whether f8E4M3FN and f8E5M2 have conversions and products."""
        return self.capability >= 89

    @property
    def rounds_to_tf32(self) -> bool:
        """Whether an instruction rounds f32 to the nearest tf32, ties to even."""
        return self.capability >= 90

    @property
    def has_scaled_products(self) -> bool:
        """Whether block-scaled products are in hardware."""
        return self.capability in (100, 103)

    @property
    def has_tensor_memory(self) -> bool:
        """Whether matrices are multiplied in a memory of their own, by ``tcgen05`` instructions."""
        return self.capability in (100, 103, 110)

    @property
    def has_grid_dependencies(self) -> bool:
        """Whether one grid can start before the grid it depends on has ended."""
        return self.capability >= 90

    @property
    def has_multicast(self) -> bool:
        """Whether `multimem` instructions exist."""
        return self.capability >= 90


def arch_named(name: str) -> Arch:
    """The architecture called ``sm_90``, ``sm_90a`` or the like. Raises `UnsupportedError` for one not known."""
    found = re.fullmatch(r"sm_(\d+)[af]?", name)
    if found is None or int(found[1]) not in CAPABILITIES:
        known = ", ".join(f"sm_{capability}" for capability in CAPABILITIES)
        raise UnsupportedError(f"no such GPU architecture: expected one of {known}", name)
    return Arch(int(found[1]))
