"""Products of a matrix product: how one *step* along K adds to a vector of sums.

It selects the instruction of a step, and the order of elements in panels that the instruction needs. A step takes a
group of 1, 2 or 4 neighbours along K, together one *word* of 32 or 64 bits.

A dot product of bf16 pairs, of vectors or of a matrix unit, reads subnormal numbers as zero and sums in two roundings,
which is open (spec: matmul#mmaf).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.algebra import call_intrinsic, call_named
from tileir.cpu.emit.elements import DOUBLE, FLOAT, I8, I16, I32, I64, BFloat
from tileir.cpu.llvm.engine import Host
from tileir.ir import types as t
from tileir.ir.attributes import Signedness

SIDE = 16
"""Rows of a register of a matrix unit, and its words in a row."""

Step = Callable[[ir.IRBuilder, ir.Value, ir.Value, ir.Value], ir.Value]
"""(builder, words of the left factor, words of the right factor, sums) -> sums."""

IN_BF16 = (t.F8E4M3FN, t.F8E5M2)
"""Narrower floats whose every number is one of bf16."""
EXACT_DEPTH = 1 << 15
"""The number of products of 8-bit numbers, of any signedness, that cannot overflow a sum in i32."""


@dataclass(frozen=True)
class Product:
    """`element`: what panels hold; `group` of them make a `word`; `total` is the type of one sum.

    `flip_left`: a step takes words of the left factor whose sign bits are inverted, to be made up for by the start of
    the sums; the matrix unit takes them as they are.
    """

    element: t.ElementType
    group: int
    word: ir.Type
    total: ir.Type
    step: Step
    flip_left: bool = False
    square: str = ""
    """The instruction of a matrix unit that makes 16 steps of 16 x 16 sums; empty if there is none."""

    @property
    def transposed_square(self) -> str:
        """Return the instruction for the transposed product, whose factors change sides."""
        return _TRANSPOSED_SQUARES.get(self.square, self.square)

    def flips(self, uses_matrix_unit: bool) -> bool:
        """Return whether the left factor's sign bits are inverted in its panel."""
        return self.flip_left and not uses_matrix_unit


def float_product(inputs: t.ElementType, sums: t.ElementType, depth: int, lanes: int, host: Host) -> Product:
    """Return the product of floats of type `inputs` over `depth` values of K, in vectors of `lanes` words."""
    multiply_add = _fused if host.has_fma else _rounded_twice
    if sums is t.F64:
        return Product(t.F64, 1, DOUBLE, DOUBLE, multiply_add)
    fits = inputs is t.BF16 or (inputs in IN_BF16 and host.has_matrix_unit)
    if fits and host.has_bf16_dot and depth >= 2 and lanes >= 4:
        step = _neon_bf16_pairs if host.is_arm else _bf16_pairs
        return Product(t.BF16, 2, I32, FLOAT, step, square="tdpbf16ps" if host.has_matrix_unit else "")
    return Product(t.F32, 1, FLOAT, FLOAT, multiply_add)


def integer_product(lhs: Signedness, rhs: Signedness, depth: int, lanes: int, host: Host) -> Product:
    """Return the exact product of 8-bit integers over `depth` values of K."""
    if depth < 2 or depth > EXACT_DEPTH:
        return Product(t.I64, 1, I64, I64, _integers)
    if depth < 4 or lanes < 4 or not host.has_int8_dot:
        return Product(t.I16, 2, I32, I32, _x86_i16_pairs if host.is_x86 else _i16_pairs)
    if host.is_arm:
        return Product(t.I8, 4, I32, I32, _NEON_BYTES[lhs, rhs])
    step = _bytes if rhs is Signedness.SIGNED else _bytes_swapped
    square = _SQUARES_OF_BYTES[lhs, rhs] if host.has_matrix_unit else ""
    return Product(t.I8, 4, I32, I32, step, flip_left=lhs is rhs, square=square)


