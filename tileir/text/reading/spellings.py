"""The names that an operation may be written with."""

from __future__ import annotations

from functools import cache

from tileir.ir.core import Op
from tileir.ops import SPELLINGS

PREFIX = "cuda_tile."
"""The dialect, which may stand in front of every name."""
_EARLY_PREFIX = "experimental$"


@cache
def spellings() -> dict[str, type[Op]]:
    """Every name without the dialect's prefix; early documents also write ``experimental.`` for ``experimental$``."""
    names = SPELLINGS | {name: op for op in SPELLINGS.values() for _, name in op.spec.spellings}
    dotted = {name.replace("$", "."): op for name, op in names.items() if name.startswith(_EARLY_PREFIX)}
    return names | dotted
