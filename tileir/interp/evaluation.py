"""Single operations on known contents: the rules of the interpreter without a launch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.interp.faults import Fault
from tileir.interp.machine import TABLES
from tileir.ir.core import Op


def evaluated(op: Op, operands: Sequence[np.ndarray]) -> Sequence[np.ndarray] | None:
    """Return the contents of the results of `op`; None if it has undefined behaviour on them, or no rule of its own.

    Operands are those of the program, flat, each of the shape of its type, or all of one other shape if the operation
    is element-wise.
    """
    rule = TABLES.pure.get(type(op))
    if rule is None:
        return None
    values = _declared(op, operands)
    check = TABLES.strict.get(type(op))
    try:
        with np.errstate(all="ignore"):
            checked = None if check is None else check(op)
            if checked is not None:
                checked(*values)
            found = rule(op)(*values)
    except Fault:
        return None
    return found if isinstance(found, tuple) else (found,)


def _declared(op: Op, operands: Sequence[np.ndarray]) -> list[object]:
    """Return one value per declared operand."""
    values: list[object] = []
    begin = 0
    for operand, count in zip(op.spec.operands, op.segments):
        group = tuple(operands[begin : begin + count])
        begin += count
        values.append(group if operand.variadic else group[0] if group else None)
    return values
