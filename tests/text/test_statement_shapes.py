"""Statements like an earlier one are found by their tokens; that must not change what is read or reported."""

from __future__ import annotations

import random
import re

import pytest
from golden_programs import GOLDEN
from parse_programs import entry, faults, op, ops

from tileir.ir.core import Module
from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.shared import SharedAttributes
from tileir.text.parser import parse
from tileir.text.printer import to_text
from tileir.text.reading.values import StatementShapes

ROUNDS = 6
TOKEN = re.compile(r'[%@!#^]?[\w$.]+|"[^"\n]*"|->|\s+|.', re.S)
STATEMENT = re.compile(r"^ *%\w+(?:, %\w+)* = .*: .*[^{(]$", re.M)


def outcome(text: str) -> str:
    """All of the module, with the places of its operations, or what is said of the faults."""
    try:
        module = parse(text)
    except DiagnosticError as error:
        return str(error)
    return to_text(module, form="generic") + places(module)


def places(module: Module) -> str:
    return str([repr(op.loc) for op in module.walk()])


def repeated(text: str, picks: random.Random) -> str:
    """The program with some of its statements twice, under other names, and most of these changed in one token."""
    for number in range(8):
        found = list(STATEMENT.finditer(text))
        if not found:
            return text
        chosen = picks.choice(found)
        names, _, rest = chosen[0].partition(" = ")
        tokens, words = TOKEN.findall(rest), TOKEN.findall(picks.choice(found)[0])
        at, change = picks.randrange(len(tokens)), picks.choice(("keep", "replace", "insert", "delete"))
        if change != "keep":
            tokens[at : at + (change != "insert")] = [] if change == "delete" else [picks.choice(words)]
        again = re.sub(r"%\w+", lambda name: f"{name[0]}_{number}", names) + " = " + "".join(tokens)  # noqa: B023
        text = f"{text[: chosen.end()]}\n{again}{text[chosen.end() :]}"
    return text


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_repeated_statements_read_as_if_none_was_kept(golden, monkeypatch):
    texts = [repeated(golden.source, random.Random(seed)) for seed in range(ROUNDS)]
    with_kept = [outcome(text) for text in texts]
    monkeypatch.setattr(StatementShapes, "known", lambda shapes, tokens, begin, values: None)
    differing = [at for at, text in enumerate(texts) if outcome(text) != with_kept[at]]
    assert differing == []


def test_the_token_behind_a_statement_belongs_to_it():
    first = "%a = addi %x, %x : tile<i32>\n"
    second = "%b = addi %x, %x : tile<i32> -> tile<i32>"
    assert len(faults(entry(first + second, "%x: tile<i32>"))) == 1
    found = op(first + '%b = addi %x, %x : tile<i32> loc("f":1:2)', "%x: tile<i32>")
    assert repr(found.loc) == "loc('f':1:2)"


def test_values_of_another_type_are_reported_each_time():
    body = "%a = addi %x, %x : tile<i32>\n%b = addi %x, %y : tile<i32>\n%c = addi %x, %y : tile<i32>"
    found = faults(entry(body, "%x: tile<i32>, %y: tile<i64>"))
    assert len(found) == 2
    assert {fault.got for fault in found} == {"tile<i64>"}


def test_values_defined_later_are_found():
    body = "%a = addi %x, %x : tile<i32>\n%b = addi %x, %c : tile<i32>\n%c = addi %x, %x : tile<i32>"
    first, second, third = ops(body, "%x: tile<i32>")
    assert second.operands == (first.operands[0], third.results[0])


def test_like_statements_share_their_attributes():
    body = "".join(f"%{name} = negi %x overflow<no_wrap> : tile<i32>\n" for name in "abc")
    first, second, _ = ops(body, "%x: tile<i32>")
    assert first.attributes is second.attributes
    assert type(first.attributes) is SharedAttributes


REDUCE = """%{name} = reduce %x dim=0 identities=[{identity}.0 : f32] : tile<8xf32> -> tile<f32>
  (%u: tile<f32>, %v: tile<f32>) {{
    %w = addf %u, %v : tile<f32>
    yield %w : tile<f32>
  }}
"""


def test_the_head_of_a_region_is_found_again():
    text = "".join(REDUCE.format(name=f"r{number}", identity=identity) for number, identity in enumerate("00100"))
    found = ops(text, "%x: tile<8xf32>")
    first, second, other, *_ = found
    assert [repr(one.identities) for one in found] == [
        repr(one.identities) for one in (first, first, other, first, first)
    ]
    assert repr(first.identities) != repr(other.identities)
    assert second.attributes is first.attributes
    assert isinstance(second.attributes, SharedAttributes)
    assert second.body is not first.body
    assert [one.operands for one in found] == [first.operands] * 5


def test_the_head_of_a_region_with_other_arguments_is_refused_in_the_same_words():
    again = REDUCE.format(name="s", identity=0).replace("%v: tile<f32>", "%v tile<f32>")
    alone = faults(entry(again, "%x: tile<8xf32>"))
    second = faults(entry(REDUCE.format(name="r", identity=0) + again, "%x: tile<8xf32>"))
    assert [one.message for one in alone] == [one.message for one in second]
