"""Calls of device functions, and of code that is linked in (spec: calls#top)."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from tileir.host import standins
from tileir.interp.api import BlockState, EffectRule
from tileir.interp.faults import Fault
from tileir.interp.prepare import ControlRule, Preparation
from tileir.interp.program import Control, Exit, Frame, store
from tileir.ir.core import Value
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.rules import Rules
from tileir.ir.shown import shown
from tileir.ir.types import TileType, TokenType
from tileir.ops.calls import Call, PreviewCall

controls: Rules[ControlRule] = Rules()
effects: Rules[EffectRule] = Rules()

TARGET = "interp"

Steps = Generator[None, None, Exit | None]


@controls(Call)
def _call(op: Call, preparation: Preparation) -> Control:
    arguments = preparation.fetch(op.args)
    function = preparation.linker.callee(op.callee, op)
    results = preparation.results(op)

    def run(frame: Frame, block: BlockState) -> Steps:
        left = yield from function.body.run(function.frame(arguments(frame)), block)
        store(frame, results, left.values)
        return None

    return run


@effects(PreviewCall)
def _preview_call(op: PreviewCall) -> Callable[[BlockState, tuple[object, ...]], object]:
    """The stand-in of the host; tokens pass it by."""
    function = _stand_in(op)
    constants = tuple(map(standins.constant_of, op.const_args))
    tiles = [position for position, value in enumerate(op.args) if isinstance(value.type, TileType)]
    types = [value.type for value in op.outputs if isinstance(value.type, TileType)]

    def run(block: BlockState, values: tuple[object, ...]) -> object:
        block.changes()
        given = function(*constants, *[_read_only(values[position]) for position in tiles])
        try:
            made = iter(standins.tiles_of(given, types))
        except ValueError as error:
            raise Fault(f"the stand-in for '{shown(op.callee)}': {error}") from None
        results = tuple(None if isinstance(value.type, TokenType) else next(made) for value in op.outputs)
        return results[0] if len(results) == 1 else results

    return run


def _stand_in(op: PreviewCall) -> standins.StandIn:
    found = standins.stand_in(op.callee)
    if found is None:
        what = f"'{op.spec.name}' calls '{shown(op.callee)}', code of a GPU that is linked in"
        raise UnsupportedError(f"{what}; tileir.register_stand_in gives it a Python function", TARGET, op.loc)
    foreign = next((value for value in [*op.args, *op.outputs] if not _passes(value)), None)
    if foreign is not None:
        what = f"'{op.spec.name}': a stand-in takes and gives tiles and tokens, got {foreign.type!r}"
        raise UnsupportedError(what, TARGET, op.loc)
    return found


def _passes(value: Value) -> bool:
    return isinstance(value.type, TileType | TokenType)


def _read_only(value: object) -> np.ndarray:
    view = np.asarray(value).view()
    view.flags.writeable = False
    return view
