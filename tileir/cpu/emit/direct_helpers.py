"""Helpers of direct launches: threads that wait in machine code for the record of a launch, and never for Python.

A helper is a seat (`cpu.emit.direct_record`) and a thread that runs `SERVE` on it. It sleeps on a semaphore until a
launch has posted its record, and runs tile blocks until none is left. A launch that ends before a helper has begun
takes its record back; for one that is at work it waits, awake for some microseconds, then asleep, but not for longer
than `PATIENCE`: what takes more is waited for by Python, which handles signals meanwhile.

Knows: how helpers are woken, waited for, and listed. Does not know: how many are worth while
(`cpu.emit.direct_launch`), nor who makes the threads (`cpu.run.seats`).

The lists of free seats are changed with the interpreter's lock only, by these functions.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.direct_code import WordFunction
from tileir.cpu.emit.direct_record import (
    AT_WORK,
    AWAITED,
    DONE,
    GONE,
    IDLE,
    POP,
    POSTED,
    PUSH,
    SEAT,
    SERVE,
    TABLE,
    WORD,
)
from tileir.cpu.emit.elements import I32, I64
from tileir.cpu.emit.record import ATTENTION, LIMIT

PATIENCE = 50_000_000
"""Nanoseconds for which machine code sleeps until a helper has ended."""
_SECOND = 1_000_000_000
_LOOKS = 500
"""Looks at a helper that is about to end, before the launching thread sleeps."""


def add_lists(module: ir.Module) -> None:
    """Add ``push(list, seat)``, and ``pop(list)``, which gives a seat or 0, for Python."""
    code = WordFunction(module, PUSH, 2, internal=False)
    push(code, *code.arguments)
    code.finished(I64(1))
    code = WordFunction(module, POP, 1, internal=False)
    (first,) = code.arguments
    seat = code.read(first)
    code.require(code.differ(seat, 0))
    code.write(first, 0, code.read(seat, SEAT["next"]))
    code.finished(seat)


def push(code: WordFunction, first: ir.Value, seat: ir.Value) -> None:
    """Put a seat on the list that begins at `first`."""
    code.write(seat, SEAT["next"], code.read(first))
    code.write(first, 0, seat)


def add_serve(module: ir.Module) -> None:
    """Add ``serve(table, seat)``: help one launch after the other, until the seat is to go."""
    code = WordFunction(module, SERVE, 2, internal=False)
    code.table, seat = code.arguments
    builder = code.build
    names = "sleep", "missed", "work", "post", "leave"
    sleep, missed, work, post, leave = (code.function.append_basic_block(name) for name in names)
    builder.branch(sleep)
    builder.position_at_end(sleep)
    code.call("sem_wait", code.read(seat, SEAT["wake"]), result=I32)
    builder.cbranch(_replaced(code, seat, POSTED, AT_WORK), work, missed)
    builder.position_at_end(missed)
    builder.cbranch(code.equal(_state(code, seat), GONE), leave, sleep)
    builder.position_at_end(work)
    record, arena = code.read(seat, SEAT["record"]), code.read(seat, SEAT["arena"])
    status = code.call_at(code.read(seat, SEAT["driver"]), record, arena, result=I32)
    code.write(seat, SEAT["status"], builder.sext(status, I64))
    before = builder.atomic_rmw("xchg", code.at(seat, SEAT["state"]), I64(DONE), "seq_cst")
    builder.cbranch(code.equal(before, AWAITED), post, sleep)
    builder.position_at_end(post)
    code.call("sem_post", code.read(seat, SEAT["ended"]), result=I32)
    builder.branch(sleep)
    builder.position_at_end(leave)
    code.finished(I64(1))


@dataclass(frozen=True)
class Helping:
    """The functions by which a launch is helped."""

    available: ir.Function
    wake: ir.Function
    settle: ir.Function
    stop: ir.Function
    dismiss: ir.Function


def add_helping(module: ir.Module) -> Helping:
    """Add these functions."""
    ended = _add_ended(module)
    waits = _add_settle(module, ended), _add_stop(module, ended)
    return Helping(_add_available(module), _add_wake(module), *waits, _add_dismiss(module))


def _add_available(module: ir.Module) -> ir.Function:
    """``available(first, size, count)``: whether so many seats from `first` on have arenas of that size."""
    code = WordFunction(module, "available", 3)
    first, size, count = code.arguments
    place = code.cell()
    code.write(place, 0, first)
    with code.each(count):
        seat = code.read(place)
        code.require(code.differ(seat, 0))
        code.require(code.build.icmp_unsigned(">=", code.read(seat, SEAT["size"]), size))
        code.write(place, 0, code.read(seat, SEAT["next"]))
    return code.finished(I64(1))


def _add_wake(module: ir.Module) -> ir.Function:
    """``wake(table, seat, record, driver)``: post the record to as many helpers as the seat says, the first ones of the
    list, which go from it to the seat."""
    code = WordFunction(module, "wake", 4)
    code.table, launching, record, driver = code.arguments
    first = code.known("helpers")
    code.write(launching, SEAT["helpers"], first)
    place = code.cell()
    code.write(place, 0, first)
    with code.each(code.read(launching, SEAT["helped"])):
        helper = code.read(place)
        for name, value in (("record", record), ("driver", driver), ("status", I64(0))):
            code.write(helper, SEAT[name], value)
        code.build.atomic_rmw("xchg", code.at(helper, SEAT["state"]), I64(POSTED), "seq_cst")
        code.call("sem_post", code.read(helper, SEAT["wake"]), result=I32)
        code.write(place, 0, code.read(helper, SEAT["next"]))
    code.write(code.table, TABLE["helpers"], code.read(place))
    return code.finished(I64(1))


def _add_settle(module: ir.Module, ended: ir.Function) -> ir.Function:
    """``settle(table, seat)``: wait for the helpers of the seat that have begun; 0 if all have ended with status 0."""
    code = WordFunction(module, "settle", 2)
    code.table, launching = code.arguments
    builder = code.build
    place, found = code.cell(), code.cell()
    code.write(place, 0, code.read(launching, SEAT["helpers"]))
    code.write(found, 0, I64(0))
    with code.each(code.read(launching, SEAT["helped"])):
        helper = code.read(place)
        with builder.if_then(builder.not_(_replaced(code, helper, POSTED, IDLE))):
            late = code.equal(builder.call(ended, [code.table, helper]), 0)
            looked = builder.or_(builder.zext(late, I64), code.read(helper, SEAT["status"]))
            code.write(found, 0, builder.or_(code.read(found), looked))
        code.write(place, 0, code.read(helper, SEAT["next"]))
    return code.finished(code.read(found))


def _add_stop(module: ir.Module, ended: ir.Function) -> ir.Function:
    """``stop(table, seat)``: have the helpers of the seat leave off, and wait as long as that takes."""
    code = WordFunction(module, "stop", 2)
    code.table, launching = code.arguments
    builder = code.build
    code.write(code.read(launching, SEAT["record"]), LIMIT, I64(0))
    place = code.cell()
    code.write(place, 0, code.read(launching, SEAT["helpers"]))
    thread = code.call("PyEval_SaveThread")
    with code.each(code.read(launching, SEAT["helped"])):
        helper = code.read(place)
        code.write(place, 0, code.read(helper, SEAT["next"]))
        again, after = (code.function.append_basic_block(name) for name in ("again", "after"))
        at_work = builder.icmp_unsigned("<", builder.sub(_state(code, helper), I64(AT_WORK)), I64(2))
        builder.cbranch(at_work, again, after)
        builder.position_at_end(again)
        code.write(code.read(helper, SEAT["arena"]), ATTENTION, I32(1))
        has_ended = builder.call(ended, [code.table, helper])
        builder.cbranch(code.equal(has_ended, 0), again, after)
        builder.position_at_end(after)
    code.call("PyEval_RestoreThread", thread)
    return code.finished(I64(1))


def _add_ended(module: ir.Module) -> ir.Function:
    """``ended(table, seat)``: wait for a helper; whether it has ended."""
    code = WordFunction(module, "ended", 2)
    code.table, seat = code.arguments
    builder = code.build
    looks, deadline = code.cell(), code.cell(2 * WORD)
    names = "look", "not_yet", "pause", "tired", "asleep", "woken", "there"
    look, not_yet, pause, tired, asleep, woken, there = (code.function.append_basic_block(name) for name in names)
    code.write(looks, 0, I64(0))
    builder.branch(look)
    builder.position_at_end(look)
    builder.cbranch(code.equal(_state(code, seat), DONE), there, not_yet)
    builder.position_at_end(not_yet)
    builder.cbranch(builder.icmp_unsigned("<", code.read(looks), I64(_LOOKS)), pause, tired)
    builder.position_at_end(pause)
    if module.triple.startswith("x86_64"):
        builder.call(module.declare_intrinsic("llvm.x86.sse2.pause", (), ir.FunctionType(ir.VoidType(), ())), [])
    code.write(looks, 0, builder.add(code.read(looks), I64(1)))
    builder.branch(look)
    builder.position_at_end(tired)
    _replaced(code, seat, AT_WORK, AWAITED)
    builder.cbranch(code.equal(_state(code, seat), DONE), there, asleep)
    builder.position_at_end(asleep)
    _write_deadline(code, deadline)
    result = code.call("sem_timedwait", code.read(seat, SEAT["ended"]), deadline, result=I32)
    builder.cbranch(code.equal(_state(code, seat), DONE), there, woken)
    builder.position_at_end(woken)
    # A post that an earlier wait was too impatient for may come first.
    builder.cbranch(code.equal(result, 0), look, code.given_up)
    builder.position_at_end(there)
    return code.finished(I64(1))


def _write_deadline(code: WordFunction, cell: ir.Value) -> None:
    """The time at which patience ends, as ``sem_timedwait`` has it."""
    builder = code.build
    code.call("clock_gettime", I32(time.CLOCK_REALTIME), cell, result=I32)
    rest = builder.add(code.read(cell, WORD), I64(PATIENCE))
    over = builder.icmp_unsigned(">=", rest, I64(_SECOND))
    code.write(cell, 0, builder.add(code.read(cell), builder.zext(over, I64)))
    code.write(cell, WORD, builder.sub(rest, builder.select(over, I64(_SECOND), I64(0))))


def _add_dismiss(module: ir.Module) -> ir.Function:
    """``dismiss(table, seat)``: put the helpers of the seat back on the list."""
    code = WordFunction(module, "dismiss", 2)
    code.table, launching = code.arguments
    place = code.cell()
    code.write(place, 0, code.read(launching, SEAT["helpers"]))
    first = code.build.add(code.table, I64(TABLE["helpers"]))
    with code.each(code.read(launching, SEAT["helped"])):
        helper = code.read(place)
        code.write(place, 0, code.read(helper, SEAT["next"]))
        push(code, first, helper)
    return code.finished(I64(1))


def _state(code: WordFunction, seat: ir.Value) -> ir.Value:
    return code.build.load_atomic(code.at(seat, SEAT["state"]), "seq_cst", WORD, typ=I64)


def _replaced(code: WordFunction, seat: ir.Value, before: int, after: int) -> ir.Value:
    """An i1: whether the state was the one, and is the other now."""
    pair = code.build.cmpxchg(code.at(seat, SEAT["state"]), I64(before), I64(after), "seq_cst")
    return code.build.extract_value(pair, 1)
