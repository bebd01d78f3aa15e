"""The declaration of every operation, one file per chapter of the specification.

`OPS` maps the canonical name to the class, `SPELLINGS` every accepted name, `OPCODES` the bytecode number.
"""

from __future__ import annotations

from types import ModuleType

from tileir.ir.core import Op
from tileir.ops import (
    atomics,
    control,
    conversion,
    core,
    extension,
    floating,
    integer,
    matmul,
    memory,
    misc,
    module,
    multimem,
    views,
)

CHAPTERS: dict[str, tuple[str, ModuleType]] = {
    "module": ("Modules, entries and globals", module),
    "core": ("Core", core),
    "conversion": ("Conversions", conversion),
    "control": ("Control flow", control),
    "memory": ("Memory", memory),
    "floating": ("Floating point", floating),
    "integer": ("Integer and bitwise", integer),
    "matmul": ("Matrix multiply", matmul),
    "atomics": ("Atomics", atomics),
    "views": ("Views", views),
    "multimem": ("Multicast memory", multimem),
    "misc": ("Miscellaneous", misc),
    "extension": ("Extensions of early documents", extension),
}


def _operations(chapter: ModuleType) -> list[type[Op]]:
    members = vars(chapter).values()
    return [member for member in members if isinstance(member, type) and issubclass(member, Op) and member is not Op]


OPS: dict[str, type[Op]] = {op.spec.name: op for _, chapter in CHAPTERS.values() for op in _operations(chapter)}
SPELLINGS: dict[str, type[Op]] = OPS | {alias: op for op in OPS.values() for alias in op.spec.aliases}
OPCODES: dict[int, type[Op]] = {op.spec.opcode: op for op in OPS.values() if op.spec.opcode is not None}
