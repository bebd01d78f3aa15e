"""Writes to the mailbox: what a kernel prints, and the fault that ends it (`tileir.gpu.mailbox` reads it)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tileir.gpu import mailbox
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, I64, TtirValue
from tileir.gpu.ttir.lowering import Mailbox, TtirLowering
from tileir.ir import core

ADD = 4
"""The code of an addition in ``tt.atomic_rmw``."""
RELAXED = 1
DEVICE = 1

CACHE = {"cache": 1, "evict": 1}
"""Loads and stores without wishes for the caches."""


@contextmanager
def where(build: Builder, condition: TtirValue) -> Iterator[None]:
    """Run the instructions made meanwhile if the scalar `condition` holds."""
    with build.region() as then:
        yield
        build.effect("scf.yield")
    with build.region() as otherwise:
        build.effect("scf.yield")
    build.insert("scf.if", [condition], regions=[then, otherwise])


def post_failure(lowering: TtirLowering, site: int, condition: TtirValue) -> None:
    """Report that an assertion has failed, unless another block or operation has been first."""
    build = lowering.build
    none, mine = build.integer(I32, 0), build.integer(I32, site)
    status = _at(build, _mailbox(lowering), mailbox.FAILED_SITE, "i32")
    found = build.op("tt.atomic_cas", status, none, mine, type=I32, sem=RELAXED, scope=DEVICE)
    with where(build, build.compare("eq", found, none)):
        _store_block(build, _mailbox(lowering), mailbox.FAILED_BLOCK)
        _store_tile(build, _mailbox(lowering), mailbox.CONDITION, condition)


def post_record(lowering: TtirLowering, site: int, tiles: Sequence[core.Value]) -> None:
    """Leave the tiles in a record, if there is room for it."""
    build = lowering.build
    places, size = mailbox.record_places([tile.tile for tile in tiles])
    claimed = _added(lowering, mailbox.CLAIMED, size)
    end = build.op("arith.addi", claimed, build.integer(I64, size))
    fits = build.compare("sle", end, _loaded(lowering, mailbox.CAPACITY))
    with where(build, fits):
        records = _moved(build, _mailbox(lowering), _loaded(lowering, mailbox.BEGIN))
        record = _moved(build, records, claimed)
        build.effect("tt.store", _at(build, record, mailbox.RECORD_SITE, "i32"), build.integer(I32, site), **CACHE)
        _store_block(build, record, mailbox.RECORD_BLOCK)
        for place, tile in zip(places, tiles):
            _store_tile(build, record, place, lowering.value(tile))
    with where(build, build.inverted(fits)):
        _added(lowering, mailbox.LOST, 1)


# ---------------------------------------------------------------- addresses, loads and stores


def _mailbox(lowering: TtirLowering) -> TtirValue:
    return lowering.parameter(Mailbox())


def _moved(build: Builder, address: TtirValue, distance: TtirValue) -> TtirValue:
    return build.op("tt.addptr", address, distance)


def _at(build: Builder, address: TtirValue, place: int, element: str) -> TtirValue:
    """Return the address `place` bytes behind `address`, of an `element`."""
    moved = _moved(build, address, build.integer(I64, place)) if place else address
    return build.bitcast(moved, f"!tt.ptr<{element}>")


def _loaded(lowering: TtirLowering, place: int) -> TtirValue:
    address = _at(lowering.build, _mailbox(lowering), place, "i64")
    return lowering.build.op("tt.load", address, type=I64, operandSegmentSizes=(1, 0, 0), isVolatile=False, **CACHE)


def _added(lowering: TtirLowering, place: int, amount: int) -> TtirValue:
    """Add to a word of the mailbox; gives what was there before."""
    build = lowering.build
    address = _at(build, _mailbox(lowering), place, "i64")
    return build.op(
        "tt.atomic_rmw",
        address,
        build.integer(I64, amount),
        build.truth(True),
        type=I64,
        atomic_rmw_op=ADD,
        sem=RELAXED,
        scope=DEVICE,
    )


def _store_block(build: Builder, address: TtirValue, place: int) -> None:
    for axis in range(3):
        number = build.op("tt.get_program_id", type=I32, axis=axis)
        build.effect("tt.store", _at(build, address, place + 4 * axis, "i32"), number, **CACHE)


def _store_tile(build: Builder, address: TtirValue, place: int, tile: TtirValue) -> None:
    """Store the elements in row-major order, `place` bytes behind `address`."""
    bits = _bits(build, tile)
    target = _at(build, address, place, bits.type.element)
    if bits.type.is_tensor:
        target = build.op("tt.addptr", build.splat(target, *bits.type.shape), build.numbers(*bits.type.shape))
    build.effect("tt.store", target, bits, **CACHE)


def _bits(build: Builder, tile: TtirValue) -> TtirValue:
    """Return the elements as integers of whole bytes."""
    if tile.type.is_pointer:
        return build.cast("tt.ptr_to_int", tile, "i64")
    if tile.type.is_float:
        return build.bitcast(tile, f"i{tile.type.bits}")
    return build.resized(tile, "i8", signed=False) if tile.type.bits < 8 else tile
