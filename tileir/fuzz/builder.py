"""Well-typed programs made by choices: every kind of operation whose result is fixed to the bit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from tileir.fuzz.draft import SHAPES, Choose, ProgramScope
from tileir.fuzz.statements import ElementwiseStatements, FlowStatements, ShapeStatements
from tileir.ir import types as t
from tileir.ir.core import Block, Module
from tileir.ops import (
    control,
    pointers,
)
from tileir.ops.module import Entry, ModuleOp
from tileir.text.parser import parse
from tileir.text.printer import to_text

KINDS = (
    "binary", "load", "store", "unary", "compare", "select", "convert", "broadcast", "reshape", "permute", "cut", "cat",
    "insert", "reduce", "scan", "load_pointers", "store_pointers", "atomic", "alias", "generate", "pack", "multiply",
)  # fmt: skip
"""The kinds of statements; those that move tiles between memory and values come more often."""
NESTED = ("branch", "counted", "loop")
"""The kinds with statements inside."""
ASKED = (
    "fused", "remainder", "bitcast", "update_view", "gather", "scatter", "scatter_rows", "extents", "join", "output",
    "wide", "wait", "large", "step",
)  # fmt: skip
"""The kinds that come only where a weight is given, so that a seed keeps its program."""
WEIGHED = (*KINDS, "update", *NESTED, *ASKED)
"""The kinds whose weight can be chosen."""
_USUAL = (*KINDS, *("load", "store", "update") * 3)
"""Kinds of statements as often as they come; those of `NESTED` come twice as often."""


class ProgramBuilder(ElementwiseStatements, ShapeStatements, FlowStatements):
    """Makes one program.

    ``without``: names of kinds of statements that it has none of, for swarms of programs; ``weights``: how often kinds
    come beside the others, where that is not as usual.
    """

    def __init__(
        self,
        choose: Choose,
        elements: Sequence[t.ElementType],
        without: Collection[str] = (),
        weights: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        super().__init__(choose, elements)
        self.without = frozenset(without)
        self.weights = weights

    def program(self, statements: int) -> Module:
        body = Block([t.tile(t.PointerType(element)) for element in self.elements])
        body.arg_names = tuple(f"%{element.name}" for element in self.elements)
        self.bases = dict(zip(self.elements, body.args))
        token = body.append(pointers.MakeToken.build([t.TOKEN])).results[0]
        self.scope = ProgramScope(body, [], token)
        for element in self.elements:
            self.constant(t.tile(element, *self.choose(SHAPES[2:6])))
        for _ in range(statements):
            self.statement()
        for element in self.elements:
            self.store_something(element)
        body.append(control.Return.build())
        signature = t.FunctionType(tuple(argument.type for argument in body.args))
        entry = Entry.build(sym_name="k", function_type=signature, body=body)
        items = Block()
        items.append(entry)
        return parse(to_text(Module(ModuleOp.build(sym_name="generated", body=items))))

    def statement(self) -> None:
        nested = NESTED if self.scope.depth < 2 else ()
        names = [name for name in (*_USUAL, *nested * 2) if name not in self.weights]
        names += [name for name in (*KINDS, "update", *nested, *ASKED) for _ in range(self.weights.get(name, 0))]
        kinds = [name for name in names if name not in self.without] or ["binary"]
        getattr(self, self.choose(kinds))()
