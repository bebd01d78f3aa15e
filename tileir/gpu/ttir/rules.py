"""The TTIR rule of every operation: the chapters joined."""

from __future__ import annotations

from tileir.gpu.ttir import (
    atomics,
    calls,
    constants,
    control,
    conversion,
    core,
    division,
    extension,
    floating,
    integer,
    matmul,
    misc,
    multimem,
    packing,
    pointers,
    reduction,
    scaled,
    shapes,
    transcendental,
    views,
)
from tileir.gpu.ttir.lowering import Lower
from tileir.ir.rules import Rules, joined

RULES: Rules[Lower] = joined(
    atomics.rules,
    calls.rules,
    constants.rules,
    control.rules,
    conversion.rules,
    core.rules,
    division.rules,
    extension.rules,
    floating.rules,
    integer.rules,
    matmul.rules,
    misc.rules,
    multimem.rules,
    packing.rules,
    pointers.rules,
    reduction.rules,
    scaled.rules,
    shapes.rules,
    transcendental.rules,
    views.rules,
)
