"""The elements of constants: numbers, nested lists and hexadecimal strings, to and from the bytes of a `DenseElements`.

An element list is read as text, not as tokens, so that long lists are fast.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import NoReturn

from tileir.ir import tf32
from tileir.ir.attributes import DenseElements
from tileir.ir.loc import SourceLoc
from tileir.ir.partial import POISON
from tileir.ir.types import F32, F64, I1, I4, I64, TF32, TF32_UNUSED_BITS, ElementType, TileType, Type
from tileir.text.numbers import float_bits, float_text
from tileir.text.reading import codes
from tileir.text.reading.hints import conversion_hint
from tileir.text.reading.lexer import END, INTEGER, token_at
from tileir.text.reading.reader import MAX_NESTING, Reader, TextFault, shown_token, whole_number

_EXPONENT = re.compile(r"(\d+)([eE][+-]?\d+)")
"""The exponent of a whole number, which may not have one."""
_LIST = re.compile(r"\[[\w\s\[\],.+-]*", re.ASCII)
_STRUCTURE = re.compile(r"[\[\]]|//[^\n]*|[^\w\s\[\],.+-]", re.ASCII)
_COMMENT = re.compile(r"//[^\n]*")
_ROW = re.compile(r"\[([^\[\]]*)\]")
_BLANKS = re.compile(r"\s+")
_ITEM = re.compile(r"[\[\],]|[^\[\],\s]+(?:\s+[^\[\],\s]+)*")
_NEXT_ITEM = re.compile(r"(?<=[^-\s])\s+(\S+)")
"""An item behind another one without a comma between them."""
_INTEGER = re.compile(rf"-?(?:{INTEGER})", re.ASCII)
_DECIMAL = re.compile(r"-?\s*\d+\.\d*(?:[eE][-+]?\d+)?", re.ASCII)
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+", re.ASCII)
_HEX_DATA = re.compile(r"0x[0-9a-fA-F]*")
_NO_NUMBERS = ("inf", "nan", "NaN")
"""Values that Rust writes so; the canonical text has their bit patterns."""
_SPECIAL = re.compile(rf"-?\s*(?:{'|'.join(_NO_NUMBERS)})")
_LONGEST_CACHED = 31
"""Characters of a literal whose elements are kept for the next one like it."""


@dataclass
class Literal:
    """Elements as written: a number, a list ``[...]`` or a string; comments inside are blanked out."""

    text: str
    begin: int
    end: int


class BadElement(Exception):
    """An element that the element type cannot hold."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


def read_literal(reader: Reader) -> Literal:
    """Read elements as written; they can be encoded only when the type is known."""
    token, begin = reader.tokens[reader.index], reader.starts[reader.index]
    if token == "[":
        text = _list_text(reader, begin)
        reader.resync(begin + len(text))
        return Literal(text, begin, begin + len(text))
    if token[0] == '"':
        reader.string()
        return Literal(token, begin, begin + len(token))
    sign = "-" if reader.accept("-") else ""
    token, start = reader.tokens[reader.index], reader.starts[reader.index]
    if not (token[0].isdigit() or (token in ("true", "false") and not sign) or token in _NO_NUMBERS):
        special = token.lower() in ("inf", "nan", "infinity")
        hint = "infinities and NaN are written as their bit pattern, such as 0x7F800000 for f32" if special else None
        reader.expected("a number or a list of numbers", hint)
    reader.index += 1
    exponent = _EXPONENT.match(reader.text, start) if token.isdigit() else None
    if exponent is not None:
        hint = f"write '{exponent[1]}.0{exponent[2]}'"
        reader.expected_at(start, exponent[0], "a point in front of the exponent of a float", hint)
    return Literal(sign + token, begin, start + len(token))


def encode(reader: Reader, literal: Literal, type: TileType) -> DenseElements:
    """Return the elements that `literal` stands for in a tile of `type`."""
    element = type.number
    if literal.text[0] == "[":
        return DenseElements.of(type, _encode_list(reader, literal, type, element))
    if literal.text[0] == '"':
        return DenseElements.of(type, _encode_string(reader, literal, type, element))
    try:
        return DenseElements(type, encoder(element)(literal.text))
    except BadElement as error:
        _refuse(reader, error, literal.begin, literal.end)


