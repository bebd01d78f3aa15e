"""Attributes as text (spec: attributes#top), both ways: numbers, containers, names, the dialect, hints, predicates.

`FORMS` has the text of what an operation declares, by kind: as a free attribute, which stands in dictionaries and among
properties, and in the operation's own syntax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from tileir.ir import attributes as a
from tileir.ir.core import Op
from tileir.ir.fields import Attr, AttributeKind, AttrKind
from tileir.ir.partial import POISON
from tileir.ir.types import F64, I1, I32, I64, ElementType, TileType
from tileir.text.elements import (
    BadElement,
    Literal,
    check_element,
    elements_text,
    encode,
    integer_of,
    read_literal,
    written_pattern,
)
from tileir.text.locations import DEBUG_ATTRIBUTES, PlaceText, dialect_attribute, location_in_brackets, resolved
from tileir.text.numbers import float_pattern, float_text, name_text, string_text, symbol_text
from tileir.text.reading import codes
from tileir.text.reading.reader import Reader, shown_token
from tileir.text.reading.types import parse_type, starts_type

_PREFIX = "#cuda_tile."
_OPAQUE = ("padding_value", "fill_value", "ptr_attr")
ENUM_MNEMONICS: dict[type[a.TextEnum], str] = {
    a.Signedness: "signedness",
    a.Overflow: "overflow",
    a.Rounding: "rounding",
    a.Ordering: "comparison_ordering",
    a.Predicate: "comparison_predicate",
    a.Visibility: "symbol_visibility",
    a.MultimemReduction: "multimem_reduction_kind",
}
"""The name in ``#cuda_tile.name<case>`` of the enumerations that are attributes of their own."""


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
        return a.FloatAttr(written_pattern(literal.text, element), element)
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
    return reader.angled(lambda: read_literal(reader))


# ---------------------------------------------------------------- names


def _symbol(reader: Reader) -> a.Attribute:
    path = [reader.symbol()]
    while reader.peek() == ":" and reader.tokens[reader.index + 1] == ":":
        reader.index += 2
        path.append(reader.symbol())
        reader.lookahead()
    return a.SymbolRef(tuple(path))


def _word(reader: Reader, found: a.Attribute) -> a.Attribute:
    reader.index += 1
    return found


def _location(reader: Reader) -> a.Attribute:
    reader.index += 1
    return resolved(reader, location_in_brackets(reader, attribute))


# ---------------------------------------------------------------- the dialect


def _hash(reader: Reader) -> a.Attribute:
    """Return an attribute of the dialect, or an alias."""
    token = reader.tokens[reader.index]
    if token.startswith(_PREFIX):
        return dialect_attribute(reader, token.removeprefix(_PREFIX), _DIALECT, "an attribute")
    if token == "#cuda_tile":
        reader.index += 1
        return _bracketed(reader)
    return reader.alias()


def _bracketed(reader: Reader) -> a.Attribute:
    """Read ``<padding_value zero>``, or ``<div_by<16>>`` after ``#cuda_tile``, in few Python frames."""
    reader.expect("<")
    name = reader.peek()
    if name in _OPAQUE:
        reader.index += 1
        found: a.Attribute = a.OpaqueAttr(name, reader.word("a keyword"))
    else:
        found = dialect_attribute(reader, name, _DIALECT, "an attribute")
    reader.expect(">")
    return found


def _case(reader: Reader, enum: type[a.TextEnum], what: str) -> a.Attribute:
    return a.EnumAttr(reader.angled(lambda: reader.one_of(enum.keywords(), what)))


def _opaque(reader: Reader, mnemonic: str) -> a.Attribute:
    return a.OpaqueAttr(mnemonic, reader.angled(lambda: reader.word("a keyword")))


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
        every, along = (
            reader.integer(f"an integer after '{word}'") if reader.accept(word) else None for word in ("every", "along")
        )
    reader.expect(">")
    return a.DivBy(divisor, every, along)


def _same_elements(reader: Reader) -> a.Attribute:
    reader.expect_all("<", "[")
    values = reader.comma_list(reader.integer, "]")
    reader.expect(">")
    return a.SameElements(tuple(values))


