"""Bounds of memory: what a launch allows a pointer to access, as far as that is known at compile time.

Each pointer parameter and each global has an entry of four slots: its first address, which is the pointer itself, the
end of what may be read, the end of what may be written (the first address if nothing may be), the end of all of it. For
an array with gaps, no range of which may be used, the first three are the same. A pointer computed from one of them
keeps its base (`cpu.emit.elements.Num`), which names its bounds. Together the entries are a table. Behind it stand the
number of further entries and their address, for arrays that are reached through others, and the address of the layouts
of arrays with gaps (`cpu.memory.lookup`). A pointer without a base, or one that has left its own memory, is looked up
in all three and among the allocations of the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import llvmlite.binding as llvm
from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I32, I64, PTR, Num
from tileir.cpu.emit.exits import FunctionAddress
from tileir.cpu.emit.record import LIBRARY, LIBRARY_FUNCTIONS, SLOTS
from tileir.cpu.memory import lookup
from tileir.ir import types as t

if TYPE_CHECKING:
    from tileir.cpu.emit.tiles import Bounds, NativeTensorView
    from tileir.cpu.lowering.state import Lowering


NOT_KEPT = "captures(none)" if llvm.llvm_version_info >= (21,) else "nocapture"
"""LLVM's word for an argument whose address a function does not keep."""


def bounds_of(lowering: Lowering, pointer: Num) -> Bounds | None:
    """Return the bounds of the memory that the pointer was computed from; None if that is not known."""
    return None if pointer.base is None else lowering.bounds.get(id(pointer.base))


def room(builder: ir.IRBuilder, bounds: Bounds, size: int, write: bool) -> ir.Value:
    """Return the number of addresses, from the beginning of the bounds on, at which `size` bytes lie within them."""
    span = builder.sub(bounds.limit(write), bounds.begin)
    if size == 1:
        return span
    enough = builder.icmp_unsigned(">=", span, I64(size))
    return builder.select(enough, builder.sub(span, I64(size - 1)), I64(0))


def range_inside(lowering: Lowering, bounds: Bounds | None, address: ir.Value, size: ir.Value, write: bool) -> ir.Value:
    """Emit a test of whether `size` bytes from `address` lie within the bounds, or in any one memory if these are
    unknown."""
    builder = lowering.builder
    if bounds is None:
        return box_held(lowering, LookupFacts(write, 1, 8, 1), address, (size, I64(1)))
    span, at = builder.sub(bounds.limit(write), bounds.begin), builder.sub(address, bounds.begin)
    starts = builder.icmp_unsigned("<=", at, span)
    return builder.and_(starts, builder.icmp_unsigned("<=", size, builder.sub(span, at)))


def box_held(lowering: Lowering, facts: LookupFacts, address: ir.Value, dimensions: Sequence[ir.Value]) -> ir.Value:
    """Return an i1 that is set if all elements of a box lie in one memory; a count and a stride for each dimension.

    A function of the module asks the library, so that little code is made for each box.
    """
    builder, count = lowering.builder, len(lowering.allocations)
    known = builder.bitcast(facts.constant(lowering), PTR)
    given = (lowering.arguments, lowering.emit.arena, known, _own_table(lowering), I64(count), address, *dimensions)
    kept = dict.fromkeys(range(3), (NOT_KEPT,))
    answer: ir.Value = builder.call(_box_held(lowering.emit.module, len(dimensions)), given, arg_attrs=kept)
    return answer


def _box_held(module: ir.Module, words: int) -> ir.Function:
    """Return a function that asks about a box of a dimension for every two words."""
    function = lookup.declared(module, f"tileir.box_held.{words}", I1, (PTR, PTR, PTR, *[I64] * (3 + words)))
    if function.blocks:
        return function
    arguments, arena, facts, table, count, address, *dimensions = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    pairs = zip(dimensions[::2], dimensions[1::2])
    asking = [table, count, I64(0), I64(0), address, address, *(word for pair in pairs for word in (I64(0), *pair))]
    cells = builder.alloca(I64, len(asking))
    for position, word in enumerate(asking):
        builder.store(word, builder.gep(cells, [I64(position)], source_etype=I64))
    answer = _call(builder, lookup.HELD, (arguments, arena, facts, cells, I32(0)))
    builder.ret(builder.icmp_unsigned("!=", answer, I32(0)))
    return function


