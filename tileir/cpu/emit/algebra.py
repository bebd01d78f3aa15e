"""Values in registers, with operators.

`Real`, `Int` and `Flag` map Python's operators to LLVM instructions on floats, integers and conditions.

Every operator emits straight-line code without a branch, which LLVM's loop vectoriser widens. A Python number beside a
register is a constant of its type. Nothing is contracted or reordered: what is written is what is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from llvmlite import ir

from tileir.cpu.emit.elements import DOUBLE, FLOAT, I1, PTR

Number = int | float


def call_intrinsic(builder: ir.IRBuilder, name: str, result: ir.Type, arguments: Sequence[ir.Value]) -> ir.Value:
    """Return `name` overloaded on the type of its first argument."""
    return call_named(builder, f"{name}.{type_suffix(arguments[0].type)}", result, arguments)


def call_named(builder: ir.IRBuilder, name: str, result: ir.Type, arguments: Sequence[ir.Value]) -> ir.Value:
    """Return the function of exactly that name."""
    # The address of a global says what lies there, which the type of a function must not.
    types = [PTR if isinstance(argument.type, ir.PointerType) else argument.type for argument in arguments]
    function = builder.module.globals.get(name) or ir.Function(builder.module, ir.FunctionType(result, types), name)
    return builder.call(function, arguments)


def type_suffix(type: ir.Type) -> str:
    """Return the spelling of a type in the name of an intrinsic that is overloaded on it."""
    if isinstance(type, ir.VectorType):
        return f"v{type.count}{type.element.intrinsic_name}"
    suffix: str = type.intrinsic_name
    return suffix


class Register:
    """Base: an LLVM value and the builder that adds code."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder = builder
        self.value = value

    @property
    def type(self) -> ir.Type:
        return self.value.type

    def constant(self, number: Number) -> ir.Value:
        """Return `number` as a constant of this register's type; in a vector, in every lane."""
        if isinstance(self.type, ir.VectorType):
            return ir.Constant(self.type, [ir.Constant(self.type.element, number)] * self.type.count)
        return ir.Constant(self.type, number)

    def lifted(self, other: Register | Number) -> ir.Value:
        return other.value if isinstance(other, Register) else self.constant(other)


R = TypeVar("R", bound=Register)


class Flag(Register):
    """A condition."""

    __slots__ = ()

    def __and__(self, other: Flag) -> Flag:
        return Flag(self.builder, self.builder.and_(self.value, other.value))

    def __or__(self, other: Flag) -> Flag:
        return Flag(self.builder, self.builder.or_(self.value, other.value))

    def __xor__(self, other: Flag) -> Flag:
        return Flag(self.builder, self.builder.xor(self.value, other.value))

    def __invert__(self) -> Flag:
        return Flag(self.builder, self.builder.xor(self.value, I1(1)))

    def choose(self, met: R, otherwise: R | Number) -> R:
        """Return `met` where the condition holds."""
        value = self.builder.select(self.value, met.value, met.lifted(otherwise))
        return type(met)(self.builder, value)

    def as_integer(self, type: ir.Type) -> Int:
        """Return 1 or 0."""
        return Int(self.builder, self.builder.zext(self.value, type))


def _of_integers(instruction: str) -> Callable[[Int, Int | int], Int]:
    """Return the operator that is an instruction of two integers."""
    return lambda one, other: Int(one.builder, getattr(one.builder, instruction)(one.value, one.lifted(other)))


def _of_floats(instruction: str) -> Callable[[Real, Real | float], Real]:
    """Return the operator that is an instruction of two floats."""
    return lambda one, other: Real(one.builder, getattr(one.builder, instruction)(one.value, one.lifted(other)))


def _extreme(name: str) -> Callable[[Int, Int | int], Int]:
    """Return the operator that is one of LLVM's minima and maxima."""
    return lambda one, other: Int(
        one.builder, call_intrinsic(one.builder, name, one.type, (one.value, one.lifted(other)))
    )


def _comparison(predicate: str) -> Callable[[Real, Real | float], Flag]:
    """Return the comparison of floats, false with a NaN."""
    return lambda one, other: one.compared(predicate, other)


