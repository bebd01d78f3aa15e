"""The rules of all chapters."""

from tileir.ir.rules import KeyedRules
from tileir.triton.importer.importing import ImportRules
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

CHAPTERS = (arithmetic, atomics, control, debug, descriptors, elements, functions, matmul, reduction, shapes)
RULES: ImportRules = KeyedRules()
"""The rule of each operation of TTIR."""
RULES.join(*(chapter.rules for chapter in CHAPTERS))