def constant_elements(
    reader: Reader, element: Type | None, literal: Literal, type: Type, at: SourceLoc
) -> DenseElements | None:
    """Return the elements of a constant of `type` that states `element`; None when a part of it is poisoned."""
    if type is POISON or element is POISON:
        return None
    if not isinstance(type, TileType):
        hint = conversion_hint(type, type)
        reader.fail(codes.LITERAL_ELEMENT, f"expected a tile type for a constant, got {type!r}", at, hint=hint)
    if element is not None and type.element is not element:
        message = f"expected the element type of {type!r}, got {element!r}"
        reader.fail(codes.LITERAL_ELEMENT, message, at, expected=repr(type.element), got=repr(element))
    key = (literal.text, type)
    found = reader.constants.get(key)
    if found is None:
        found = encode(reader, literal, type)
        if len(literal.text) <= _LONGEST_CACHED:
            reader.constants[key] = found
    return found


def check_element(reader: Reader, element: Type, loc: SourceLoc) -> ElementType:
    """Return the element type of a constant: any number type but i4."""
    if element is POISON:
        raise TextFault(None)
    if not isinstance(element, ElementType) or element is I4:
        message = f"expected an element type that constants can have, got {element!r}"
        hint = "write a constant of i8; 'trunci' makes i4 of it" if element is I4 else None
        reader.fail(codes.LITERAL_ELEMENT, message, loc, hint=hint, got=repr(element))
    return element


def _refuse(reader: Reader, error: BadElement, begin: int, end: int) -> NoReturn:
    reader.fail(error.code, error.message, reader.place(begin, end), hint=error.hint)


# ---------------------------------------------------------------- lists


def _list_text(reader: Reader, begin: int) -> str:
    match = _LIST.match(reader.text, begin)
    text = match[0].rstrip() if match else ""
    if text.endswith("]") and text.count("[") == text.count("]"):
        return text
    return _COMMENT.sub(lambda comment: " " * len(comment[0]), reader.text[begin : _list_end(reader, begin)])


def _list_end(reader: Reader, begin: int) -> int:
    """Return the offset after the bracket that closes the list at `begin`."""
    level = 0
    for match in _STRUCTURE.finditer(reader.text, begin):
        level += {"[": 1, "]": -1}.get(match[0], 0)
        if level == 0:
            return match.end()
        if match[0][0] not in "[]/":
            reader.expected_at(match.start(), token_at(reader.text, match.start()), "a number, ',' or ']'")
        if level > MAX_NESTING:
            _too_deep(reader, match.start())
    reader.expected_at(len(reader.text), END, "']'")


def _too_deep(reader: Reader, begin: int) -> NoReturn:
    loc = reader.place(begin, begin + 1)
    reader.fail(codes.NESTING, f"expected lists nested at most {MAX_NESTING} deep, got deeper ones", loc)


def _encode_list(reader: Reader, literal: Literal, type: TileType, element: ElementType) -> bytes:
    rows = _ROW.findall(literal.text)
    shape = type.shape
    whole = bool(shape) and len(rows) == prod(shape[:-1]) and all(row.count(",") + 1 == shape[-1] for row in rows)
    if not whole or _BLANKS.sub("", _ROW.sub("#", literal.text)) != _skeleton(shape[:-1]):
        _check_shape(reader, literal, type)
    parts = ",".join(rows).split(",")
    encode_one = encoder(element)
    try:
        table = {part: encode_one(part.strip()) for part in set(parts)}
    except BadElement:
        _refuse_first(reader, literal, encode_one)
    return b"".join(map(table.__getitem__, parts))


def _skeleton(outer: tuple[int, ...]) -> str:
    """Return the brackets around the rows: ``[#,#]`` for the outer shape (2,)."""
    text = "#"
    for extent in reversed(outer):
        text = f"[{','.join([text] * extent)}]"
    return text


def _refuse_first(reader: Reader, literal: Literal, encode_one: Callable[[str], bytes]) -> NoReturn:
    for match in _ITEM.finditer(literal.text):
        if match[0] not in "[],":
            try:
                encode_one(match[0])
            except BadElement as error:
                _refuse(reader, error, literal.begin + match.start(), literal.begin + match.end())
    reader.fail(codes.LITERAL_SHAPE, "expected numbers in the list, got none", reader.place(literal.begin, literal.end))


