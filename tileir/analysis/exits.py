"""Exits of regions: the operations that end one, and where control goes (spec: control#top).

Knows: what each terminator leaves or continues. Does not know: whether it may stand where it does (`verify.control`).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator

from tileir.ir.core import Block, Op
from tileir.ops.calls import Func
from tileir.ops.control import Break, Continue, For, If, Loop, Return, Yield
from tileir.ops.module import Entry


class RegionExit(enum.IntEnum):
    """How control leaves a region."""

    YIELD = 0
    CONTINUE = 1
    BREAK = 2
    RETURN = 3


EXITS: dict[type[Op], RegionExit] = {
    Yield: RegionExit.YIELD,
    Continue: RegionExit.CONTINUE,
    Break: RegionExit.BREAK,
    Return: RegionExit.RETURN,
}
TARGETS: dict[type[Op], tuple[type[Op], ...]] = {
    Yield: (Op,),
    Continue: (For, Loop),
    Break: (Loop,),
    Return: (Entry, Func),
}
"""The operations that each exit leaves or continues: the innermost around it."""


def target_of(exit: Op) -> Op | None:
    """The operation that an exit leaves, or continues; None if there is none around it."""
    around, wanted = exit.parent_op, TARGETS[type(exit)]
    while around is not None and not isinstance(around, wanted):
        around = around.parent_op
    return around


def exits_from(block: Block) -> Iterator[Op]:
    """The exits in `block`, and in the regions of each `if` there, from the loop or function whose body it is."""
    for op in block.ops:
        if isinstance(op, Break | Continue | Return):
            yield op
        elif isinstance(op, If):
            for region in filter(None, op.regions):
                yield from exits_from(region)
