"""Directives that may be absent, or spell an attribute in a way of their own."""

from __future__ import annotations

from typing import ClassVar

from tileir.ir.attributes import MemoryOrdering, Overflow, TextEnum
from tileir.ir.core import Op
from tileir.ir.spec import OpSpec
from tileir.ir.types import TOKEN
from tileir.text.attributes import attribute, bool_text, hints
from tileir.text.reading import codes
from tileir.text.reading.hints import memory_hint
from tileir.text.reading.reader import BOOLEANS, shown_token
from tileir.text.reading.statements import StatementReader, property_value, store
from tileir.text.syntax.directive import (
    AttributeDirective,
    CaseKeyword,
    Directive,
    Draft,
    ValueDirective,
    enum_of,
    value_directive,
)
from tileir.text.writer import Writer

# ---------------------------------------------------------------- operands that may be absent


class OptionalOperand(ValueDirective):
    """An operand that `operand` reads where it is there."""

    def __init__(self, spec: OpSpec, *names: str) -> None:
        super().__init__(spec, *names)
        self.operand = value_directive(spec, self.name)


class TailOperand(OptionalOperand):
    """``tail($operand)``: ``, %x`` or nothing; a comma alone is accepted too. Variadic: ``, %x, ...``.

    A token may stand there as well where the operation takes one.
    """

    def read(self, p: StatementReader, draft: Draft) -> None:
        if self.field.variadic:
            draft.groups[self.position], draft.marks[self.position] = [], []
        if p.tokens[p.index] == ",":
            p.index += 1
            if p.tokens[p.index][0] == "%":
                token = self.spec.operand_index.get("token")
                known = p.values.get(p.tokens[p.index])
                if token is not None and known is not None and known.type is TOKEN:
                    draft.marks[token.position] = p.starts[p.index]
                    draft.groups[token.position] = p.value()
                else:
                    self.operand.read(p, draft)

    def write(self, writer: Writer, op: Op) -> str:
        return f", {writer.values(values)}" if (values := self.values(op)) else ""

    def shown(self) -> str:
        return f"[, {self.operand.shown()}]"


class TokenOperand(OptionalOperand):
    """``token($operand)``: ``token=%t`` or nothing."""

    example = "[token=%{0}]"
    equals: ClassVar[str] = "="

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.accept_key("token"):
            self.operand.read(p, draft)

    def write(self, writer: Writer, op: Op) -> str:
        return f" token{self.equals}{writer.values(values)}" if (values := self.values(op)) else ""


class SpacedTokenOperand(TokenOperand):
    """``spaced_token($operand)``: ``token = %t`` or nothing."""

    example = "[token = %{0}]"
    equals = " = "


# ---------------------------------------------------------------- enumerations


_BARE_CASES = {"nsw": Overflow.NO_SIGNED_WRAP, "nuw": Overflow.NO_UNSIGNED_WRAP, "nw": Overflow.NO_WRAP}
"""Short words for overflow that dumps of a Rust front end have."""


class CaseClause(AttributeDirective):
    """``clause($attr)``: ``name<value>``, the value without brackets, or the whole attribute after the name; a default
    is left out."""

    example = "[{0}<{0}>]"
    absent: ClassVar[str] = ""
    keyword: ClassVar[str] = ""
    """The name, if it is not that of the attribute."""

    def __init__(self, spec: OpSpec, *names: str) -> None:
        super().__init__(spec, *names)
        self.word = self.keyword or self.name
        self.cases = enum_of(self.attr).keywords()

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.accept(self.word):
            store(draft.attributes, self.attr, self._case(p))

    def _case(self, p: StatementReader) -> TextEnum:
        if p.tokens[p.index][0] == "#":
            loc = p.here()
            found: TextEnum = property_value(p, self.spec, self.attr, attribute(p), loc)
            return found
        bare = _BARE_CASES.get(p.peek()) or self.cases.get(p.peek())
        if bare is not None:
            p.index += 1
            return bare
        return p.angled(lambda: p.one_of(self.cases, f"{self.word} mode"))

    def write(self, writer: Writer, op: Op) -> str:
        case = self.value(op)
        return self.absent if case is self.attr.default else f" {self.word}<{case.text}>"