def _check_shape(reader: Reader, literal: Literal, type: TileType) -> NoReturn:
    """Find out what is wrong with the nesting of a list and report it."""
    loc = reader.place(literal.begin, literal.end)
    shape = _shape(reader, literal)
    written = "x".join(map(str, shape))
    message = f"expected a list of the tile's shape, got one of shape {written} for {type!r}"
    if not type.shape:
        message = f"expected a number for {type!r}, got a list of shape {written}"
    reader.fail(codes.LITERAL_SHAPE, message, loc, expected=repr(type.shape), got=repr(shape))


def _shape(reader: Reader, literal: Literal) -> tuple[int, ...]:
    """Return the shape of a nested list; faults where it has none."""
    open_lists: list[list[tuple[int, ...]]] = []
    expect_item = True
    for match in _ITEM.finditer(literal.text):
        token, begin = match[0], literal.begin + match.start()
        if token == "," or (token == "]" and expect_item):
            if expect_item:
                reader.expected_at(begin, token, "a number or a list")
            expect_item = True
            continue
        if not expect_item and token != "]":
            reader.expected_at(begin, token, "',' or ']'")
        forgotten = _NEXT_ITEM.search(token)
        if forgotten is not None:
            reader.expected_at(begin + forgotten.start(1), forgotten[1], "',' or ']'")
        if token == "[":
            open_lists.append([])
            if len(open_lists) > MAX_NESTING:
                _too_deep(reader, begin)
            continue
        done: tuple[int, ...] = ()
        if token == "]":
            items = open_lists.pop()
            if any(item != items[0] for item in items):
                message = "expected lists of equal shape side by side, got different ones"
                reader.fail(codes.LITERAL_SHAPE, message, reader.place(begin, begin + 1))
            done = (len(items), *items[0])
        if not open_lists:
            return done
        open_lists[-1].append(done)
        expect_item = False
    reader.expected_at(literal.end, END, "']'")


# ---------------------------------------------------------------- strings


def _encode_string(reader: Reader, literal: Literal, type: TileType, element: ElementType) -> bytes:
    """Return the string that long constants are printed as: the bytes of all elements in hexadecimal."""
    loc = reader.place(literal.begin, literal.end)
    body = literal.text[1:-1]
    if not _HEX_DATA.fullmatch(body) or len(body) % 2:
        message = 'expected a string of hexadecimal bytes such as "0x00FF", got another string'
        reader.fail(codes.LITERAL_KIND, message, loc)
    data = bytes.fromhex(body[2:])
    size = tf32.PACKED_BYTES if element is TF32 else element.byte_size
    if len(data) not in (size, size * type.count):
        message = f"expected {size * type.count} bytes for {type!r}, got {len(data)}"
        reader.fail(codes.LITERAL_SHAPE, message, loc, expected=str(size * type.count), got=str(len(data)))
    if element is TF32:
        return tf32.words(data)
    if element is I1:
        return bytes(map(bool, data))
    if element.bits < 8 and max(data) >> element.bits:
        message = f"expected bytes below {1 << element.bits} for {element.name}, got {max(data)}"
        reader.fail(codes.LITERAL_RANGE, message, loc)
    return data


# ---------------------------------------------------------------- one element


def encoder(element: ElementType) -> Callable[[str], bytes]:
    """Return the function that gives the bytes of one written element."""
    encode_one = _encode_float if element.is_float else _encode_integer
    return lambda text: encode_one(text, element)


def _encode_integer(text: str, element: ElementType) -> bytes:
    if text in ("true", "false") and element is I1:
        return b"\1" if text == "true" else b"\0"
    if not _INTEGER.fullmatch(_joined(text)):
        message = f"expected an integer for an element of {element.name}, got {shown_token(text)}"
        raise BadElement(codes.LITERAL_KIND, message)
    value = integer_of(_joined(text))
    low = -(1 << (element.bits - 1))
    high = (1 << 63) - 1 if element is I64 else (1 << element.bits) - 1
    if not low <= value <= high:
        got = shown_token(text)
        raise BadElement(codes.LITERAL_RANGE, f"expected an element of {element.name} in [{low}, {high}], got {got}")
    if element is I1:
        return b"\1" if value else b"\0"
    return (value % (1 << element.bits)).to_bytes(element.byte_size, "little")


def _joined(text: str) -> str:
    """Join a sign with its number: the sign is a token of its own, so blanks may follow it."""
    return "-" + text[1:].lstrip() if text[:1] == "-" else text


