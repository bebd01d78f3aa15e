"""Rewrites of single operations that are patterns, chapter by chapter.

All but those that fuse are exact to the bit, the sign of zeros and what a NaN looks like included: `mulf` by 1 would
make a signalling NaN quiet.
"""

from __future__ import annotations

from tileir.passes.pattern import PatternRow
from tileir.passes.rebuilding import Exactness


def _exact(name: str, pattern: str, becomes: str, why: str, when: str = "") -> PatternRow:
    return PatternRow(name, "canonicalise", pattern, becomes, Exactness.EXACT, why, when)


_COMMUTATIVE = {"addi": "overflow=O", "muli": "overflow=O", "andi": "", "ori": "", "xori": "", "mulhii": ""}
_COMMUTATIVE |= {"maxi": "signedness=S", "mini": "signedness=S"}


def _swapped(op: str, attribute: str) -> PatternRow:
    tail = f", {attribute}" if attribute else ""
    return _exact(
        f"{op}-constant-right", f"{op}(C, x{tail})", f"{op}(x, C{tail})",
        "the order of the operands does not matter, and other rows look for constants on the right", "variable(x)",
    )  # fmt: skip


_INTEGER = (
    *(_swapped(op, attribute) for op, attribute in _COMMUTATIVE.items()),
    _exact("addi-zero", "addi(x, 0)", "x", "0 is neutral for sums"),
    _exact("subi-zero", "subi(x, 0)", "x", "taking 0 away changes nothing"),
    _exact("subi-itself", "subi(x, x)", "0", "a number less itself is 0"),
    _exact("subi-from-zero", "subi(0, x)", "negi(x)", "0 less a number is its negation modulo 2^w"),
    _exact("muli-one", "muli(x, 1)", "x", "1 is neutral for products"),
    _exact("muli-zero", "muli(x, 0)", "0", "a product with 0 is 0"),
    _exact("mulhii-zero", "mulhii(x, 0)", "0", "the upper half of a product with 0 is 0"),
    _exact("mulhii-one", "mulhii(x, 1)", "0", "the upper half of a product with 1 is 0"),
    _exact("addi-addi", "addi(addi(x, C), D)", "addi(x, addi(C, D))", "sums modulo 2^w are associative"),
    _exact("muli-muli", "muli(muli(x, C), D)", "muli(x, muli(C, D))", "products modulo 2^w are associative"),
    _exact("andi-andi", "andi(andi(x, C), D)", "andi(x, andi(C, D))", "bitwise and is associative"),
    _exact("ori-ori", "ori(ori(x, C), D)", "ori(x, ori(C, D))", "bitwise or is associative"),
    _exact("xori-xori", "xori(xori(x, C), D)", "xori(x, xori(C, D))", "exclusive or is associative"),
    _exact("addi-negi", "addi(x, negi(y))", "subi(x, y)", "adding a negation is subtracting, modulo 2^w"),
    _exact("subi-negi", "subi(x, negi(y))", "addi(x, y)", "subtracting a negation is adding, modulo 2^w"),
    _exact("addi-subi", "addi(subi(x, y), y)", "x", "what was taken away is added again, modulo 2^w"),
    _exact("subi-addi", "subi(addi(x, y), y)", "x", "what was added is taken away again, modulo 2^w"),
    _exact("negi-negi", "negi(negi(x))", "x", "negation modulo 2^w is its own inverse"),
    _exact("absi-absi", "absi(absi(x))", "absi(x)", "an absolute value stays as it is, the smallest integer included"),
    _exact("absi-negi", "absi(negi(x))", "absi(x)", "a number and its negation have one absolute value"),
    _exact("andi-itself", "andi(x, x)", "x", "bitwise and of equal operands"),
    _exact("andi-zero", "andi(x, 0)", "0", "no bit of 0 is set"),
    _exact("andi-ones", "andi(x, -1)", "x", "all bits of -1 are set"),
    _exact("ori-itself", "ori(x, x)", "x", "bitwise or of equal operands"),
    _exact("ori-zero", "ori(x, 0)", "x", "no bit of 0 is set"),
    _exact("ori-ones", "ori(x, -1)", "-1", "all bits of -1 are set"),
    _exact("xori-itself", "xori(x, x)", "0", "equal bits differ nowhere"),
    _exact("xori-zero", "xori(x, 0)", "x", "no bit of 0 is set"),
    _exact("andi-ori", "andi(x, ori(x, y))", "x", "absorption"),
    _exact("ori-andi", "ori(x, andi(x, y))", "x", "absorption"),
    _exact("shli-zero", "shli(x, 0)", "x", "a shift by 0 moves nothing"),
    _exact("shri-zero", "shri(x, 0)", "x", "a shift by 0 moves nothing"),
    _exact("shli-of-zero", "shli(0, x)", "0", "0 has no bits to move, also by the width or more"),
    _exact("shri-of-zero", "shri(0, x)", "0", "0 has no bits to move, also by the width or more"),
    _exact("maxi-itself", "maxi(x, x)", "x", "the larger of equal numbers"),
    _exact("mini-itself", "mini(x, x)", "x", "the smaller of equal numbers"),
    _exact("divi-one", "divi(x, 1)", "x", "the quotient by 1 is exact, in every rounding"),
    _exact("remi-one", "remi(x, 1)", "0", "a division by 1 leaves nothing"),
    _exact("cmpi-itself", "cmpi(x, x, comparison_predicate=P)", "reflexive(P)", "a number is equal to itself"),
    _exact(
        "cmpi-constant-right", "cmpi(C, x, comparison_predicate=P, signedness=S)",
        "cmpi(x, C, comparison_predicate=mirrored(P), signedness=S)",
        "the mirrored comparison of swapped operands, and other rows look for constants on the right", "variable(x)",
    ),
    _exact(
        "not-cmpi", "xori(cmpi(x, y, comparison_predicate=P, signedness=S), 1)",
        "cmpi(x, y, comparison_predicate=negated(P), signedness=S)", "integers are totally ordered",
    ),
    _exact(
        "cmpi-below-zero", "cmpi(x, 0, comparison_predicate=less_than, signedness=unsigned)", "0",
        "no unsigned number is less than 0",
    ),
    _exact(
        "cmpi-from-zero", "cmpi(x, 0, comparison_predicate=greater_than_or_equal, signedness=unsigned)", "1",
        "every unsigned number is at least 0",
    ),
    _exact(
        "cmpi-equal-true", "cmpi(x, 1, comparison_predicate=equal)", "x", "an i1 is equal to 1 where it is 1",
        "one_bit(x)",
    ),
)  # fmt: skip


