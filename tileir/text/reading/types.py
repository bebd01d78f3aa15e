"""Read types: long and short spellings, and those of early documents (spec: types#top).

A spelling that is well formed but breaks a rule of `ir.types` is reported and read as `POISON`, so that the statement
around it is still read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import NoReturn, TypeVar

from tileir.ir import types as t
from tileir.ir.diagnostics import Diagnostic, did_you_mean
from tileir.ir.partial import POISON
from tileir.text.reading import codes
from tileir.text.reading.hints import type_hint, value_type_hint
from tileir.text.reading.lexer import BARE_NAME, INTEGER, skip_blank, token_at
from tileir.text.reading.reader import Reader, shown_token, whole_number

WORD = re.compile(rf"[!#]?{BARE_NAME}", re.ASCII)
LARGEST = (1 << 63) - 1
_INTEGER = re.compile(rf"-?(?:{INTEGER})", re.ASCII)
_EXTENT = re.compile(r"(\d+|\?)[ \t\r\n]*x", re.ASCII)
_ASSIGNED = re.compile(r"(\w+)[ \t\r\n]*=", re.ASCII)
_DIGITS = re.compile(r"-?\d+", re.ASCII)
_ANGLE = re.compile(r"->|[<>\n]")
_LONGEST_FOREIGN = 100
"""Characters of an unknown type that are looked at for a hint."""
_PREFIX = "!cuda_tile."
_PADDINGS = {padding.text: padding for padding in t.PaddingValue}
_POINTER_ATTRS = {attr.text: attr for attr in t.PointerAttr}
RAW_FLOATS = {"f8e4m3fn": t.F8E4M3FN, "f8e5m2": t.F8E5M2}
"""Spellings of a Rust front end, whose constants of these types are bit patterns."""
_EARLY_NAMES = {"F4E2M1FN": t.F4E2M1FN, "e5m2": t.F8E5M2, "e4m3": t.F8E4M3FN, "f8E5M3FNU": t.FNV8E5M3FNU} | RAW_FLOATS

T = TypeVar("T")


def parse_type(reader: Reader) -> t.Type:
    """Return the type at the next token."""
    token, begin = reader.tokens[reader.index], reader.starts[reader.index]
    found = reader.types.get(token)
    if found is not None:
        reader.index += 1
        return found
    depth = reader.depth
    scan = _TypeScan(reader, begin)
    found = scan.type()
    reader.depth = depth
    if scan.offset == begin + len(token) and found is not POISON:
        reader.types[token] = found
    reader.resync(scan.offset)
    return found


def starts_type(reader: Reader) -> bool:
    """Return whether the next token can only begin a type."""
    token = reader.tokens[reader.index]
    return token in reader.types or token[0] in "!(" or token.partition("<")[0] in _COMPOSITES


class _TypeScan:
    """A type being read at `offset` of the text, character by character: ``4x8xf32`` is not one token."""

    example: str | None = None
    """An example for hints."""

    def __init__(self, reader: Reader, offset: int) -> None:
        self.reader = reader
        self.text = reader.text
        self.offset = offset

    def skip(self) -> int:
        self.offset = skip_blank(self.text, self.offset)
        return self.offset

    def take(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self.text, self.skip())
        if match is None:
            return None
        self.offset = match.end()
        return match[0]

    def accept(self, token: str) -> bool:
        found = self.text.startswith(token, self.skip())
        if found:
            self.offset += len(token)
        return found

    def accept_word(self, word: str) -> bool:
        match = WORD.match(self.text, self.skip())
        if match is None or match[0] != word:
            return False
        self.offset = match.end()
        return True

    def expect(self, token: str, what: str | None = None) -> None:
        if not self.accept(token):
            self.expected(what or f"'{token}'")

    def expected(self, what: str, hint: str | None = None) -> NoReturn:
        """Report that `what` was expected here."""
        advice = self.example and f"such as '{self.example}'"
        self.reader.expected_at(self.skip(), token_at(self.text, self.offset), what, hint, advice)

    def comma_list(self, item: Callable[[], T], close: str) -> list[T]:
        items: list[T] = []
        if self.accept(close):
            return items
        while True:
            items.append(item())
            if self.accept(close):
                return items
            self.expect(",", f"',' or '{close}'")

    def integer(self, what: str, pattern: re.Pattern[str] = _INTEGER) -> int:
        begin = self.skip()
        text = self.take(pattern)
        value = None if text is None else whole_number(text.lstrip("-"))
        if text is None or value is None:
            self.expected(what)
        if value > LARGEST:
            self.offset = begin
            loc = self.reader.place(begin, begin + len(text))
            self.reader.fail(codes.INTEGER_RANGE, f"expected {what} of at most {LARGEST}, got a larger one", loc)
        return -value if text[0] == "-" else value

    def keyword(self, table: dict[str, T], what: str) -> T:
        begin = self.skip()
        word = self.take(WORD)
        if word is None:
            self.expected(what)
        if word not in table:
            self.reader.not_one_of(word, table, what, loc=self.reader.place(begin, self.offset))
        return table[word]

    # ------------------------------------------------------------ types

    def report(self, code: str, message: str, begin: int, hint: str | None = None) -> t.Type:
        """Report what was read since `begin` and go on with a poisoned type."""
        self.reader.record(Diagnostic(code, message, self.reader.place(begin, self.offset), hint=hint))
        return POISON

    def type(self) -> t.Type:
        begin = self.skip()
        if self.accept("("):
            return self.function(begin)
        word = self.take(WORD)
        if word is None:
            self.expected("a type")
        if word == "!cuda_tile" and self.accept("<"):
            self.reader.enter(self.offset)
            found = self.type()
            self.expect(">")
            self.reader.depth -= 1
            return found
        known = self.reader.types.get(word) or _EARLY_NAMES.get(word)
        if known is not None:
            return known
        name = word.removeprefix(_PREFIX)
        read = _COMPOSITES.get(name)
        if read is None:
            return self.unknown(word, begin)
        self.reader.enter(self.offset)
        outer, self.example = self.example, _EXAMPLES[name]
        found = read(self, begin)
        self.example = outer
        self.reader.depth -= 1
        return found

    def build(self, begin: int, parts: tuple[object, ...], make: Callable[[], t.Type]) -> t.Type:
        """Return the type made by `make` unless one of its parts is poisoned or it breaks a rule."""
        if POISON in parts:
            return POISON
        try:
            return make()
        except t.InvalidType as error:
            place = self.reader.place(begin, self.offset)
            self.reader.record_once(Diagnostic(error.code, error.message, place, hint=error.hint))
            return POISON

    def function(self, begin: int) -> t.Type:
        inputs = self.nested_types()
        self.expect("->")
        results = self.nested_types() if self.accept("(") else (self.type(),)
        return self.build(begin, (*inputs, *results), lambda: t.FunctionType(inputs, results))

    def nested_types(self) -> tuple[t.Type, ...]:
        """Read types after an opening bracket, with the closing one."""
        self.reader.enter(self.offset)
        found = tuple(self.comma_list(self.type, ")"))
        self.reader.depth -= 1
        return found

    def unknown(self, word: str, begin: int) -> t.Type:
        end = self.offset
        if word[0] == "!" and "." not in word:
            self.skip_brackets()
            self.offset = end
            hint = did_you_mean(word, [name for name in self.reader.types if name[0] == "!"])
            message = f"expected a type alias that is defined above, got {shown_token(word)}"
            return self.report(codes.ALIAS, message, begin, hint)
        name = word.removeprefix(_PREFIX)
        hint = None if self.example else value_type_hint(self.text[begin : begin + _LONGEST_FOREIGN])
        hint = hint or type_hint(name, [*t.ELEMENTS, *_COMPOSITES, "token"])
        message = f"expected a type, got the unknown name {shown_token(word)}"
        poison = self.report(codes.UNKNOWN_TYPE, message, begin, hint)
        self.skip_brackets()
        return poison

    def skip_brackets(self) -> None:
        """Skip the parameters of an unknown type."""
        if not self.text.startswith("<", self.offset):
            return
        level = 0
        for match in _ANGLE.finditer(self.text, self.offset):
            level += {"<": 1, ">": -1}.get(match[0], 0)
            if level == 0:
                self.offset = match.end()
                return
            if match[0] == "\n":
                return

    # ------------------------------------------------------------ parts

    def dimensions(self, dynamic: bool) -> tuple[t.Dim, ...] | None:
        """Read ``4x?x`` in front of an element type; None if an extent was reported."""
        extents: list[t.Dim] = []
        faulty = False
        while (match := _EXTENT.match(self.text, self.skip())) is not None:
            begin, self.offset = self.offset, match.end(1)
            extent = None if match[1] == "?" else whole_number(match[1])
            if extent is None and not dynamic:
                self.report(codes.EXPECTED, "expected a static dimension, got '?'", begin)
                faulty = True
            elif extent is not None and extent > LARGEST:
                self.report(codes.INTEGER_RANGE, f"expected a dimension of at most {LARGEST}, got a larger one", begin)
                faulty = True
            extents.append(extent)
            self.offset = match.end()
        return None if faulty else tuple(extents)

    def pointer_attr(self) -> t.PointerAttr:
        """Read ``<none>`` or ``#cuda_tile.ptr_attr<none>``."""
        if self.take(WORD) not in (None, "#cuda_tile.ptr_attr"):
            self.expected("a pointer attribute such as <unicast>")
        self.expect("<", "a pointer attribute such as <unicast>")
        attr = self.keyword(_POINTER_ATTRS, "pointer attribute")
        self.expect(">")
        return attr

    # ------------------------------------------------------------ composite types

    def tile(self, begin: int) -> t.Type:
        self.expect("<")
        shape = self.dimensions(dynamic=False)
        element = self.type()
        self.expect(">")
        if shape is None:
            return POISON
        static = tuple(extent for extent in shape if extent is not None)
        return self.build(begin, (element,), lambda: t.TileType(static, element))

    def pointer(self, begin: int) -> t.Type:
        self.expect("<")
        pointee = self.type()
        attr = self.pointer_attr() if self.accept(",") else None
        self.expect(">")
        return self.build(begin, (pointee,), lambda: t.PointerType(pointee, attr))

    def tensor_view(self, begin: int) -> t.Type:
        self.expect("<")
        shape = self.dimensions(dynamic=True)
        element = self.type()
        strides, attr = self.tensor_parameters(bool(shape) or shape is None)
        self.expect(">")
        if shape is None:
            return POISON
        return self.build(begin, (element,), lambda: t.TensorViewType(element, shape, strides, attr))

    def tensor_parameters(self, ranked: bool) -> tuple[tuple[t.Dim, ...], t.PointerAttr | None]:
        """Return the part behind the element type: strides where there are dimensions, then a pointer attribute."""
        comma = self.accept(",")
        strides: tuple[t.Dim, ...] = ()
        begin = self.skip()
        if comma and self.accept_word("strides"):
            self.expect("=")
            self.expect("[")
            strides = tuple(self.comma_list(lambda: None if self.accept("?") else self.integer("a stride or '?'"), "]"))
            if not ranked:
                self.report(codes.STRIDES, "expected no strides in a tensor_view without dimensions, got some", begin)
            comma = self.accept(",")
        elif ranked:
            loc = self.reader.place(begin, begin + len(token_at(self.text, begin)))
            message = "expected 'strides' in a tensor_view with dimensions, got none"
            self.reader.fail(codes.STRIDES, message, loc, hint="write tensor_view<4x8xf32, strides=[8,1]>")
        return strides, self.pointer_attr() if comma else None

    def integers(self, what: str) -> tuple[int, ...]:
        self.expect("[")
        return tuple(self.comma_list(lambda: self.integer(what), "]"))

    def tile_shape(self) -> tuple[int, ...]:
        self.expect("=")
        self.expect("(")
        extents = [self.integer("a tile dimension", _DIGITS)]
        while not self.accept(")"):
            self.expect("x", "'x' or ')'")
            extents.append(self.integer("a tile dimension", _DIGITS))
        return tuple(extents)

    def view_source(self, padding: t.PaddingValue | None) -> tuple[t.Type, t.PaddingValue | None]:
        """Read ``padding_value = zero, tensor_view<...>``."""
        if self.accept_word("padding_value"):
            self.expect("=")
            padding = self.keyword(_PADDINGS, "padding_value")
            self.expect(",")
        elif (match := _ASSIGNED.match(self.text, self.skip())) is not None and match[1] != "view":
            self.expected("'padding_value' or a tensor_view")
        if self.accept_word("view"):
            self.expect("=")
        begin = self.skip()
        source = self.type()
        if source is not POISON and not isinstance(source, t.TensorViewType):
            source = self.report("E0311", f"expected a tensor_view inside the view type, got {source!r}", begin)
        return source, padding

    def view_tail(self, word: str) -> bool:
        """Return whether ``, word =`` follows; a comma that nothing follows is skipped."""
        if not self.accept(",") or self.text.startswith(">", self.skip()):
            return False
        if not self.accept_word(word):
            self.expected(f"'{word}'")
        self.expect("=")
        return True

    def view(
        self, begin: int, make: Callable[..., t.TileViewType], name: str, strides: str | None, dims: str
    ) -> t.Type:
        """Read the parameters of a view called `name`: the tile shape, its `strides` if it has them, the padding, the
        tensor, and the dimensions that `dims` names. `masked` of early documents stands for a padding."""
        self.expect("<")
        padding = t.PaddingValue.ZERO if self.accept_word("masked") else None
        if not self.accept_word("tile"):
            example = f"{name}<tile=(4x8), ...>"
            self.expected("'tile=(...)'", f"a {name} states the shape of its tiles first, such as {example}")
        fields: dict[str, object] = {"tile_shape": self.tile_shape()}
        self.expect(",")
        if strides is not None:
            if not self.accept_word(strides):
                self.expected(f"'{strides}'")
            self.expect("=")
            fields[strides] = self.integers("a stride")
            self.expect(",")
        source, padding = self.view_source(padding)
        if self.view_tail(dims):
            fields[dims] = (self.integer if dims == "sparse_dim" else self.integers)("a dimension")
        elif dims == "sparse_dim":
            self.expected(f"'{dims}'")
        self.accept(",")
        self.expect(">")
        return self.build(begin, (source,), lambda: make(tensor_view=source, padding=padding, **fields))


_EXAMPLES = {
    "tile": "tile<4x8xf32>",
    "ptr": "ptr<f32>",
    "tensor_view": "tensor_view<?x64xf32, strides=[?,1]>",
    "partition_view": "partition_view<tile=(4x8), tensor_view<?x64xf32, strides=[?,1]>>",
    "strided_view": "strided_view<tile=(4x8), traversal_strides=[2,8], tensor_view<?x64xf32, strides=[?,1]>>",
    "gather_scatter_view": "gather_scatter_view<tile=(4x8), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>",
}
_COMPOSITES: dict[str, Callable[[_TypeScan, int], t.Type]] = {
    "tile": _TypeScan.tile,
    "ptr": _TypeScan.pointer,
    "tensor_view": _TypeScan.tensor_view,
    **{
        name: partial(_TypeScan.view, make=make, name=name, strides=strides, dims=dims)
        for name, make, strides, dims in (
            ("partition_view", t.PartitionViewType, None, "dim_map"),
            ("strided_view", t.StridedViewType, "traversal_strides", "dim_map"),
            ("gather_scatter_view", t.GatherScatterViewType, None, "sparse_dim"),
        )
    },
}
