"""How a kernel is spread over the hardware: what its optimization hints ask for, and what is sensible without.

Knows: the hints (specification, semantics 14), and what hardware has of threads, registers and shared memory.
Does not know: code.
"""

from __future__ import annotations

from tileir.gpu.arch import Arch
from tileir.ir.attributes import Attribute, BoolAttr, DictAttr, IntegerAttr, OptimizationHints
from tileir.ir.core import Op


def _integer(value: Attribute) -> int | None:
    return value.value if isinstance(value, IntegerAttr) else None


def hint_of(op: Op, arch: Arch, name: str) -> Attribute | None:
    """A hint for the architecture, or else the default one."""
    hints = op.attributes.get("optimization_hints")
    if not isinstance(hints, OptimizationHints):
        return None
    for key in (arch.name, "default"):
        entries = hints.targets.get(key)
        if isinstance(entries, DictAttr) and (found := entries.get(name)) is not None:
            return found
    return None


def allows_tma(op: Op, arch: Arch) -> bool:
    """Whether the copy engine may serve a load or store."""
    found = hint_of(op, arch, "allow_tma")
    return not isinstance(found, BoolAttr) or found.value