_FLOATING = (
    _exact("negf-negf", "negf(negf(x))", "x", "the sign is flipped twice"),
    _exact("absf-absf", "absf(absf(x))", "absf(x)", "the sign is clear already"),
    _exact("absf-negf", "absf(negf(x))", "absf(x)", "the sign is cleared in any case"),
    _exact("floor-floor", "floor(floor(x))", "floor(x)", "an integral value is its own floor"),
    _exact("ceil-ceil", "ceil(ceil(x))", "ceil(x)", "an integral value is its own ceiling"),
    _exact("ceil-floor", "ceil(floor(x))", "floor(x)", "an integral value is its own ceiling"),
    _exact("floor-ceil", "floor(ceil(x))", "ceil(x)", "an integral value is its own floor"),
    _exact(
        "not-cmpf", "xori(cmpf(x, y, comparison_predicate=P, comparison_ordering=O), 1)",
        "cmpf(x, y, comparison_predicate=negated(P), comparison_ordering=other(O))",
        "numbers are totally ordered, and with a NaN the other ordering gives the other answer",
    ),
)  # fmt: skip

_FLAGS = "rounding_mode=R, flush_to_zero=F"


def _fused(name: str, pattern: str, becomes: str) -> PatternRow:
    why = "one rounding instead of two, as the vendor's fuse-fma; both lines are kept in the location"
    return PatternRow(name, "fuse-fma", pattern, becomes, Exactness.ROUNDING, why)


FUSED = (
    _fused("addf-mulf", f"addf(mulf(x, y, {_FLAGS}), z, {_FLAGS})", f"fma(x, y, z, {_FLAGS})"),
    _fused("addf-mulf-right", f"addf(z, mulf(x, y, {_FLAGS}), {_FLAGS})", f"fma(x, y, z, {_FLAGS})"),
    _fused("subf-mulf", f"subf(mulf(x, y, {_FLAGS}), z, {_FLAGS})", f"fma(x, y, negf(z), {_FLAGS})"),
)


