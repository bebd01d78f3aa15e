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

RULES: Rules[Lower] = joined(
    atomics.rules,
    control.rules,
    conversion.rules,
    core.rules,
    arithmetic.rules,
    extension.rules,
    matmul.rules,
    misc.rules,
    shapes.rules,
    pointers.rules,
    reduction.rules,
    views.rules,
)
