"""What is known of the numbers of a kernel when its code is made.

Knows: divisors (powers of two) and ranges of the values of a TTIR function, of a tensor those of every element: from
constants, from what is promised of values, and through arithmetic. Does not know: where promises come from
(`assumptions`, `lowering`), nor what is made of the facts.

A fact holds wherever its value is seen. Facts are only ever too weak: arithmetic that may overflow is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from tileir.gpu.ttir.code import Instruction, Number, Type, Value

MAX_DIVISOR = 1 << 62
"""The divisor of 0."""

MAX_DEPTH = 48
"""How far definitions are followed."""

MAX_GRID = (1 << 24) - 1
"""The most blocks along one axis of a grid (specification, semantics 3)."""


@dataclass(frozen=True)
class Known:
    """An integer or an address is a multiple of `divisor`, a power of two; an integer, read as signed, lies in
    [`low`, `high`]."""

    divisor: int
    low: int
    high: int

    @property
    def constant(self) -> int | None:
        return self.low if self.low == self.high else None


def power_in(number: int) -> int:
    """The largest power of two that divides `number`."""
    return min(number & -number, MAX_DIVISOR) if number else MAX_DIVISOR


def unknown(type: Type) -> Known:
    return Known(1, -1 << (type.bits - 1), (1 << (type.bits - 1)) - 1)


def known_constant(value: int) -> Known:
    return Known(power_in(value), value, value)


class Facts:
    """The facts of one function. `promise` adds one; `of` asks for those of a value."""

    def __init__(self) -> None:
        self._promised: dict[Value, Known] = {}

    def promise(self, value: Value, divisor: int = 1, low: int | None = None, high: int | None = None) -> None:
        """Rely on `value` being a multiple of the largest power of two in `divisor`, from `low` to `high`."""
        before = self._promised.get(value, unknown(value.type))
        self._promised[value] = Known(
            max(before.divisor, power_in(divisor)),
            before.low if low is None else max(before.low, low),
            before.high if high is None else min(before.high, high),
        )

    def count(self, position: Value, lower: Value, upper: Value, step: Value) -> None:
        """Rely on `position` going from `lower` in steps to below `upper`, all read as signed."""
        first, last = self.of(lower), self.of(upper).high - 1
        self.promise(position, min(first.divisor, self.divisor(step)), first.low, max(first.low, last))

    def of(self, value: Value) -> Known:
        return _Query(self._promised).ask(value, MAX_DEPTH)

    def divisor(self, value: Value) -> int:
        return self.of(value).divisor

    def constant(self, value: Value) -> int | None:
        """The value if it is known."""
        return self.of(value).constant


class _Query:
    """Follows definitions, each once."""

    def __init__(self, promised: dict[Value, Known]) -> None:
        self.promised = promised
        self.answers: dict[Value, Known] = {}

    def ask(self, value: Value, depth: int) -> Known:
        if value not in self.answers:
            self.answers[value] = self._promised_and(value, self._defined(value, depth))
        return self.answers[value]

    def _defined(self, value: Value, depth: int) -> Known:
        owner = value.owner
        if not isinstance(owner, Instruction) or depth == 0:
            return unknown(value.type)
        if owner.name == "arith.constant":
            return _of_number(owner.attributes["value"], value.type)
        rule = _RULES.get(owner.name)
        if rule is None:
            return unknown(value.type)
        return _fitting(rule(owner, [self.ask(operand, depth - 1) for operand in owner.operands]), value.type)

    def _promised_and(self, value: Value, found: Known) -> Known:
        promise = self.promised.get(value)
        if promise is None:
            return found
        low, high = max(promise.low, found.low), min(promise.high, found.high)
        return Known(max(promise.divisor, found.divisor), low, max(low, high))


def _of_number(number: object, type: Type) -> Known:
    assert isinstance(number, Number)
    if type.is_float:
        return unknown(type)
    sign = number.bits >> (type.bits - 1)
    return known_constant(number.bits - (sign << type.bits))


def _fitting(found: Known, type: Type) -> Known:
    """What is known of the low bits, as which the exact result `found` is kept."""
    limits = unknown(type)
    if limits.low <= found.low and found.high <= limits.high:
        return found
    return Known(min(found.divisor, 1 << (type.bits - 1)), limits.low, limits.high)


# ---------------------------------------------------------------- arithmetic

Rule = Callable[[Instruction, list[Known]], Known]


def _same(instruction: Instruction, operands: list[Known]) -> Known:
    return operands[0]


def _sum(instruction: Instruction, operands: list[Known]) -> Known:
    a, b = operands
    return Known(min(a.divisor, b.divisor), a.low + b.low, a.high + b.high)


def _difference(instruction: Instruction, operands: list[Known]) -> Known:
    a, b = operands
    return Known(min(a.divisor, b.divisor), a.low - b.high, a.high - b.low)


def _product(instruction: Instruction, operands: list[Known]) -> Known:
    a, b = operands
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Known(min(a.divisor * b.divisor, MAX_DIVISOR), min(corners), max(corners))


def _shifted_left(instruction: Instruction, operands: list[Known]) -> Known:
    amount = operands[1].constant
    if amount is None or not 0 <= amount < instruction.results[0].type.bits:
        return unknown(instruction.results[0].type)
    return _product(instruction, [operands[0], known_constant(1 << amount)])


def _quotient(instruction: Instruction, operands: list[Known]) -> Known:
    """A division by a positive constant of numbers that are not negative."""
    a, by = operands[0], operands[1].constant
    if by is None or by <= 0 or a.low < 0:
        return unknown(instruction.results[0].type)
    exact = by == power_in(by) and a.divisor % by == 0
    return Known(a.divisor // by if exact else 1, a.low // by, a.high // by)


def _shifted_right(instruction: Instruction, operands: list[Known]) -> Known:
    amount = operands[1].constant
    if amount is None or not 0 <= amount < instruction.results[0].type.bits:
        return unknown(instruction.results[0].type)
    return _quotient(instruction, [operands[0], known_constant(1 << amount)])


def _remainder(instruction: Instruction, operands: list[Known]) -> Known:
    """Of a division by a positive constant of numbers that are not negative."""
    a, by = operands[0], operands[1].constant
    if by is None or by <= 0 or a.low < 0:
        return unknown(instruction.results[0].type)
    return Known(min(a.divisor, power_in(by)), 0, min(a.high, by - 1))


def _and(instruction: Instruction, operands: list[Known]) -> Known:
    limits = [known.high for known in operands if known.low >= 0]
    divisor = max(known.divisor for known in operands)
    full = unknown(instruction.results[0].type)
    return Known(divisor, 0, min(limits)) if limits else Known(divisor, full.low, full.high)


def _bitwise(instruction: Instruction, operands: list[Known]) -> Known:
    full = unknown(instruction.results[0].type)
    return Known(min(known.divisor for known in operands), full.low, full.high)


def _union(a: Known, b: Known) -> Known:
    return Known(min(a.divisor, b.divisor), min(a.low, b.low), max(a.high, b.high))


def _either(instruction: Instruction, operands: list[Known]) -> Known:
    return reduce(_union, operands[-2:])


def _smaller(instruction: Instruction, operands: list[Known]) -> Known:
    a, b = operands
    return Known(min(a.divisor, b.divisor), min(a.low, b.low), min(a.high, b.high))


def _larger(instruction: Instruction, operands: list[Known]) -> Known:
    a, b = operands
    return Known(min(a.divisor, b.divisor), max(a.low, b.low), max(a.high, b.high))


def _unsigned(rule: Rule) -> Rule:
    """The rule for the unsigned form of an instruction: the same for numbers that are not negative."""

    def apply(instruction: Instruction, operands: list[Known]) -> Known:
        if all(known.low >= 0 for known in operands):
            return rule(instruction, operands)
        full = unknown(instruction.results[0].type)
        return Known(min(known.divisor for known in operands), full.low, full.high)

    return apply


def _smaller_unsigned(instruction: Instruction, operands: list[Known]) -> Known:
    """One operand that is not negative bounds the result even if the other may be."""
    found = _unsigned(_smaller)(instruction, operands)
    limits = [known.high for known in operands if known.low >= 0]
    return Known(found.divisor, 0, min(limits)) if limits and found.low < 0 else found


def _zero_extended(instruction: Instruction, operands: list[Known]) -> Known:
    known, bits = operands[0], instruction.operands[0].type.bits
    if known.low >= 0:
        return known
    return Known(min(known.divisor, 1 << bits), 0, (1 << bits) - 1)


def _address(instruction: Instruction, operands: list[Known]) -> Known:
    """A pointer moved by a number of elements."""
    type = instruction.results[0].type
    size = Type(type.pointee).bits // 8
    full = unknown(type)
    return Known(min(operands[0].divisor, operands[1].divisor * size), full.low, full.high)


def _range(instruction: Instruction, operands: list[Known]) -> Known:
    start, end = instruction.attributes["start"], instruction.attributes["end"]
    assert isinstance(start, int) and isinstance(end, int)
    return Known(1, start, end - 1)


def _grid(instruction: Instruction, operands: list[Known]) -> Known:
    first = 0 if instruction.name == "tt.get_program_id" else 1
    return Known(1, first, MAX_GRID)


_RULES: dict[str, Rule] = {
    "arith.addi": _sum,
    "arith.subi": _difference,
    "arith.muli": _product,
    "arith.shli": _shifted_left,
    "arith.shrui": _shifted_right,
    "arith.shrsi": _shifted_right,
    "arith.divui": _quotient,
    "arith.divsi": _quotient,
    "arith.remui": _remainder,
    "arith.remsi": _remainder,
    "arith.andi": _and,
    "arith.ori": _bitwise,
    "arith.xori": _bitwise,
    "arith.select": _either,
    "arith.minsi": _smaller,
    "arith.maxsi": _larger,
    "arith.minui": _smaller_unsigned,
    "arith.maxui": _unsigned(_larger),
    "arith.extsi": _same,
    "arith.extui": _zero_extended,
    "arith.trunci": _same,
    "tt.splat": _same,
    "tt.unsplat": _same,
    "tt.reshape": _same,
    "tt.broadcast": _same,
    "tt.expand_dims": _same,
    "tt.trans": _same,
    "tt.int_to_ptr": _bitwise,
    "tt.ptr_to_int": _bitwise,
    "tt.bitcast": _bitwise,
    "tt.addptr": _address,
    "tt.make_range": _range,
    "tt.get_program_id": _grid,
    "tt.get_num_programs": _grid,
}
