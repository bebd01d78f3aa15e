"""Accesses to single elements of memory: the instruction of each load, store and update.

An f4E2M1FN shares its byte with a neighbour, the even one in the low nibble (spec: views#index-mapping). Storing one
reads the byte, replaces a nibble and writes the byte back; other tile blocks may come between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import I8, I32, I64, Num, is_native, memory_type
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.emit.tiles import from_memory, to_memory, wide
from tileir.cpu.emit.vectorizability import GuardedLoad
from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode, MemoryOrdering

Element = t.ElementType | t.PointerType

_ORDERINGS = {
    MemoryOrdering.RELAXED: "monotonic",
    MemoryOrdering.ACQUIRE: "acquire",
    MemoryOrdering.RELEASE: "release",
    MemoryOrdering.ACQ_REL: "acq_rel",
}
_INSTRUCTIONS = {
    AtomicMode.AND: "and",
    AtomicMode.OR: "or",
    AtomicMode.XOR: "xor",
    AtomicMode.ADD: "add",
    AtomicMode.MAX: "max",
    AtomicMode.MIN: "min",
    AtomicMode.UMAX: "umax",
    AtomicMode.UMIN: "umin",
    AtomicMode.XCHG: "xchg",
}
_UPDATES: dict[AtomicMode, Callable[[Int, Int], Int]] = {
    AtomicMode.AND: Int.__and__,
    AtomicMode.OR: Int.__or__,
    AtomicMode.XOR: Int.__xor__,
    AtomicMode.ADD: Int.__add__,
    AtomicMode.MAX: Int.signed_maximum,
    AtomicMode.MIN: Int.signed_minimum,
    AtomicMode.UMAX: Int.unsigned_maximum,
    AtomicMode.UMIN: Int.unsigned_minimum,
}

WORD = 8
"""Bytes that every processor changes in one step."""

# ---------------------------------------------------------------- loads and stores


def load_element(emit: Emitter, element: Element, address: ir.Value, ordering: MemoryOrdering) -> ir.Value:
    """Load the element at an address, in its memory form."""
    builder, kind, size = emit.builder, memory_type(element), element.byte_size
    if ordering is MemoryOrdering.WEAK:
        return emit.independent(builder.load(address, typ=kind, align=size))
    return builder.load_atomic(address, _ORDERINGS[ordering], size, typ=kind)


def load_where(
    emit: Emitter, element: Element, condition: ir.Value, otherwise: ir.Value, load: Callable[[], ir.Value]
) -> Num:
    """Load an element with `load` where the condition holds; `otherwise` is its memory form elsewhere."""
    builder = emit.builder
    before = builder.block
    with builder.if_then(condition):
        loaded = load()
        reading = builder.block
    chosen = builder.phi(memory_type(element))
    chosen.add_incoming(otherwise, before)
    chosen.add_incoming(loaded, reading)
    return from_memory(builder, element, chosen)


def load_guarded(emit: Emitter, element: Element, condition: ir.Value, otherwise: ir.Value, address: ir.Value) -> Num:
    """Load the element at an address likewise, without a branch, which loops that run on vectors cannot have."""
    builder, kind, size = emit.builder, memory_type(element), element.byte_size
    found = builder.load(builder.select(condition, address, emit.stack(kind)), typ=kind, align=size)
    emit.guarded[found] = GuardedLoad(address, condition, ir.Constant(kind, None))
    return from_memory(builder, element, builder.select(condition, emit.independent(found), otherwise))


def store_element(
    emit: Emitter, element: Element, address: ir.Value, stored: ir.Value, ordering: MemoryOrdering
) -> None:
    """Write an element in its memory form."""
    builder, size = emit.builder, element.byte_size
    if ordering is MemoryOrdering.WEAK:
        emit.independent(builder.store(stored, address, align=size))
    else:
        # The builder's own wants to know what the pointer points to, which opaque pointers do not say.
        builder._insert(ir.instructions.StoreAtomicInstr(builder.block, stored, address, _ORDERINGS[ordering], size))


def load_nibble(builder: ir.IRBuilder, base: ir.Value, offset: ir.Value) -> ir.Value:
    place, shift = _nibble(builder, base, offset)
    return builder.and_(builder.lshr(builder.load(place, typ=I8), shift), I8(0x0F))


def store_nibble(builder: ir.IRBuilder, base: ir.Value, offset: ir.Value, pattern: ir.Value) -> None:
    place, shift = _nibble(builder, base, offset)
    kept = builder.and_(builder.load(place, typ=I8), builder.not_(builder.shl(I8(0x0F), shift)))
    builder.store(builder.or_(kept, builder.shl(pattern, shift)), place)


def _nibble(builder: ir.IRBuilder, base: ir.Value, offset: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Return the byte that holds the element at `offset`, and by how many bits to shift it."""
    place = builder.gep(base, [builder.ashr(offset, I64(1))], source_etype=I8)
    odd = builder.trunc(builder.and_(offset, I64(1)), I8)
    return place, builder.shl(odd, I8(2))


