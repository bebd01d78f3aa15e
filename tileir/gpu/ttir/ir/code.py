"""TTIR in memory: typed values, instructions and blocks.

Every instruction is kept in the generic form, so no instruction has a class of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from tileir.ir.loc import UNKNOWN, Location


@dataclass(frozen=True)
class TtirType:
    """A scalar, or with a shape a tensor of them.

    ``element`` is the MLIR spelling: ``i1 i8 i16 i32 i64 f16 bf16 f32 f64 f8E4M3FN f8E5M2``, ``!tt.ptr<f32>``, or
    ``!tt.tensordesc<64x32xf16>`` for a descriptor (always a scalar).
    """

    element: str
    shape: tuple[int, ...] = ()

    @property
    def is_tensor(self) -> bool:
        return bool(self.shape)

    @property
    def is_pointer(self) -> bool:
        return self.element.startswith("!tt.ptr<")

    @property
    def is_descriptor(self) -> bool:
        return self.element.startswith("!tt.tensordesc<")

    @property
    def is_float(self) -> bool:
        return self.element[0] in "fb"

    @property
    def pointee(self) -> str:
        """The element type that a pointer points to."""
        assert self.is_pointer
        return self.element.removeprefix("!tt.ptr<").removesuffix(">")

    @property
    def bits(self) -> int:
        """The width of an element."""
        return 64 if self.is_pointer else WIDTHS[self.element]

    @property
    def count(self) -> int:
        return prod(self.shape)

    def of(self, element: str) -> TtirType:
        """Return the type of the same shape with other elements."""
        return TtirType(element, self.shape)

    def shaped(self, *shape: int) -> TtirType:
        """Return the type of the same elements in another shape; a scalar without one."""
        return TtirType(self.element, shape)

    def __str__(self) -> str:
        if not self.shape:
            return self.element
        return f"tensor<{'x'.join(map(str, self.shape))}x{self.element}>"


WIDTHS = {
    "i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64,
    "f8E4M3FN": 8, "f8E5M2": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64,
}  # fmt: skip

I1, I8, I16, I32, I64 = (TtirType(f"i{bits}") for bits in (1, 8, 16, 32, 64))
F16, BF16, F32, F64 = TtirType("f16"), TtirType("bf16"), TtirType("f32"), TtirType("f64")


@dataclass(frozen=True)
class Text:
    """An attribute written as MLIR text."""

    text: str


TtirAttribute = int | bool | str | tuple[int, ...] | tuple[bool, ...] | Text
"""``5`` is ``5 : i32``, tuples are ``array<i32: …>`` and ``array<i1: …>``; a `str` is quoted."""


@dataclass(frozen=True)
class ConstantBits:
    """The value of an ``arith.constant``: the bits of its one element, repeated over the type."""

    bits: int
    type: TtirType


class TtirValue:
    """A result of an instruction or an argument of a block."""

    __slots__ = ("owner", "type")

    def __init__(self, type: TtirType, owner: Instruction | TtirBlock) -> None:
        self.type = type
        self.owner = owner

    def __repr__(self) -> str:
        return f"<{self.type} of {self.owner!r}>"


@dataclass(eq=False)
class Instruction:
    """One instruction: ``name`` with its dialect, as in ``arith.addi``."""

    name: str
    operands: list[TtirValue]
    attributes: dict[str, TtirAttribute | ConstantBits]
    result_types: tuple[TtirType, ...]
    regions: list[TtirBlock]
    loc: Location = UNKNOWN
    results: list[TtirValue] = field(init=False)

    def __post_init__(self) -> None:
        self.results = [TtirValue(type, self) for type in self.result_types]

    def __repr__(self) -> str:
        return f"<{self.name}>"


class TtirBlock:
    """The block of a region: arguments, then instructions in order."""

    def __init__(self, argument_types: tuple[TtirType, ...] = ()) -> None:
        self.arguments = [TtirValue(type, self) for type in argument_types]
        self.instructions: list[Instruction] = []

    def walk(self) -> Iterator[Instruction]:
        """Yield every instruction, nested ones after the one that contains them."""
        stack = [iter(self.instructions)]
        while stack:
            for instruction in stack[-1]:
                yield instruction
                if instruction.regions:
                    stack += [iter(region.instructions) for region in reversed(instruction.regions)]
                    break
            else:
                stack.pop()

    def __repr__(self) -> str:
        return "<block>"


@dataclass
class TtirFunction:
    """A kernel: its name in the machine code, its block, and attributes of its parameters by position."""

    name: str
    body: TtirBlock
    argument_attributes: dict[int, dict[str, TtirAttribute]] = field(default_factory=dict)
