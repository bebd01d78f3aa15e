"""The native rule of every operation: the chapters joined."""

from __future__ import annotations

from tileir.cpu import atomics, control, core, matmul, misc, pointers, reduction, views
from tileir.cpu.lowering import Lower
from tileir.ir.rules import Rules, joined

RULES: Rules[Lower] = joined(
    atomics.rules,
    control.rules,
    core.rules,
    matmul.rules,
    misc.rules,
    pointers.rules,
    reduction.rules,
    views.rules,
)