# ---------------------------------------------------------------- updates


def update_element(
    emit: Emitter, mode: AtomicMode, address: ir.Value, number: Num, ordering: MemoryOrdering
) -> ir.Value:
    """Combine one element into memory; return the old one in its memory form. It is one step for other threads, unless
    the ordering is weak."""
    builder = emit.builder
    element = t.checked_cast(number.element, t.ElementType)
    if ordering is MemoryOrdering.WEAK:
        return _update_alone(emit, mode, address, number)
    if mode is AtomicMode.ADDF:
        return _add_float(emit, address, number, ordering)
    found = builder.atomic_rmw(_INSTRUCTIONS[mode], address, _pattern(builder, number), _ORDERINGS[ordering])
    return _from_pattern(builder, element, found)


def exchange_element(
    emit: Emitter, address: ir.Value, expected: Num, replacement: Num, ordering: MemoryOrdering
) -> ir.Value:
    """Replace an element of memory if its bits are the expected ones, in one step; return the old memory form."""
    builder = emit.builder
    failure = "acquire" if ordering in (MemoryOrdering.ACQUIRE, MemoryOrdering.ACQ_REL) else "monotonic"
    old, new = _pattern(builder, expected), _pattern(builder, replacement)
    pair = builder.cmpxchg(address, old, new, _ORDERINGS[ordering], failure)
    element = t.checked_cast(expected.element, t.ElementType)
    return _from_pattern(builder, element, builder.extract_value(pair, 0))


def count_change(emit: Emitter, element: Element, address: ir.Value, before: ir.Value) -> None:
    """Count a change if memory no longer holds what an update found there (only in kernels that may wait)."""
    if not emit.counts_changes:
        return
    builder, size = emit.builder, element.byte_size
    pattern = ir.IntType(8 * size)
    now = builder.load_atomic(address, "monotonic", size, typ=pattern)
    old = before if before.type == pattern else builder.bitcast(before, pattern)
    emit.changed(builder.icmp_unsigned("!=", now, old))


def _update_alone(emit: Emitter, mode: AtomicMode, address: ir.Value, number: Num) -> ir.Value:
    """Combine one element into memory that no other thread accesses meanwhile."""
    builder, element = emit.builder, t.checked_cast(number.element, t.ElementType)
    found = builder.load(address, typ=ir.IntType(8 * element.byte_size), align=element.byte_size)
    new = _pattern(builder, number)
    if mode is AtomicMode.ADDF:
        new = _float_sum(emit, found, number)
    elif mode is not AtomicMode.XCHG:
        new = _UPDATES[mode](Int(builder, found), Int(builder, new)).value
    builder.store(new, address, align=element.byte_size)
    return _from_pattern(builder, element, found)