def claimed(builder: ir.IRBuilder, view: NativeTensorView, element: t.ElementType) -> tuple[ir.Value, list[ir.Value]]:
    """Return the bytes that a tensor claims, and those conditions on it that are not known to hold.

    For a tensor without elements they may be anything, as nothing is accessed.
    """
    last, most = I64(0), 0
    fine: list[ir.Value] = []
    for extent, stride in zip(view.extents, view.strides):
        step, most_step = builder.sub(extent, I64(1)), (_most(extent) - 1) * _most(stride)
        product, wraps = _checked(builder, "mul", most_step, step, stride)
        last, carries = _checked(builder, "add", most + most_step, last, product)
        fine += [builder.not_(beyond) for beyond in (wraps, carries) if beyond is not None]
        most += most_step
    if most >= lookup.FARTHEST // element.byte_size:
        fine.append(builder.icmp_unsigned("<", last, I64(lookup.FARTHEST // element.byte_size)))
    return builder.add(_byte_of(builder, last, element), I64(element.byte_size)), fine


def _most(value: ir.Value) -> int:
    """Return the largest number that an unsigned i64 can be, as far as is plain to see."""
    if isinstance(value, ir.Constant):
        return int(value.constant) % (1 << 64)
    narrow = isinstance(value, ir.CastInstr) and value.opname == "zext"
    return int((1 << (value.operands[0].type.width if narrow else 64)) - 1)


def _checked(
    builder: ir.IRBuilder, operation: str, most: int, lhs: ir.Value, rhs: ir.Value
) -> tuple[ir.Value, ir.Value | None]:
    """Return a sum or product that is `most` at most, and whether it is beyond 64 bits, if it can be."""
    if most < 1 << 64:
        return getattr(builder, operation)(lhs, rhs), None
    pair = getattr(builder, f"u{operation}_with_overflow")(lhs, rhs)
    return builder.extract_value(pair, 0), builder.extract_value(pair, 1)


def _byte_of(builder: ir.IRBuilder, offset: ir.Value, element: t.ElementType) -> ir.Value:
    """Return the byte, counted from the first of a tensor, in which the element at an offset begins."""
    if element is t.F4E2M1FN:
        return builder.lshr(offset, I64(1))
    return builder.mul(offset, I64(element.byte_size))


class LookupFacts:
    """The compile-time facts of an access: elements of `size` bytes, `count` dimensions or lanes."""

    def __init__(self, write: bool, size: int, bits: int, count: int, extents: Sequence[int] = ()) -> None:
        self._facts = (lookup.ENDS[write], size, bits, count, *extents)

    @staticmethod
    def of(write: bool, element: t.ElementType, count: int, extents: Sequence[int] = ()) -> LookupFacts:
        bits = 4 if element is t.F4E2M1FN else 8 * element.byte_size
        return LookupFacts(write, element.byte_size, bits, count, extents)

    def constant(self, lowering: Lowering) -> ir.Value:
        """Return a constant of the module."""
        module = lowering.emit.module
        numbers = (lowering.kernel.bounds_slot, lowering.kernel.bounds_count, *self._facts)
        array = ir.Constant(ir.ArrayType(I64, len(numbers)), numbers)
        name = "facts." + ".".join(map(str, numbers))
        found = module.globals.get(name)
        if found is None:
            found = ir.GlobalVariable(module, array.type, name)
            found.initializer, found.global_constant, found.linkage = array, True, "private"
        return found


def look_up(
    lowering: Lowering,
    function: str,
    facts: LookupFacts,
    words: Sequence[ir.Value],
    meant: Bounds | None = None,
    site: int = 0,
) -> ir.Value:
    """Return the answer of a function of the library, an i32; `meant` is the allocation that the access is about."""
    emit, builder = lowering.emit, lowering.builder
    about = (I64(0), I64(0)) if meant is None else (meant.begin, meant.end)
    unknown = written(lowering, "words", (_own_table(lowering), I64(len(lowering.allocations)), *about, *words))
    known = builder.bitcast(facts.constant(lowering), PTR)
    return _call(builder, function, (lowering.arguments, emit.arena, known, unknown, I32(site)))


def _own_table(lowering: Lowering) -> ir.Value:
    """Return the address of the table of the block's allocations, as an i64."""
    return lowering.builder.ptrtoint(kept(lowering, OWN), I64) if lowering.allocations else I64(0)


def _call(builder: ir.IRBuilder, function: str, arguments: Sequence[ir.Value]) -> ir.Value:
    place = LIBRARY + 8 * LIBRARY_FUNCTIONS.index(function) - SLOTS
    address = builder.load(builder.gep(arguments[0], [I64(place)], source_etype=I8), typ=I64)
    # A function that kept an address would have LLVM believe that all memory may be the arena's.
    kept = dict.fromkeys(range(4), (NOT_KEPT,))
    callee = FunctionAddress(builder, address, lookup.FUNCTION)
    answer: ir.Value = builder.call(callee, arguments, attrs=("nounwind",), arg_attrs=kept)
    return answer


OWN, MARKS = "allocations", "marks"
"""Tables of a block's allocations: of four words each as for other memory, and of three with marks in strict mode."""


def add_allocation(lowering: Lowering, bounds: Bounds) -> None:
    """Let pointers lead into an allocation until its region ends."""
    words: dict[str, Sequence[ir.Value]] = {OWN: (bounds.begin, bounds.end, bounds.writable_end, bounds.end)}
    if bounds.marks is not None:
        words[MARKS] = (bounds.begin, bounds.end, bounds.marks)
    for table, entry in words.items():
        first = len(entry) * len(lowering.allocations)
        cells = kept(lowering, table, first + len(entry))
        for position, word in enumerate(entry, first):
            lowering.builder.store(word, lowering.builder.gep(cells, [I64(position)], source_etype=I64))
    lowering.allocations.append(bounds)


def kept(lowering: Lowering, table: str, least: int = 0) -> ir.Value:
    """Return a table on the stack that is written entry by entry, of `least` words at least."""
    cells = lowering.scratch.get((table, 0))
    if cells is None:
        cells = lowering.scratch[table, 0] = lowering.emit.stack(I64, least)
    (count,) = cells.operands
    cells.operands[0] = ir.Constant(count.type, max(count.constant, least))
    return cells


def written(lowering: Lowering, use: str, words: Sequence[ir.Value]) -> ir.Value:
    """Return the words on the stack, one after the other, until as many are written again for the same use.

    Not in the arena: after a hundred uses LLVM takes it for memory that others may know.
    """
    builder = lowering.builder
    cell = lowering.scratch.get((use, len(words)))
    if cell is None:
        cell = lowering.scratch[use, len(words)] = lowering.emit.stack(I64, len(words))
    for position, word in enumerate(words):
        builder.store(word, builder.gep(cell, [I64(position)], source_etype=I64))
    return cell
