"""Writes to the mailbox: what a kernel prints, and the fault that ends it (`tileir.gpu.mailbox` reads it)."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.gpu import mailbox
from tileir.gpu.executable import Mailbox
from tileir.gpu.ttir.ir.builder import RELAXED, Builder
from tileir.gpu.ttir.ir.code import I32, I64, TtirValue
from tileir.gpu.ttir.lib.words import bits_of
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ir import core
from tileir.ir.attributes import AtomicMode


def post_failure(lowering: TtirLowering, site: int, condition: TtirValue) -> None:
    """Report that an assertion has failed, unless another block or operation has been first."""
    build = lowering.build
    none, mine = build.integer(I32, 0), build.integer(I32, site)
    status = _at(build, _mailbox(lowering), mailbox.FAILED_SITE, "i32")
    found = build.insert("tt.atomic_cas", [status, none, mine], [I32], RELAXED.attributes())[0]
    with build.where(build.compare("eq", found, none)):
        _store_block(build, _mailbox(lowering), mailbox.FAILED_BLOCK)
        _store_tile(build, _mailbox(lowering), mailbox.CONDITION, condition)


def post_record(lowering: TtirLowering, site: int, tiles: Sequence[core.Value]) -> None:
    """Leave the tiles in a record, if there is room for it."""
    build = lowering.build
    places, size = mailbox.record_places([tile.tile for tile in tiles])
    claimed = _added(lowering, mailbox.CLAIMED, size)
    end = build.op("arith.addi", claimed, build.integer(I64, size))
    fits = build.compare("sle", end, _loaded(lowering, mailbox.CAPACITY))
    with build.where(fits):
        record = _mailbox(lowering)
        for distance in (_loaded(lowering, mailbox.BEGIN), claimed):
            record = build.op("tt.addptr", record, distance)
        build.store(_at(build, record, mailbox.RECORD_SITE, "i32"), build.integer(I32, site))
        _store_block(build, record, mailbox.RECORD_BLOCK)
        for place, tile in zip(places, tiles):
            _store_tile(build, record, place, lowering.value(tile))
    with build.where(build.inverted(fits)):
        _added(lowering, mailbox.LOST, 1)


# ---------------------------------------------------------------- addresses, loads and stores


def _mailbox(lowering: TtirLowering) -> TtirValue:
    return lowering.parameter(Mailbox())


def _at(build: Builder, address: TtirValue, place: int, element: str) -> TtirValue:
    """Return the address `place` bytes behind `address`, of an `element`."""
    moved = build.op("tt.addptr", address, build.integer(I64, place)) if place else address
    return build.bitcast(moved, f"!tt.ptr<{element}>")


def _loaded(lowering: TtirLowering, place: int) -> TtirValue:
    return lowering.build.load(_at(lowering.build, _mailbox(lowering), place, "i64"))


def _added(lowering: TtirLowering, place: int, amount: int) -> TtirValue:
    """Add to a word of the mailbox; gives what was there before."""
    build = lowering.build
    address = _at(build, _mailbox(lowering), place, "i64")
    return build.atomic(AtomicMode.ADD, address, build.integer(I64, amount), None, RELAXED)


def _store_block(build: Builder, address: TtirValue, place: int) -> None:
    for axis in range(3):
        number = build.op("tt.get_program_id", type=I32, axis=axis)
        build.store(_at(build, address, place + 4 * axis, "i32"), number)


def _store_tile(build: Builder, address: TtirValue, place: int, tile: TtirValue) -> None:
    """Store the elements in row-major order, `place` bytes behind `address`."""
    bits = bits_of(build, tile)
    if bits.type.bits < 8:
        bits = build.resized(bits, "i8", signed=False)
    target = _at(build, address, place, bits.type.element)
    if bits.type.is_tensor:
        target = build.op("tt.addptr", build.splat(target, *bits.type.shape), build.numbers(*bits.type.shape))
    build.store(target, bits)
