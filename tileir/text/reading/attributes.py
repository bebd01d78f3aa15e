"""Read attributes: every attribute that stands by itself, dictionaries, hints, predicates (spec: attributes#top)."""

from __future__ import annotations

from collections.abc import Callable

from tileir.ir import attributes as a
from tileir.ir.diagnostics import did_you_mean
from tileir.ir.partial import POISON
from tileir.ir.types import F64, I1, I64, ElementType, TileType
from tileir.text.kinds import ENUM_MNEMONICS
from tileir.text.reading import codes
from tileir.text.reading.literals import (
    BadElement,
    Literal,
    check_element,
    encode,
    float_pattern,
    integer_of,
    read_literal,
)
from tileir.text.reading.locations import DEBUG_ATTRIBUTES, location_in_brackets, resolved
from tileir.text.reading.reader import Reader, shown_token
from tileir.text.reading.types import parse_type, starts_type

_PREFIX = "#cuda_tile."
_OPAQUE = ("padding_value", "fill_value", "ptr_attr")


def attribute(reader: Reader) -> a.Attribute:
    """Return the attribute at the next token."""
    token = reader.tokens[reader.index]
    if token[0].isdigit() or token == "-":
        return _number(reader)
    read = _BY_TOKEN.get(token) or _BY_FIRST.get(token[0])
    if read is not None:
        reader.enter()
        found = read(reader)
        reader.depth -= 1
        return found
    if starts_type(reader):
        return a.TypeAttr(parse_type(reader))
    reader.expected("an attribute")


# ---------------------------------------------------------------- numbers


def _number(reader: Reader) -> a.Attribute:
    literal = read_literal(reader)
    is_float = "." in literal.text
    if reader.accept(":"):
        begin = reader.here()
        type = parse_type(reader)
        if type is POISON:
            return a.UnitAttr()
        element = type if isinstance(type, ElementType) else None
        if element is None:
            reader.fail(codes.LITERAL_ELEMENT, f"expected a number type after a number, got {type!r}", begin)
    else:
        element = F64 if is_float else I64
    return checked_number(reader, literal, element)


def checked_number(reader: Reader, literal: Literal, element: ElementType) -> a.Attribute:
    """Return the number of a type that is written as `literal`."""
    try:
        return _typed_number(literal, element)
    except BadElement as error:
        reader.fail(error.code, error.message, reader.place(literal.begin, literal.end), hint=error.hint)


