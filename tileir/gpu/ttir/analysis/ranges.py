"""Divisors (powers of two) and ranges of the values of a TTIR function; of a tensor those of every element.

Facts come from constants, from promises, and through arithmetic. They hold wherever the value is seen and are only ever
too weak: arithmetic that may overflow is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tileir.analysis import ranges
from tileir.analysis.ranges import Range, power_in
from tileir.gpu.ttir.ir.code import ConstantBits, Instruction, TtirType, TtirValue
from tileir.ir.attributes import Rounding

MAX_DEPTH = 48
"""Definitions that are followed one after the other."""


def unknown(type: TtirType) -> Range:
    return ranges.signed(type.bits)


class ValueRanges:
    """The facts of one function. `promise` adds one; `of` asks for those of a value."""

    def __init__(self) -> None:
        self._promised: dict[TtirValue, Range] = {}
        self._answers: dict[TtirValue, Range] = {}
        self._followed: set[TtirValue] = set()
        """The values that an answer depends on."""

    def promise(self, value: TtirValue, divisor: int = 1, low: int | None = None, high: int | None = None) -> None:
        """Rely on `value` being a multiple of the largest power of two in `divisor`, from `low` to `high`."""
        limits = unknown(value.type)
        promised = Range(power_in(divisor), limits.low if low is None else low, limits.high if high is None else high)
        self._promised[value] = ranges.intersection(self._promised.get(value, limits), promised)
        if value in self._followed:
            self._answers.clear()
            self._followed.clear()

    def count(self, position: TtirValue, lower: TtirValue, upper: TtirValue, step: TtirValue) -> None:
        """Rely on `position` going from `lower` in steps to below `upper`, all read as signed."""
        first, last = self.of(lower), self.of(upper).high - 1
        self.promise(position, min(first.divisor, self.divisor(step)), first.low, max(first.low, last))

    def of(self, value: TtirValue) -> Range:
        if value not in self._answers:
            query = _Query(self._promised, self._answers)
            self._answers[value] = query.ask(value, MAX_DEPTH)
            self._followed.update(query.answers)
        return self._answers[value]

    def divisor(self, value: TtirValue) -> int:
        return self.of(value).divisor

    def constant(self, value: TtirValue) -> int | None:
        """Return the value if it is known."""
        return self.of(value).constant


class _Query:
    """Follows definitions, each once, to values with an answer."""

    def __init__(self, promised: dict[TtirValue, Range], known: dict[TtirValue, Range]) -> None:
        self.promised = promised
        self.known = known
        self.answers: dict[TtirValue, Range] = {}

    def ask(self, value: TtirValue, depth: int) -> Range:
        if value in self.known:
            return self.known[value]
        if value not in self.answers:
            self.answers[value] = self._promised_and(value, self._defined(value, depth))
        return self.answers[value]

    def _defined(self, value: TtirValue, depth: int) -> Range:
        owner = value.owner
        if not isinstance(owner, Instruction) or depth == 0:
            return unknown(value.type)
        if owner.name == "arith.constant":
            return _of_number(owner.attributes["value"], value.type)
        if owner.name not in _KNOWN:
            return unknown(value.type)
        found = _result(owner, [self.ask(operand, depth - 1) for operand in owner.operands])
        return unknown(value.type) if found is None else ranges.wrapped(found, value.type.bits)

    def _promised_and(self, value: TtirValue, found: Range) -> Range:
        promise = self.promised.get(value)
        if promise is None:
            return found
        both = ranges.intersection(promise, found)
        return Range(both.divisor, both.low, max(both.low, both.high))


def _of_number(number: object, type: TtirType) -> Range:
    assert isinstance(number, ConstantBits)
    if type.is_float:
        return unknown(type)
    sign = number.bits >> (type.bits - 1)
    return ranges.constant(number.bits - (sign << type.bits))


# ---------------------------------------------------------------- arithmetic

_SAME = (
    "arith.extsi", "arith.trunci", "tt.splat", "tt.unsplat", "tt.reshape", "tt.broadcast", "tt.expand_dims", "tt.trans",
)  # fmt: skip
_EXACT: dict[str, Callable[[Range, Range], Range | None]] = {
    "arith.addi": ranges.add,
    "arith.subi": ranges.subtract,
    "arith.muli": ranges.multiply,
    "arith.divsi": partial(ranges.quotient, rounding=Rounding.ZERO),
    "arith.remsi": ranges.remainder,
    "arith.minsi": ranges.minimum,
    "arith.maxsi": ranges.maximum,
}
_WITHIN_BITS: dict[str, Callable[[Range, Range, int], Range | None]] = {
    "arith.shli": ranges.shift_left,
    "arith.shrsi": ranges.shift_right,
    "arith.andi": ranges.bitwise_and,
    "arith.ori": ranges.bitwise_or,
    "arith.xori": ranges.bitwise_xor,
}
_UNSIGNED = {"arith.shrui": "arith.shrsi", "arith.divui": "arith.divsi", "arith.remui": "arith.remsi"}
"""The signed form of an instruction, which does the same with numbers that are not negative."""


def _result(instruction: Instruction, operands: list[Range]) -> Range | None:
    """Return the exact result of an instruction, before it is kept in the bits of its type; None if nothing is known
    of it."""
    name = instruction.name
    if name in _UNSIGNED:
        if any(operand.low < 0 for operand in operands):
            return None
        name = _UNSIGNED[name]
    if name in _SAME:
        return operands[0]
    if name in _EXACT:
        return _EXACT[name](*operands)
    if name in _WITHIN_BITS:
        return _WITHIN_BITS[name](operands[0], operands[1], instruction.results[0].type.bits)
    return _OTHERS[name](instruction, operands)


def _bits_kept(instruction: Instruction, operands: list[Range]) -> Range:
    full = unknown(instruction.results[0].type)
    return Range(min(known.divisor for known in operands), full.low, full.high)


def _smaller_unsigned(instruction: Instruction, operands: list[Range]) -> Range:
    """Bound the result by an operand that is not negative, even if the other may be."""
    limits = [known.high for known in operands if known.low >= 0]
    if len(limits) == len(operands):
        return ranges.minimum(*operands)
    kept = _bits_kept(instruction, operands)
    return Range(kept.divisor, 0, min(limits)) if limits else kept


def _larger_unsigned(instruction: Instruction, operands: list[Range]) -> Range:
    if all(known.low >= 0 for known in operands):
        return ranges.maximum(*operands)
    return _bits_kept(instruction, operands)


def _address(instruction: Instruction, operands: list[Range]) -> Range:
    """Return a pointer moved by a number of elements."""
    type = instruction.results[0].type
    size = TtirType(type.pointee).bits // 8
    full = unknown(type)
    return Range(min(operands[0].divisor, operands[1].divisor * size), full.low, full.high)


def _range(instruction: Instruction, operands: list[Range]) -> Range:
    start, end = instruction.attributes["start"], instruction.attributes["end"]
    assert isinstance(start, int) and isinstance(end, int)
    return Range(1, start, end - 1)


_OTHERS: dict[str, Callable[[Instruction, list[Range]], Range]] = {
    "arith.select": lambda instruction, operands: ranges.union(*operands[-2:]),
    "arith.minui": _smaller_unsigned,
    "arith.maxui": _larger_unsigned,
    "arith.extui": lambda found, operands: ranges.zero_extended(operands[0], found.operands[0].type.bits),
    "tt.int_to_ptr": _bits_kept,
    "tt.ptr_to_int": _bits_kept,
    "tt.bitcast": _bits_kept,
    "tt.addptr": _address,
    "tt.make_range": _range,
    "tt.get_program_id": lambda instruction, operands: ranges.BLOCK_ID,
    "tt.get_num_programs": lambda instruction, operands: ranges.GRID_EXTENT,
}
_KNOWN = frozenset((*_SAME, *_EXACT, *_WITHIN_BITS, *_UNSIGNED, *_OTHERS))
