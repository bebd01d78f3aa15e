"""The largest or smallest of many floats, in one instruction for each.

    found = x > found ? x : found         a NaN x is left out, as `found` never is one

That finds the number, in whatever order. Two things it does not see: of zeros alone, whether one of them has the sign
that counts as larger (smaller), and of what it begins with, whether all the others were NaN. Both show in the result,
and another look at the floats, which is rarely needed, decides.

Knows: these comparisons. Does not know: where the floats come from (`cpu.rules.reduction`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from llvmlite import ir


@dataclass(frozen=True)
class Extreme:
    """The largest of floats of an LLVM type, or the smallest."""

    type: ir.Type
    largest: bool

    @property
    def start(self) -> ir.Value:
        """The float that no number is less (more) extreme than."""
        return ir.Constant(self.type, float("-inf" if self.largest else "inf"))

    def joined(self, builder: ir.IRBuilder, numbers: Iterable[ir.Value]) -> ir.Value:
        """The most extreme of the numbers among some floats; `start` without any. The sign of a zero is open."""
        found = self.start
        for number in numbers:
            further = builder.fcmp_ordered(">" if self.largest else "<", number, found)
            found = builder.select(further, number, found)
        return found

    def is_open(self, builder: ir.IRBuilder, found: ir.Value) -> ir.Value:
        """An i1: whether `settled` has to decide what the extreme is."""
        return builder.or_(self._is_zero(builder, found), builder.fcmp_ordered("==", found, self.start))

    def wanted(self, builder: ir.IRBuilder, found: ir.Value) -> ir.Value:
        """The extreme, if it is among the floats bit for bit; `found` is open."""
        return builder.select(self._is_zero(builder, found), self._zero(self.largest), self.start)

    def settled(self, builder: ir.IRBuilder, found: ir.Value, among: ir.Value) -> ir.Value:
        """The extreme, given an i1: whether `wanted` is among the floats."""
        other = ir.Constant(self.type, float("nan"))
        instead = builder.select(self._is_zero(builder, found), self._zero(not self.largest), other)
        return builder.select(among, self.wanted(builder, found), instead)

    def same_bits(self, builder: ir.IRBuilder, one: ir.Value, other: ir.Value) -> ir.Value:
        """An i1: whether two floats are equal bit for bit."""
        pattern = ir.IntType(32 if self.type == ir.FloatType() else 64)
        return builder.icmp_unsigned("==", builder.bitcast(one, pattern), builder.bitcast(other, pattern))

    def _is_zero(self, builder: ir.IRBuilder, found: ir.Value) -> ir.Value:
        return builder.fcmp_ordered("==", found, self._zero(True))

    def _zero(self, positive: bool) -> ir.Value:
        return ir.Constant(self.type, 0.0 if positive else -0.0)