class RoundingClause(CaseClause):
    """``rounding($attr)``: ``rounding<mode>``; a default is left out but keeps its blank."""

    example = "[rounding<mode>]"
    absent = " "
    keyword = "rounding"


class ScopeKeyword(CaseKeyword):
    """``scope($attr)``: a keyword of an optional enumeration."""

    example = "[<{0}>]"

    def read(self, p: StatementReader, draft: Draft) -> None:
        token = p.tokens[p.index]
        case = self.cases.get(token)
        if case is not None:
            draft.attributes[self.name] = case
            p.index += 1
        elif token[0] == '"' or token[0].isalpha():
            p.not_one_of(token, enum_of(self.attr).keywords(), "memory scope")

    def write(self, writer: Writer, op: Op) -> str:
        return "" if (case := self.value(op)) is None else f" {case.text}"


class MemoryKeywords(Directive):
    """``memory($ordering, $scope)``: the ordering and scope keywords of the view operations."""

    example = "<{0}> [<{1}>]"

    def __init__(self, spec: OpSpec, ordering: str, scope: str) -> None:
        super().__init__(spec, ordering, scope)
        self.ordering, self.scope = AttributeDirective(spec, ordering), ScopeKeyword(spec, scope)
        self.orderings = enum_of(self.ordering.attr).keywords()
        self.scopes = enum_of(self.scope.attr).keywords()
        self.hint = memory_hint(spec)

    def read(self, p: StatementReader, draft: Draft) -> None:
        draft.attributes[self.ordering.name] = found = p.one_of(self.orderings, "memory ordering", self.hint)
        token = p.tokens[p.index]
        if token[0] == "%":
            return
        if found is MemoryOrdering.WEAK and token[0].isalpha():
            p.fail(codes.WEAK_SCOPE, f"expected no memory scope after 'weak', got {shown_token(token)}")
        draft.attributes[self.scope.name] = p.one_of(self.scopes, "memory scope", self.hint)

    def write(self, writer: Writer, op: Op) -> str:
        return f" {self.ordering.value(op).text}{self.scope.write(writer, op)}"


# ---------------------------------------------------------------- flags, hints, promises


class FlagNames(Directive):
    """``flags($a, $b)``: flags in any order when read, in this order when written."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        while (name := p.tokens[p.index]) in self.names:
            if name in draft.attributes:
                p.fail(codes.DUPLICATE, f"expected '{name}' once, got it again")
            draft.attributes[name] = True
            p.index += 1

    def write(self, writer: Writer, op: Op) -> str:
        return "".join([f" {name}" for name in self.names if op.attributes.get(name)])

    def shown(self) -> str:
        return " ".join(f"[{name}]" for name in self.names)


class TailFlag(AttributeDirective):
    """``tail_flag($attr)``: ``, name`` iff the flag is set."""

    example = "[, {0}]"

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.accept(","):
            p.expect(self.name)
            draft.attributes[self.name] = True

    def write(self, writer: Writer, op: Op) -> str:
        return f", {self.name}" if op.attributes.get(self.name) else ""


class HintsClause(AttributeDirective):
    """``hints($attr)``: ``optimization_hints = <...>`` or nothing."""

    example = "[optimization_hints = <...>]"

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.accept_key("optimization_hints"):
            loc = p.here()
            found = attribute(p) if p.peek()[0] == "#" else hints(p)
            draft.attributes[self.name] = property_value(p, self.spec, self.attr, found, loc)

    def write(self, writer: Writer, op: Op) -> str:
        return "" if (found := self.value(op)) is None else f" {self.name} = {writer.hints(found)}"


class InboundsClause(AttributeDirective):
    """``inbounds($attr)``: ``inbounds = [true, ...]`` unless all are false."""

    example = "[inbounds = [true, ...]]"
    absent: ClassVar[str] = ""

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.accept_key(self.name):
            p.expect("[")
            store(draft.attributes, self.attr, tuple(p.comma_list(lambda: p.one_of(BOOLEANS, "inbounds"), "]")))

    def write(self, writer: Writer, op: Op) -> str:
        promises = op.attributes.get(self.name, ())
        return f" {self.name} = [{', '.join(map(bool_text, promises))}]" if any(promises) else self.absent


class BlankInboundsClause(InboundsClause):
    """``blank_inbounds($attr)``: the same, but its blank stays."""

    absent = " "
