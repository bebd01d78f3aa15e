"""The text parser: from a text to a module, with every fault of the text.

Knows: statements, regions, what may stand in a file, and how reading goes on after a fault.
Does not know: the syntax of any operation (`text.operations`), nor whether the module is valid (`verify`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from tileir.ir import attributes as a
from tileir.ir.core import Block, Module, Op
from tileir.ir.declare import ISOLATED, OpSpec, TerminatedBy
from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.ir.loc import Source, SourceLoc
from tileir.ir.types import TileType, Type
from tileir.ops import OPS
from tileir.ops.module import ModuleOp
from tileir.text import codes
from tileir.text.aliases import define_attribute_alias, define_type_alias, resolve_location
from tileir.text.attribute_parser import attribute, dictionary
from tileir.text.generic_parser import read_generic
from tileir.text.lexer import END
from tileir.text.literal_parser import Literal, encode
from tileir.text.location_parser import location_in_brackets
from tileir.text.operations import PREFIX, operations, spellings
from tileir.text.plan import ReadOp
from tileir.text.properties import distribute
from tileir.text.reader import POISON, Fault, GiveUp, did_you_mean
from tileir.text.recovery import next_statement
from tileir.text.regions import Argument, arguments
from tileir.text.scopes import Scope
from tileir.text.steps import Draft
from tileir.text.type_parser import parse_type
from tileir.text.values import NO_NAMES, ValueReader

DEFAULT_MODULE = "kernels"
"""The name of the module around items that stand in no module."""
_BUILTIN_MODULES = ("module", "builtin.module")
_GENERIC_BUILTIN_MODULE = '"builtin.module"'
_REFUSED = "create_queue"


def parse(text: str, filename: str = "<string>") -> Module:
    """Read a program.

    Raises DiagnosticError with all faults found; after each, reading goes on with the next statement.
    """
    source = Source(filename, text)
    parser = Parser(source)
    op = parser.file()
    if parser.faults or op is None:
        parser.faults.sort(key=_offset)
        raise DiagnosticError(parser.faults, source)
    return Module(op, source)


def _offset(diagnostic: Diagnostic) -> int:
    loc = diagnostic.loc
    assert isinstance(loc, SourceLoc)
    return len(loc.source.text) + 1 if diagnostic.code == codes.TOO_MANY else loc.offset


class Parser(ValueReader):
    """Reads one file."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.operations = operations()
        self.located: list[Op | Block] = []

    # ------------------------------------------------------------ the file

    def file(self) -> Op | None:
        """The module of the file; None when it was given up."""
        block = Block()
        try:
            self._top_level(block, END)
            self.check_defined()
            for place in self.located:
                self._resolve(place)
            return self._module_of(block)
        except GiveUp:
            return None

    def _resolve(self, place: Op | Block) -> None:
        """Replace the aliases in the locations of an operation or of the arguments of a block."""
        try:
            if isinstance(place, Op):
                place.loc = resolve_location(self, place.loc)
            else:
                place.arg_locs = tuple(resolve_location(self, loc) for loc in place.arg_locs)
        except Fault as fault:
            if fault.diagnostic is not None:
                self.record(fault.diagnostic)

    def _top_level(self, block: Block, close: str) -> None:
        """Items, alias definitions and builtin modules up to the token `close`."""
        while (token := self.tokens[self.index]) != close:
            self.lookahead()
            if token is END:
                self._missing_brace(None)
            begin, depth, braces = self.starts[self.index], self.depth, self.braces
            try:
                self._top_item(token, block)
            except Fault as fault:
                self.after_fault(fault, begin, self.braces - braces)
                self.depth, self.braces = depth, braces

    def _top_item(self, token: str, block: Block) -> None:
        if token[0] in "#!" and self.tokens[self.index + 1] == "=":
            (define_attribute_alias if token[0] == "#" else define_type_alias)(self)
        elif token in _BUILTIN_MODULES:
            self._builtin_module(block)
        elif token == _GENERIC_BUILTIN_MODULE:
            self._generic_builtin_module(block)
        elif token[0] in '%"' or token[0].isalpha() or token[0] == "_":
            self.statement(block)
        else:
            self.expected("a module, an entry or another operation")

    def _builtin_module(self, block: Block) -> None:
        """``module @name attributes {...} { ... }`` around everything."""
        self.index += 1
        if self.peek()[0] == "@":
            self.symbol()
        if self.accept("attributes"):
            dictionary(self)
        self._wrapped(block)
        if self.accept("loc"):
            location_in_brackets(self, attribute)

    def _generic_builtin_module(self, block: Block) -> None:
        """``"builtin.module"() ({ ... }) : () -> ()``."""
        self.index += 1
        self.expect("(")
        self.expect(")")
        if self.accept("<"):
            dictionary(self)
            self.expect(">")
        self.expect("(")
        self._wrapped(block)
        self.expect(")")
        if self.peek() == "{":
            dictionary(self)
        self.expect(":")
        parse_type(self)
        if self.accept("loc"):
            location_in_brackets(self, attribute)

    def _wrapped(self, block: Block) -> None:
        """The contents of a builtin module, in braces."""
        self.expect("{")
        self.braces += 1
        self.enter()
        self._top_level(block, "}")
        self.braces -= 1
        self.depth -= 1
        self.index += 1

    def _module_of(self, block: Block) -> Op | None:
        modules = [op for op in block.ops if isinstance(op, ModuleOp)]
        if not modules:
            return ModuleOp([], (), {"sym_name": DEFAULT_MODULE}, (block,))
        other = next((op for op in block.ops if op is not modules[0]), None)
        if other is not None:
            loc = other.loc if isinstance(other.loc, SourceLoc) else self.here()
            message = f"expected one module and nothing beside it in a file, got '{other.spec.name}'"
            self.record(Diagnostic(codes.MODULES, message, loc))
            return None
        modules[0].parent = None
        return modules[0]

    # ------------------------------------------------------------ statements

    def statement(self, block: Block) -> None:
        """Read one operation into `block`; after a fault, skip to the next one."""
        tokens = self.tokens
        names, token = NO_NAMES, ""
        begin, depth, braces = self.starts[self.index], self.depth, self.braces
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
            op = read(self, SourceLoc(self.source, at, at + len(token)))
            if tokens[self.index] == "loc":
                self._location(op)
            op.parent = block
            block.ops.append(op)
            if names is not NO_NAMES:
                self.bind(op, names)
        except Fault as fault:
            self.depth = depth
            self.braces, open_braces = braces, self.braces - braces
            self.after_fault(fault, begin, open_braces, token)
            self.poison(names)

    def after_fault(self, fault: Fault, begin: int, open_braces: int, name: str = "") -> None:
        """Report a fault of the operation called `name`, at the offset `begin`, and skip the rest of it."""
        diagnostic = fault.diagnostic
        if diagnostic is not None:
            op = spellings().get(name.strip('"').removeprefix(PREFIX))
            self.record(diagnostic if op is None else replace(diagnostic, op=op.spec.name))
            if diagnostic.code == codes.END_OF_TEXT:
                raise GiveUp
        at_name = diagnostic is not None and diagnostic.code in (codes.UNKNOWN_OP, codes.REFUSED_OP)
        if (at_name or self.starts[self.index] <= begin) and self.tokens[self.index] is not END:
            self.index += 1
        next_statement(self, open_braces)

    def _location(self, op: Op) -> None:
        self.index += 1
        op.loc = location_in_brackets(self, attribute)
        self.located.append(op)

    def _unusual_operation(self, token: str) -> ReadOp:
        """The reader of an operation in generic form; everything else is a fault."""
        if token[0] == '"':
            return read_generic
        if not (token[0].isalpha() or token[0] == "_"):
            self.expected("an operation")
        self.unknown_operation(token)

    def unknown_operation(self, name: str) -> NoReturn:
        """Fault: no operation is called `name`."""
        bare = name.removeprefix(PREFIX)
        if bare in (f"experimental${_REFUSED}", f"experimental.{_REFUSED}"):
            message = f"expected an operation that has a meaning, got '{bare}', which early documents only mention"
            self.fail(codes.REFUSED_OP, message, got=bare)
        hint = did_you_mean(bare, spellings())
        self.fail(codes.UNKNOWN_OP, f"expected an operation, got the unknown name '{name}'", hint=hint, got=name)

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
        if ISOLATED in spec.traits:
            self.enter_scope(Scope())
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
            outer.close(mark)
        self.index += 1
        self.braces -= 1
        self.depth -= 1
        return block

    def inside(self, opening: SourceLoc) -> bool:
        """Whether another operation of the block follows; if not, the closing brace does."""
        self.lookahead()
        token = self.tokens[self.index]
        if token is END:
            self._missing_brace(opening)
        if token[0] == "^":
            self.fail(codes.REGION_COUNT, f"expected a region of one block, got the label '{token}'")
        return token != "}"

    def _missing_brace(self, opening: SourceLoc | None) -> NoReturn:
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
        for argument, value in zip(declared, block.args):
            if argument.name is not None:
                self.define(argument.name, value, argument.begin)
        block.arg_names = tuple(argument.name for argument in declared if argument.name is not None)
        if any(argument.loc is not None for argument in declared):
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

    def keep_elements(self, draft: Draft) -> None:
        """Encode the elements of a constant now that its type is known."""
        assert draft.literal is not None
        type = draft.slots[-1]
        value = self.elements(draft.element, draft.literal, type, self.place(draft.literal.begin, draft.literal.end))
        if value is not None:
            draft.attributes["value"] = value

    def elements(self, element: Type | None, literal: Literal, type: Type, at: SourceLoc) -> a.DenseElements | None:
        """The elements of a constant of `type`; None when a part of it is poisoned."""
        if type is POISON or element is POISON:
            return None
        if not isinstance(type, TileType):
            self.fail(codes.LITERAL_ELEMENT, f"expected a tile type for a constant, got {type!r}", at)
        if element is not None and type.element is not element:
            message = f"expected the element type of {type!r}, got {element!r}"
            self.fail(codes.LITERAL_ELEMENT, message, at, expected=repr(type.element), got=repr(element))
        return self._cached_elements(literal, type)

    def _cached_elements(self, literal: Literal, type: TileType) -> a.DenseElements:
        key = (literal.text, type)
        found = self.constants.get(key)
        if found is None:
            found = encode(self, literal, type)
            if len(literal.text) < 32:
                self.constants[key] = found
        return found
