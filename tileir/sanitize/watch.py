"""The observer of the sanitizer: accesses are watched in one place, tokens carry clocks, and marks spread."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import cast

import numpy as np

from tileir.analysis.effects import MemoryAccess
from tileir.interp.api import BlockState, Fault, StrictCheck
from tileir.interp.prepare import ControlRule, Observer, Preparation, RegionRule
from tileir.interp.program import Control, Exit, Frame, Step
from tileir.ir.core import Op
from tileir.ir.effects import AccessTrait
from tileir.ir.storage import dtype_of
from tileir.ir.types import TileType, TokenType
from tileir.ops.control import Assert, For, If
from tileir.ops.misc import Assume, PrintTko
from tileir.ops.reduction import Reduce, Scan
from tileir.ops.views import MakeTensorView
from tileir.sanitize.access import WatchedAccess
from tileir.sanitize.clocks import Past, Site, union
from tileir.sanitize.session import Session
from tileir.sanitize.taint import Marked, flattened, is_marked, plain, reduced, spread

Function = Callable[..., object]
Flow = Generator[None, None, Exit | None]


class SanitizerObserver(Observer):
    """Watches a launch for a session: accesses to memory, tokens, and marks that spread through everything else."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def pure(self, op: Op, function: Function) -> Function:
        return _joined_tokens if _gives_token(op) else _spreading(op, function, self._session)

    def effect(self, op: Op, function: Function) -> Function:
        session = self._session
        if op.spec.trait(AccessTrait) is not None:
            return WatchedAccess(session, Site(op, MemoryAccess.of(op)), function)
        if isinstance(op, PrintTko):
            return _printing(function)

        def run(block: BlockState, *values: object) -> object:
            if isinstance(op, Assert | MakeTensorView) and is_marked(values):
                _arrive(op, session, values)
                values = cast(tuple[object, ...], plain(values))
            return _spreading(op, partial(function, block), session)(*values)

        return run

    def strict(self, op: Op, check: StrictCheck) -> StrictCheck:
        session = self._session

        def run(*values: object) -> None:
            try:
                warning = check(*cast(tuple[object, ...], plain(values)))
            except Fault as fault:
                if not session.running:
                    raise
                session.fault(op, fault)
                return
            if warning is not None:
                if not session.running:
                    raise Fault(warning)
                session.unspecified(op, warning)

        return run

    def control(self, op: Op, preparation: Preparation, rule: ControlRule) -> Control:
        session = self._session
        deciding = {If: ["condition"], For: ["lower", "upper", "step"]}.get(type(op), [])
        slots = [preparation.slot(getattr(op, name)) for name in deciding]
        control = rule(op, preparation)

        def run(frame: Frame, block: BlockState) -> Flow:
            for slot in slots:
                value = frame[slot]
                if isinstance(value, Marked):
                    session.decided(value, op, "branch")
                    frame[slot] = value.value
            return control(frame, block)

        return run

    def region(self, op: Op, preparation: Preparation, rule: RegionRule) -> Step:
        return _reduced(op, preparation, rule) if isinstance(op, Reduce | Scan) else rule(op, preparation)


def _reduced(op: Reduce | Scan, preparation: Preparation, rule: RegionRule) -> Step:
    """Return the step of a reduction or scan, through which marks spread."""
    sources = [preparation.slot(value) for value in op.sources]
    step = rule(op, preparation)
    results = [slot for slot in map(preparation.slots.of, op.results) if slot is not None]

    def run(frame: Frame, block: BlockState) -> None:
        values = [frame[slot] for slot in sources]
        if not is_marked(values):
            step(frame, block)
            return

        def again(tiles: list[object]) -> list[object]:
            for slot, tile in zip(sources, tiles):
                frame[slot] = tile
            step(frame, block)
            return [frame[slot] for slot in results]

        found = reduced(op, again, values, again([plain(value) for value in values]))
        for slots, contents in ((sources, values), (results, found)):
            for slot, content in zip(slots, contents):
                frame[slot] = content

    return run


def _spreading(op: Op, function: Function, session: Session) -> Function:
    """Return the function, whose marks spread; a fault is reported and leaves zeros."""

    def run(*values: object) -> object:
        try:
            if not is_marked(values):
                return function(*values)
            return spread(op, function, values, function(*cast(tuple[object, ...], plain(values))))
        except Fault as fault:
            if not session.running:
                raise
            return _survived(op, fault, values, session)

    return run


def _survived(op: Op, fault: Fault, values: tuple[object, ...], session: Session) -> object:
    """Return the results of an operation that faults, where it has any that are numbers."""
    if not all(isinstance(result.type, TileType) for result in op.results):
        raise fault
    session.fault(op, fault)
    if isinstance(op, Assume):
        return values[0]
    zeros = tuple(np.zeros(result.tile.shape, dtype_of(result.tile.element))[()] for result in op.results)
    return zeros[0] if len(zeros) == 1 else zeros or None


def _arrive(op: Op, session: Session, values: tuple[object, ...]) -> None:
    role = "assert" if isinstance(op, Assert) else "address"
    for value in flattened(values):
        if isinstance(value, Marked):
            session.decided(value, op, role)


# ------------------------------------------------------------ tokens


def _gives_token(op: Op) -> bool:
    return any(isinstance(result.type, TokenType) for result in op.results)


def _joined_tokens(*tokens: object) -> Past:
    """Return the past of a token, which is that of all tokens it is made of."""
    return union([token for token in flattened(tokens) if token is None or isinstance(token, Past)])


def _printing(function: Function) -> Function:
    def run(block: BlockState, tiles: tuple[object, ...], token: Past | None) -> Past:
        function(block, plain(tiles), None)
        return union((token,))

    return run