def _bounded(reader: Reader) -> a.Attribute:
    reader.expect("<")
    bounds: list[int | None] = []
    for close in (",", ">"):
        bounds.append(None if reader.accept("?") else reader.integer("a bound or '?'"))
        reader.expect(close)
    return a.Bounded(*bounds)


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
    **{name: partial(_case, enum=enum, what=name) for enum, name in ENUM_MNEMONICS.items()},
    **{name: partial(_opaque, mnemonic=name) for name in _OPAQUE},
    **PREDICATES,
    **DEBUG_ATTRIBUTES,
    "optimization_hints": hints,
}
_BY_TOKEN: dict[str, Callable[[Reader], a.Attribute]] = {
    "true": partial(_word, found=a.BoolAttr(True)),
    "false": partial(_word, found=a.BoolAttr(False)),
    "unit": partial(_word, found=a.UnitAttr()),
    "array": _dense_array,
    "dense": _dense,
    "loc": _location,
}
_BY_FIRST: dict[str, Callable[[Reader], a.Attribute]] = {
    "[": _array,
    "{": lambda reader: a.DictAttr.of(dictionary(reader)),
    "@": _symbol,
    '"': lambda reader: a.StringAttr(reader.string()),
    "#": _hash,
}


# ---------------------------------------------------------------- printing


def attribute_text(attribute: a.Attribute, elide: bool = False) -> str:
    """Return the canonical spelling; with `elide` (inside arrays) the types i64 and f64 are left out."""
    if isinstance(attribute, a.IntegerAttr) and attribute.type is not I1:
        return str(attribute.value) + ("" if elide and attribute.type is I64 else f" : {attribute.type.name}")
    if isinstance(attribute, a.FloatAttr):
        text = float_text(attribute.bits, attribute.type)
        bare = elide and attribute.type is F64 and not text.startswith("0x")
        return text if bare else f"{text} : {attribute.type.name}"
    write = _TEXTS.get(type(attribute))
    return PlaceText(attribute_text).definition(attribute) if write is None else write(attribute)  # type: ignore[arg-type]


def bool_text(value: object) -> str:
    return "true" if value else "false"


def array_text(items: Iterable[a.Attribute]) -> str:
    return f"[{', '.join([attribute_text(item, elide=True) for item in items])}]"


def dict_text(entries: Mapping[str, a.Attribute] | None, before: str = " ") -> str:
    """Return ``{key = value, flag}``, sorted, with `before` in front of it; nothing without entries."""
    return before + _entries_text(a.DictAttr.of(dict(entries))) if entries else ""


def _entries_text(entries: a.DictAttr) -> str:
    flags = [isinstance(value, a.UnitAttr) for _, value in entries.entries]
    texts = [name_text(key) if flag else f"{name_text(key)} = {attribute_text(value)}"
             for flag, (key, value) in zip(flags, entries.entries)]  # fmt: skip
    return f"{{{', '.join(texts)}}}"


def attr_dict(op: Op) -> str:
    """Return `` {key = value}`` of the discardable attributes, or nothing without any."""
    return dict_text(op.discardable)


def _dense_array_text(array: a.DenseArray) -> str:
    numbers = ", ".join([_number_text(value, array.element) for value in array.values])
    return f"array<{array.element.name}{': ' if numbers else ''}{numbers}>"


def _number_text(value: int | bool | float, element: ElementType) -> str:
    """Return a number's text: a float type holds numbers as floats, or as bit patterns where they were written so."""
    if element.is_float:
        return float_text(float_pattern(value, element) if isinstance(value, float) else value, element)
    return bool_text(value) if element is I1 else str(int(value))


def hints_text(hints: a.OptimizationHints, disassembled: bool = False) -> str:
    """Return ``<key = {hint = value}>``: integers go without their type (spec: hints#text).

    The vendor's disassembler writes keys never in quotes, and floats without their type too: keys that are not names,
    and floats, do not read back as the same hints.
    """
    name = str if disassembled else name_text

    def value(hint: a.Attribute) -> str:
        if isinstance(hint, a.IntegerAttr) and hint.type is not I1:
            return str(hint.value)
        if disassembled and isinstance(hint, a.FloatAttr):
            return float_text(hint.bits, hint.type)
        return attribute_text(hint)

    def entries(target: a.Attribute) -> str:
        if not isinstance(target, a.DictAttr):
            return value(target)
        return f"{{{', '.join([f'{name(key)} = {value(hint)}' for key, hint in target.entries])}}}"

    return f"<{', '.join([f'{name(key)} = {entries(target)}' for key, target in hints.targets.entries])}>"