def integer_of(text: str) -> int:
    """Return the value of an integer with an optional sign; enormous ones give a value out of every range."""
    value = whole_number(text.lstrip("-")) or 0
    return -value if text[0] == "-" else value


def _encode_float(text: str, element: ElementType) -> bytes:
    """Return the bytes of a float: the host rounds decimals to f32 and f64 as the specification asks."""
    if element in (F32, F64) and _DECIMAL.fullmatch(text):
        value = float(_joined(text))
        if abs(value) < F32.layout.max_finite:
            return struct.pack("<f" if element is F32 else "<d", value)
    pattern = written_pattern(text, element)
    return (pattern << TF32_UNUSED_BITS if element is TF32 else pattern).to_bytes(element.byte_size, "little")


def written_pattern(text: str, element: ElementType) -> int:
    """Return the bit pattern that a decimal, special or hexadecimal float stands for. Raises `BadElement`."""
    joined = _joined(text)
    if _DECIMAL.fullmatch(text):
        try:
            return float_bits(joined, element)
        except OverflowError:
            message = f"expected a float that fits f64, got {shown_token(joined)}"
            raise BadElement(codes.LITERAL_RANGE, message) from None
    if _SPECIAL.fullmatch(text):
        layout = element.layout
        found = layout.nan if text.lower()[-1] == "n" else layout.infinity
        if found is None:
            message = f"expected an element of {element.name}, got {shown_token(text)}, which it does not have"
            raise BadElement(codes.LITERAL_RANGE, message)
        return found | (1 << (element.bits - 1) if text[0] == "-" else 0)
    if _HEXADECIMAL.fullmatch(text):
        pattern = integer_of(text)
        if pattern >> element.bits:
            what = f"a bit pattern of at most {element.bits} bits for {element.name}"
            raise BadElement(codes.LITERAL_RANGE, f"expected {what}, got {shown_token(text)}")
        return pattern
    problem, hint = shown_token(text), None
    if _INTEGER.fullmatch(joined):
        hexadecimal = "0x" in text
        problem = "a bit pattern with a sign" if hexadecimal else f"the integer {shown_token(text)}"
        hint = "write the sign bit as part of the pattern" if hexadecimal else f"write {shown_token(text + '.0')}"
    raise BadElement(codes.LITERAL_KIND, f"expected a float for an element of {element.name}, got {problem}", hint)


# ---------------------------------------------------------------- printing


MAX_LISTED = 100
"""A constant of more elements than this is written as one hexadecimal string, unless all are equal."""
_CODES = {8: "B", 16: "H", 32: "I", 64: "Q"}


def patterns(dense: DenseElements) -> list[int]:
    """Return the bit pattern of every held element (one for a splat); tf32 patterns have 19 bits."""
    element = dense.element
    code = _CODES[max(8, element.memory_bits)]
    found = [pattern for (pattern,) in struct.iter_unpack(f"<{code}", dense.data)]
    return [pattern >> TF32_UNUSED_BITS for pattern in found] if element is TF32 else found


def integer_value(pattern: int, element: ElementType) -> int:
    """Return the signed reading of a pattern; of i1 it is 0 or 1."""
    if element is I1:
        return pattern & 1
    half = 1 << (element.bits - 1)
    return (pattern & (2 * half - 1) ^ half) - half


def element_text(pattern: int, element: ElementType) -> str:
    if element.is_float:
        return float_text(pattern, element)
    if element is I1:
        return "true" if pattern else "false"
    return str(integer_value(pattern, element))


def elements_text(dense: DenseElements) -> str:
    """Return a single number for a splat, nested lists, or a string of hexadecimal digits for many elements."""
    element = dense.element
    if not dense.is_splat and dense.type.count > MAX_LISTED:
        packed = tf32.packed(dense.data) if element is TF32 else dense.data
        return f'"0x{packed.hex().upper()}"'
    texts = (element_text(pattern, element) for pattern in patterns(dense))
    return next(texts) if dense.is_splat else _nested(texts, dense.type.shape)


def literal_text(dense: DenseElements) -> str:
    """Return ``<f32: 1.000000e+00>``"""
    return f"<{dense.element.name}: {elements_text(dense)}>"


def _nested(texts: Iterator[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return next(texts)
    return f"[{', '.join(_nested(texts, shape[1:]) for _ in range(shape[0]))}]"
