"""Statements and regions: everything of a text but the syntax of each operation.

Knows: names, regions and their arguments, and how reading goes on after a fault.
Does not know: the syntax of any operation (`text.syntax`), nor what may stand in a file (`text.parser`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

from tileir.ir import attributes as a
from tileir.ir.core import Block, Op
from tileir.ir.diagnostics import Diagnostic
from tileir.ir.loc import Source, SourceLoc, SourcePart
from tileir.ir.spec import OpSpec
from tileir.ir.traits import TerminatedBy
from tileir.ir.unread import Unread
from tileir.ops import OPS
from tileir.text.reading import codes
from tileir.text.reading.advice import foreign_hint, operation_hint, syntax_hint
from tileir.text.reading.arguments import Argument, arguments
from tileir.text.reading.attributes import attribute, dictionary
from tileir.text.reading.lexer import END
from tileir.text.reading.locations import location_in_brackets
from tileir.text.reading.names import ClosedRegion, NameScope
from tileir.text.reading.properties import distribute
from tileir.text.reading.reader import GiveUp, TextFault, shown_token
from tileir.text.reading.recovery import next_statement
from tileir.text.reading.spellings import PREFIX, spellings
from tileir.text.reading.values import NO_NAMES, ValueReader

ReadOp = Callable[["StatementReader"], Op]
"""Reads an operation whose name was just taken; who calls it gives that its place."""
_REFUSED = "create_queue"


class StatementReader(ValueReader):
    """Reads the operations of a block by the functions in `operations`, or else by `generic`."""

    def __init__(self, source: Source, operations: Mapping[str, ReadOp], generic: ReadOp) -> None:
        super().__init__(source)
        self.operations = operations
        self.generic = generic
        self.part = SourcePart(source)
        self.located: list[Op | Block] = []
        self.faulty: set[Op] = set()

    # ------------------------------------------------------------ statements

    def statement(self, block: Block) -> None:
        """Read one operation into `block`; after a fault, skip to the next one."""
        tokens = self.tokens
        names, token = NO_NAMES, ""
        begin, depth, braces, troubles = self.starts[self.index], self.depth, self.braces, self.troubles
        try:
            if tokens[self.index][0] == "%":
                names = self.result_names()
            self.names = names
            index = self.index
            token = tokens[index]
            read = self.operations.get(token)
            if read is None:
                read = self._unusual_operation(token)
            at = self.starts[index]
            self.index = index + 1
            op = read(self)
            self._place(op, at, len(token))
            if tokens[self.index] == "loc":
                self._location(op)
            if names is not NO_NAMES:
                self.bind(op, names)
            op.parent = block
            block.ops.append(op)
            if self.troubles != troubles:
                self.faulty.add(op)
        except TextFault as fault:
            self.depth = depth
            self.braces, open_braces = braces, self.braces - braces
            self.after_fault(fault, begin, open_braces, token)
            self.poison(names)
            block.append(Unread([], (), loc=self.place(begin, begin)))

    def after_fault(self, fault: TextFault, begin: int, open_braces: int, name: str = "") -> None:
        """Report a fault of the operation called `name`, at the offset `begin`, and skip the rest of it."""
        diagnostic = fault.diagnostic
        if diagnostic is not None:
            op = spellings().get(name.strip('"').removeprefix(PREFIX))
            self.record(diagnostic if op is None else self._explained(diagnostic, op.spec))
            if diagnostic.code == codes.END_OF_TEXT:
                raise GiveUp
        at_name = diagnostic is not None and diagnostic.code in (codes.UNKNOWN_OP, codes.REFUSED_OP)
        if (at_name or self.starts[self.index] <= begin) and self.tokens[self.index] is not END:
            self.index += 1
        next_statement(self, self.operations, open_braces)

    def _explained(self, diagnostic: Diagnostic, spec: OpSpec) -> Diagnostic:
        """A fault of an operation: where one of its words or marks is missing, the hint says how it is written."""
        hint, expected = diagnostic.hint, diagnostic.expected or ""
        if hint is None and diagnostic.code == codes.EXPECTED and expected.startswith("'"):
            hint = syntax_hint(spec, self.syntax(spec), (diagnostic.got or "").strip("'"))
        return replace(diagnostic, op=spec.name, hint=hint)

    def syntax(self, spec: OpSpec) -> str:
        """The text form of an operation in one line."""
        raise NotImplementedError

    def _place(self, op: Op, offset: int, length: int) -> None:
        """Give an operation the place of its name."""
        marks = self.part.marks
        if len(marks) == SourcePart.LENGTH:
            self.part = SourcePart(self.source)
            marks = self.part.marks
        op.origin, op.number = self.part, len(marks)
        marks.append(offset * SourcePart.LONGEST + length)

    def _location(self, op: Op) -> None:
        self.index += 1
        op.loc = location_in_brackets(self, attribute)
        self.located.append(op)

    def _unusual_operation(self, token: str) -> ReadOp:
        """The reader of an operation in generic form; everything else is a fault."""
        if token[0] == '"':
            return self.generic
        if not (token[0].isalpha() or token[0] == "_"):
            self.expected("an operation")
        self.unknown_operation(token)

    def unknown_operation(self, name: str) -> NoReturn:
        """Fail because no operation is called `name`."""
        bare = name.removeprefix(PREFIX)
        if bare in (f"experimental${_REFUSED}", f"experimental.{_REFUSED}"):
            message = f"expected an operation that has a meaning, got '{bare}', which early documents only mention"
            self.fail(codes.REFUSED_OP, message, got=bare)
        hint = foreign_hint(bare) or operation_hint(bare)
        got = shown_token(name)
        self.fail(codes.UNKNOWN_OP, f"expected an operation, got the unknown name {got}", hint=hint, got=got)

    # ------------------------------------------------------------ regions

    def region(self, spec: OpSpec, declared: list[Argument], implicit: bool = True) -> Block:
        """``{ ... }`` in custom form, with the arguments that the header declares.

        A missing terminator is added if it may be `implicit`.
        """
        opening = self.here()
        self.expect("{")
        block = self.block(spec, declared, opening)
        if implicit:
            self._terminate(spec, block)
        return block

    def block(self, spec: OpSpec, declared: list[Argument], opening: SourceLoc) -> Block:
        """The contents of a region up to and with its closing brace.

        Where the header declares no arguments, a label may.
        """
        self.braces += 1
        self.enter()
        outer = self.scope
        mark = len(outer.defined)
        if spec.isolated:
            self.enter_scope(NameScope())
        try:
            if not declared and self.peek()[0] == "^":
                declared = self.label()
            block = self.new_block(declared)
            while self.inside(opening):
                self.statement(block)
            if self.scope is not outer:
                self.check_defined()
        finally:
            self.enter_scope(outer)
            begin = min(opening.offset, declared[0].begin) if declared else opening.offset
            outer.close(mark, ClosedRegion(spec.name, opening, begin, self.starts[self.index]))
        self.index += 1
        self.braces -= 1
        self.depth -= 1
        return block

    def inside(self, opening: SourceLoc) -> bool:
        """Whether another operation of the block follows; if not, the closing brace does."""
        if self.index > self._low:
            self._refill()
        token = self.tokens[self.index]
        if token is END:
            self.missing_brace(opening)
        if token[0] == "^":
            self.fail(codes.REGION_COUNT, f"expected a region of one block, got the label {shown_token(token)}")
        return token != "}"

    def missing_brace(self, opening: SourceLoc | None) -> NoReturn:
        notes = self.note("opened here", opening) if opening else ()
        message = "expected '}', got the end of the text"
        self.fail(codes.END_OF_TEXT, message, notes=notes, expected="'}'", got="end of text")

    def label(self) -> list[Argument]:
        """``^bb0(%a: T, ...):``."""
        self.index += 1
        declared = arguments(self) if self.peek() == "(" else []
        self.expect(":")
        return declared

    def new_block(self, declared: list[Argument]) -> Block:
        block = Block([argument.type for argument in declared])
        names, located = [], False
        for argument, value in zip(declared, block.args):
            located = located or argument.loc is not None
            if argument.name is not None:
                names.append(argument.name)
                self.define(argument.name, value, argument.begin)
        block.arg_names = tuple(names)
        if located:
            here = self.here()
            block.arg_locs = tuple(argument.loc or here for argument in declared)
            self.located.append(block)
        return block

    def _terminate(self, spec: OpSpec, block: Block) -> None:
        """Add the terminator that text may leave out."""
        trait = spec.trait(TerminatedBy)
        if trait is None or trait.written or block.terminator is not None:
            return
        end = self.starts[self.index - 1]
        block.append(OPS[trait.terminator]([], (), {}, (), self.place(end, end + 1), (0,)))

    # ------------------------------------------------------------ parts of operations

    def attr_dict(self, op: Op) -> dict[str, a.Attribute] | None:
        """The attribute dictionary after the regions of `op`, if there is one."""
        return self.read_dict(op.spec, op.attributes)

    def read_dict(self, spec: OpSpec, attributes: dict[str, Any]) -> dict[str, a.Attribute] | None:
        """An optional attribute dictionary: declared entries go to `attributes`, the others are returned."""
        if self.tokens[self.index] != "{":
            return None
        loc = self.here()
        return distribute(self, spec, dictionary(self), attributes, loc)
