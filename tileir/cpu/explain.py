"""What the compiler made of an entry: where loaded tiles are, what can trap, how wide the vectors are.

Knows: how to read that from a lowered entry and its assembly text. Does not know: how it is shown (`cli.compile`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tileir.cpu.lowering import Kernel
from tileir.cpu.tiles import Expression, Scalar, Window
from tileir.ir import types as t
from tileir.ir.core import Op

_LOADS = ("load_view_tko", "load_ptr_tko", "atomic_rmw_tko", "atomic_cas_tko", "multimem_load_view_tko")
_REGISTERS = {512: "zmm", 256: "ymm", 128: "xmm"}


@dataclass(frozen=True)
class Load:
    """A load of a tile and what became of it."""

    op: Op
    type: t.TileType
    became: str


def loads(kernel: Kernel) -> Iterator[Load]:
    """Every load that was lowered, in program order."""
    for value, form in kernel.values.items():
        if value.op is not None and value.op.spec.name in _LOADS and isinstance(value.type, t.TileType):
            yield Load(value.op, value.type, _became(form))


def _became(form: object) -> str:
    if isinstance(form, Scalar):
        return "a register"
    if isinstance(form, Window):
        return "read from memory where it is used" if form.shared else "copied into the arena"
    return "loaded where it is used" if isinstance(form, Expression) else "an operand of another form"


def traps(kernel: Kernel) -> list[tuple[Op, str]]:
    """What can stop a launch, in program order; a check made in several places counts once."""
    return list(dict.fromkeys((site.op, site.message) for site in kernel.traps))


def vector_instructions(assembly: str) -> dict[int, int]:
    """How many instructions work on vectors of each width, in bits (x86; empty elsewhere)."""
    widths: Counter[int] = Counter()
    for line in assembly.splitlines():
        width = next((bits for bits, name in _REGISTERS.items() if re.search(rf"%{name}\d", line)), None)
        if width is not None and line.lstrip().startswith("v") and not re.search(r"s[sd]\b", line.split()[0]):
            widths[width] += 1
    return dict(sorted(widths.items(), reverse=True))
