"""Traps of native code in words.

Evidence that a trap site has left in the arena becomes the text of a `Trap`; the launch tells which array an access
missed (`LaunchArguments.fault`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tileir.cpu.emit.record import EVIDENCE, EVIDENCE_PLACE, HANGS, MOST_WORDS, WORDS, TrapKind, TrapSite
from tileir.cpu.run.arena import Arena
from tileir.host import undefined
from tileir.host.address_space import AccessFault
from tileir.host.limits import hang_text, weak_waiting
from tileir.host.undefined import assertion_text
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates, Trap
from tileir.ir.loc import Source
from tileir.ir.storage import dtype_of
from tileir.ops.control import Assert, For
from tileir.ops.views import MakeTensorView


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


class LaunchMemory(Protocol):
    """The memory of a launch, which says in words what is wrong with a use of it."""

    def access_fault(self, access: FaultyAccess) -> AccessFault: ...

    def overclaim(self, op: MakeTensorView, address: int, size: int, begin: int, end: int) -> AccessFault | None:
        """Return the fault of a view of `size` bytes from `address`, in memory of that range; None if it fits."""


@dataclass(frozen=True)
class TrapReport:
    """A trap: the number of the tile block, the site, and the evidence."""

    block: int
    site: TrapSite
    evidence: np.ndarray | None


def report_of(site: TrapSite, arena: Arena) -> TrapReport:
    """Return the report that a block which trapped at `site` has left in the arena of its thread."""
    type = _evidence_type(site)
    if type is None:
        return TrapReport(arena.block, site, None)
    dtype = dtype_of(type.element)
    content = arena.content(_place(type, site.kind, arena), dtype.itemsize * type.count)
    return TrapReport(arena.block, site, np.frombuffer(content, dtype).reshape(type.shape))


def _place(type: t.TileType, kind: TrapKind, arena: Arena) -> int:
    """Return the place of evidence in the arena."""
    if kind is TrapKind.ASSERTION or type.count > MOST_WORDS:
        return int.from_bytes(arena.content(EVIDENCE_PLACE, 8), "little")
    return EVIDENCE


def _evidence_type(site: TrapSite) -> t.TileType | None:
    if site.kind is TrapKind.ASSERTION:
        return site.op.operands[0].tile
    if site.kind is TrapKind.SUBTILE:
        return t.tile(t.I64, len(site.op.operand_group(site.op.spec.operand_index["indices"].position)))
    return None if site.kind is TrapKind.PLAIN else WORDS


def trap_of(
    report: TrapReport,
    block: Coordinates,
    kernel: str,
    source: Source | None,
    memory: LaunchMemory,
    limit: int,
) -> Trap:
    """Return the trap of a report, as the user sees it; `limit` is how many iterations a tile block may run."""
    op, hangs = report.site.op, report.site.message == HANGS
    told = _Told(hang_text(limit)) if hangs else _told(report, block, memory)
    return Trap(
        told.message,
        kernel=kernel,
        block=block,
        op=op.spec.name,
        loc=op.loc,
        array=told.array,
        index=told.index if undefined.names_element(op) else None,
        source=source,
        notes=weak_waiting(op) if hangs else (),
    )


@dataclass(frozen=True)
class _Told:
    """The report of a trap: its text, the array concerned, the element or the byte."""

    message: str
    array: str | None = None
    index: int | tuple[int, ...] | None = None


def _told(report: TrapReport, block: Coordinates, memory: LaunchMemory) -> _Told:
    site, op = report.site, report.site.op
    if isinstance(op, Assert):
        message, index = _assertion(op, block, report.evidence)
        return _Told(message, None, index)
    if site.kind is TrapKind.PLAIN:
        return _Told(site.message)
    words = _words(report)
    if site.kind is TrapKind.ACCESS:
        return _Told(*memory.access_fault(_access(op, block, words)))
    if site.kind is TrapKind.LANE:
        value = op.operands[0].type
        index = _index(words[0], value.shape) if isinstance(value, t.TileType) else ()
        return _Told(site.message.format(list(index)), None, index)
    if site.kind is TrapKind.SUBTILE:
        return _Told(site.message.format(*words), None, tuple(words))
    return _Told(_filled(site, words))


def _words(report: TrapReport) -> list[int]:
    """Return the words of the evidence, read as unsigned."""
    assert report.evidence is not None
    return [int(word) & (1 << 64) - 1 for word in report.evidence]


def _signed(word: int) -> int:
    return word - (word >> 63 << 64)


def _assertion(op: Assert, block: Coordinates, evidence: np.ndarray | None) -> tuple[str, tuple[int, ...]]:
    shape = op.condition.type.shape
    condition = np.zeros(shape, np.bool_) if evidence is None else evidence
    return assertion_text(op, block, condition), _index(int(np.argmin(condition)), shape)


def _index(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of the element at a position in row-major order."""
    return tuple(int(at) for at in np.unravel_index(position, shape))


def _access(op: Op, block: Coordinates, words: list[int]) -> FaultyAccess:
    lane, address, begin, end = words
    return FaultyAccess(op, block, lane, address, (begin, end) if end else None)


def _filled(site: TrapSite, words: list[int]) -> str:
    """Return the message of a site with the numbers of the evidence in it."""
    first, second, *_ = words
    if site.kind is TrapKind.COUNTER:
        counts_unsigned = isinstance(site.op, For) and site.op.unsigned
        return site.message.format(first if counts_unsigned else _signed(first), _signed(second))
    if site.kind is TrapKind.OFFSET:
        return site.message.format(first | second << 64)
    if site.kind is TrapKind.REACH:
        view = site.op.operand_group(site.op.spec.operand_index["view"].position)[0].type
        assert isinstance(view, t.TileViewType)
        return site.message.format(first, hex(second + first * view.element.memory_bits // 8))
    return site.message.format(first)
