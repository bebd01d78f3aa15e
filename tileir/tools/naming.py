"""The names of values, as the text of a program gives them.

Knows: that a text that is read again has the same values in the same order. Does not know: what a name is used for.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.loc import Source
from tileir.tools.lsp.reading import read


def value_names(module: Module, source: Source) -> dict[Value, str]:
    """The name, with its ``%``, of every value of `module`, of which `source` is the text."""
    reading = read(Source(source.name, source.text))
    if reading.faults:
        return {}
    names = {name.value: name.name for name in reading.definitions.values()}
    found: dict[Value, str] = {}
    for own, other in zip(module.walk(), reading.module.walk()):
        _give(own.results, other.results, names, found)
        for block, like in zip(own.regions, other.regions):
            if isinstance(block, Block) and isinstance(like, Block):
                _give(block.args, like.args, names, found)
    return found


def _give(own: Sequence[Value], other: Sequence[Value], names: dict[Value, str], found: dict[Value, str]) -> None:
    """A member of a pack behind the first has that one's name and its number."""
    first, base = "", 0
    for index, (value, like) in enumerate(zip(own, other)):
        if like in names:
            first, base = names[like], index
        if first:
            found[value] = first if index == base else f"{first}#{index - base}"


def named(op: Op, names: dict[Value, str]) -> str:
    """An operation with the names of its results and operands, for a person."""
    results = ", ".join(names.get(result, "_") for result in op.results)
    operands = ", ".join(names.get(operand, "_") for operand in op.operands)
    return f"{results} = {op.spec.name} {operands}".removeprefix(" = ").rstrip()
