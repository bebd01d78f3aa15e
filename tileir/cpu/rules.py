"""The native rule of every operation: the chapters joined."""

from __future__ import annotations

from tileir.cpu import control, core, matmul, pointers, reduction, views
from tileir.cpu.lowering import Lower
from tileir.ir.rules import Rules, joined

RULES: Rules[Lower] = joined(
    control.rules, core.rules, matmul.rules, pointers.rules, reduction.rules, views.rules
)
