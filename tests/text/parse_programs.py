"""Helpers of the parser tests: programs from fragments, and faults with their place marked in the program."""

from __future__ import annotations

import pytest

from tileir.ir.core import Op
from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.ir.loc import SourceLoc
from tileir.ir.types import Type
from tileir.text.parser import parse


def entry(body: str, arguments: str = "") -> str:
    """A program of one entry with `body`."""
    return f"entry @k({arguments}) {{\n{body}\n}}"


def ops(body: str, arguments: str = "") -> list[Op]:
    """The operations of an entry with `body`, without the `return` that is added."""
    block = parse(entry(body, arguments)).items[0].regions[0]
    assert block is not None
    return block.ops[:-1]


def op(body: str, arguments: str = "") -> Op:
    """The last operation of an entry with `body`."""
    return ops(body, arguments)[-1]


def type_of(text: str) -> Type:
    """A type by its spelling."""
    return parse(f"entry @k(%a: {text}) {{ }}").items[0].function_type.inputs[0]


def faults(program: str) -> list[Diagnostic]:
    with pytest.raises(DiagnosticError) as caught:
        parse(program)
    assert str(caught.value)
    return caught.value.diagnostics


def check_faults(program: str, *codes: str) -> list[Diagnostic]:
    """The faults of `program` are `codes`, each on the place marked ``«like this»``, in order."""
    text, places = _unmarked(program)
    found = faults(text)
    assert [diagnostic.code for diagnostic in found] == list(codes), [diagnostic.message for diagnostic in found]
    for diagnostic, place in zip(found, places, strict=True):
        loc = diagnostic.loc
        assert isinstance(loc, SourceLoc)
        assert (loc.offset, loc.end) == place, f"at {text[loc.offset : loc.end]!r} instead of {text[slice(*place)]!r}"
    return found


def _unmarked(program: str) -> tuple[str, list[tuple[int, int]]]:
    text, places = "", []
    for position, part in enumerate(program.replace("»", "«").split("«")):
        if position % 2:
            places.append((len(text), len(text) + len(part)))
        text += part
    return text, places
