"""Breaking a valid operation in place, in every way in which it can differ from its declaration."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from chunks import operation_chunks

from tileir.ir import types as t
from tileir.ir.core import Module, Op, Value
from tileir.ir.fields import Operand, Result
from tileir.ops.calls import Func
from tileir.text.parser import parse
from tileir.verify import verify

CHUNKS = operation_chunks()

_VIEW = t.TensorViewType(t.F32, (64, 32), (32, 1))
TYPES: tuple[t.Type, ...] = (
    *(
        t.tile(element, *shape)
        for element in t.ELEMENTS.values()
        for shape in ((), (4,), (8, 4), (2, 4, 8), (4, 4))
        if shape or element is not t.F4E2M1FN
    ),
    *(t.tile(t.PointerType(pointee), *shape) for pointee in (t.F32, t.I32) for shape in ((), (4,), (8, 4))),
    t.TOKEN,
    _VIEW,
    t.PartitionViewType((8, 4), _VIEW),
    t.StridedViewType((8, 4), (5, 8), _VIEW),
    t.GatherScatterViewType((8, 4), _VIEW, 0),
)
"""Types of all kinds, among which are some that any constraint refuses and some that it accepts."""


class Subject:
    """A valid use of an operation, to be broken."""

    def __init__(self, name: str) -> None:
        self.module: Module = parse(CHUNKS[name].text)
        for op in self.module.walk():
            op.attributes = op.attributes.copy()
        self.op: Op = [op for op in self.module.walk() if op.spec.name == name][-1]

    def codes(self, level: str = "13.5") -> list[str]:
        """The codes reported of the operation itself."""
        found = verify(self.module, level)
        return [diagnostic.code for diagnostic in found if diagnostic.op == self.op.spec.name]

    @contextmanager
    def operand_of_type(self, operand: Operand, type: t.Type) -> Iterator[None]:
        """Give the first value of an operand another type, as an argument of the function around."""
        position = sum(self.op.segments[: operand.position])
        before = self.op.operands[position]
        self.op.set_operand(position, self._argument(type))
        try:
            yield
        finally:
            self.op.set_operand(position, before)

    @contextmanager
    def result_of_type(self, result: Result, type: t.Type) -> Iterator[None]:
        value = self.op.results[result.position]
        before, value.type = value.type, type
        try:
            yield
        finally:
            value.type = before

    @contextmanager
    def attribute(self, name: str, *value: object) -> Iterator[None]:
        """Set an attribute, or without value remove it."""
        before = dict(self.op.attributes)
        self.op.attributes.pop(name, None)
        if value:
            self.op.attributes[name] = value[0]
        try:
            yield
        finally:
            self.op.attributes = before

    def has(self, field: Operand | Result) -> bool:
        if isinstance(field, Operand):
            return self.op.segments[field.position] > 0
        return len(self.op.results) > field.position

    def _argument(self, type: t.Type) -> Value:
        function = self.op
        while not isinstance(function, Func):
            assert function.parent_op is not None
            function = function.parent_op
        body = function.body
        value = Value(type, body, len(body.args))
        body.args.append(value)
        signature = function.attributes["function_type"]
        function.attributes["function_type"] = t.FunctionType((*signature.inputs, type), signature.results)
        return value
