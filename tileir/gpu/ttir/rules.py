"""The TTIR rule of every operation: the chapters joined."""

from __future__ import annotations

from tileir.gpu.ttir import control, conversion, core, division, integer, misc, packing
from tileir.gpu.ttir.lowering import Lower
from tileir.ir.rules import Rules, joined

RULES: Rules[Lower] = joined(
    control.rules,
    conversion.rules,
    core.rules,
    division.rules,
    integer.rules,
    misc.rules,
    packing.rules,
)
