"""The text parser: from a text to a module, with every fault of the text.

Knows: what may stand in a file around and beside the module.
Does not know: how statements are read (`text.reading.statements`), the syntax of any operation (`text.syntax`), nor
whether the module is valid (`verify`).
"""

from __future__ import annotations

from tileir.ir.bulk import without_collection
from tileir.ir.core import Block, Module, Op
from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.ir.loc import Source, SourceLoc
from tileir.ir.spec import OpSpec
from tileir.ir.unread import PartialModule, Unread
from tileir.ops.module import ModuleOp
from tileir.text.reading import codes
from tileir.text.reading.aliases import define_attribute_alias, define_type_alias, resolve_location
from tileir.text.reading.attributes import attribute, dictionary
from tileir.text.reading.generic import read_generic
from tileir.text.reading.lexer import END
from tileir.text.reading.locations import location_in_brackets
from tileir.text.reading.reader import GiveUp, TextFault
from tileir.text.reading.statements import StatementReader
from tileir.text.reading.types import parse_type
from tileir.text.syntax.operations import operations

DEFAULT_MODULE = "kernels"
"""The name of the module around items that stand in no module."""
_BUILTIN_MODULES = ("module", "builtin.module")
_GENERIC_BUILTIN_MODULE = '"builtin.module"'


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
        except TextFault as fault:
            if fault.diagnostic is not None:
                self.record(fault.diagnostic)

    def _top_level(self, block: Block, close: str) -> None:
        """Items, alias definitions and builtin modules up to the token `close`."""
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
        other = next((op for op in block.ops if op is not modules[0] and not isinstance(op, Unread)), None)
        if other is not None:
            loc = other.loc if isinstance(other.loc, SourceLoc) else self.here()
            message = f"expected one module and nothing beside it in a file, got '{other.spec.name}'"
            self.record(Diagnostic(codes.MODULES, message, loc))
            return None
        modules[0].parent = None
        return modules[0]
