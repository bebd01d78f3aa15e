"""Read uses and definitions of values: names, packs and forward references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.ir.core import Block, Op, Value
from tileir.ir.diagnostics import Diagnostic, Note, did_you_mean
from tileir.ir.escaping import shown
from tileir.ir.loc import Source, SourceLoc
from tileir.ir.partial import POISON
from tileir.ir.types import Type
from tileir.text.reading import codes
from tileir.text.reading.hints import carrying_hint, conversion_hint, token_hint
from tileir.text.reading.lexer import token_at
from tileir.text.reading.reader import PENDING, NameScope, Reader, shown_token, whole_number

MAX_PACK = 1 << 16
"""Results that a pack may name; no operation has as many."""


@dataclass(slots=True)
class ResultName:
    """``%name`` or ``%name:size`` in front of an operation."""

    name: str
    size: int
    begin: int


NO_NAMES: list[ResultName] = []


class ValueReader(Reader):
    """A reader that knows which values are visible."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.scope = NameScope()
        self.values: dict[str, Value] = self.scope.values
        self.names = NO_NAMES
        self._nowhere = Block()

    # ------------------------------------------------------------ uses

    def value(self) -> Value:
        """Return a use of a value."""
        token = self.tokens[self.index]
        found = self.values.get(token)
        if found is None:
            found = self.unusual_value(token)
        self.index += 1
        return found

    def value_list(self) -> tuple[list[Value], list[int]]:
        """Return uses separated by commas, and where each stands."""
        marks = [self.starts[self.index]]
        values = [self.value()]
        while self.tokens[self.index] == ",":
            self.index += 1
            marks.append(self.starts[self.index])
            values.append(self.value())
            self.lookahead()
        return values, marks

    def unusual_value(self, token: str) -> Value:
        """Return the value at the next token where it is not simply a visible name."""
        if token[0] != "%" or len(token) == 1:
            self.expected("a value such as %x", f"did you mean '%{token}'?" if f"%{token}" in self.values else None)
        name, hash, position = token.partition("#")
        name = name.rstrip()
        if not hash:
            return self._later(name)
        index = whole_number(position) or 0
        if name not in self.values:
            return self._later(f"{name}#{index}" if index else name)
        count = self.scope.packs.get(name, 1)
        if index >= count:
            place = self.place(self.scope.places[name], self.scope.places[name] + len(name))
            message = f"expected a result index below {count} for {shown_token(name)}, got {shown_token(position)}"
            self.fail(codes.PACK_INDEX, message, notes=self.note("defined here", place))
        # A poisoned pack has only its name.
        return self.values.get(f"{name}#{index}", self.values[name])

    def _later(self, name: str) -> Value:
        begin = self.starts[self.index]
        return self.scope.later(name, self._nowhere, begin, begin + len(self.tokens[self.index]))

    # ------------------------------------------------------------ types of values

    def check_type(self, value: Value, expected: Type | None, begin: int) -> None:
        """Fail if the use of `value` at the offset `begin` states another type than the value has."""
        actual = value.type
        if actual is expected or expected is None or expected is POISON or actual is POISON:
            return
        if actual is PENDING:
            value.type = expected
            return
        name = token_at(self.text, begin)
        self.fail(
            codes.VALUE_TYPE,
            _other_type(name, expected, actual),
            self.place(begin, begin + len(name)),
            notes=self._definition(name),
            hint=conversion_hint(actual, expected),
            expected=repr(expected),
            got=repr(actual),
        )

    def _definition(self, name: str) -> tuple[Note, ...]:
        bare = name.partition("#")[0].rstrip()
        begin = self.scope.places.get(bare)
        if begin is not None:
            return self.note("defined here", self.place(begin, begin + len(bare)))
        forward = self.scope.forward.get(name)
        return self.note("first used here", self.place(forward.begin, forward.end)) if forward else ()

    def known_type(self, value: Value, begin: int) -> Type:
        """Return the type of a value where text does not state it."""
        if value.type is PENDING:
            name = token_at(self.text, begin)
            message = f"expected a type for {shown_token(name)}, which is used before its definition, got none"
            self.fail(codes.INFERENCE, message, self.place(begin, begin + len(name)))
        return value.type

    def check_count(self, types: Sequence[object], values: Sequence[object], what: str, begin: int) -> None:
        """Fail unless there is one type for each value."""
        if len(types) != len(values):
            message = f"expected {len(values)} {what} types, got {len(types)}"
            written = self.text[begin : self.starts[self.index]].rstrip()
            loc = self.place(begin, begin + max(1, len(written)))
            self.fail(codes.TYPE_COUNT, message, loc, expected=str(len(values)), got=str(len(types)))

    def check_types(self, types: Sequence[Type], values: Sequence[Value], marks: Sequence[int]) -> None:
        """Fail if uses of values at these offsets state other types than the values have."""
        for value, expected, mark in zip(values, types, marks):
            self.check_type(value, expected, mark)

    # ------------------------------------------------------------ definitions

    def new_name(self, what: str = "a value name such as %x") -> str:
        token = self.tokens[self.index]
        if token[0] != "%" or len(token) == 1 or "#" in token:
            self.expected(what)
        self.index += 1
        return token

    def result_names(self) -> list[ResultName]:
        """Read ``%a, %b:2 =`` in front of an operation."""
        tokens, index = self.tokens, self.index
        if tokens[index + 1] == "=" and "#" not in tokens[index]:
            self.index = index + 2
            return [ResultName(tokens[index], 1, self.starts[index])]
        names = self.some(self._result_name)
        self.expect("=")
        return names

    def _result_name(self) -> ResultName:
        begin = self.starts[self.index]
        name = self.new_name()
        if not self.accept(":"):
            return ResultName(name, 1, begin)
        loc = self.here()
        count = self.integer("the number of results", 32)
        if not 0 < count <= MAX_PACK:
            self.fail(codes.RESULT_COUNT, f"expected a positive number of results, got {count}", loc)
        return ResultName(name, count, begin)

    def bind(self, op: Op, names: list[ResultName]) -> None:
        """Give the results of `op` their names."""
        defines = op.defines
        if len(names) == 1 == names[0].size and not isinstance(defines, tuple):
            self.define(names[0].name, defines, names[0].begin)
            return
        results = op.results
        written = sum(name.size for name in names)
        if written != len(results):
            loc = self.place(names[0].begin, names[-1].begin + len(names[-1].name))
            message = f"expected {len(results)} result names for '{op.spec.name}', got {written}"
            given = ", ".join(name.name for name in names)
            hint = token_hint(op.spec, f"'{shown(given)}, %token = ...'") if written + 1 == len(results) else None
            self.fail(codes.RESULT_COUNT, message, loc, hint=hint, expected=str(len(results)), got=str(written))
        position = 0
        for name in names:
            self.define(name.name, results[position], name.begin)
            if name.size > 1:
                self._define_pack(name.name, results[position : position + name.size], name.begin)
            position += name.size

    def _define_pack(self, name: str, results: Sequence[Value], begin: int) -> None:
        self.scope.packs[name] = len(results)
        for index, value in enumerate(results):
            if index:
                self.define(f"{name}#{index}", value, begin)
        first = f"{name}#0"
        self.values[first] = self.values[name]
        self.scope.defined.append(first)

    def define(self, name: str, value: Value, begin: int) -> None:
        scope = self.scope
        if name in self.values:
            notes = self._definition(name)
            loc = self.place(begin, begin + len(name.partition("#")[0]))
            message = f"expected a new value name, got {shown_token(name)} again"
            self.fail(codes.REDEFINED_VALUE, message, loc, notes=notes)
        if scope.forward and name in scope.forward:
            value = self._settle(name, value, begin)
        self.values[name] = value
        scope.places[name] = begin
        scope.defined.append(name)

    def _settle(self, name: str, value: Value, begin: int) -> Value:
        """Let the stand-in of earlier uses take the place of `value`, which was just defined, and return it."""
        forward = self.scope.forward.pop(name)
        found, owner = forward.value, value.owner
        stated, actual = found.type, value.type
        if isinstance(owner, Op):
            owner.set_result(value.index, found)
        else:
            owner.args[value.index] = found
        found.type, found.owner, found.index = actual, owner, value.index
        if stated not in (PENDING, POISON, actual) and actual is not POISON:
            loc = self.place(forward.begin, forward.end)
            message = _other_type(name, stated, actual)
            notes = self.note("defined here", self.place(begin, begin + len(name)))
            self.record(Diagnostic(codes.VALUE_TYPE, message, loc, notes, expected=repr(stated), got=repr(actual)))
        return found

    def poison(self, names: list[ResultName]) -> None:
        """Define the results of a faulty statement anew, so that their uses cause no faults."""
        for result in names:
            name, value = result.name, Value(POISON, self._nowhere, 0)
            if name in self.values:
                members = [f"{name}#{index}" for index in range(self.scope.packs.get(name, 0))]
                self.values.update((one, value) for one in (name, *members) if one in self.values)
            else:
                uses = [use for use in self.scope.forward if use.partition("#")[0] == name]
                for later in uses:
                    del self.scope.forward[later]
                self.define(name, value, result.begin)
            self.scope.packs[name] = max(result.size, self.scope.packs.get(name, 0))

    # ------------------------------------------------------------ scopes

    def enter_scope(self, scope: NameScope) -> None:
        self.scope = scope
        self.values = scope.values

    def check_defined(self) -> None:
        """Check, at the end of an isolated body, that every used name is defined."""
        for name, forward in self.scope.forward.items():
            self.record(self._undefined(name, self.place(forward.begin, forward.end)))
            forward.value.type = POISON

    def _undefined(self, name: str, loc: SourceLoc) -> Diagnostic:
        message = f"expected a defined value, got {shown_token(name)}"
        region = self.scope.region_of(name)
        if region is None:
            hint = did_you_mean(name, self.scope.places)
            return Diagnostic(codes.UNDEFINED_VALUE, message, loc, hint=hint)
        line = region.opening.file_loc.line
        message += f", which is defined inside the '{region.op}' at line {line} and is not visible outside"
        return Diagnostic(codes.UNDEFINED_VALUE, message, loc, self._definition(name), carrying_hint(region.op))


def _other_type(name: str, stated: Type, actual: Type) -> str:
    return f"expected a value of type {stated!r}, as this operation states, got {shown_token(name)} of type {actual!r}"
