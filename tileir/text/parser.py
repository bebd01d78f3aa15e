"""Parse a text into a module, reporting every fault in it: what stands in a file around operations, and aliases."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import TypeVar

from tileir.ir.attributes import Attribute
from tileir.ir.core import Block, Module, Op, without_collection
from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.ir.loc import LocAlias, Location, Source, SourceLoc
from tileir.ir.partial import POISON, PartialModule, Unread
from tileir.ir.spec import OpSpec
from tileir.ir.types import FunctionType
from tileir.ops.module import ModuleOp
from tileir.text.attributes import attribute, dictionary
from tileir.text.locations import location_in_brackets, resolved
from tileir.text.reading import codes
from tileir.text.reading.lexer import END
from tileir.text.reading.reader import MAX_NESTING, GiveUp, Reader, TextFault, shown_token
from tileir.text.reading.statements import StatementReader, read_generic
from tileir.text.reading.types import parse_type
from tileir.text.syntax.format import operations

DEFAULT_MODULE = "kernels"
"""The name of the module around items that stand in no module."""
_BUILTIN_MODULES = ("module", "builtin.module", '"builtin.module"')


@without_collection()
def parse(text: str, filename: str = "<string>", first_line: int = 1) -> Module:
    """Read a program; `first_line` is the number of its first line in the file.

    Raises DiagnosticError with all faults found; after each, reading goes on with the next statement.
    """
    source = Source(filename, text, first_line)
    parser = Parser(source)
    op = parser.file()
    if parser.faults or op is None:
        faults = sorted(parser.grouped_faults(), key=_offset)
        partial = None if op is None else PartialModule(Module(op, source), frozenset(parser.faulty))
        raise DiagnosticError(faults, source, partial)
    return Module(op, source)


def _offset(diagnostic: Diagnostic) -> int:
    loc = diagnostic.loc
    assert isinstance(loc, SourceLoc)
    return len(loc.source.text) + 1 if diagnostic.code == codes.TOO_MANY else loc.offset


class Parser(StatementReader):
    """Reads one file."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, operations(), read_generic)

    def syntax(self, spec: OpSpec) -> str:
        from tileir.text.reference import syntax

        return syntax(spec)

    # ------------------------------------------------------------ the file

    def file(self) -> Op | None:
        """Return the module of the file; None when it was given up."""
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
        except TextFault as fault:
            if fault.diagnostic is not None:
                self.record(fault.diagnostic)

    def _top_level(self, block: Block, close: str) -> None:
        """Read items, alias definitions and builtin modules up to the token `close`."""
        while (token := self.tokens[self.index]) != close:
            self.lookahead()
            if token is END:
                self.missing_brace(None)
            begin, depth, braces = self.starts[self.index], self.depth, self.braces
            try:
                self._top_item(token, block)
            except TextFault as fault:
                self.after_fault(fault, begin, self.braces - braces)
                self.depth, self.braces = depth, braces

    def _top_item(self, token: str, block: Block) -> None:
        if token[0] in "#!" and self.tokens[self.index + 1] == "=":
            if token[0] == "#":
                define_alias(self, self.aliases, _attribute, None)
            else:
                define_alias(self, self.types, parse_type, POISON)
        elif token in _BUILTIN_MODULES:
            (self._generic_builtin_module if token[0] == '"' else self._builtin_module)(block)
            if self.accept("loc"):
                location_in_brackets(self, attribute)
        elif token[0] in '%"' or token[0].isalpha() or token[0] == "_":
            self.statement(block)
        else:
            self.expected("a module, an entry or another operation")

    def _builtin_module(self, block: Block) -> None:
        """Read ``module @name attributes {...} { ... }`` around everything."""
        self.index += 1
        if self.peek()[0] == "@":
            self.symbol()
        if self.accept("attributes"):
            dictionary(self)
        self._wrapped(block)

    def _generic_builtin_module(self, block: Block) -> None:
        """Read ``"builtin.module"() ({ ... }) : () -> ()``."""
        self.index += 1
        self.expect_all("(", ")")
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

    def _wrapped(self, block: Block) -> None:
        """Read the contents of a builtin module, in braces."""
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
        other = next((op for op in block.ops if op is not modules[0] and not isinstance(op, Unread)), None)
        if other is not None:
            loc = other.loc if isinstance(other.loc, SourceLoc) else self.here()
            message = f"expected one module and nothing beside it in a file, got '{other.spec.name}'"
            self.record(Diagnostic(codes.MODULES, message, loc))
            return None
        modules[0].parent = None
        return modules[0]


# ---------------------------------------------------------------- aliases

T = TypeVar("T")

MAX_PARTS = 1 << 20
"""Parts that an attribute or type built from aliases may have."""


def define_alias(reader: Reader, known: dict[str, T], read: Callable[[Reader], T], faulty: T) -> None:
    """Read ``#name = ...``; the alias stands for `faulty` after a fault."""
    name, at, found = _new_alias(reader), reader.here(), faulty
    try:
        found = check_size(reader, read(reader), at)
    finally:
        known[name] = found


def _attribute(reader: Reader) -> Attribute:
    return location_in_brackets(reader, attribute) if reader.accept("loc") else attribute(reader)


def _new_alias(reader: Reader) -> str:
    """Read ``#name =``, a name without meaning until its definition is read; names with a dot belong to dialects."""
    name, at = reader.peek(), reader.here()
    if "." in name or name in ("#cuda_tile", "!cuda_tile"):
        reader.fail(codes.ALIAS, f"expected an alias name without a dot, got {shown_token(name)}", at)
    earlier = reader.alias_places.get(name)
    if earlier is not None:
        notes = reader.note("defined here", earlier)
        reader.fail(codes.ALIAS, f"expected a new alias name, got {shown_token(name)} again", at, notes=notes)
    reader.alias_places[name] = at
    reader.index += 2
    return name


def resolve_location(reader: Reader, loc: Location) -> Location:
    """Return `loc` without aliases, now that all of them are defined."""
    found = resolved(reader, loc)
    return check_size(reader, found, loc.at) if isinstance(loc, LocAlias) else found


def check_size(reader: Reader, found: T, at: SourceLoc) -> T:
    """Return `found`, whose measure is kept; fail if it is nested too deeply or has too many parts."""
    if isinstance(found, Attribute | FunctionType) and id(found) not in reader.measures:
        count, depth = _measure(found, reader.measures)
        if depth > MAX_NESTING:
            reader.fail(codes.NESTING, f"expected an alias nested at most {MAX_NESTING} deep, got a deeper one", at)
        if count > MAX_PARTS:
            reader.fail(codes.NESTING, f"expected an alias of at most {MAX_PARTS} parts, got more", at)
        reader.measures[id(found)] = (count, depth)
    return found


def _measure(part: object, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Number of parts and depth; `known` has those of the aliases, which live as long as the reader."""
    if id(part) in known:
        return known[id(part)]
    count, depth = 1, 0
    for inner in _parts(part):
        inner_count, inner_depth = _measure(inner, known)
        count += inner_count
        depth = max(depth, inner_depth + 1)
    return count, depth


def _parts(part: object) -> Iterator[object]:
    if isinstance(part, FunctionType):
        yield from part.inputs + part.results
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        for field in dataclasses.fields(part):
            yield from _parts_of_field(getattr(part, field.name))


def _parts_of_field(value: object) -> Iterator[object]:
    if isinstance(value, Attribute | FunctionType):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _parts_of_field(item)
