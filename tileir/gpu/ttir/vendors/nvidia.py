"""NVIDIA: PTX instructions and functions of ``libdevice`` that Triton has no operation for."""

from __future__ import annotations

from collections.abc import Callable

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirValue
from tileir.gpu.ttir.lib.words import Word, word_of
from tileir.ir.attributes import Rounding

MODES = {
    Rounding.NEAREST_EVEN: "rn",
    Rounding.ZERO: "rz",
    Rounding.NEGATIVE_INF: "rm",
    Rounding.POSITIVE_INF: "rp",
}
"""The suffixes of PTX."""

_REGISTERS = {"f16": "h", "f32": "f", "f64": "d", "i32": "r", "i64": "l"}


class NvidiaInstructions:
    """See `ir.builder.VendorInstructions`."""

    library_prefix = "__nv_"

    def library(self, build: Builder, name: str, *operands: TtirValue) -> TtirValue:
        return build.library(f"{self.library_prefix}{name}{'f' * (operands[0].type.element == 'f32')}", *operands)

    def rounded(self, build: Builder, name: str, mode: Rounding, flush: bool, *operands: TtirValue) -> TtirValue:
        return _run(build, f"{name}.{MODES[mode]}{'.ftz' * flush}.{operands[0].type.element}", *operands)

    def approximate(self, build: Builder, name: str, flush: bool, *operands: TtirValue) -> TtirValue:
        return _run(build, f"{name}{'.ftz' * flush}.f32", *operands)

    def extreme(self, build: Builder, name: str, propagate_nan: bool, *operands: TtirValue) -> TtirValue:
        return _run(build, f"{name}.ftz{'.NaN' * propagate_nan}.f32", *operands)

    def reciprocal(self, build: Builder, number: TtirValue) -> TtirValue:
        """Refine an approximation within 2^-19 by two steps of Newton's method; those of 0 and infinities are exact."""
        rough = found = _run(build, "rcp.approx.ftz.f64", number)
        one, minus_one = (build.float(number.type, value) for value in (1.0, -1.0))
        negated = build.op("arith.mulf", number, minus_one)
        for _ in range(2):
            found = build.op("math.fma", found, build.op("math.fma", negated, found, one), found)
        return build.select(build.compare_float("ord", found, found), found, rough)

    def truncated(self, build: Builder, number: TtirValue, bits: int, signed: bool) -> TtirValue:
        """Truncate: PTX saturates, and makes 0 of NaN, but only where neither side has 64 bits."""
        source, target = number.type.element, f"i{bits}"
        text = f"cvt.rzi.{'s' if signed else 'u'}{bits}.{source} $0, $1;"
        constraints = f"={_REGISTERS[target]},{_REGISTERS[source]}"
        whole = Word(build, build.asm(text, constraints, [number], number.type.of(target)))
        if bits == 32 and source == "f32":
            return whole.value
        return Word(build, build.compare_float("ord", number, number)).choose(whole, 0).value

    def odd_f32(self, build: Builder, source: TtirValue, signed: bool) -> TtirValue:
        register, integer = _REGISTERS[source.type.element], f"{'s' if signed else 'u'}{source.type.bits}"
        number = build.asm(f"cvt.rz.f32.{integer} $0, $1;", f"=f,{register}", [source], source.type.of("f32"))
        back = build.asm(f"cvt.rzi.{integer}.f32 $0, $1;", f"={register},f", [number], source.type)
        inexact = Word(build, source).differs(Word(build, back))
        return (word_of(build, number) | inexact.resized("i32")).as_float("f32")

    def directed(self, build: Builder, number: TtirValue, element: str, mode: Rounding) -> TtirValue:
        source = number.type.element
        text = f"cvt.{MODES[mode]}.{element}.{source} $0, $1;"
        return build.asm(text, f"={_REGISTERS[element]},{_REGISTERS[source]}", [number], number.type.of(element))

    def nearest_tf32(self, build: Builder, number: TtirValue) -> TtirValue:
        return build.asm("cvt.rn.tf32.f32 $0, $1;", "=r,f", [number], number.type.of("i32"))

    def opaque(self, build: Builder, value: TtirValue) -> TtirValue:
        return _moved(build, value, pure=False)

    def unforeseen(self, build: Builder, value: TtirValue) -> TtirValue:
        return _moved(build, value, pure=True)

    def fence_aliases(self, build: Builder, word: Callable[[], TtirValue]) -> None:
        build.asm("fence.proxy.alias; mov.u32 $0, 0;", "=r", [], I32, pure=False)


def _run(build: Builder, instruction: str, *operands: TtirValue) -> TtirValue:
    """Return an instruction whose operands and result are all f32, or all f64."""
    type = operands[0].type
    names = ", ".join(f"${place}" for place in range(len(operands) + 1))
    constraints = "=" + ",".join([_REGISTERS[type.element]] * (len(operands) + 1))
    return build.asm(f"{instruction} {names};", constraints, operands, type)


def _moved(build: Builder, value: TtirValue, pure: bool) -> TtirValue:
    letter = _REGISTERS[value.type.element]
    text = f"mov.b{value.type.bits} $0, $1;"
    return build.asm(text, f"={letter},{letter}", [value], value.type, pure=pure)
