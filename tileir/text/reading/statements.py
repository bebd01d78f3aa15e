"""Read statements: results, operations in custom and generic form, regions and their arguments.

After a fault, reading goes on with the next statement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from tileir.ir import attributes as a
from tileir.ir.core import Block, Op, Value
from tileir.ir.diagnostics import Diagnostic
from tileir.ir.fields import Attr, AttrKind
from tileir.ir.loc import Location, Source, SourceLoc, SourcePart
from tileir.ir.partial import POISON, Unread
from tileir.ir.spec import OpSpec
from tileir.ir.traits import TerminatedBy
from tileir.ir.types import I32, FunctionType, Type
from tileir.ops import OPS
from tileir.text.attributes import FORMS, SEGMENT_SIZES, attribute, dictionary, expected_form
from tileir.text.locations import location_in_brackets
from tileir.text.reading import codes
from tileir.text.reading.hints import PREFIX, foreign_hint, operation_hint, spellings, syntax_hint
from tileir.text.reading.lexer import END, token_at
from tileir.text.reading.reader import ClosedRegion, GiveUp, NameScope, Reader, TextFault, next_statement, shown_token
from tileir.text.reading.types import parse_type
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
                self.index += 1
                op.loc = location_in_brackets(self, attribute)
                self.located.append(op)
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
            if token != ";":
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
        """Return a fault of an operation: where one of its words or marks is missing, the hint says how it is
        written."""
        hint, expected = diagnostic.hint, diagnostic.expected or ""
        if hint is None and diagnostic.code == codes.EXPECTED and expected.startswith("'"):
            hint = syntax_hint(spec, self.syntax(spec), (diagnostic.got or "").strip("'"))
        return replace(diagnostic, op=spec.name, hint=hint)

    def syntax(self, spec: OpSpec) -> str:
        """Return the text form of an operation in one line."""
        raise NotImplementedError

    def _place(self, op: Op, offset: int, length: int) -> None:
        """Give an operation the place of its name."""
        marks = self.part.marks
        if len(marks) == SourcePart.LENGTH:
            self.part = SourcePart(self.source)
            marks = self.part.marks
        op.origin, op.number = self.part, len(marks)
        marks.append(offset * SourcePart.LONGEST + length)

    def _unusual_operation(self, token: str) -> ReadOp:
        """Return the reader of an operation in generic form; everything else is a fault."""
        if token[0] == '"':
            return self.generic
        if not (token[0].isalpha() or token[0] == "_"):
            self.expected("an operation", "comments begin with //" if token[0] == "#" else None)
        self.unknown_operation(token)

    def unknown_operation(self, name: str) -> NoReturn:
        """Fail because no operation is called `name`."""
        bare = name.removeprefix(PREFIX)
        if bare in (f"experimental${_REFUSED}", f"experimental.{_REFUSED}"):
            message = f"expected an operation that has a meaning, got '{bare}', which early documents only mention"
            self.fail(codes.REFUSED_OP, message, got=bare)
        hint = foreign_hint(bare) or operation_hint(bare)
        if name in spellings():  # quoted, in the generic form
            hint = f"write '\"{PREFIX}{name}\"', or {name} without quotes"
        elif self.tokens[self.index + 1] in ("=", ","):
            hint = f"the name of a value begins with %: write '%{name}'"
        got = shown_token(name)
        self.fail(codes.UNKNOWN_OP, f"expected an operation, got the unknown name {got}", hint=hint, got=got)

    # ------------------------------------------------------------ regions

    def region(self, spec: OpSpec, declared: list[Argument], implicit: bool = True) -> Block:
        """Read ``{ ... }`` in custom form, with the arguments that the header declares.

        A missing terminator is added if it may be `implicit`.
        """
        opening = self.here()
        self.expect("{")
        block = self.block(spec, declared, opening)
        if implicit:
            self._terminate(spec, block)
        return block

    def block(self, spec: OpSpec, declared: list[Argument], opening: SourceLoc) -> Block:
        """Return the contents of a region up to and with its closing brace.

        Where the header declares no arguments, a label may: ``^bb0(%a: T, ...):``.
        """
        self.braces += 1
        self.enter()
        outer = self.scope
        mark = len(outer.defined)
        if spec.isolated:
            self.enter_scope(NameScope())
        try:
            if not declared and self.peek()[0] == "^":
                self.index += 1
                declared = arguments(self) if self.peek() == "(" else []
                self.expect(":")
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
        """Return whether another operation of the block follows; otherwise the closing brace does."""
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

    def with_dict(self, op: Op) -> Op:
        """Return `op` with the attribute dictionary after its regions, if there is one."""
        op.discardable = self.read_dict(op.spec, op.attributes)
        return op

    def read_dict(self, spec: OpSpec, attributes: dict[str, Any]) -> dict[str, a.Attribute] | None:
        """Return an optional attribute dictionary: declared entries go to `attributes`, the others are returned."""
        if self.tokens[self.index] != "{":
            return None
        loc = self.here()
        return distribute(self, spec, dictionary(self), attributes, loc)


_NO_ENTRIES = a.DictAttr()


@dataclass(slots=True)
class Argument:
    """A block argument as declared; `name` is None for one that has only a type."""

    name: str | None
    type: Type
    begin: int
    attributes: a.DictAttr = _NO_ENTRIES
    loc: Location | None = None


def arguments(p: ValueReader) -> list[Argument]:
    """Read ``(%a: T, ...)``: all with names, or all without."""
    p.expect("(")
    first = p.here()
    declared = p.comma_list(lambda: _argument(p), ")")
    named = [arg.name is not None for arg in declared]
    if any(named) and not all(named):
        odd = next(arg for arg in declared if (arg.name is None) == named[0])
        what, got = ("a value name", "none") if named[0] else ("no value name", "one")
        loc = p.place(odd.begin, odd.begin + len(token_at(p.text, odd.begin)))
        message = f"expected {what} as for the first argument, got {got}"
        p.fail(codes.ARGUMENT_NAMES, message, loc, notes=p.note("first argument", first))
    return declared


def _argument(p: ValueReader) -> Argument:
    begin = p.starts[p.index]
    name = None
    if p.peek()[0] == "%":
        name = p.new_name()
        p.expect(":")
    type = parse_type(p)
    given = _attributes(p) if p.peek() == "{" else _NO_ENTRIES
    loc = location_in_brackets(p, attribute) if p.accept("loc") else None
    return Argument(name, type, begin, given, loc)


def _attributes(p: ValueReader) -> a.DictAttr:
    """Read ``{key = value}`` behind a type; a body there means that the bracket before it is missing."""
    brace = p.starts[p.index]
    if p.tokens[p.index + 1][0] != "%":
        given = a.DictAttr.of(dictionary(p))
        p.lookahead()
        if p.peek() in (",", ")", "loc"):
            return given
        p.restart(brace)
    p.expected("',' or ')'")


def function_type(p: ValueReader, values: list[Value], marks: list[int]) -> FunctionType:
    """Read ``: (T, ...) -> R``, checked against the operands."""
    p.expect(":")
    at = p.here()
    type = parse_type(p)
    if type is POISON:
        return FunctionType((type,) * len(values), (type,) * sum(name.size for name in p.names))
    if not isinstance(type, FunctionType):
        p.fail(codes.EXPECTED, f"expected a function type such as (tile<f32>) -> tile<f32>, got {type!r}", at)
    p.check_count(type.inputs, values, "operand", at.offset)
    p.check_types(type.inputs, values, marks)
    return type


def store(attributes: dict[str, Any], attr: Attr, value: Any) -> None:
    """Keep a value unless leaving it out means the same."""
    if value == attr.default or (attr.kind is AttrKind.BOOL_ARRAY and not any(value)):
        return
    attributes[attr.name] = value


def distribute(
    reader: Reader, spec: OpSpec, entries: dict[str, a.Attribute], attributes: dict[str, Any], loc: SourceLoc
) -> dict[str, a.Attribute] | None:
    """Store the declared ones of `entries` in `attributes` and return the others, which no declaration knows."""
    discardable: dict[str, a.Attribute] = {}
    for key, value in entries.items():
        attr = spec.attr_index.get(key)
        if attr is None:
            discardable[key] = value
        elif key in attributes:
            reader.fail(codes.DUPLICATE, f"expected '{key}' once, got it again in the attribute dictionary", loc)
        else:
            store(attributes, attr, property_value(reader, spec, attr, value, loc))
    return dict(sorted(discardable.items())) or None


def property_value(reader: Reader, spec: OpSpec, attr: Attr, value: a.Attribute, loc: SourceLoc) -> Any:
    """Return the Python value of a declared attribute that is given as `value`."""
    found = FORMS[attr.kind].value(attr, value)
    if found is None:
        what = expected_form(attr)
        message = f"'{spec.name}' attribute '{attr.name}': expected {what}, got another attribute"
        reader.fail(codes.PROPERTY, message, loc, expected=what)
    return found


# ---------------------------------------------------------------- the generic form


def read_generic(p: StatementReader) -> Op:
    """Return the rest of an operation whose quoted name was just taken."""
    loc = p.taken()
    p.index -= 1
    name = p.string()
    cls = spellings().get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    if cls is None:
        p.index -= 1
        p.unknown_operation(name)
    spec = cls.spec
    p.expect("(")
    values, marks = p.value_list() if p.peek()[0] == "%" else ([], [])
    p.expect(")")
    if p.peek() == "[":
        p.fail(codes.REGION_COUNT, f"'{spec.name}': expected no successors, got some")
    properties = p.angled(lambda: dictionary(p)) if p.peek() == "<" else None
    regions = _regions(p, spec)
    at = p.here()
    entries = dictionary(p) if p.peek() == "{" else {}
    given = properties if properties is not None else entries
    sizes = given.pop(SEGMENT_SIZES, None)
    attributes: dict[str, Any] = {}
    discardable = distribute(p, spec, entries, attributes, at)
    if properties is not None:
        unknown = next((key for key in properties if key not in spec.attr_index), None)
        if unknown is not None:
            message = f"'{spec.name}': expected a declared property, got {shown_token(unknown)}"
            p.fail(codes.UNKNOWN_ATTRIBUTE, message, loc)
        distribute(p, spec, properties, attributes, loc)
    require(p, spec, attributes, loc, "property")
    type = function_type(p, values, marks)
    segments = _segments(p, spec, sizes, len(values), loc)
    declared, got = len(spec.results), len(type.results)
    if declared != got and not any(result.variadic for result in spec.results):
        message = f"'{spec.name}': expected {declared} result types, got {got}"
        p.fail(codes.RESULT_COUNT, message, loc, expected=str(declared), got=str(got))
    return cls(values, type.results, attributes, regions, segments=segments, discardable=discardable)


def require(p: StatementReader, spec: OpSpec, attributes: dict[str, Any], loc: SourceLoc, what: str) -> None:
    """Fail if an attribute that must be given is missing."""
    missing = next((attr.name for attr in spec.attrs if attr.required and attr.name not in attributes), None)
    if missing is not None:
        p.fail(codes.MISSING_PROPERTY, f"'{spec.name}': expected the {what} '{missing}', got none", loc)


def _segments(
    p: StatementReader, spec: OpSpec, sizes: a.Attribute | None, count: int, loc: SourceLoc
) -> tuple[int, ...]:
    """Return the number of operands in the group of each declared operand."""
    if sizes is None:
        if spec.segmented and any(not operand.single for operand in spec.operands):
            p.fail(codes.MISSING_PROPERTY, f"'{spec.name}': expected the property '{SEGMENT_SIZES}', got none", loc)
        found = spec.default_segments(count)
    elif isinstance(sizes, a.DenseArray) and sizes.element is I32:
        found = tuple(int(size) for size in sizes.values)
    else:
        p.fail(codes.PROPERTY, f"'{spec.name}' attribute '{SEGMENT_SIZES}': expected array<i32: ...>, got another", loc)
    fits = len(found) == len(spec.operands) and sum(found) == count and min(found, default=0) >= 0
    for operand, size in zip(spec.operands, found):
        fits = fits and (operand.variadic or size == 1 or (operand.optional and size == 0))
    if not fits:
        declared = ", ".join(operand.name for operand in spec.operands) or "none"
        message = f"'{spec.name}': expected operands for {declared}, got {count} in groups {list(found)}"
        p.fail(codes.OPERAND_COUNT, message, loc)
    return found


def _regions(p: StatementReader, spec: OpSpec) -> tuple[Block | None, ...]:
    """Read ``({ ... }, ...)``. Not a `comma_list`: nested regions must take few Python frames."""
    at = p.here()
    found: list[Block | None] = []
    more = p.accept("(")
    while more:
        opening = p.here()
        p.expect("{")
        found.append(None if p.accept("}") else p.block(spec, [], opening))
        more = p.accept(",")
        if not more:
            p.expect(")", "',' or ')'")
    if len(found) != len(spec.regions):
        message = f"'{spec.name}': expected {len(spec.regions)} regions, got {len(found)}"
        p.fail(codes.REGION_COUNT, message, at, expected=str(len(spec.regions)), got=str(len(found)))
    return tuple(block or (None if region.optional else Block()) for block, region in zip(found, spec.regions))
