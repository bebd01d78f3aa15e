"""The rules of all chapters."""

from tileir.triton.importer.rules import (
    arithmetic,
    atomics,
    control,
    debug,
    descriptors,
    elements,
    functions,
    matmul,
    reduction,
    shapes,
)
from tileir.triton.importer.rules.table import Table

CHAPTERS = (arithmetic, atomics, control, debug, descriptors, elements, functions, matmul, reduction, shapes)
RULES = Table()
"""The rule of each operation of TTIR."""
for _chapter in CHAPTERS:
    for _name, _rule in _chapter.rules.items():
        RULES(_name)(_rule)