def predicate_text(predicate: a.AssumePredicate) -> str:
    """Return a predicate of `assume` without its dialect (spec: attributes#assume-predicates)."""
    if isinstance(predicate, a.DivBy):
        clauses = [("every", predicate.every), ("along", predicate.along)]
        stated = "".join([f" {word} {number}" for word, number in clauses if number is not None])
        return f"div_by<{predicate.divisor}{',' if stated else ''}{stated}>"
    if isinstance(predicate, a.SameElements):
        return f"same_elements<[{', '.join(map(str, predicate.values))}]>"
    lower, upper = ("?" if bound is None else bound for bound in (predicate.lower, predicate.upper))
    return f"bounded<{lower}, {upper}>"


def _dialect_text(predicate: a.AssumePredicate) -> str:
    return _PREFIX + predicate_text(predicate)


def _case_text(attribute: a.EnumAttr) -> str:
    """Return a case as an attribute of its own; the enumerations without a name there are numbers."""
    case = attribute.case
    mnemonic = ENUM_MNEMONICS.get(type(case))
    return f"{int(case)} : i32" if mnemonic is None else f"{_PREFIX}{mnemonic}<{case.text}>"


_TEXTS: dict[type[a.Attribute], Callable[[Any], str]] = {
    a.IntegerAttr: lambda attribute: bool_text(attribute.value),
    a.BoolAttr: lambda attribute: bool_text(attribute.value),
    a.StringAttr: lambda attribute: string_text(attribute.value),
    a.ArrayAttr: array_text,
    a.DictAttr: _entries_text,
    a.TypeAttr: lambda attribute: attribute.value.full_text,
    a.UnitAttr: lambda attribute: "unit",
    a.SymbolRef: lambda attribute: "::".join(map(symbol_text, attribute.path)),
    a.DenseArray: _dense_array_text,
    a.DenseElements: lambda dense: f"dense<{elements_text(dense)}> : {dense.type.full_text}",
    a.OptimizationHints: lambda attribute: f"{_PREFIX}optimization_hints{hints_text(attribute)}",
    a.EnumAttr: _case_text,
    a.OpaqueAttr: lambda attribute: f"#cuda_tile<{attribute.mnemonic} {attribute.keyword}>",
    a.DivBy: _dialect_text,
    a.SameElements: _dialect_text,
    a.Bounded: _dialect_text,
}
"""The text of every attribute but integers, floats, locations and debug scopes; those are written in line."""


# ---------------------------------------------------------------- declared attributes


SEGMENT_SIZES = "operandSegmentSizes"
"""The property that holds the sizes of the operand groups."""


@dataclass(frozen=True)
class AttributeForm:
    """The text of the declared attributes of one kind, which messages call `what`.

    ``value`` gives the Python value of one that is given as a free attribute, None if that is of another kind;
    ``attribute`` is the reverse. ``read``, ``write`` and ``shown`` (with ``{}`` for the name) are its notation in the
    syntax of operations, where there is one for all of the kind.
    """

    what: str
    value: Callable[[Attr, a.Attribute], Any]
    attribute: Callable[[Any], a.Attribute]
    read: Callable[[Reader], Any] | None = None
    write: Callable[[Any], str] = str
    shown: str = "<{}>"


def expected_form(attr: Attr) -> str:
    """Return the free form of a declared attribute, for messages."""
    if attr.enum is not None:
        return f"one of {', '.join(case.text for case in attr.enum)}"
    return FORMS[attr.kind].what


def _case_value(attr: Attr, given: a.Attribute) -> a.TextEnum | None:
    enum = attr.enum
    assert enum is not None
    if isinstance(given, a.EnumAttr):
        return given.case if isinstance(given.case, enum) else None
    if isinstance(given, a.IntegerAttr) and (given.type is I64 or (attr.plain_i32 and given.type is I32)):
        return next((case for case in enum if case == given.value), None)
    return None


