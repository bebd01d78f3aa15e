"""Rows of integer and bitwise operations and of division (spec: integer#semantics, spec: division#semantics)."""

from __future__ import annotations

from tileir.passes.pattern import PatternRow
from tileir.passes.row import Exactness


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


ROWS = (
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
