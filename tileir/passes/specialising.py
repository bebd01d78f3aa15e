"""The pass ``specialise``: scalar parameters whose argument is known become constants.

Knows: how numbers become constants. Does not know: who knows the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tileir.analysis.structure import Uses
from tileir.ir.core import Block, Module
from tileir.ir.types import ElementType, TileType
from tileir.ops.core import Constant
from tileir.ops.module import Entry
from tileir.passes.facts import dense, splat
from tileir.passes.rebuilding import Rebuilding
from tileir.passes.row import ChangeLog, Exactness, Row

KNOWN = Row(
    "known-argument", "specialise", "parameter n", "constant N", Exactness.PROMISED,
    "the program is made for launches with that argument alone; the parameter stays",
    "--arg n=N is given",
)  # fmt: skip
ROWS = (KNOWN,)


class Specialising(Rebuilding):
    """The walk that uses arguments; a parameter is known by its name, or as ``argN`` without one."""

    def __init__(self, log: ChangeLog, arguments: Mapping[str, int | float]) -> None:
        super().__init__(log)
        self.arguments = arguments

    def module(self, module: Module) -> Module:
        self.uses = Uses([module.op])
        self.used: set[str] = set()
        made = super().module(module)
        unknown = sorted(self.arguments.keys() - self.used)
        if unknown:
            raise ValueError(f"arguments: no entry has a scalar parameter {', '.join(unknown)}")
        return made

    def region(self, block: Block) -> Block:
        if not isinstance(block.parent, Entry):
            return super().region(block)
        made = self.empty_like(block)
        self.bind(block.args, made.args)
        around, self.block = self.block, made
        for at, parameter in enumerate(block.args):
            name = block.arg_names[at].removeprefix("%") if block.arg_names else f"arg{at}"
            if name in self.arguments and isinstance(parameter.type, TileType):
                self._give(block.parent, at, name)
        self.block = around
        self.into(made, block.ops)
        return made

    def _give(self, entry: Entry, at: int, name: str) -> None:
        parameter = entry.body.args[at]
        type = parameter.tile
        if not isinstance(type.element, ElementType):
            return
        self.used.add(name)
        if not self.uses.of(parameter):
            return
        made = Constant.build([type], entry.loc, value=_content(type, name, self.arguments[name]))
        self.bind([parameter], self.emit(made))
        self.log.note(KNOWN, made, made.results)


def _content(type: TileType, name: str, number: int | float) -> object:
    """The constant. Raises ValueError for a number that does not fit."""
    element = type.number
    if element.is_float:
        return dense(type, np.array(number, np.float64))
    low, high = (-(1 << (element.bits - 1)), (1 << element.bits) - 1)
    if not isinstance(number, int) or not low <= number <= high:
        raise ValueError(f"arguments: {name} is a {type!r}: expected an integer that fits, got {number!r}")
    return splat(type, number)
