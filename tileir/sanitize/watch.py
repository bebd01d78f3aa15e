"""The interpreter's rules with the sanitizer around them.

Knows: that every operation declared to access memory is watched in one place, that tokens carry clocks, and that
marks spread through everything else.
Does not know: what is wrong with an access (`races`), how marks spread (`taint`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import cast

import numpy as np

from tileir.analysis.effects import checked_access
from tileir.interp.api import BlockState, EffectRule, Fault, PureRule, StrictCheck, StrictRule
from tileir.interp.prepare import ControlRule, Preparation, RegionRule, RuleTables
from tileir.interp.program import Control, Exit, Frame, Step
from tileir.ir.core import Op
from tileir.ir.effects import AccessTrait
from tileir.ir.rules import Rules
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


def watched_tables(tables: RuleTables, session: Session) -> RuleTables:
    """The rules of all chapters, watched by a session."""
    return RuleTables(
        pure=_each(tables.pure, lambda rule: _pure(rule, session)),
        effects=_each(tables.effects, lambda rule: _effect(rule, session)),
        regions=_each(tables.regions, lambda rule: _region(rule, session)),
        controls=_each(tables.controls, lambda rule: _control(rule, session)),
        strict=_each(tables.strict, lambda rule: _strict(rule, session)),
    )


def _each(rules: Rules, change: Callable) -> Rules:
    changed: Rules = Rules()
    for op, rule in rules.items():
        changed(op)(change(rule))
    return changed


# ------------------------------------------------------------ pure operations and effects


def _pure(rule: PureRule, session: Session) -> PureRule:
    def make(op: Op) -> Function:
        function = rule(op)
        if _gives_token(op):
            return _joined_tokens
        return _spreading(op, function, session)

    return make


def _effect(rule: EffectRule, session: Session) -> EffectRule:
    def make(op: Op) -> Function:
        function = rule(op)
        if op.spec.trait(AccessTrait) is not None:
            return WatchedAccess(session, Site(op, checked_access(op)), function)
        if isinstance(op, PrintTko):
            return _printing(function)

        def run(block: BlockState, *values: object) -> object:
            if isinstance(op, Assert | MakeTensorView) and is_marked(values):
                _arrive(op, session, values)
                values = cast(tuple[object, ...], plain(values))
            return _spreading(op, partial(function, block), session)(*values)

        return run

    return make


def _spreading(op: Op, function: Function, session: Session) -> Function:
    """The function, whose marks spread; a fault is reported and leaves zeros."""

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
    """The results of an operation that faults, where it has any that are numbers."""
    if not all(isinstance(result.type, TileType) for result in op.results):
        raise fault
    session.fault(op, fault)
    if isinstance(op, Assume):
        return values[0]
    zeros = tuple(np.zeros(result.tile.shape, dtype_of(result.tile.element))[()] for result in op.results)
    return zeros[0] if len(zeros) == 1 else zeros or None


def _strict(rule: StrictRule, session: Session) -> StrictRule:
    def make(op: Op) -> StrictCheck | None:
        check = rule(op)
        if check is None:
            return None

        def run(*values: object) -> None:
            try:
                check(*cast(tuple[object, ...], plain(values)))
            except Fault as fault:
                if not session.running:
                    raise
                session.fault(op, fault)

        return run

    return make


def _arrive(op: Op, session: Session, values: tuple[object, ...]) -> None:
    role = "assert" if isinstance(op, Assert) else "address"
    for value in flattened(values):
        if isinstance(value, Marked):
            session.decided(value, op, role)


# ------------------------------------------------------------ tokens


def _gives_token(op: Op) -> bool:
    return any(isinstance(result.type, TokenType) for result in op.results)


def _joined_tokens(*tokens: object) -> Past:
    """A token carries the past of all tokens that it is made of."""
    return union([token for token in flattened(tokens) if token is None or isinstance(token, Past)])


def _printing(function: Function) -> Function:
    def run(block: BlockState, tiles: tuple[object, ...], token: Past | None) -> Past:
        function(block, plain(tiles), None)
        return union((token,))

    return run


# ------------------------------------------------------------ regions and control


def _control(rule: ControlRule, session: Session) -> ControlRule:
    def make(op: Op, preparation: Preparation) -> Control:
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

    return make


def _region(rule: RegionRule, session: Session) -> RegionRule:
    def make(op: Op, preparation: Preparation) -> Step:
        if not isinstance(op, Reduce | Scan):
            return rule(op, preparation)
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

    return make
