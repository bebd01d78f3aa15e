"""NVIDIA: PTX instructions and functions of ``libdevice`` that Triton has no operation for."""

from __future__ import annotations

from collections.abc import Callable

from tileir.gpu.ttir.ir.builder import VendorInstructions
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


class NvidiaInstructions(VendorInstructions):
    """See `ir.builder.VendorInstructions`."""

    library_prefix = "__nv_"

    def library(self, name: str, *operands: TtirValue) -> TtirValue:
        return self.build.library(f"{self.library_prefix}{name}{'f' * (operands[0].type.element == 'f32')}", *operands)

    def rounded(self, name: str, mode: Rounding, flush: bool, *operands: TtirValue) -> TtirValue:
        return self._run(f"{name}.{MODES[mode]}{'.ftz' * flush}.{operands[0].type.element}", *operands)

    def approximate(self, name: str, flush: bool, *operands: TtirValue) -> TtirValue:
        return self._run(f"{name}{'.ftz' * flush}.f32", *operands)

    def extreme(self, name: str, propagate_nan: bool, *operands: TtirValue) -> TtirValue:
        return self._run(f"{name}.ftz{'.NaN' * propagate_nan}.f32", *operands)

    def reciprocal(self, number: TtirValue) -> TtirValue:
        """Refine an approximation within 2^-19 by two steps of Newton's method; those of 0 and infinities are exact."""
        build = self.build
        rough = found = self._run("rcp.approx.ftz.f64", number)
        one, minus_one = (build.float(number.type, value) for value in (1.0, -1.0))
        negated = build.op("arith.mulf", number, minus_one)
        for _ in range(2):
            found = build.op("math.fma", found, build.op("math.fma", negated, found, one), found)
        return build.select(build.compare_float("ord", found, found), found, rough)

    def truncated(self, number: TtirValue, bits: int, signed: bool) -> TtirValue:
        """Truncate: PTX saturates, and makes 0 of NaN, but only where neither side has 64 bits."""
        source, target = number.type.element, f"i{bits}"
        text = f"cvt.rzi.{'s' if signed else 'u'}{bits}.{source} $0, $1;"
        constraints = f"={_REGISTERS[target]},{_REGISTERS[source]}"
        whole = Word(self.build, self.build.asm(text, constraints, [number], number.type.of(target)))
        if bits == 32 and source == "f32":
            return whole.value
        return Word(self.build, self.build.compare_float("ord", number, number)).choose(whole, 0).value

    def odd_f32(self, source: TtirValue, signed: bool) -> TtirValue:
        register, integer = _REGISTERS[source.type.element], f"{'s' if signed else 'u'}{source.type.bits}"
        number = self.build.asm(f"cvt.rz.f32.{integer} $0, $1;", f"=f,{register}", [source], source.type.of("f32"))
        back = self.build.asm(f"cvt.rzi.{integer}.f32 $0, $1;", f"={register},f", [number], source.type)
        inexact = Word(self.build, source).differs(Word(self.build, back))
        return (word_of(self.build, number) | inexact.resized("i32")).as_float("f32")

    def directed(self, number: TtirValue, element: str, mode: Rounding) -> TtirValue:
        source = number.type.element
        text = f"cvt.{MODES[mode]}.{element}.{source} $0, $1;"
        return self.build.asm(text, f"={_REGISTERS[element]},{_REGISTERS[source]}", [number], number.type.of(element))

    def nearest_tf32(self, number: TtirValue) -> TtirValue:
        return self.build.asm("cvt.rn.tf32.f32 $0, $1;", "=r,f", [number], number.type.of("i32"))

    def opaque(self, value: TtirValue) -> TtirValue:
        return self._moved(value, pure=False)

    def unforeseen(self, value: TtirValue) -> TtirValue:
        return self._moved(value, pure=True)

    def fence_aliases(self, word: Callable[[], TtirValue]) -> None:
        self.build.asm("fence.proxy.alias; mov.u32 $0, 0;", "=r", [], I32, pure=False)

    def _run(self, instruction: str, *operands: TtirValue) -> TtirValue:
        """Return an instruction whose operands and result are all f32, or all f64."""
        type = operands[0].type
        names = ", ".join(f"${place}" for place in range(len(operands) + 1))
        constraints = "=" + ",".join([_REGISTERS[type.element]] * (len(operands) + 1))
        return self.build.asm(f"{instruction} {names};", constraints, operands, type)

    def _moved(self, value: TtirValue, pure: bool) -> TtirValue:
        letter = _REGISTERS[value.type.element]
        text = f"mov.b{value.type.bits} $0, $1;"
        return self.build.asm(text, f"={letter},{letter}", [value], value.type, pure=pure)
