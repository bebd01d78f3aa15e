"""Hints for operand types that another operation takes.

Knows: which float operation has an integer twin and the other way round. Does not know: any rule.
"""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.types import INTS, PointerType, TileType, Type
from tileir.ops.constraints import BASE_FLOATS

_FOR_INTEGERS = {
    "absf": "absi",
    "addf": "addi",
    "cmpf": "cmpi",
    "divf": "divi",
    "maxf": "maxi",
    "minf": "mini",
    "mmaf": "mmai",
    "mulf": "muli",
    "negf": "negi",
    "remf": "remi",
    "subf": "subi",
}
_FOR_FLOATS = {integer: floating for floating, integer in _FOR_INTEGERS.items()}


def twin_hint(op: Op, type: Type) -> str | None:
    """Names the operation that does the same for elements of `type`, where there is one."""
    element = type.element if isinstance(type, TileType) else None
    if isinstance(element, PointerType):
        return _pointer_hint(op)
    if element in INTS and op.spec.name in _FOR_INTEGERS:
        return f"'{_FOR_INTEGERS[op.spec.name]}' takes integers"
    if element in BASE_FLOATS and op.spec.name in _FOR_FLOATS:
        return f"'{_FOR_FLOATS[op.spec.name]}' takes floats"
    return None


def _pointer_hint(op: Op) -> str | None:
    if op.spec.name in ("addi", "subi"):
        return "'offset' moves pointers"
    if op.spec.name == "bitcast":
        return "'int_to_ptr', 'ptr_to_int' and 'ptr_to_ptr' convert pointers"
    return None
