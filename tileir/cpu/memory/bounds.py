"""Bounds of memory: what a launch lets a pointer be used for, as far as that is known when code is made.

Knows: the slots in which a launch gives the bounds of each array and global, and how addresses are compared with them.
Does not know: accesses (`cpu.memory.checks`).

Each pointer parameter and each global has an entry of three slots: its first address, the end of what may be read, the
end of what may be written (the first address if nothing may be). A pointer computed from one of them keeps its base
(`cpu.emit.elements.Num`), which names its bounds. Together the entries are a table. Behind it stand the number of
further entries and their address, for arrays that are reached through others. A pointer without a base, or one that has
left its own memory, is looked up in both and among the allocations of the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from llvmlite import ir

from tileir.cpu.emit.elements import I64, Num
from tileir.cpu.memory import lookup

if TYPE_CHECKING:
    from tileir.cpu.emit.views import Bounds
    from tileir.cpu.lowering.state import Lowering


def bounds_of(lowering: Lowering, pointer: Num) -> Bounds | None:
    """The bounds of the memory that the pointer was computed from; None if that is not known."""
    return None if pointer.base is None else lowering.bounds.get(id(pointer.base))


def room(builder: ir.IRBuilder, bounds: Bounds, size: int, write: bool) -> ir.Value:
    """The number of addresses, from the beginning of the bounds on, at which `size` bytes lie within them."""
    span = builder.sub(bounds.limit(write), bounds.begin)
    if size == 1:
        return span
    enough = builder.icmp_unsigned(">=", span, I64(size))
    return builder.select(enough, builder.sub(span, I64(size - 1)), I64(0))


def range_inside(lowering: Lowering, bounds: Bounds | None, address: ir.Value, size: ir.Value, write: bool) -> ir.Value:
    """Whether `size` bytes from `address` on lie within the bounds; in any one memory where these are not known."""
    builder = lowering.builder
    if bounds is None:
        return builder.call(lookup.held(lowering.emit.module), [*_directory(lowering, write), address, size])
    span, at = builder.sub(bounds.limit(write), bounds.begin), builder.sub(address, bounds.begin)
    starts = builder.icmp_unsigned("<=", at, span)
    return builder.and_(starts, builder.icmp_unsigned("<=", size, builder.sub(span, at)))


def first_outside(
    lowering: Lowering, addresses: ir.Value, active: ir.Value, count: int, size: int, write: bool
) -> ir.Value:
    """The position of the first address that may not be accessed, or -1; `active` holds a byte for each, 0 to skip."""
    function = lookup.first_outside(lowering.emit.module)
    return lowering.builder.call(function, [*_directory(lowering, write), addresses, active, I64(count), I64(size)])


def _directory(lowering: Lowering, write: bool) -> Sequence[ir.Value]:
    """The arguments of `lookup` that say which memory there is, and which end of it counts."""
    builder, allocations = lowering.builder, lowering.allocations
    own = [word for one in allocations for word in (one.begin, one.end, one.writable_end)]
    further = lowering.bounds_slot + lookup.WORDS * lowering.bounds_count
    tables = (
        (builder.ptrtoint(lowering.slot_address(lowering.bounds_slot), I64), I64(lowering.bounds_count)),
        (lowering.slot(further + 1), lowering.slot(further)),
        (builder.ptrtoint(stored(lowering, own), I64), I64(len(allocations))),
    )
    directory = stored(lowering, [word for table in tables for word in table])
    return [directory, I64(lookup.WRITABLE_END if write else lookup.END)]


def stored(lowering: Lowering, words: Sequence[ir.Value]) -> ir.Value:
    """The words in memory of their own, one after the other."""
    cell = lowering.emit.stack(I64, max(1, len(words)))
    for position, word in enumerate(words):
        lowering.builder.store(word, lowering.builder.gep(cell, [I64(position)], source_etype=I64))
    return cell
