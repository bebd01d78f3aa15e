"""GPU architectures and what each can do, as far as lowering depends on it (spec: support#architectures).

For AMD the source is the document of each instruction set.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache

from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.hints import ARCHITECTURES

MAX_WARPS, MAX_STAGES = 32, 16
"""Warps of a block and depth of software pipelines: the most that can be asked for."""


class Vendor(Enum):
    """The makers of GPUs, by the name of the target that runs on them."""

    NVIDIA = "cuda"
    AMD = "hip"


UNKNOWN_TO_COMPILERS = (107,)
CAPABILITIES = tuple(
    capability
    for capability in (int(name.removeprefix("sm_")) for name in ARCHITECTURES)
    if capability not in UNKNOWN_TO_COMPILERS
)
"""Ampere (8.0-8.8), Ada (8.9), Hopper (9.0), Blackwell (10.0-12.1)."""

SHARED_MEMORY = dict.fromkeys((80, 87), 163 << 10) | dict.fromkeys((90, 100, 103, 110), 227 << 10)
"""Bytes by capability (CUDA C++ programming guide, technical specifications per compute capability)."""

WAVES = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1100": 32, "gfx1201": 32}
"""The lanes of a wave, of each architecture of AMD: CDNA 2 to 4 have 64, RDNA 3 and 4 have 32."""

LOCAL_MEMORY = {"gfx950": 160 << 10}
"""Bytes of LDS that a block can have, where that is not `USUAL_LOCAL_MEMORY` (documents of the instruction sets)."""
USUAL_LOCAL_MEMORY = 64 << 10


@dataclass(frozen=True)
class Arch:
    """An architecture, by its name in compilers; an unlisted one has no special properties."""

    name: str
    vendor: Vendor
    warp: int
    """Threads that run an instruction together."""
    shared_memory: int
    """Bytes of shared memory that a block can have."""
    has_descriptors: bool = False
    """True if the tensor memory accelerator copies tiles by descriptor."""
    has_fp8: bool = False
    """True if f8E4M3FN and f8E5M2 have conversions and products."""
    adds_fp8_in_f32: bool = False
    """True if their products are added in f32, without `fast_acc`."""
    rounds_to_tf32: bool = False
    """True if an instruction rounds f32 to the nearest tf32, ties to even."""
    multiplies_tf32: bool = False
    """True if products of tf32 are in hardware."""
    has_scaled_products: bool = False
    """True if block-scaled products are in hardware."""
    has_tensor_memory: bool = False
    """True if matrices are multiplied in a memory of their own, by ``tcgen05`` instructions."""
    has_asynchronous_products: bool = False
    """True if products run asynchronously and read shared memory meanwhile: ``wgmma`` and ``tcgen05``."""
    has_grid_dependencies: bool = False
    """True if one grid can start before the grid it depends on has ended."""
    has_multicast: bool = False
    """True if `multimem` instructions exist."""
    adds_bf16_at_system_scope: bool = True
    """True if an atomic sum of bf16 can have the scope of the system."""
    has_fast_f64: bool = False
    """True if f64 is multiplied at half the rate of f32 at least: on GPUs for data centres."""
    max_stages: int = 4
    """The most stages of a pipeline that pay, unless a hint says more."""

    @property
    def known_to_compiler(self) -> int | str:
        """The architecture as Triton's compiler is told it."""
        return int(self.name.removeprefix("sm_")) if self.vendor is Vendor.NVIDIA else self.name


@cache
def nvidia(capability: int) -> Arch:
    """Return the architecture of a compute capability, major * 10 + minor; shared memory is that of the small models
    where it is not told."""
    return Arch(
        f"sm_{capability}",
        Vendor.NVIDIA,
        32,
        SHARED_MEMORY.get(capability, 99 << 10),
        has_descriptors=capability >= 90,
        has_fp8=capability >= 89,
        adds_fp8_in_f32=capability >= 100,
        rounds_to_tf32=capability >= 90,
        multiplies_tf32=True,
        has_scaled_products=capability in (100, 103),
        has_tensor_memory=capability in (100, 103, 110),
        has_asynchronous_products=capability in (90, 100, 103, 110),
        has_grid_dependencies=capability >= 90,
        has_multicast=capability >= 90,
        adds_bf16_at_system_scope=capability >= 90,
        has_fast_f64=capability in (80, 90, 100),
    )


@cache
def amd(name: str) -> Arch:
    """Return an architecture among `WAVES`. Its 8-bit floats are handled by arithmetic: those of gfx942 are other
    formats."""
    return Arch(
        name,
        Vendor.AMD,
        WAVES[name],
        LOCAL_MEMORY.get(name, USUAL_LOCAL_MEMORY),
        multiplies_tf32=name == "gfx942",
        has_fast_f64=WAVES[name] == 64,
        max_stages=2,
    )


GPUS = (*(f"sm_{capability}" for capability in CAPABILITIES), *WAVES)
"""The names of all architectures."""


def arch_named(name: str) -> Arch:
    """Return the architecture called ``sm_90``, ``sm_90a``, ``gfx942`` or the like. Raises `UnsupportedError` for one
    that is not known."""
    if name in WAVES:
        return amd(name)
    found = re.fullmatch(r"sm_(\d+)[af]?", name)
    if found is None or int(found[1]) not in CAPABILITIES:
        raise UnsupportedError(f"no such GPU architecture: expected one of {', '.join(GPUS)}", name)
    return nvidia(int(found[1]))