def _float_sum(emit: Emitter, seen: ir.Value, addend: Num) -> ir.Value:
    """Return the pattern of the sum, rounded to nearest even, of a pattern in memory and a number."""
    builder, element = emit.builder, t.checked_cast(addend.element, t.ElementType)
    value = from_memory(builder, element, _from_pattern(builder, element, seen))
    return _pattern(builder, Num(element, wide=builder.fadd(wide(builder, value), wide(builder, addend))))


def _add_float(emit: Emitter, address: ir.Value, number: Num, ordering: MemoryOrdering) -> ir.Value:
    element = t.checked_cast(number.element, t.ElementType)
    pattern = ir.IntType(8 * element.byte_size)
    found = _exchanged(emit, address, pattern, lambda seen: _float_sum(emit, seen, number), ordering)
    return _from_pattern(emit.builder, element, found)


def _exchanged(
    emit: Emitter,
    address: ir.Value,
    pattern: ir.IntType,
    changed: Callable[[ir.Value], ir.Value],
    ordering: MemoryOrdering,
) -> ir.Value:
    """Replace a pattern in memory by what it is changed to, by compare-and-swap until no other thread came between;
    return the old one."""
    builder = emit.builder
    first = builder.load_atomic(address, "monotonic", pattern.width // 8, typ=pattern)
    before = builder.block
    again, done = builder.append_basic_block("again"), builder.append_basic_block("added")
    builder.branch(again)
    builder.position_at_end(again)
    seen = builder.phi(pattern)
    seen.add_incoming(first, before)
    pair = builder.cmpxchg(address, seen, changed(seen), _ORDERINGS[ordering], "monotonic")
    seen.add_incoming(builder.extract_value(pair, 0), builder.block)
    builder.cbranch(builder.extract_value(pair, 1), done, again)
    builder.position_at_end(done)
    return seen


def in_word(mode: AtomicMode, element: Element) -> int:
    """Return how many neighbours `add_word` can add at once."""
    return WORD // element.byte_size if mode in (AtomicMode.ADD, AtomicMode.ADDF) else 1


def add_word(emit: Emitter, address: ir.Value, numbers: Sequence[Num], ordering: MemoryOrdering) -> None:
    """Add neighbours that fill an aligned word of memory, all in one step."""
    builder, element = emit.builder, t.checked_cast(numbers[0].element, t.ElementType)
    patterns = ir.VectorType(ir.IntType(8 * element.byte_size), len(numbers))
    as_vectors = ir.VectorType(memory_type(element), len(numbers))
    addends: ir.Value = ir.Constant(as_vectors, ir.Undefined)
    for lane, number in enumerate(numbers):
        addends = builder.insert_element(addends, to_memory(builder, number), I32(lane))

    def added(seen: ir.Value) -> ir.Value:
        if element.is_int or is_native(element):
            found = builder.bitcast(seen, as_vectors)
            found = builder.add(found, addends) if element.is_int else builder.fadd(found, addends)
            return builder.bitcast(found, seen.type)
        found = builder.bitcast(seen, patterns)
        for lane, number in enumerate(numbers):
            sum_ = _float_sum(emit, builder.extract_element(found, I32(lane)), number)
            found = builder.insert_element(found, sum_, I32(lane))
        return builder.bitcast(found, seen.type)

    _exchanged(emit, address, I64, added, ordering)


def _pattern(builder: ir.IRBuilder, number: Num) -> ir.Value:
    """Return the bits of an element as an int, also of f32 and f64."""
    value, element = to_memory(builder, number), t.checked_cast(number.element, t.ElementType)
    return builder.bitcast(value, ir.IntType(element.bits)) if is_native(element) else value


def _from_pattern(builder: ir.IRBuilder, element: t.ElementType, pattern: ir.Value) -> ir.Value:
    return builder.bitcast(pattern, memory_type(element)) if is_native(element) else pattern
