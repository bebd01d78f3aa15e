"""Conversions of f16 for processors without an instruction for them: the functions that LLVM calls there.

Knows: their names and types, which compilers agree on, in LLVM's language. Both do what instructions do: round once to
nearest even, keep subnormal numbers, and make NaN quiet. Does not know: the formats of other narrow floats
(`cpu.emit.narrow`).
"""

from __future__ import annotations

CONVERSIONS = """
define float @__extendhfsf2(half %number) {
  %short = bitcast half %number to i16
  %bits = zext i16 %short to i32
  %magnitude = and i32 %bits, 32767
  %placed = shl i32 %magnitude, 13
  %scaled = bitcast i32 %placed to float
  %finite = fmul float %scaled, 0x46F0000000000000
  %finite.bits = bitcast float %finite to i32
  %is.special = icmp uge i32 %magnitude, 31744
  %special = or i32 %placed, 2139095040
  %is.nan = icmp ugt i32 %magnitude, 31744
  %quiet = select i1 %is.nan, i32 4194304, i32 0
  %special.bits = or i32 %special, %quiet
  %unsigned = select i1 %is.special, i32 %special.bits, i32 %finite.bits
  %negative = and i32 %bits, 32768
  %sign = shl i32 %negative, 16
  %result = or i32 %unsigned, %sign
  %float = bitcast i32 %result to float
  ret float %float
}

define half @__truncsfhf2(float %number) {
  %bits = bitcast float %number to i32
  %magnitude = and i32 %bits, 2147483647
  %last = lshr i32 %magnitude, 13
  %odd = and i32 %last, 1
  %carry = add i32 %odd, 4095
  %rounded = add i32 %magnitude, %carry
  %shifted = lshr i32 %rounded, 13
  %normal = sub i32 %shifted, 114688
  %small = bitcast i32 %magnitude to float
  %anchored = fadd float %small, 0.5
  %anchored.bits = bitcast float %anchored to i32
  %subnormal = sub i32 %anchored.bits, 1056964608
  %is.small = icmp ult i32 %magnitude, 947912704
  %finite = select i1 %is.small, i32 %subnormal, i32 %normal
  %is.large = icmp uge i32 %magnitude, 1199566848
  %bounded = select i1 %is.large, i32 31744, i32 %finite
  %is.nan = icmp ugt i32 %magnitude, 2139095040
  %payload = and i32 %last, 1023
  %nan = or i32 %payload, 32256
  %unsigned = select i1 %is.nan, i32 %nan, i32 %bounded
  %high = lshr i32 %bits, 16
  %sign = and i32 %high, 32768
  %result = or i32 %unsigned, %sign
  %short = trunc i32 %result to i16
  %half = bitcast i16 %short to half
  ret half %half
}
"""
