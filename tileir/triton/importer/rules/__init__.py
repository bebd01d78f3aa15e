"""The rules of all chapters."""

from tileir.triton.importer.rules import (
    arithmetic,
    control,
    conversion,
    debug,
    functions,
    matmul,
    pointers,
    reduction,
    shapes,
)
from tileir.triton.importer.rules.table import Table

CHAPTERS = (arithmetic, control, conversion, debug, functions, matmul, pointers, reduction, shapes)
RULES = Table()
"""The rule of each operation of TTIR."""
for _chapter in CHAPTERS:
    for _name, _rule in _chapter.rules.items():
        RULES(_name)(_rule)
