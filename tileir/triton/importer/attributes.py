"""Types and attributes of MLIR text, as far as TTIR has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tileir.ir.loc import Source
from tileir.text.reading.reader import unescaped
from tileir.triton.importer.faults import LATER, REFUSED, SYNTAX, ImportFault
from tileir.triton.importer.lexer import END, Locations, Tokens
from tileir.triton.importer.syntax import (
    BitPattern,
    Dense,
    Literal,
    MlirAttribute,
    MlirDescriptor,
    MlirPointer,
    MlirScalar,
    MlirSignature,
    MlirTensor,
    MlirType,
    MlirWord,
)

MAX_NESTING = 64
"""Regions, types or attributes inside each other."""
HINT = "give it the text of the stage before, kernel.asm['ttir'], or write the kernel in Triton where it is Gluon"
_SCALAR = re.compile(r"(?:[su]?i\d+|bf16|f\d+(?:E\d+M\d+\w*)?|index|none)")
T = TypeVar("T")


def is_scalar(text: str) -> bool:
    """Return whether a word is a type of numbers."""
    return _SCALAR.fullmatch(text) is not None


class AttributeReader:
    """Reads the types and attributes of one text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = Tokens(source)
        self.locations = Locations(self.tokens)
        self.depth = 0

    @contextmanager
    def nested(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise ImportFault(
                SYNTAX, f"expected nesting of at most {MAX_NESTING} levels, got more", self.tokens.place()
            )
        yield
        self.depth -= 1

    def list_of(self, item: Callable[[], T], close: str) -> list[T]:
        """Return items that are separated by commas, up to the token `close`."""
        items: list[T] = []
        if self.tokens.accept(close):
            return items
        while True:
            items.append(item())
            if self.tokens.accept(close):
                return items
            self.tokens.expect(",")

    def symbol(self) -> str:
        text = self.tokens.take("symbol", "a name such as @kernel")[1:]
        return unescaped(text[1:-1]) if text.startswith('"') else text

    # ------------------------------------------------------------ types

    def types_or_one(self) -> tuple[MlirType, ...]:
        if self.tokens.accept("("):
            return tuple(self.list_of(self.type, ")"))
        return (self.type(),)

    def type(self) -> MlirType:
        tokens = self.tokens
        text = tokens.text
        if is_scalar(text):
            tokens.index += 1
            return MlirScalar(text)
        with self.nested():
            if text == "tensor":
                tokens.index += 1
                return self._tensor()
            if text == "!tt.tensordesc" or (text == "<" and tokens.kinds[tokens.index + 1] == "shape"):
                tokens.index += text != "<"
                return self._descriptor()
            if text in ("!tt.ptr", "<"):
                tokens.index += text != "<"
                return self._pointer()
            if text == "(":
                inputs = self.types_or_one()
                tokens.expect("->")
                return MlirSignature(inputs, self.types_or_one())
        if text[1:].startswith(LATER):
            raise ImportFault(REFUSED, f"expected TTIR, got a type of a later stage, {text}", tokens.place(), HINT)
        tokens.expected("a type")

    def _tensor(self) -> MlirTensor:
        self.tokens.expect("<")
        place = self.tokens.place()
        tensor = MlirTensor(self._shape(), self.type())
        if self.tokens.text == ",":
            raise ImportFault(REFUSED, "expected TTIR, got a later stage: a tensor with a layout", place, HINT)
        self.tokens.expect(">")
        return tensor

    def _descriptor(self) -> MlirDescriptor:
        tokens = self.tokens
        tokens.expect("<")
        if tokens.accept("tensor"):  # before Triton 3.9
            inner = self._tensor()
            shape, element = inner.shape, inner.element
        else:
            shape, element = self._shape(), self.type()
        if tokens.accept(","):
            self.attribute()
        tokens.expect(">")
        return MlirDescriptor(shape, element)

    def _shape(self) -> tuple[int, ...]:
        if self.tokens.kind != "shape":
            return ()
        return tuple(map(int, self.tokens.take("shape", "a shape")[:-1].split("x")))

    def _pointer(self) -> MlirPointer | MlirDescriptor:
        self.tokens.expect("<")
        pointee = self.type()
        if self.tokens.accept(","):  # the address space, which is always that of global memory
            self.tokens.integer()
        self.tokens.expect(">")
        if isinstance(pointee, MlirTensor):
            return MlirDescriptor(pointee.shape, pointee.element, is_pointer=True)
        return MlirPointer(pointee)

    def begins_type(self) -> bool:
        tokens = self.tokens
        return tokens.text in ("(", "<", "tensor", "!tt.ptr", "!tt.tensordesc") or is_scalar(tokens.text)

    # ------------------------------------------------------------ attributes

    def attributes(self) -> dict[str, MlirAttribute]:
        """Read ``{axis = 0 : i32, pure}``."""
        tokens, found = self.tokens, {}
        tokens.expect("{")
        while not tokens.accept("}"):
            name = tokens.string() if tokens.kind == "string" else tokens.take("word", "the name of an attribute")
            found[name] = self.attribute() if tokens.accept("=") else True
            if not tokens.accept(","):
                tokens.expect("}")
                break
        return found

    def attribute(self) -> MlirAttribute:
        """Return an attribute with the type that may stand behind it."""
        found = self.value()
        if self.tokens.accept(":"):
            self.type()
        return found

    def value(self) -> MlirAttribute:
        tokens = self.tokens
        kind, text = tokens.kind, tokens.text
        if kind == "number" or text in ("true", "false"):
            return self.literal()
        if kind == "string":
            return tokens.string()
        if kind == "symbol":
            return self.symbol()
        if text == "array":
            return self._array()
        if text == "dense":
            return self._dense()
        with self.nested():
            if text == "[":
                tokens.index += 1
                return tuple(self.list_of(self.attribute, "]"))
            if text == "{":
                return self.attributes()
            if self.begins_type():
                return self.type()
        if text == "loc":
            self.locations.reference()
            return MlirWord(text)
        if kind not in ("word", "alias"):
            tokens.expected("an attribute")
        tokens.index += 1
        return MlirWord(text + (self._raw() if tokens.text == "<" else ""))

    def literal(self) -> Literal:
        tokens = self.tokens
        if tokens.text in ("true", "false"):
            tokens.index += 1
            return tokens.texts[tokens.index - 1] == "true"
        text = tokens.take("number", "a number")
        if "x" in text:
            return BitPattern(int(text, 16))
        return float(text) if any(mark in text for mark in ".eE") else int(text)

    def _array(self) -> tuple[MlirAttribute, ...]:
        """Read ``array<i32: 1, 2>``."""
        tokens = self.tokens
        tokens.index += 1
        tokens.expect("<")
        self.type()
        tokens.accept(":")
        return tuple(self.list_of(self.literal, ">"))

    def _dense(self) -> Dense:
        tokens = self.tokens
        tokens.index += 1
        tokens.expect("<")
        if tokens.kind == "string":
            return self._dense_bytes()
        elements: list[Literal] = []
        while not tokens.accept(">"):
            if tokens.text in ("[", "]", ","):
                tokens.index += 1
            else:
                elements.append(self.literal())
        return Dense(tuple(elements))

    def _dense_bytes(self) -> Dense:
        """Read ``dense<"0x0A0B">``: the bytes of the elements."""
        place, text = self.tokens.place(), self.tokens.string()
        self.tokens.expect(">")
        try:
            return Dense(bytes.fromhex(text.removeprefix("0x")))
        except ValueError:
            raise ImportFault(SYNTAX, "expected the bytes of a constant in hexadecimal digits", place) from None

    def _raw(self) -> str:
        """Return the text in angle brackets, unchanged."""
        tokens, depth, begin = self.tokens, 0, self.tokens.offset
        while tokens.kind != END:
            depth += (tokens.text == "<") - (tokens.text == ">")
            tokens.index += 1
            if not depth:
                break
        end = tokens.starts[tokens.index - 1] + 1
        return self.source.text[begin:end]
