"""Digests of items tell programs apart that have another generic text, and no others."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

import pytest

from tests.text.golden_programs import GOLDEN, STORABLE, Golden
from tileir.bytecode import decode, encode
from tileir.ir.attributes import (
    ArrayAttr,
    BoolAttr,
    Bounded,
    DenseArray,
    DenseElements,
    DictAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    Overflow,
    Rounding,
    StringAttr,
    TextEnum,
    TypeAttr,
    UnitAttr,
)
from tileir.ir.core import Module, Op, Value
from tileir.ir.digest import items_digest
from tileir.ir.loc import FileLoc
from tileir.ir.types import F32, F64, I1, I32, tile
from tileir.ops.module import Global
from tileir.text.parser import parse
from tileir.text.printer import to_text

TRIES = 40
"""Changes that are tried on each program."""


def digest(module: Module) -> str:
    """Without the module's name, which code does not depend on, in the order of bytecode."""
    return items_digest(sorted(module.items, key=lambda item: not isinstance(item, Global)))


@pytest.mark.parametrize("golden", STORABLE, ids=str)
def test_a_program_has_one_digest_however_it_was_read(golden: Golden) -> None:
    module = golden.parse()
    plain = parse(to_text(module))
    for form in ("module", "generic"):
        assert digest(parse(to_text(plain, form=form))) == digest(plain)
    assert digest(decode(encode(plain, golden.level))) == digest(plain)


@pytest.mark.parametrize("golden", GOLDEN, ids=str)
def test_what_changes_the_generic_text_changes_the_digest(golden: Golden) -> None:
    module = golden.parse()
    texts = {digest(module): to_text(module, form="generic")}
    rng = random.Random(golden.name)
    ops = [op for item in module.items for op in item.walk()]
    values = [value for op in ops for value in op.results]
    for _ in range(TRIES):
        undo = _changed(rng.choice(ops), values, rng)
        same = texts.setdefault(digest(module), to_text(module, form="generic")) == to_text(module, form="generic")
        assert same
        undo()
    assert digest(module) == next(iter(texts)) and len(texts) > TRIES // 4


def _changed(op: Op, values: list[Value], rng: random.Random) -> Callable[[], None]:
    """Change an operation in one of the ways in which that can be done; what undoes it again."""
    return rng.choice(list(_changes(op, values, rng)))()


def _changes(op: Op, values: list[Value], rng: random.Random) -> Iterator[Callable[[], Callable[[], None]]]:
    yield lambda: _assign(op, "discardable", {"note": StringAttr(rng.choice("ab"))})
    for position in range(len(op.operands)):
        operands = (*op.operands[:position], rng.choice(values), *op.operands[position + 1 :])
        yield lambda operands=operands: _assign(op, "operands", operands)
    for value in op.results:
        yield lambda value=value: _assign(value, "type", rng.choice([tile(F32, 2), tile(I32, 2), tile(I32)]))
    for name, value in op.attributes.items():
        yield from [
            lambda name=name, other=other: _assign(op, "attributes", {**op.attributes, name: other})
            for other in _others(value)
        ]
    for region in filter(None, op.regions):
        yield lambda region=region: _assign(region, "ops", rng.sample(region.ops, len(region.ops)))
        yield lambda region=region: _assign(region, "ops", region.ops[:-1])
    if len(op.regions) > 1:
        yield lambda: _assign(op, "regions", op.regions[::-1])


def _others(value: object) -> list[object]:
    """Other values of an attribute like this one."""
    if isinstance(value, TextEnum):
        return [case for case in type(value) if case is not value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, -value - 1]
    if isinstance(value, str):
        return [value + "x"]
    if isinstance(value, DenseElements):
        return [DenseElements(value.type, value.data[:-1] + bytes([value.data[-1] ^ 1]))]
    return [value[::-1]] if isinstance(value, tuple) else []


def _assign(target: object, name: str, value: object) -> Callable[[], None]:
    before = getattr(target, name)
    setattr(target, name, value)
    return lambda: setattr(target, name, before)


def test_names_and_places_do_not_count() -> None:
    one = parse("entry @k(%a: tile<i32>) { %b = addi %a, %a : tile<i32> return }")
    other = parse("// a comment\nentry @k(%x: tile<i32>) {\n  %y = addi %x, %x : tile<i32>\n return }", "other", 7)
    assert digest(one) == digest(other)


def test_objects_of_equal_values_do_not_count() -> None:
    text = "entry @k() {{ %a = constant <i32: {0}> : tile<i32> %b = constant <i32: {1}> : tile<i32> return }}"
    assert digest(parse(text.format(70000, 70000))) == digest(parse(text.format(70000, "0x11170")))
    assert digest(parse(text.format(70000, 70000))) != digest(parse(text.format(70000, 70001)))


DIFFERENT = [
    *(StringAttr(text) for text in ("", "a", "\udc80", "('a',)")),
    *(DictAttr(entries) for entries in ((), (("a", UnitAttr()),), (("b", UnitAttr()),))),
    *(ArrayAttr(items) for items in ((), (StringAttr("a"),), (ArrayAttr(()),), (StringAttr("a"), StringAttr("a")))),
    *(IntegerAttr(value, type) for value in (0, 1) for type in (I1, I32)),
    *(DenseArray(I1, values) for values in ((), (True,), (False,))),
    *(DenseArray(F64, (value,)) for value in (1, 1.0, 0.0, -0.0, math.nan, -math.nan)),
    *(TypeAttr(type) for type in (I32, tile(I32), tile(I32, 2))),
    *(Bounded(*bounds) for bounds in ((None, 1), (1, None), (1, 1))),
    *(EnumAttr(case) for case in (Rounding.ZERO, Rounding.APPROX, Overflow.NO_SIGNED_WRAP)),
    FloatAttr(0, F32),
    FloatAttr(1, F32),
    BoolAttr(True),
    UnitAttr(),
    FileLoc("a", 1, 2),
    FileLoc("a", 1, 3),
]


def test_every_attribute_has_a_digest_of_its_own() -> None:
    module = parse("entry @k() { return }")
    found = {digest(module)}
    for attribute in DIFFERENT:
        module.items[0].discardable = {"note": attribute}
        found.add(digest(module))
    module.items[0].discardable = {"remark": UnitAttr()}
    assert len(found | {digest(module)}) == len(DIFFERENT) + 2
