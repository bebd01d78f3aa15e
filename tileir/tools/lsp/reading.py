"""A text as an editor needs it: the program as far as it can be read, and which name stands where."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from tileir.ir.attributes import Attribute
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.diagnostics import Diagnostic
from tileir.ir.loc import Source, SourceLoc
from tileir.ir.types import Type
from tileir.ops.module import ModuleOp
from tileir.text.parser import DEFAULT_MODULE, Parser
from tileir.text.reading.lexer import token_at
from tileir.text.reading.reader import NameScope
from tileir.text.reading.values import ResultName


@dataclass(eq=False)
class ValueName:
    """A name as it is defined at the offset `begin` and seen from `since` up to `until`.

    A pack of `size` values has its first one.
    """

    name: str
    begin: int
    value: Value
    since: int
    until: int
    size: int = 1


@dataclass
class TextReading:
    """The result of reading `source`. `uses` and `definitions` are keyed by the offset of the name in the text."""

    source: Source
    module: Module
    faults: list[Diagnostic] = field(default_factory=list)
    uses: dict[int, Value] = field(default_factory=dict)
    named: dict[Value, ValueName] = field(default_factory=dict)
    definitions: dict[int, ValueName] = field(default_factory=dict)
    symbols: dict[int, str] = field(default_factory=dict)
    statements: dict[int, Op] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    aliases: dict[str, Attribute | None] = field(default_factory=dict)
    moved: dict[int, int] = field(default_factory=dict)
    """The offsets of operations with a ``loc(...)`` of their own, by the identity of that location."""
    _begins: list[int] = field(default_factory=list)

    def name_at(self, offset: int) -> ValueName | None:
        """Return the name that is used or defined by the token that begins at `offset`."""
        used = self.uses.get(offset)
        return self.definitions.get(offset) if used is None else self.named.get(used)

    def places_of(self, name: ValueName) -> list[int]:
        """Return the offsets of the definition and of all uses, in order."""
        return sorted({name.begin, *(at for at, used in self.uses.items() if self.named.get(used) is name)})

    def statement_at(self, offset: int) -> tuple[int, Op] | None:
        """Return the operation whose statement begins last at or before `offset`, and where."""
        if not self._begins:
            self._begins = sorted(self.statements)
        at = bisect_right(self._begins, offset) - 1
        return None if at < 0 else (self._begins[at], self.statements[self._begins[at]])

    def release(self) -> None:
        """Break the reference cycles of the program, so that its memory is free at once."""
        for op in list(self.module.op.walk()):
            op.parent, op.operands, op.results, op.regions = None, (), (), ()

    def visible(self, offset: int) -> list[ValueName]:
        """Return the names that may be used at `offset`, the latest first."""
        found = [name for name in self.definitions.values() if name.since <= offset <= name.until]
        return sorted(found, key=lambda name: -name.begin)


def read(source: Source) -> TextReading:
    """Read a text, faulty or not."""
    listener = NamingParser(source)
    op = listener.file() or ModuleOp([], (), {"sym_name": DEFAULT_MODULE}, (Block(),))
    listener.leave(len(source.text))
    reading = listener.reading
    reading.module = Module(op, source)
    reading.faults, reading.types = sorted(listener.faults, key=fault_offset), listener.types
    reading.aliases, reading.moved = listener.aliases, listener.moved()
    return reading


def fault_offset(fault: Diagnostic) -> int:
    """Return the offset of a fault in the text."""
    return fault.loc.offset if isinstance(fault.loc, SourceLoc) else 0


class _Names(dict[str, Value]):
    """The names of a scope, which notes every look-up that finds one, and tells of every name that goes."""

    def __init__(self, values: dict[str, Value], parser: NamingParser) -> None:
        super().__init__(values)
        self._parser, self._uses = parser, parser.reading.uses

    def get(self, name: str, default: Value | None = None) -> Value | None:  # type: ignore[override]
        value = super().get(name)
        if value is None:
            return default
        self._uses[self._parser.starts[self._parser.index]] = value
        return value

    def __delitem__(self, name: str) -> None:
        self._parser.gone(name)
        super().__delitem__(name)


class NamingParser(Parser):
    """The parser, with a record of what it sees."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.reading = TextReading(source, Module(ModuleOp([], (), {"sym_name": DEFAULT_MODULE}, (Block(),)), source))
        self.placed: list[tuple[int, Op]] = []
        self._known: dict[NameScope, dict[str, ValueName]] = {}
        self.enter_scope(self.scope)

    def moved(self) -> dict[int, int]:
        """Return the offsets of the operations with locations of their own."""
        return {id(op.loc): begin for begin, op in self.placed}

    # ------------------------------------------------------------ scopes

    def enter_scope(self, scope: NameScope) -> None:
        if not isinstance(scope.values, _Names):
            self._known[scope] = {}
            scope.values = _Names(scope.values, self)
        elif scope is not self.scope:
            self.leave(self._here())
        super().enter_scope(scope)

    def leave(self, offset: int) -> None:
        """Let all names of the scope end at `offset`."""
        for name in self._known[self.scope].values():
            name.until = min(name.until, offset)

    def _here(self) -> int:
        return self.starts[min(self.index, len(self.starts) - 1)]

    # ------------------------------------------------------------ values

    def gone(self, name: str) -> None:
        """End a name of the scope here."""
        found = self._known[self.scope].get(name)
        if found is not None:
            found.until = min(found.until, self._here())

    def unusual_value(self, token: str) -> Value:
        """Return a member of a pack, or a value that is defined later, when it becomes what stands here."""
        at = self.starts[self.index]
        value = self.reading.uses[at] = super().unusual_value(token)
        return value

    def define(self, name: str, value: Value, begin: int) -> None:
        super().define(name, value, begin)
        value, known = self.values[name], self._known[self.scope]
        if "#" in name:
            pack = self.reading.named[value] = known[name.partition("#")[0]]
            pack.size = self.scope.packs[pack.name]
            return
        defined = ValueName(name, begin, value, self._here(), len(self.text))
        known[name] = self.reading.definitions[begin] = self.reading.named[value] = defined

    def poison(self, names: list[ResultName]) -> None:
        super().poison(names)
        for name in names:
            if name.begin in self.reading.definitions:
                self.reading.definitions[name.begin].size = name.size
            else:  # it was defined before
                self.reading.named[self.values[name.name]] = self._known[self.scope][name.name]

    # ------------------------------------------------------------ statements and symbols

    def statement(self, block: Block) -> None:
        begin, before = self.starts[self.index], len(block.ops)
        super().statement(block)
        if len(block.ops) > before:
            op = block.ops[before]
            self.reading.statements[begin] = op
            if self.located and self.located[-1] is op:
                self.placed.append((begin, op))

    def symbol(self, what: str = "a symbol name such as @name") -> str:
        at = self.starts[self.index]
        name = super().symbol(what)
        self.reading.symbols[at] = name
        return name


def token_around(text: str, offset: int) -> tuple[int, str]:
    """Return the token that `offset` lies in or right behind, and where it begins; empty where there is none."""
    begin = text.rfind("\n", 0, offset) + 1
    while begin <= offset and begin < len(text):
        if text.startswith("//", begin) or text[begin] == "\n":
            break
        if text[begin].isspace():
            begin += 1
            continue
        token = token_at(text, begin)
        if begin <= offset <= begin + len(token):
            following = begin + len(token)
            if offset == following and following < len(text) and text[following] in "%@#!^" + _WORD:
                begin = following
                continue
            return begin, token
        begin += len(token)
    return offset, ""


_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
