"""Every operation has TTIR, or a reason why it has none."""

from __future__ import annotations

import pytest

from tileir import ops
from tileir.gpu.ttir.rules import RULES
from tileir.ir.core import Op
from tileir.ops import calls, control, module

ELSEWHERE: dict[type[Op], str] = {
    module.ModuleOp: "an entry is lowered by itself",
    module.Global: "memory that the launch makes; `get_global` has code",
    calls.Func: "it is lowered where it is called",
    control.Break: "an exit, which the operation around it makes structured",
    control.Continue: "an exit, which the operation around it makes structured",
    control.Return: "an exit, which the function around it makes structured",
    control.Yield: "an exit, which the operation around it makes structured",
}


@pytest.mark.parametrize("op", ops.OPS.values(), ids=lambda op: op.spec.name)
def test_an_operation_has_ttir_or_a_reason_to_have_none(op: type[Op]) -> None:
    assert (op in RULES) != (op in ELSEWHERE)
