"""Integers of TTIR as Python numbers: operators emit the instructions of two's complement arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import ConstantBits, Instruction, TtirType, TtirValue

_SHAPE_INSTRUCTIONS = ("tt.splat", "tt.unsplat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans")
"""They repeat and move elements, so that a constant stays one."""


def known_constant(value: TtirValue) -> int | None:
    """Return the bits that every element of `value` is seen to have."""
    owner = value.owner
    while isinstance(owner, Instruction) and owner.name in _SHAPE_INSTRUCTIONS:
        owner = owner.operands[0].owner
    if isinstance(owner, Instruction) and owner.name == "arith.constant":
        number = owner.attributes["value"]
        assert isinstance(number, ConstantBits)
        return number.bits
    return None


@dataclass(frozen=True)
class Word:
    """An integer, scalar or tensor. A Python number beside it stands for a constant of its type."""

    build: Builder
    value: TtirValue

    @property
    def width(self) -> int:
        return self.value.type.bits

    @property
    def known(self) -> int | None:
        """The constant, read as unsigned, if it is one."""
        return known_constant(self.value)

    def constant(self, number: int) -> Word:
        """Return a constant of the same type."""
        return Word(self.build, self.build.integer(self.value.type, number))

    def _with(self, name: str, other: Word | int) -> Word:
        operand = self.constant(other) if isinstance(other, int) else other
        return Word(self.build, self.build.op(name, self.value, operand.value))

    # --- arithmetic modulo 2^width

    def __add__(self, other: Word | int) -> Word:
        return self._with("arith.addi", other)

    def __sub__(self, other: Word | int) -> Word:
        return self._with("arith.subi", other)

    def __mul__(self, other: Word | int) -> Word:
        return self._with("arith.muli", other)

    def __neg__(self) -> Word:
        return self.constant(0) - self

    def quotient(self, other: Word, signed: bool) -> Word:
        """Divide, truncated. `other` must not be 0, nor may MIN be divided by -1."""
        return self._with("arith.divsi" if signed else "arith.divui", other)

    def remainder(self, other: Word, signed: bool) -> Word:
        """Return the remainder of the truncated quotient, under the same condition."""
        return self._with("arith.remsi" if signed else "arith.remui", other)

    def high_product(self, other: Word) -> Word:
        """Return the upper half of the unsigned product; of i32 and i64."""
        return self._with("tt.mulhiui", other)

    # --- bits

    def __and__(self, other: Word | int) -> Word:
        return self._with("arith.andi", other)

    def __or__(self, other: Word | int) -> Word:
        return self._with("arith.ori", other)

    def __xor__(self, other: Word | int) -> Word:
        return self._with("arith.xori", other)

    def __invert__(self) -> Word:
        return self ^ -1

    def __lshift__(self, amount: Word | int) -> Word:
        """Shift left; the amount must be below the width."""
        return self._with("arith.shli", amount)

    def __rshift__(self, amount: Word | int) -> Word:
        """Shift right logically; the amount must be below the width."""
        return self._with("arith.shrui", amount)

    def shifted_signed(self, amount: Word | int) -> Word:
        """Shift right arithmetically; the amount must be below the width."""
        return self._with("arith.shrsi", amount)

    # --- comparison

    def compared(self, predicate: str, other: Word | int) -> Word:
        """Return an i1; the predicates are those of `Builder.compare`."""
        operand = self.constant(other) if isinstance(other, int) else other
        return Word(self.build, self.build.compare(predicate, self.value, operand.value))

    def equals(self, other: Word | int) -> Word:
        return self.compared("eq", other)

    def differs(self, other: Word | int) -> Word:
        return self.compared("ne", other)

    def below(self, other: Word | int) -> Word:
        """Emit a test of whether it is less, read as unsigned."""
        return self.compared("ult", other)

    @property
    def is_negative(self) -> Word:
        return self.compared("slt", 0)

    def maximum(self, other: Word | int, signed: bool) -> Word:
        return self._with("arith.maxsi" if signed else "arith.maxui", other)

    def minimum(self, other: Word | int, signed: bool) -> Word:
        return self._with("arith.minsi" if signed else "arith.minui", other)

    def choose(self, first: Word, second: Word | int) -> Word:
        """Choose, element by element, `first` where this i1 is set, else `second`."""
        other = first.constant(second) if isinstance(second, int) else second
        return Word(self.build, self.build.select(self.value, first.value, other.value))

    # --- other widths and types

    def resized(self, element: str, signed: bool = False) -> Word:
        """Extend or cut to the width of another integer type; a constant stays visible as one."""
        if self.known is not None:
            sign = 1 << (self.width - 1)
            number = (self.known ^ sign) - sign if signed else self.known
            return Word(self.build, self.build.integer(self.value.type.of(element), number))
        return Word(self.build, self.build.resized(self.value, element, signed))

    def as_float(self, element: str) -> TtirValue:
        """Return the float with these bits."""
        return self.build.bitcast(self.value, element)


def word_of(build: Builder, value: TtirValue) -> Word:
    """Return the bits of a number of any type."""
    return Word(build, build.bitcast(value, f"i{value.type.bits}"))


def bits_of(build: Builder, value: TtirValue) -> TtirValue:
    """Return the bits of a number or an address as an integer."""
    return build.cast("tt.ptr_to_int", value, "i64") if value.type.is_pointer else word_of(build, value).value


def from_bits(build: Builder, bits: TtirValue, element: str) -> TtirValue:
    """Return the number or the address that has these bits."""
    is_pointer = TtirType(element).is_pointer
    return build.cast("tt.int_to_ptr", bits, element) if is_pointer else build.bitcast(bits, element)
