"""The TTIR rule of every operation: the chapters joined."""

from __future__ import annotations

from tileir.gpu.ttir import core, integer
from tileir.gpu.ttir.lowering import Lower
from tileir.ir.rules import Rules, joined

RULES: Rules[Lower] = joined(core.rules, integer.rules)
