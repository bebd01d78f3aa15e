"""The TTIR rule of every operation: the chapters joined."""

from __future__ import annotations

from tileir.gpu.ttir.lowering import Lower
from tileir.gpu.ttir.rules import (
    arithmetic,
    atomics,
    control,
    conversion,
    core,
    extension,
    matmul,
    misc,
    pointers,
    reduction,
    shapes,
    views,
)
from tileir.ir.rules import Rules, joined

_CHAPTERS = (
    arithmetic, atomics, control, conversion, core, extension, matmul, misc, pointers, reduction, shapes, views,
)  # fmt: skip

RULES: Rules[Lower] = joined(*(chapter.rules for chapter in _CHAPTERS))
