"""Every operation has a meaning in the interpreter."""

import pytest

from tileir import ops
from tileir.interp.machine import TABLES
from tileir.interp.prepare import EXITS
from tileir.ops.calls import Func
from tileir.ops.module import Entry, Global, ModuleOp

STRUCTURE = (ModuleOp, Entry, Global, Func)


@pytest.mark.parametrize("op", [op for op in ops.OPS.values() if op not in STRUCTURE], ids=lambda op: op.spec.name)
def test_every_operation_has_one_rule(op):
    tables = (TABLES.pure, TABLES.effects, TABLES.regions, TABLES.controls, EXITS)
    assert sum(op in table for table in tables) == 1