def _of_readings(predicate: str, signed: bool) -> Callable[[Int, Int | int], Flag]:
    """Return the comparison of integers, read with or without a sign."""
    return lambda one, other: one.compared(predicate, other, signed)


def _function(name: str) -> Callable[..., Real]:
    """Return one of LLVM's functions of floats."""
    return lambda one, *others: Real(
        one.builder, call_intrinsic(one.builder, name, one.type, [each.value for each in (one, *others)])
    )


class Int(Register):
    """An integer. `>>` shifts in zeros, `shifted_signed` copies of the sign; the comparisons with `unsigned` in their
    name read without a sign."""

    __slots__ = ()

    @property
    def width(self) -> int:
        width: int = self.type.width
        return width

    __add__ = _of_integers("add")
    __sub__ = _of_integers("sub")
    __mul__ = _of_integers("mul")
    __and__ = _of_integers("and_")
    __xor__ = _of_integers("xor")
    __lshift__ = _of_integers("shl")
    __rshift__ = _of_integers("lshr")
    shifted_signed = _of_integers("ashr")

    # As a function: a checker of types would take `Int.__or__` from a list for the union of types.
    def __or__(self, other: Int | int) -> Int:
        return Int(self.builder, self.builder.or_(self.value, self.lifted(other)))

    def __neg__(self) -> Int:
        return Int(self.builder, self.builder.sub(self.constant(0), self.value))

    def __invert__(self) -> Int:
        return self ^ -1

    equals = _of_readings("==", signed=False)
    differs = _of_readings("!=", signed=False)
    __lt__ = _of_readings("<", signed=True)
    __gt__ = _of_readings(">", signed=True)
    below_unsigned = _of_readings("<", signed=False)

    def at_least_unsigned(self, other: int) -> Flag:
        """Compare with an unsigned constant; False where `other` does not fit the type."""
        if other >> self.width:
            return Flag(self.builder, I1(0))
        return Flag(self.builder, self.builder.icmp_unsigned(">=", self.value, self.constant(other)))

    def signed_product_overflows(self, other: Int) -> Flag:
        return self._overflow(self.builder.smul_with_overflow(self.value, other.value))

    def unsigned_product_overflows(self, other: Int) -> Flag:
        return self._overflow(self.builder.umul_with_overflow(self.value, other.value))

    def _overflow(self, pair: ir.Value) -> Flag:
        return Flag(self.builder, self.builder.extract_value(pair, 1))

    def compared(self, predicate: str, other: Int | int, signed: bool) -> Flag:
        compare = self.builder.icmp_signed if signed else self.builder.icmp_unsigned
        return Flag(self.builder, compare(predicate, self.value, self.lifted(other)))

    signed_minimum = _extreme("llvm.smin")
    signed_maximum = _extreme("llvm.smax")
    unsigned_minimum = _extreme("llvm.umin")
    unsigned_maximum = _extreme("llvm.umax")

    def leading_zeros(self) -> Int:
        """Return the width for 0."""
        return Int(self.builder, call_intrinsic(self.builder, "llvm.ctlz", self.type, (self.value, I1(0))))

    def extended(self, type: ir.Type, signed: bool = False) -> Int:
        """Extend to at least this width."""
        extend = self.builder.sext if signed else self.builder.zext
        return Int(self.builder, extend(self.value, type))

    def truncated(self, type: ir.Type) -> Int:
        return Int(self.builder, self.builder.trunc(self.value, type))

    def converted(self, type: ir.Type, signed: bool = True) -> Real:
        """Return the nearest float."""
        convert = self.builder.sitofp if signed else self.builder.uitofp
        return Real(self.builder, convert(self.value, type))

    def as_real(self) -> Real:
        """Return the float with this pattern."""
        return Real(self.builder, self.builder.bitcast(self.value, FLOAT if self.width == 32 else DOUBLE))


