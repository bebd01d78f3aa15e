"""Whatever the interpreter runs has native code."""

from __future__ import annotations

import pytest

from tileir import ops
from tileir.analysis.structure import EXITS
from tileir.cpu.rules import RULES
from tileir.interp.machine import TABLES
from tileir.ir.core import Op

INTERPRETED = (TABLES.pure, TABLES.effects, TABLES.regions, TABLES.controls, EXITS)


@pytest.mark.parametrize("op", ops.OPS.values(), ids=lambda op: op.spec.name)
def test_an_operation_of_the_interpreter_has_a_native_rule(op: type[Op]) -> None:
    assert (op in RULES) == any(op in table for table in INTERPRETED)
