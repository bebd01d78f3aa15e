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

RULES: Rules[Lower] = joined(
    arithmetic.rules,
    pointers.rules,
    control.rules,
    conversion.rules,
    core.rules,
    extension.rules,
    matmul.rules,
    misc.rules,
    reduction.rules,
    shapes.rules,
    views.rules,
)
STRICT: Rules[Lower] = joined(
    arithmetic.strict,
    pointers.strict,
    conversion.strict,
    core.strict,
    matmul.strict,
    misc.strict,
    views.strict,
)
COUNTED: dict[type[Op], Lower] = {op: count_access for op in OPS.values() if op.spec.trait(AccessTrait)}
NATIVE_RULES = NativeRules(RULES, STRICT, COUNTED)
