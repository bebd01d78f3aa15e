"""The native rules of every operation: the chapters joined."""

from __future__ import annotations

from tileir.cpu.lowering.state import Lower, NativeRules
from tileir.cpu.memory.regions import count_access
from tileir.cpu.rules import (
    arithmetic,
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
from tileir.ir.core import Op
from tileir.ir.effects import AccessTrait
from tileir.ir.rules import Rules, joined
from tileir.ops import OPS

_CHAPTERS = (arithmetic, pointers, control, conversion, core, extension, matmul, misc, reduction, shapes, views)
RULES: Rules[Lower] = joined(*(chapter.rules for chapter in _CHAPTERS))
STRICT: Rules[Lower] = joined(
    *(chapter.strict for chapter in (arithmetic, pointers, conversion, core, matmul, misc, views))
)
COUNTED: dict[type[Op], Lower] = {op: count_access for op in OPS.values() if op.spec.trait(AccessTrait)}
NATIVE_RULES = NativeRules(RULES, STRICT, COUNTED)