def _fused(builder: ir.IRBuilder, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
    return call_intrinsic(builder, "llvm.fma", sums.type, [left, right, sums])


def _rounded_twice(builder: ir.IRBuilder, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
    return builder.fadd(builder.fmul(left, right), sums)


def _bf16_pairs(builder: ir.IRBuilder, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
    pairs = ir.VectorType(BFloat(), 2 * sums.type.count)
    operands = [sums, builder.bitcast(left, pairs), builder.bitcast(right, pairs)]
    return call_named(builder, f"llvm.x86.avx512bf16.dpbf16ps.{32 * sums.type.count}", sums.type, operands)


def _neon_bf16_pairs(builder: ir.IRBuilder, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
    pairs = ir.VectorType(BFloat(), 2 * sums.type.count)
    factors = [builder.bitcast(one, pairs) for one in (left, right)]
    return call_named(builder, "llvm.aarch64.neon.bfdot.v4f32.v8bf16", sums.type, [sums, *factors])


def _neon_dot(instruction: str, swapped: bool = False) -> Step:
    """Return four products of bytes each; `swapped`: the instruction takes the right factor first."""

    def step(builder: ir.IRBuilder, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
        quads = ir.VectorType(I8, 4 * sums.type.count)
        factors = [builder.bitcast(one, quads) for one in ((right, left) if swapped else (left, right))]
        return call_named(builder, f"llvm.aarch64.neon.{instruction}.v4i32.v16i8", sums.type, [sums, *factors])

    return step


_NEON_BYTES = {
    (Signedness.SIGNED, Signedness.SIGNED): _neon_dot("sdot"),
    (Signedness.UNSIGNED, Signedness.UNSIGNED): _neon_dot("udot"),
    (Signedness.UNSIGNED, Signedness.SIGNED): _neon_dot("usdot"),
    (Signedness.SIGNED, Signedness.UNSIGNED): _neon_dot("usdot", swapped=True),
}
"""Instructions by the signedness of the factors; the mixed one takes the unsigned factor first."""


_SQUARES_OF_BYTES = {
    (Signedness.SIGNED, Signedness.SIGNED): "tdpbssd",
    (Signedness.UNSIGNED, Signedness.UNSIGNED): "tdpbuud",
    (Signedness.UNSIGNED, Signedness.SIGNED): "tdpbusd",
    (Signedness.SIGNED, Signedness.UNSIGNED): "tdpbsud",
}
"""Instructions of a matrix unit by the signedness of the factors."""


_TRANSPOSED_SQUARES = {"tdpbusd": "tdpbsud", "tdpbsud": "tdpbusd"}


def _bytes(builder: ir.IRBuilder, unsigned: ir.Value, signed: ir.Value, sums: ir.Value) -> ir.Value:
    """Return four products of an unsigned and a signed byte each."""
    quads = ir.VectorType(I8, 4 * sums.type.count)
    operands = [sums, builder.bitcast(unsigned, quads), builder.bitcast(signed, quads)]
    return call_named(builder, f"llvm.x86.avx512.vpdpbusd.{32 * sums.type.count}", sums.type, operands)


def _bytes_swapped(builder: ir.IRBuilder, signed: ir.Value, unsigned: ir.Value, sums: ir.Value) -> ir.Value:
    return _bytes(builder, unsigned, signed, sums)


def _i16_pairs(builder: ir.IRBuilder, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
    """Return two products of 16-bit numbers each."""
    low, high = (builder.mul(_half(builder, left, first), _half(builder, right, first)) for first in (0, 1))
    return builder.add(sums, builder.add(low, high))


def _x86_i16_pairs(builder: ir.IRBuilder, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
    """Add products of pairs with one instruction if the vector has it."""
    name = _PAIRS_OF_I16.get(sums.type.count)
    if name is None:
        return _i16_pairs(builder, left, right, sums)
    halves = ir.VectorType(I16, 2 * sums.type.count)
    factors = [builder.bitcast(one, halves) for one in (left, right)]
    return builder.add(sums, call_named(builder, name, sums.type, factors))


_PAIRS_OF_I16 = {4: "llvm.x86.sse2.pmadd.wd", 8: "llvm.x86.avx2.pmadd.wd"}
"""Instructions by the number of sums."""


def _half(builder: ir.IRBuilder, words: ir.Value, first: int) -> ir.Value:
    """Return the low (0) or high (1) 16 bits of each word, sign-extended."""
    count = words.type.count
    halves = builder.bitcast(words, ir.VectorType(I16, 2 * count))
    mask = ir.Constant(ir.VectorType(I32, count), list(range(first, 2 * count, 2)))
    chosen = builder.shuffle_vector(halves, ir.Constant(halves.type, ir.Undefined), mask)
    return builder.sext(chosen, words.type)


def _integers(builder: ir.IRBuilder, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
    return builder.add(sums, builder.mul(left, right))