class Real(Register):
    """An f32 or f64, rounded to nearest even. Comparisons are false with a NaN."""

    __slots__ = ()

    @property
    def width(self) -> int:
        return 32 if self.type == FLOAT else 64

    @property
    def fraction(self) -> int:
        """Bits of the significand that are stored."""
        return 23 if self.type == FLOAT else 52

    @property
    def bias(self) -> int:
        return 127 if self.type == FLOAT else 1023

    __add__ = __radd__ = _of_floats("fadd")
    __sub__ = _of_floats("fsub")
    __mul__ = __rmul__ = _of_floats("fmul")
    __truediv__ = _of_floats("fdiv")

    def __rsub__(self, other: float) -> Real:
        return Real(self.builder, self.builder.fsub(self.constant(other), self.value))

    def __rtruediv__(self, other: float) -> Real:
        return Real(self.builder, self.builder.fdiv(self.constant(other), self.value))

    def __neg__(self) -> Real:
        return Real(self.builder, self.builder.fneg(self.value))

    __abs__ = _function("llvm.fabs")
    root = _function("llvm.sqrt")
    floor = _function("llvm.floor")
    ceil = _function("llvm.ceil")
    truncated = _function("llvm.trunc")
    with_sign_of = _function("llvm.copysign")
    """The magnitude of this and the sign of the other, both f32 where the result may become half."""
    maximum = _function("llvm.maximum")
    minimum = _function("llvm.minimum")

    __lt__ = _comparison("<")
    __le__ = _comparison("<=")
    __gt__ = _comparison(">")
    __ge__ = _comparison(">=")
    equals = _comparison("==")

    def compared(self, predicate: str, other: Real | float) -> Flag:
        return Flag(self.builder, self.builder.fcmp_ordered(predicate, self.value, self.lifted(other)))

    def compared_or_unordered(self, predicate: str, other: Real | float) -> Flag:
        """True with a NaN."""
        return Flag(self.builder, self.builder.fcmp_unordered(predicate, self.value, self.lifted(other)))

    def is_nan(self) -> Flag:
        return Flag(self.builder, self.builder.fcmp_unordered("uno", self.value, self.value))

    def times_plus(self, factor: Real | float, addend: Real | float) -> Real:
        """Return ``self * factor + addend``, rounded once."""
        return Real(self.builder, self.builder.fma(self.value, self.lifted(factor), self.lifted(addend)))

    def times_power_of_two(self, power: Int) -> Real:
        """Return ``self * 2**power``, rounded once; fast where an instruction does it (`Host.has_scaling`)."""
        name = f"llvm.ldexp.{type_suffix(self.type)}.{type_suffix(power.type)}"
        return Real(self.builder, call_named(self.builder, name, self.type, (self.value, power.value)))

    def signed_as(self, other: Real) -> Real:
        """Return this number, which is not negative, with the sign of the other.

        By the bits: LLVM rounds the other operand of a `copysign` to half as well, and an f64 by a call of its runtime.
        """
        sign = 1 << (self.width - 1)
        return (self.pattern() | (other.pattern() & sign)).as_real()

    def at_most(self, bound: float) -> Real:
        """Return the smaller of both; a NaN stays."""
        return (self > bound).choose(self.of(bound), self)

    def at_least(self, bound: float) -> Real:
        """Return the larger of both; a NaN stays."""
        return (self < bound).choose(self.of(bound), self)

    def of(self, number: float) -> Real:
        """Return a constant of this register's type."""
        return Real(self.builder, self.constant(number))

    def pattern(self) -> Int:
        """Return the bits, as an integer of the same width."""
        return Int(self.builder, self.builder.bitcast(self.value, ir.IntType(self.width)))

    def is_negative(self) -> Flag:
        """Return whether the sign bit is set, also for zero and NaN."""
        return self.pattern() < 0

    def double(self) -> Real:
        """Return the same number as an f64."""
        return self if self.type == DOUBLE else Real(self.builder, self.builder.fpext(self.value, DOUBLE))

    def single(self) -> Real:
        """Return the nearest f32."""
        return self if self.type == FLOAT else Real(self.builder, self.builder.fptrunc(self.value, FLOAT))

    def to_integer(self, type: ir.Type, signed: bool = True) -> Int:
        """Return the integral value, which must fit."""
        convert = self.builder.fptosi if signed else self.builder.fptoui
        return Int(self.builder, convert(self.value, type))
