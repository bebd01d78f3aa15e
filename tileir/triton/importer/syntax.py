"""TTIR as it is written: operations with operands by name, attributes, types and regions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tileir.ir.loc import Location

# ------------------------------------------------------------ types


class MlirType:
    """Base of the types of TTIR."""


@dataclass(frozen=True)
class MlirScalar(MlirType):
    """``i32``, ``f16``, ``f8E4M3FN``, ``index``."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class MlirPointer(MlirType):
    """``!tt.ptr<f32>``."""

    pointee: MlirType

    def __str__(self) -> str:
        return f"!tt.ptr<{self.pointee}>"


@dataclass(frozen=True)
class MlirTensor(MlirType):
    """``tensor<64x32xf16>``, ``tensor<64x!tt.ptr<f16>>``."""

    shape: tuple[int, ...]
    element: MlirType

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{extent}x' for extent in self.shape)}{self.element}>"


@dataclass(frozen=True)
class MlirDescriptor(MlirType):
    """``!tt.tensordesc<64x32xf16>``: a tensor in memory, accessed in blocks of this shape.

    ``!tt.ptr<tensor<64x32xf16>>``, a block pointer of Triton before 3.8, also has the offsets of its block.
    """

    shape: tuple[int, ...]
    element: MlirType
    is_pointer: bool = False

    def __str__(self) -> str:
        if self.is_pointer:
            return f"!tt.ptr<{MlirTensor(self.shape, self.element)}>"
        return f"!tt.tensordesc<{''.join(f'{extent}x' for extent in self.shape)}{self.element}>"


@dataclass(frozen=True)
class MlirSignature(MlirType):
    """``(f32, i32) -> f32``."""

    inputs: tuple[MlirType, ...]
    results: tuple[MlirType, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.inputs))}) -> ({', '.join(map(str, self.results))})"


# ------------------------------------------------------------ attributes


@dataclass(frozen=True)
class BitPattern:
    """A number in hexadecimal digits: the bits of a float."""

    bits: int


@dataclass(frozen=True)
class Dense:
    """``dense<...>``: one element for all, all of them in row-major order, or their bytes."""

    elements: tuple[Literal, ...] | bytes


@dataclass(frozen=True)
class MlirWord:
    """A bare word or an attribute of a dialect, as it is written."""

    text: str


Literal = int | float | bool | BitPattern
MlirAttribute = Literal | str | Dense | MlirWord | MlirType | tuple["MlirAttribute", ...] | dict[str, "MlirAttribute"]
"""Strings are those in quotes; ``array<i32: 1, 2>`` and ``[1, 2]`` are tuples; a flag is True."""

# ------------------------------------------------------------ operations


class Use(NamedTuple):
    """A value that is used: its name, as ``%x`` or ``%x#1``, and where."""

    name: str
    offset: int


class MlirArgument(NamedTuple):
    """An argument of a block or function."""

    name: str
    type: MlirType
    loc: Location
    attributes: dict[str, MlirAttribute]


@dataclass
class Successor:
    """A block that a branch may go to, with the values for its arguments."""

    label: str
    operands: tuple[Use, ...]


@dataclass
class MlirOperation:
    """One operation.

    ``words`` are the bare words and literals in front of the types, each with the number of operands before it.
    ``types`` stand behind the colon, ``result_types`` behind ``->`` or ``to``. `end` is where its name ends.
    """

    name: str
    offset: int
    end: int
    results: tuple[str, ...] = ()
    operands: tuple[Use, ...] = ()
    words: list[tuple[MlirAttribute, int]] = field(default_factory=list)
    attributes: dict[str, MlirAttribute] = field(default_factory=dict)
    types: tuple[MlirType, ...] = ()
    result_types: tuple[MlirType, ...] = ()
    regions: list[Region] = field(default_factory=list)
    successors: list[Successor] = field(default_factory=list)
    loc: Location = field(init=False)

    @property
    def kind(self) -> str:
        """The name that an operation has now: descriptors were experimental before Triton 3.4."""
        return self.name.replace("tt.experimental_", "tt.", 1)

    def walk(self) -> Iterator[MlirOperation]:
        """Yield this operation, then all nested ones, in the order of the text."""
        stack = [self]
        while stack:
            operation = stack.pop()
            yield operation
            blocks = [block for region in operation.regions for block in region]
            stack += [inner for block in reversed(blocks) for inner in reversed(block.operations)]


@dataclass
class MlirBlock:
    """A block of a region: arguments, then operations."""

    label: str = ""
    arguments: tuple[MlirArgument, ...] = ()
    operations: list[MlirOperation] = field(default_factory=list)


Region = list[MlirBlock]


@dataclass
class MlirFunction(MlirOperation):
    """``tt.func``: a kernel if it is public. Its only region is the body."""

    symbol: str = ""
    public: bool = True
    arguments: tuple[MlirArgument, ...] = ()
