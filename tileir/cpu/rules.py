"""The native rule of every operation: the chapters joined."""

from __future__ import annotations

from tileir.cpu import (
    atomics,
    calls,
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
    views,
)
from tileir.cpu.lowering import Lower
from tileir.ir.rules import Rules, joined

RULES: Rules[Lower] = joined(
    atomics.rules,
    calls.rules,
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
    views.rules,
)
