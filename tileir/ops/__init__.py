"""The declaration of every operation, one file per chapter of the specification.

`OPS` maps the canonical name to the class, `SPELLINGS` every accepted name, `OPCODES` the bytecode number.
"""

from __future__ import annotations

from types import ModuleType

from tileir.ir.core import Op
from tileir.ops import (
    atomics,
    calls,
    control,
    conversion,
    core,
    division,
    extension,
    floating,
    functions,
    integer,
    matmul,
    misc,
    module,
    multimem,
    packing,
    pointers,
    reduction,
    shapes,
    views,
)

CHAPTERS: dict[str, tuple[str, ModuleType]] = {
    "module": ("Modules, entries and globals", module),
    "core": ("Core", core),
    "shapes": ("Shapes", shapes),
    "packing": ("Bit streams", packing),
    "reduction": ("Reductions and scans", reduction),
    "conversion": ("Conversions", conversion),
    "control": ("Control flow", control),
    "pointers": ("Memory through pointers", pointers),
    "floating": ("Floating point", floating),
    "functions": ("Mathematical functions", functions),
    "integer": ("Integer and bitwise", integer),
    "division": ("Integer division", division),
    "matmul": ("Matrix multiply", matmul),
    "atomics": ("Atomics", atomics),
    "views": ("Views", views),
    "multimem": ("Multicast memory", multimem),
    "misc": ("Miscellaneous", misc),
    "calls": ("Functions and calls", calls),
    "extension": ("Extensions of early documents", extension),
}


def _operations(chapter: ModuleType) -> list[type[Op]]:
    """Return the operations of a chapter, without the classes that only share fields."""
    classes = [member for member in vars(chapter).values() if isinstance(member, type) and issubclass(member, Op)]
    return [cls for cls in classes if hasattr(cls, "spec")]


OPS: dict[str, type[Op]] = {op.spec.name: op for _, chapter in CHAPTERS.values() for op in _operations(chapter)}
SPELLINGS: dict[str, type[Op]] = OPS | {alias: op for op in OPS.values() for alias in op.spec.aliases}
OPCODES: dict[int, type[Op]] = {op.spec.opcode: op for op in OPS.values() if op.spec.opcode is not None}