_CONVERSION = (
    _exact("exti-exti", "exti(exti(x, signedness=S), signedness=S)", "exti(x, signedness=S)", "two extensions are one"),
    _exact(
        "exti-exti-unsigned", "exti(exti(x, signedness=unsigned), signedness=signed)", "exti(x, signedness=unsigned)",
        "a number extended by zeros is not negative",
    ),
    _exact("trunci-trunci", "trunci(trunci(x))", "trunci(x)", "two truncations are one"),
    _exact("trunci-exti", "trunci(exti(x))", "x", "the bits that an extension adds are dropped again"),
    _exact(
        "trunci-exti-narrower", "trunci(exti(x))", "trunci(x)", "the bits that an extension adds are dropped again",
        "narrower(result, x)",
    ),
    _exact(
        "trunci-exti-wider", "trunci(exti(x, signedness=S))", "exti(x, signedness=S)",
        "some of the bits that an extension adds are dropped again", "wider(result, x)",
    ),
    _exact("bitcast-itself", "bitcast(x)", "x", "the type stays as it is"),
    _exact("bitcast-bitcast", "bitcast(bitcast(x))", "bitcast(x)", "the bits are read once more"),
    _exact("ptr-to-ptr-itself", "ptr_to_ptr(x)", "x", "the type stays as it is"),
    _exact("ptr-to-ptr-twice", "ptr_to_ptr(ptr_to_ptr(x))", "ptr_to_ptr(x)", "the address stays as it is"),
    _exact("ptr-to-int-to-ptr", "ptr_to_int(int_to_ptr(x))", "x", "an address is a number of 64 bits"),
    _exact("ptr-to-int-cast", "ptr_to_int(ptr_to_ptr(x))", "ptr_to_int(x)", "the address stays as it is"),
)  # fmt: skip


_CORE = (
    _exact("select-same", "select(c, x, x)", "x", "both values are the same one"),
    _exact("select-true", "select(1, x, y)", "x", "the condition holds everywhere"),
    _exact("select-false", "select(0, x, y)", "y", "the condition holds nowhere"),
    _exact("select-condition", "select(c, 1, 0)", "c", "an i1 is 1 where it is 1"),
    _exact("select-not", "select(c, 0, 1)", "xori(c, 1)", "an i1 is 0 where it is 1"),
    _exact("select-inverted", "select(xori(p, 1), x, y)", "select(p, y, x)", "where one does not hold the other does"),
    _exact(
        "select-equal", "select(cmpi(x, y, comparison_predicate=equal), x, y)", "y",
        "where they are equal it does not matter which",
    ),
    _exact(
        "select-equal-swapped", "select(cmpi(x, y, comparison_predicate=equal), y, x)", "x",
        "where they are equal it does not matter which",
    ),
    _exact(
        "select-not-equal", "select(cmpi(x, y, comparison_predicate=not_equal), x, y)", "x",
        "where they are equal it does not matter which",
    ),
    _exact(
        "select-not-equal-swapped", "select(cmpi(x, y, comparison_predicate=not_equal), y, x)", "y",
        "where they are equal it does not matter which",
    ),
    _exact("select-select-true", "select(c, select(c, x, y), z)", "select(c, x, z)", "the inner condition holds"),
    _exact("select-select-false", "select(c, x, select(c, y, z))", "select(c, x, z)", "the inner one does not hold"),
    _exact(
        "select-extended", "select(c, 1, 0)", "exti(c, signedness=unsigned)", "1 where the condition is 1, else 0",
        "wide_integer(result)",
    ),
    _exact(
        "select-not-extended", "select(c, 0, 1)", "exti(xori(c, 1), signedness=unsigned)",
        "0 where the condition is 1, else 1", "wide_integer(result)",
    ),
    _exact("offset-zero", "offset(x, 0)", "x", "nothing is moved"),
    _exact(
        "offset-offset", "offset(offset(x, C), D)", "offset(x, signed_sum(C, D))",
        "two moves are one if their sum fits the type of the offsets", "fits_sum(C, D)",
    ),
)  # fmt: skip


_SHAPES = (
    _exact("reshape-itself", "reshape(x)", "x", "the shape stays as it is"),
    _exact("reshape-reshape", "reshape(reshape(x))", "reshape(x)", "row-major order is kept in between"),
    _exact("broadcast-itself", "broadcast(x)", "x", "the shape stays as it is"),
    _exact("broadcast-broadcast", "broadcast(broadcast(x))", "broadcast(x)", "elements are repeated in any case"),
    _exact("permute-itself", "permute(x, permutation=P)", "x", "every dimension stays where it is", "in_order(P)"),
    _exact(
        "permute-permute", "permute(permute(x, permutation=P), permutation=Q)",
        "permute(x, permutation=composed(P, Q))", "two permutations are one",
    ),
)  # fmt: skip

PATTERNS: tuple[PatternRow, ...] = (*_INTEGER, *_FLOATING, *_CONVERSION, *_CORE, *_SHAPES)
