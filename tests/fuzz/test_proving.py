"""Straight-line programs that are equal for all inputs are proved equal, and no others."""

from __future__ import annotations

import pytest

import tileir
from tests.cli.test_equiv_miscompiles import HEAD, PAIRS, TAIL
from tests.golden.arguments import programs

pytest.importorskip("z3", reason="needs the package z3-solver")
from tileir.fuzz.proving import proved_equal

N, B = "tile<64xi32>", "tile<64xi1>"


def proved(first: str, second: str) -> bool:
    one, two = (next(iter(tileir.parse(text).kernels.values())) for text in (first, second))
    return proved_equal(one.entry, two.entry)


def body(lines: str, element: str = "i32") -> str:
    return HEAD.format(e=element) + lines + TAIL.format(e=element)


def constant(name: str, value: int) -> str:
    return f"%{name} = constant <i32: {value}> : {N}\n"


EQUAL = {
    "a product and a shift": (
        constant("c", 8) + f"%v = muli %x, %c : {N}",
        constant("c", 3) + f"%v = shli %x, %c : {N}",
    ),
    "an average without overflow": (
        f"%a = andi %x, %y : {N}\n%o = xori %x, %y : {N}\n"
        + constant("c", 1)
        + f"%h = shri %o, %c signed : {N}\n%v = addi %a, %h : {N}",
        f"%a = andi %x, %y : {N}\n%o = ori %x, %y : {N}\n%d = subi %o, %a : {N}\n"
        + constant("c", 1)
        + f"%h = shri %d, %c signed : {N}\n%v = addi %h, %a : {N}",
    ),
    "a negated comparison": (
        f"%c = cmpi less_than %x, %y, signed : {N} -> {B}\n%v = select %c, %x, %y : {B}, {N}",
        f"%v = mini %x, %y signed : {N}",
    ),
    "a division of what is not negative": (
        constant("m", 65535) + constant("c", 4) + f"%n = andi %x, %m : {N}\n%v = divi %n, %c signed : {N}",
        constant("m", 65535) + constant("c", 2) + f"%n = andi %x, %m : {N}\n%v = shri %n, %c unsigned : {N}",
    ),
    "a promise dropped": (f"%v = addi %x, %y overflow<no_signed_wrap> : {N}", f"%v = addi %x, %y : {N}"),
    "a product by five": (
        constant("c", 5) + f"%v = muli %x, %c : {N}",
        constant("c", 2) + f"%s = shli %x, %c : {N}\n%v = addi %s, %x : {N}",
    ),
    "two changes of shape": (
        "%w = reshape %x : tile<64xi32> -> tile<8x8xi32>\n%u = permute %w [1, 0] : tile<8x8xi32> -> tile<8x8xi32>\n"
        "%s = permute %u [1, 0] : tile<8x8xi32> -> tile<8x8xi32>\n"
        "%v = reshape %s : tile<8x8xi32> -> tile<64xi32>",
        constant("c", 0) + f"%v = addi %x, %c : {N}",
    ),
}
DIFFERENT = {
    "a promise added": (f"%v = addi %x, %y : {N}", f"%v = addi %x, %y overflow<no_signed_wrap> : {N}"),
    "a division added": (
        f"%v = andi %x, %y : {N}",
        f"%d = divi %x, %y unsigned : {N}\n%v = andi %x, %y : {N}",
    ),
    "a shift by too much": (
        constant("c", 0) + f"%v = andi %x, %c : {N}",
        constant("c", 32) + f"%v = shli %x, %c : {N}",
    ),
    "places exchanged": (
        f"%v = addi %x, %lanes : {N}",
        "%w = reshape %x : tile<64xi32> -> tile<8x8xi32>\n%u = permute %w [1, 0] : tile<8x8xi32> -> tile<8x8xi32>\n"
        f"%s = reshape %u : tile<8x8xi32> -> tile<64xi32>\n%v = addi %s, %lanes : {N}",
    ),
    "one pair of numbers": (
        f"%v = xori %x, %y : {N}",
        constant("m", 123456789)
        + f"%e = cmpi equal %x, %m, signed : {N} -> {B}\n%n = xori %x, %y : {N}\n%v = select %e, %y, %n : {B}, {N}",
    ),
}


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL.keys())
def test_equal_programs_are_proved_equal(pair: tuple[str, str]) -> None:
    assert proved(*map(body, pair))


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_different_programs_are_not(pair: tuple[str, str]) -> None:
    assert not proved(*map(body, pair))


@pytest.mark.parametrize(("element", "name", "pair"), PAIRS, ids=[name for _, name, _ in PAIRS])
def test_a_textbook_miscompile_is_not(element: str, name: str, pair: tuple[str, str]) -> None:
    first, second = (body(lines, element) for lines in pair)
    assert not proved(first, second) and not proved(second, first)


@pytest.mark.parametrize("change", [("%pa :", "%qa :"), ("weak %pa", "relaxed device %pa"), (" token=%t0", "")])
def test_another_access_is_not(change: tuple[str, str]) -> None:
    text = body(f"%v = addi %x, %y : {N}")
    assert proved(text, text)
    assert not proved(text, text.replace(*change))


def test_what_optimising_leaves_of_straight_line_programs_is_proved() -> None:
    tried = held = 0
    for _, text in programs():
        module = tileir.parse(text)
        optimised = tileir.optimize(module, level=2)
        for name, kernel in module.kernels.items():
            if all(not op.regions for op in kernel.entry.body.ops):
                tried += 1
                held += proved_equal(kernel.entry, optimised.kernels[name].entry)
    assert held > tried // 2
