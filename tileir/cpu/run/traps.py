"""Traps of native code in words.

Knows: what evidence each kind of trap site has left in the arena, and how it becomes the text of a `Trap`.
Does not know: arrays; what an access missed is told by the launch (`LaunchArguments.fault`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tileir.cpu.emit.emitter import WORDS, TrapKind, TrapSite
from tileir.cpu.lowering.safepoints import HANGS
from tileir.cpu.run.arena import Arena
from tileir.host.access_faults import AccessFault
from tileir.host.assertions import assertion_text
from tileir.host.limits import hang_text, weak_waiting
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates, Note, Trap
from tileir.ir.loc import Source
from tileir.ir.storage import dtype_of
from tileir.ops.control import Assert


@dataclass(frozen=True)
class FaultyAccess:
    """An access that was stopped: of the element `lane` of the tile, at `address`.

    `meant` is where the allocation begins and ends that the pointer was computed from, if it was one.
    """

    op: Op
    block: Coordinates
    lane: int
    address: int
    meant: tuple[int, int] | None


AccessExplanation = Callable[[FaultyAccess], AccessFault]
"""From an access to what is wrong with it."""


@dataclass(frozen=True)
class TrapReport:
    """A trap: the number of the tile block, the site, and the evidence."""

    block: int
    site: TrapSite
    evidence: np.ndarray | None


def report_of(site: TrapSite, arena: Arena) -> TrapReport:
    """The report that a block which trapped at `site` has left in the arena of its thread."""
    type = _evidence_type(site)
    if type is None:
        return TrapReport(arena.block, site, None)
    dtype = dtype_of(type.element)
    content = arena.content(site.place, dtype.itemsize * type.count)
    return TrapReport(arena.block, site, np.frombuffer(content, dtype).reshape(type.shape))


def _evidence_type(site: TrapSite) -> t.TileType | None:
    if site.kind is TrapKind.ASSERTION:
        return site.op.operands[0].tile
    return None if site.kind is TrapKind.PLAIN else WORDS


def trap_of(
    report: TrapReport,
    block: Coordinates,
    kernel: str,
    source: Source | None,
    access_fault: AccessExplanation,
    limit: int,
) -> Trap:
    """The trap of a report, as the user sees it; `limit` is how many iterations a tile block may run."""
    site = report.site
    array: str | None = None
    index: int | tuple[int, ...] | None = None
    notes: tuple[Note, ...] = ()
    if site.message == HANGS:
        message, notes = hang_text(limit), weak_waiting(site.op)
    elif isinstance(site.op, Assert):
        message, index = _assertion(site.op, block, report.evidence)
    elif site.kind is TrapKind.ACCESS:
        message, array, index = access_fault(_access(site.op, block, _words(report)))
    elif site.kind is TrapKind.LANE:
        value = site.op.operands[0].type
        index = _index(_words(report)[0], value.shape) if isinstance(value, t.TileType) else ()
        message = site.message.format(list(index))
    else:
        message = _filled(site, report)
    op, loc = site.op.spec.name, site.op.loc
    return Trap(
        message, kernel=kernel, block=block, op=op, loc=loc, array=array, index=index, source=source, notes=notes
    )


def _words(report: TrapReport) -> list[int]:
    """The words of the evidence, read as unsigned."""
    assert report.evidence is not None
    return [int(word) & (1 << 64) - 1 for word in report.evidence]


def _assertion(op: Assert, block: Coordinates, evidence: np.ndarray | None) -> tuple[str, tuple[int, ...]]:
    shape = op.condition.type.shape
    condition = np.zeros(shape, np.bool_) if evidence is None else evidence
    return assertion_text(op, block, condition), _index(int(np.argmin(condition)), shape)


def _index(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index of the element at a position in row-major order."""
    return tuple(int(at) for at in np.unravel_index(position, shape))


def _access(op: Op, block: Coordinates, words: list[int]) -> FaultyAccess:
    lane, address, begin, end = words
    return FaultyAccess(op, block, lane, address, (begin, end) if end else None)


def _filled(site: TrapSite, report: TrapReport) -> str:
    """The message of a site with the numbers of the evidence in it."""
    if site.kind is TrapKind.PLAIN:
        return site.message
    first, second, *_ = _words(report)
    if site.kind is TrapKind.OFFSET:
        return site.message.format(first | second << 64)
    if site.kind is TrapKind.REACH:
        view = site.op.operand_group(site.op.spec.operand_index["view"].position)[0].type
        assert isinstance(view, t.TileViewType)
        return site.message.format(first, hex(second + first * view.element.memory_bits // 8))
    return site.message.format(first)