def _integer_form(type: ElementType, read: Callable[[Reader], int] | None = None) -> AttributeForm:
    def value(attr: Attr, given: a.Attribute) -> int | None:
        return given.value if isinstance(given, a.IntegerAttr) and given.type is type else None

    return AttributeForm(f"an integer of type {type.name}", value, lambda value: a.IntegerAttr(value, type), read)


def _numbers_form(
    element: ElementType, read: Callable[[Reader], Any] | None = None, write: Callable[[Any], str] = str
) -> AttributeForm:
    def value(attr: Attr, given: a.Attribute) -> tuple[int | bool | float, ...] | None:
        return given.values if isinstance(given, a.DenseArray) and given.element is element else None

    make = lambda value: a.DenseArray(element, tuple(value))  # noqa: E731
    return AttributeForm(f"array<{element.name}: ...>", value, make, read, write, "[<{}>, ...]")


def _held(what: str, cls: type[a.BoolAttr] | type[a.StringAttr] | type[a.TypeAttr], **notation: Any) -> AttributeForm:
    """Return the form of a kind whose Python value is the field `value` of its attribute."""
    value = lambda attr, given: given.value if isinstance(given, cls) else None  # noqa: E731
    return AttributeForm(what, value, cls, **notation)


def _itself(what: str, *classes: type[a.Attribute], **notation: Any) -> AttributeForm:
    """Return the form of a kind whose Python value is the attribute itself."""
    value = lambda attr, given: given if isinstance(given, classes) else None  # noqa: E731
    return AttributeForm(what, value, lambda value: value, **notation)


def _read_integers(reader: Reader) -> tuple[int, ...]:
    reader.expect("[")
    return tuple(reader.comma_list(lambda: reader.integer(bits=32), "]"))


FORMS: dict[AttributeKind, AttributeForm] = {
    AttrKind.ENUM: AttributeForm(
        "a keyword",
        _case_value,
        lambda case: a.EnumAttr(case) if type(case) in ENUM_MNEMONICS else a.IntegerAttr(int(case), I32),
    ),
    AttrKind.UNIT: AttributeForm(
        "nothing after the name",
        lambda attr, given: True if isinstance(given, a.UnitAttr) else None,
        lambda value: a.UnitAttr(),
    ),
    AttrKind.I32: _integer_form(I32),
    AttrKind.I64: _integer_form(I64, lambda reader: reader.integer()),
    AttrKind.BOOL: _held("true or false", a.BoolAttr),
    AttrKind.STRING: _held(
        "a string", a.StringAttr, read=lambda reader: reader.string(), write=string_text, shown='"..."'
    ),
    AttrKind.SYMBOL: AttributeForm(
        "a symbol such as @name",
        lambda attr, given: given.path[0] if isinstance(given, a.SymbolRef) and len(given.path) == 1 else None,
        lambda value: a.SymbolRef((value,)),
        lambda reader: reader.symbol(),
        symbol_text,
        "@name",
    ),
    AttrKind.SYMBOL_NAME: _held("a string", a.StringAttr),
    AttrKind.TYPE: _held("a type", a.TypeAttr),
    AttrKind.DENSE: _itself("dense<...> : tile type", a.DenseElements),
    AttrKind.I32_ARRAY: _numbers_form(I32, _read_integers, lambda numbers: f"[{', '.join(map(str, numbers))}]"),
    AttrKind.BOOL_ARRAY: _numbers_form(I1),
    AttrKind.ARRAY: _itself("an array", a.ArrayAttr),
    AttrKind.TAGGED: _itself(
        "an attribute of the dialect",
        a.DivBy,
        a.SameElements,
        a.Bounded,
        a.OpaqueAttr,
        read=predicate,
        write=predicate_text,
    ),
    AttrKind.HINTS: _itself("#cuda_tile.optimization_hints<...>", a.OptimizationHints),
    AttrKind.DICTS: _itself("an array of dictionaries", a.ArrayAttr),
    AttrKind.CONSTANTS: _itself("an array of constants", a.ArrayAttr),
}
