"""Directives that spell types."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.types import TensorViewType, TileViewType, Type
from tileir.text.printing.writer import Writer
from tileir.text.reading.statements import StatementReader
from tileir.text.reading.types import parse_type
from tileir.text.syntax.directive import Draft, ValueDirective


class TypeOf(ValueDirective):
    """``type($field)``: the type of a single operand or result."""

    states = True

    def read(self, p: StatementReader, draft: Draft) -> None:
        found = p.types.get(p.tokens[p.index])
        if found is None:
            found = parse_type(p)
        else:
            p.index += 1
        draft.slots[self.slot] = found

    def write(self, writer: Writer, op: Op) -> str:
        return self.lead + writer.short[self.values(op)[0].type]

    def shown(self) -> str:
        """``T(field)``, or the type itself where the field can have only one."""
        only = self.field.constraint.only
        return f"T({self.name})" if only is None else repr(only)


class RepeatedType(TypeOf):
    """``repeated_type($result)``: one type for all results, which are as many as names or else as dimensions."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        count = sum(name.size for name in p.names)
        source = draft.slots[0]
        if not p.names and isinstance(source, TensorViewType | TileViewType):
            count = source.rank
        draft.slots[self.slot] = [parse_type(p)] * count

    def write(self, writer: Writer, op: Op) -> str:
        """A view of rank 0 has no result, and any index type may stand there."""
        return self.lead + (writer.short[op.results[0].type] if op.results else "tile<i64>")


class TailType(TypeOf):
    """``tail_type($operand)``: ``, T`` iff the operand is there."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        if draft.groups[self.position] is not None:
            p.expect(",", "',' and one more type")
            draft.slots[self.position] = parse_type(p)

    def write(self, writer: Writer, op: Op) -> str:
        return f", {writer.types(values)}" if (values := self.values(op)) else ""

    def shown(self) -> str:
        return f"[, {super().shown()}]"


class IndexTypes(TypeOf):
    """``index_types($operand)``: ``, T`` for all indices or ``, T, ...`` one each; early documents have none."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        types: list[Type] = []
        begin = p.starts[p.index]
        while p.peek() == "," and p.tokens[p.index + 1] not in ("token", "!cuda_tile.token"):
            p.index += 1
            types.append(parse_type(p))
            p.lookahead()
        values = draft.groups[self.position]
        if not types:
            types = [p.known_type(value, mark) for value, mark in zip(values, draft.marks[self.position])]
        elif len(types) == 1 and values:
            types *= len(values)
        p.check_count(types, values, "index", begin)
        draft.slots[self.position] = types

    def write(self, writer: Writer, op: Op) -> str:
        values = self.values(op)
        same = all(value.type is values[0].type for value in values)
        return "".join([f", {writer.short[value.type]}" for value in (values[:1] if same else values)])

    def shown(self) -> str:
        return f", T({self.name})"


class TailColonTypes(ValueDirective):
    """``tail_colon_types($operand)``: ``: T, ...`` iff there are operands."""

    states = True

    def read(self, p: StatementReader, draft: Draft) -> None:
        if draft.groups[self.position]:
            p.expect(":")
            self._read_types(p, draft)

    def _read_types(self, p: StatementReader, draft: Draft) -> None:
        begin = p.starts[p.index]
        draft.slots[self.position] = types = p.some(lambda: parse_type(p))
        p.check_count(types, draft.groups[self.position], "operand", begin)

    def write(self, writer: Writer, op: Op) -> str:
        return f" : {writer.types(values)}" if (values := self.values(op)) else ""

    def shown(self) -> str:
        return "[: T, ...]"


class ExitOperands(TailColonTypes):
    """``exit_operands($operand)``: ``%x, ... : T, ...`` or nothing."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        draft.groups[self.position], draft.marks[self.position] = [], []
        if p.peek()[0] == "%" and p.tokens[p.index + 1] != "=":
            draft.groups[self.position], draft.marks[self.position] = p.value_list()
            p.expect(":")
            self._read_types(p, draft)

    def write(self, writer: Writer, op: Op) -> str:
        return f" {writer.values(op.operands)} : {writer.types(op.operands)}" if op.operands else ""

    def shown(self) -> str:
        return "[%operand, ... : T, ...]"


class PrintResult(ValueDirective):
    """``print_result($result)``: ``-> token``, which early text leaves out."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.accept("->"):
            parse_type(p)

    def write(self, writer: Writer, op: Op) -> str:
        return f" -> {writer.short[op.results[0].type]}"

    def shown(self) -> str:
        return "-> token"
