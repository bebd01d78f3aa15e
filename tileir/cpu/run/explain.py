"""Explanation of what became of an entry: where loaded tiles are, what can trap, how wide the vectors are.

Knows: how to read that from a lowered entry and its assembly text. Does not know: how it is shown (`cli.compile`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tileir.analysis.effects import access_of
from tileir.cpu.emit.record import TrapKind, TrapSite
from tileir.cpu.emit.tiles import ExpressionTile, Scalar, Window
from tileir.cpu.lowering.functions import LoweredKernel
from tileir.ir import types as t
from tileir.ir.core import Op

_REGISTERS = {512: "zmm", 256: "ymm", 128: "xmm"}


@dataclass(frozen=True)
class Load:
    """A load of a tile and what became of it."""

    op: Op
    type: t.TileType
    became: str


def loads(kernel: LoweredKernel) -> Iterator[Load]:
    """Every load that was lowered, in program order."""
    for value, form in kernel.values.items():
        access = None if value.op is None else access_of(value.op)
        if access is not None and access.result is value:
            assert isinstance(value.type, t.TileType)
            yield Load(access.op, value.type, _became(form))


def _became(form: object) -> str:
    if isinstance(form, Scalar):
        return "a register"
    if isinstance(form, Window):
        return "read from memory where it is used" if form.shared else "copied into the arena"
    return "loaded where it is used" if isinstance(form, ExpressionTile) else "an operand of another form"


def traps(kernel: LoweredKernel) -> list[tuple[Op, str]]:
    """The checks that can stop a launch, in program order; one made in several places counts once."""
    return list(dict.fromkeys((site.op, _in_general(site)) for site in kernel.traps))


def _in_general(site: TrapSite) -> str:
    """The message of a site before there are numbers to put into it."""
    if site.kind is TrapKind.ACCESS:
        return "an access to memory that the launch has not given"
    return re.sub(r"\{\d*\}", "…", site.message)


def vector_instructions(assembly: str) -> dict[int, int]:
    """The number of instructions on vectors of each width, in bits (x86; empty elsewhere)."""
    widths: Counter[int] = Counter()
    for line in assembly.splitlines():
        width = next((bits for bits, name in _REGISTERS.items() if re.search(rf"%{name}\d", line)), None)
        if width is not None and line.lstrip().startswith("v") and not re.search(r"s[sd]\b", line.split()[0]):
            widths[width] += 1
    return dict(sorted(widths.items(), reverse=True))