def _typed_number(literal: Literal, element: ElementType) -> a.Attribute:
    if element.is_float:
        return a.FloatAttr(float_pattern(literal.text, element), element)
    if "." in literal.text:
        raise BadElement(codes.LITERAL_KIND, f"expected an integer of {element.name}, got {shown_token(literal.text)}")
    value = integer_of(literal.text)
    size = 1 << element.bits
    if not -size // 2 <= value < size:
        message = f"expected an integer that fits {element.name}, got {shown_token(literal.text)}"
        raise BadElement(codes.LITERAL_RANGE, message)
    if element is I1:
        return a.BoolAttr(bool(value))
    return a.IntegerAttr((value + size // 2) % size - size // 2, element)


# ---------------------------------------------------------------- containers


def _array(reader: Reader) -> a.Attribute:
    """Read ``[a, b]``. Not a `comma_list`: nested attributes must take few Python frames."""
    reader.expect("[")
    items: list[a.Attribute] = []
    more = not reader.accept("]")
    while more:
        items.append(attribute(reader))
        more = _goes_on(reader, "]")
    return a.ArrayAttr(tuple(items))


def _goes_on(reader: Reader, close: str) -> bool:
    """Take the comma after an item, or the bracket that ends the list."""
    reader.lookahead()
    if reader.accept(close):
        return False
    if reader.peek() == ":" and reader.tokens[reader.index - 1] in ("true", "false"):
        reader.expected(f"',' or '{close}'", "'true' and 'false' stand without a type")
    reader.expect(",", f"',' or '{close}'")
    return True


def dictionary(reader: Reader, close: str = "}", open: str = "{") -> dict[str, a.Attribute]:
    """Read ``{key = value, flag}``, in the order written."""
    reader.expect(open)
    reader.braces += open == "{"
    entries: dict[str, a.Attribute] = {}
    more = not reader.accept(close)
    while more:
        key = _key(reader, entries)
        entries[key] = attribute(reader) if reader.accept("=") else a.UnitAttr()
        more = _goes_on(reader, close)
    reader.braces -= open == "{"
    return entries


def _key(reader: Reader, entries: dict[str, a.Attribute]) -> str:
    loc = reader.here()
    key = reader.string() if reader.peek()[0] == '"' else reader.word("an attribute name")
    if key in entries:
        reader.fail(codes.DUPLICATE, f"expected each key of a dictionary once, got {shown_token(key)} again", loc)
    return key


def _dict(reader: Reader) -> a.Attribute:
    return a.DictAttr.of(dictionary(reader))


def _dense_array(reader: Reader) -> a.Attribute:
    reader.index += 1
    reader.expect("<")
    loc = reader.here()
    element = check_element(reader, parse_type(reader), loc)
    if not reader.accept(":"):
        reader.expect(">")
        return a.DenseArray(element, ())
    return a.DenseArray(element, tuple(reader.comma_list(lambda: _dense_number(reader, element), ">")))


def _dense_number(reader: Reader, element: ElementType) -> int | bool | float:
    literal = read_literal(reader)
    if literal.text in ("true", "false"):
        return literal.text == "true"
    if element.is_float and "." in literal.text:
        return float(literal.text)
    found = checked_number(reader, literal, element)
    assert isinstance(found, a.IntegerAttr | a.BoolAttr | a.FloatAttr)
    return found.bits if isinstance(found, a.FloatAttr) else found.value


def _dense(reader: Reader) -> a.Attribute:
    """Read ``dense<elements> : type``."""
    reader.index += 1
    literal = dense_literal(reader)
    reader.expect(":")
    loc = reader.here()
    type = parse_type(reader)
    if type is POISON:
        return a.UnitAttr()
    if not isinstance(type, TileType):
        reader.fail(codes.LITERAL_ELEMENT, f"expected a tile of numbers after 'dense<...> :', got {type!r}", loc)
    check_element(reader, type.element, loc)
    return encode(reader, literal, type)


def dense_literal(reader: Reader) -> Literal:
    """Read ``<elements>`` after ``dense``."""
    reader.expect("<")
    literal = read_literal(reader)
    reader.expect(">")
    return literal


# ---------------------------------------------------------------- names


def _symbol(reader: Reader) -> a.Attribute:
    path = [reader.symbol()]
    while reader.peek() == ":" and reader.tokens[reader.index + 1] == ":":
        reader.index += 2
        path.append(reader.symbol())
        reader.lookahead()
    return a.SymbolRef(tuple(path))


def _string(reader: Reader) -> a.Attribute:
    return a.StringAttr(reader.string())


def _constant(found: a.Attribute) -> Callable[[Reader], a.Attribute]:
    def read(reader: Reader) -> a.Attribute:
        reader.index += 1
        return found

    return read


def _location(reader: Reader) -> a.Attribute:
    reader.index += 1
    return resolved(reader, location_in_brackets(reader, attribute))


# ---------------------------------------------------------------- the dialect


def _hash(reader: Reader) -> a.Attribute:
    """Return an attribute of the dialect, or an alias."""
    token = reader.tokens[reader.index]
    if token.startswith(_PREFIX):
        return dialect_attribute(reader, token.removeprefix(_PREFIX))
    if token == "#cuda_tile":
        reader.index += 1
        return _bracketed(reader)
    return reader.alias()


def _bracketed(reader: Reader) -> a.Attribute:
    """Read ``<padding_value zero>``, or ``<div_by<16>>`` after ``#cuda_tile``."""
    reader.expect("<")
    name = reader.peek()
    if name in _OPAQUE:
        reader.index += 1
        found: a.Attribute = a.OpaqueAttr(name, reader.word("a keyword"))
    else:
        found = dialect_attribute(reader, name)
    reader.expect(">")
    return found


def dialect_attribute(reader: Reader, mnemonic: str) -> a.Attribute:
    """Return the attribute `mnemonic` of the dialect, whose name is the next token."""
    read = _DIALECT.get(mnemonic)
    if read is None:
        near = did_you_mean(mnemonic, _DIALECT)
        message = f"expected an attribute of cuda_tile, got the unknown name '{mnemonic}'"
        reader.fail(codes.UNKNOWN_ATTRIBUTE, message, hint=near)
    reader.index += 1
    return read(reader)


def _enum_reader(enum: type[a.TextEnum], what: str) -> Callable[[Reader], a.Attribute]:
    table = enum.keywords()

    def read(reader: Reader) -> a.Attribute:
        reader.expect("<")
        case = reader.one_of(table, what)
        reader.expect(">")
        return a.EnumAttr(case)

    return read


def _opaque_reader(mnemonic: str) -> Callable[[Reader], a.Attribute]:
    def read(reader: Reader) -> a.Attribute:
        reader.expect("<")
        keyword = reader.word("a keyword")
        reader.expect(">")
        return a.OpaqueAttr(mnemonic, keyword)

    return read


# ---------------------------------------------------------------- hints and predicates


def hints(reader: Reader) -> a.OptimizationHints:
    """Read ``<sm_100 = {occupancy = 2}, ...>``, which may have its name in front (spec: hints#text)."""
    reader.accept("#cuda_tile.optimization_hints")
    loc = reader.here()
    entries = dictionary(reader, ">", "<")
    for key, value in entries.items():
        if not isinstance(value, a.DictAttr):
            message = f"expected a dictionary for the optimization hints of '{key}', got another attribute"
            reader.fail(codes.PROPERTY, message, loc, hint=f"write {key} = {{name = value}}")
    return a.OptimizationHints(a.DictAttr.of(entries))


def _div_by(reader: Reader) -> a.Attribute:
    reader.expect("<")
    divisor = reader.integer("a divisor", unsigned=True)
    every = along = None
    if reader.accept(","):
        every = _clause(reader, "every")
        along = _clause(reader, "along")
    reader.expect(">")
    return a.DivBy(divisor, every, along)


def _clause(reader: Reader, word: str) -> int | None:
    return reader.integer(f"an integer after '{word}'") if reader.accept(word) else None


def _same_elements(reader: Reader) -> a.Attribute:
    reader.expect("<")
    reader.expect("[")
    values = reader.comma_list(reader.integer, "]")
    reader.expect(">")
    return a.SameElements(tuple(values))


def _bounded(reader: Reader) -> a.Attribute:
    reader.expect("<")
    lower = _bound(reader)
    reader.expect(",")
    upper = _bound(reader)
    reader.expect(">")
    return a.Bounded(lower, upper)


def _bound(reader: Reader) -> int | None:
    return None if reader.accept("?") else reader.integer("a bound or '?'")


PREDICATES: dict[str, Callable[[Reader], a.Attribute]] = {
    "div_by": _div_by,
    "same_elements": _same_elements,
    "bounded": _bounded,
}


def predicate(reader: Reader) -> a.AssumePredicate:
    """Return the predicate of an assume: bare, with its dialect, or an alias."""
    loc = reader.here()
    token = reader.peek()
    read = attribute if token[0] == "#" else reader.one_of(PREDICATES, "assume predicate")
    found = read(reader)
    if not isinstance(found, a.DivBy | a.SameElements | a.Bounded):
        message = "expected an assume predicate: div_by, same_elements or bounded, got another attribute"
        reader.fail(codes.PROPERTY, message, loc)
    return found


_DIALECT: dict[str, Callable[[Reader], a.Attribute]] = {
    **{name: _enum_reader(enum, name) for enum, name in ENUM_MNEMONICS.items()},
    **{name: _opaque_reader(name) for name in _OPAQUE},
    **PREDICATES,
    **DEBUG_ATTRIBUTES,
    "optimization_hints": hints,
}
_BY_TOKEN: dict[str, Callable[[Reader], a.Attribute]] = {
    "true": _constant(a.BoolAttr(True)),
    "false": _constant(a.BoolAttr(False)),
    "unit": _constant(a.UnitAttr()),
    "array": _dense_array,
    "dense": _dense,
    "loc": _location,
}
_BY_FIRST: dict[str, Callable[[Reader], a.Attribute]] = {
    "[": _array,
    "{": _dict,
    "@": _symbol,
    '"': _string,
    "#": _hash,
}
