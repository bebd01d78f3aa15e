"""Programs for what is known of a launch: the passes ``specialise`` and ``inline``.

specialise    scalar parameters whose argument is known become constants
inline        calls become what the function does
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tileir.analysis.placement import CallPlacement, CodeSizes
from tileir.analysis.structure import Uses
from tileir.ir.core import Block, Module, Op
from tileir.ir.types import ElementType, TileType
from tileir.ops.calls import Call, Func
from tileir.ops.control import Return
from tileir.ops.core import Constant
from tileir.ops.module import Entry
from tileir.ops.pointers import Alloca
from tileir.passes.facts import dense, splat
from tileir.passes.rebuilding import ChangeLog, Exactness, Rebuilding, Row

# ---------------------------------------------------------------- known arguments


KNOWN = Row(
    "known-argument", "specialise", "parameter n", "constant N", Exactness.PROMISED,
    "the program is made for launches with that argument alone; the parameter stays",
    "--arg n=N is given",
)  # fmt: skip
ROWS = (KNOWN,)


def parameter_name(block: Block, at: int) -> str:
    """Return the name by which an entry's parameter is known, ``argN`` where it has none."""
    return block.arg_names[at].removeprefix("%") if block.arg_names else f"arg{at}"


class Specialising(Rebuilding):
    """The walk that uses arguments, each known by its parameter's name."""

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
            name = parameter_name(block, at)
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
        made = Constant.build([type], entry.loc, value=_dense(type, name, self.arguments[name]))
        self.bind([parameter], self.emit(made))
        self.log.note(KNOWN, made, made.results)


def _dense(type: TileType, name: str, number: int | float) -> object:
    """Return the constant. Raises ValueError for a number that does not fit."""
    element = type.number
    if element.is_float:
        return dense(type, np.array(number, np.float64))
    low, high = (-(1 << (element.bits - 1)), (1 << element.bits) - 1)
    if not isinstance(number, int) or not low <= number <= high:
        raise ValueError(f"arguments: {name} is a {type!r}: expected an integer that fits, got {number!r}")
    return splat(type, number)


# ---------------------------------------------------------------- calls


INLINED = Row(
    "inlined-call", "inline", "experimental$call @f(x, ...)", "the body of @f on x, ...", Exactness.EXACT,
    "a call runs the body; places in it become call sites", "@f returns at its end only, allocates nothing, and "
    "is small, or all code of the kernel or function is together",
)  # fmt: skip
UNCALLED = Row(
    "uncalled-function", "inline", "experimental$func @f that nobody calls", "nothing", Exactness.EXACT,
    "functions are called, never launched", "a call of @f was inlined",
)  # fmt: skip
INLINE_ROWS = (INLINED, UNCALLED)


class Inlining(Rebuilding):
    """The walk that inlines calls."""

    def module(self, module: Module) -> Module:
        self.sizes = CodeSizes()
        self.whole: dict[Func, bool] = {}
        self.kept = self._called_after(module)
        return super().module(module)

    def _called_after(self, module: Module) -> set[Entry | Func]:
        """Return the entries and the functions that are kept: those still called, or never called before."""
        called = {self.sizes.callee(op) for op in module.walk() if isinstance(op, Call)}
        waiting: list[Entry | Func] = [
            item for item in module.items if isinstance(item, Entry | Func) and item not in called
        ]
        kept = set(waiting)
        while waiting:
            root = waiting.pop()
            self.placement = CallPlacement(root.body, self.sizes)
            together, parts = [root], {root}
            while together:
                for op in (op for op in together.pop().walk() if isinstance(op, Call)):
                    function = self.sizes.callee(op)
                    known, further = (parts, together) if self._can_inline(op) else (kept, waiting)
                    if function not in known:
                        known.add(function)
                        further.append(function)
        return kept

    def visit(self, op: Op) -> None:
        if isinstance(op, Func) and op not in self.kept:
            self.log.note(UNCALLED, op)
            return
        if isinstance(op, Entry | Func):
            self.placement = CallPlacement(op.body, self.sizes)
        if isinstance(op, Call) and self._can_inline(op):
            self._inline(op)
        else:
            super().visit(op)

    def _can_inline(self, op: Call) -> bool:
        function = self.sizes.callee(op)
        return not op.discardable and self._is_whole(function) and self.placement.is_part(function)

    def _is_whole(self, function: Func) -> bool:
        """Return whether a function returns only at its end and allocates nothing."""
        if function not in self.whole:
            inner = (one for root in function.body.ops[:-1] for one in root.walk())
            inside = any(isinstance(one, Return | Alloca) for one in inner)
            self.whole[function] = isinstance(function.body.terminator, Return) and not inside
        return self.whole[function]

    def _inline(self, op: Call) -> None:
        arguments = self.given(op.args)
        self.log.note(INLINED, op)
        self.callers = (*self.callers, op.loc)
        self.bind(op.results, self.inline(self.sizes.callee(op).body, arguments))
        self.callers = self.callers[:-1]
