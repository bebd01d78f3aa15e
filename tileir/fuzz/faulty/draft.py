"""A program over arrays that is being written, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from random import Random

import ml_dtypes
import numpy as np

ELEMENTS: dict[str, np.dtype] = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
}
DOUBLED = {"i8": "addi", "i16": "addi", "i32": "addi", "i64": "addi", "f32": "addf", "f64": "addf"}
WILD = (-1, -(1 << 31), 1 << 30, (1 << 31) - 1)
ORDERINGS = ("weak", "weak", "weak", "relaxed device", "acquire device")


@dataclass
class FaultyArray:
    """An argument: `count` elements filled from the seed of the program; `index` ones hold numbers below `below`.

    One with gaps has a `layout` instead: the extent and the stride, in elements, of each of its dimensions.
    """

    name: str
    element: str
    count: int
    below: int | None = None
    at_end: bool = True
    writable: bool = True
    layout: list[list[int]] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(extent for extent, _ in self.layout) or (self.count,)

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(stride for _, stride in self.layout) or (1,)

    @property
    def reach(self) -> int:
        """Elements from the first to the last, gaps included."""
        if 0 in self.shape:
            return 0
        return 1 + sum((extent - 1) * stride for extent, stride in zip(self.shape, self.strides))


@dataclass
class FaultyProgram:
    """A program: its text, the grid, and the arguments in the order of the parameters (an int is an i32).

    `seed` chooses the contents of arrays, and whether it is run in strict mode and optimised.
    """

    text: str
    grid: int
    arguments: list[FaultyArray | int]
    seed: int


@dataclass
class FaultyDraft:
    """A program being written: the lines of its entry, its parameters, its globals."""

    random: Random
    lines: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    arguments: list[FaultyArray | int] = field(default_factory=list)
    globals: list[str] = field(default_factory=list)
    grid: int = 1
    names: int = 0

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def line(self, text: str) -> str:
        """Return a line that defines one value; gives the value's name."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def array(self, element: str, count: int, below: int | None = None) -> str:
        name = f"a{len(self.arguments)}"
        self.parameters.append(f"%{name}: tile<ptr<{element}>>")
        at_end, writable = self.random.random() < 0.7, self.random.random() < 0.95
        self.arguments.append(FaultyArray(name, element, max(0, count), below, at_end, writable))
        return f"%{name}"

    def space_out(self) -> None:
        """Leave gaps in the array made last, every now and then: some elements of each so many are its own."""
        array = self.arguments[-1]
        assert isinstance(array, FaultyArray)
        if array.count and self.random.random() < 0.2:
            pitch = self.random.randint(2, 9)
            own = self.random.randint(1, pitch - 1)
            array.layout = [[-(-array.count // pitch), pitch], [own, 1]]

    def number(self, value: int) -> str:
        """Return an i32 parameter with that value, or a constant."""
        if self.random.random() < 0.5:
            wrapped = (value + (1 << 31)) % (1 << 32) - (1 << 31)
            return self.line(f"constant <i32: {wrapped}> : tile<i32>")
        name = f"n{len(self.arguments)}"
        self.parameters.append(f"%{name}: tile<i32>")
        self.arguments.append(value)
        return f"%{name}"

    def spread(self, value: str, element: str, shape: Sequence[int]) -> str:
        """Return a scalar as a tile of `shape`."""
        if not shape:
            return value
        ones = "x".join("1" for _ in shape)
        single = self.line(f"reshape {value} : tile<{element}> -> tile<{ones}x{element}>")
        return self.line(f"broadcast {single} : tile<{ones}x{element}> -> {tile(shape, element)}")

    def text(self) -> str:
        body = "\n    ".join(self.lines)
        items = "".join(f"  {line}\n" for line in self.globals)
        parameters = ", ".join(self.parameters)
        return f"cuda_tile.module @m {{\n{items}  entry @k({parameters}) {{\n    {body}\n    return\n  }}\n}}\n"


def tile(shape: Sequence[int], element: str) -> str:
    return f"tile<{''.join(f'{extent}x' for extent in shape)}{element}>"


def is_wrong(draft: FaultyDraft, likely: float = 0.5) -> bool:
    return draft.random.random() < likely


def finish(draft: FaultyDraft, value: str, shape: Sequence[int], element: str) -> None:
    """Store a tile, perhaps doubled, into an array of its own that is long enough, a part for each tile block."""
    if element in DOUBLED and draft.random.random() < 0.5:
        value = draft.line(f"{DOUBLED[element]} {value}, {value} : {tile(shape, element)}")
    if draft.random.random() < 0.2 and len(shape) == 2:
        shape = (shape[1], shape[0])
        value = draft.line(
            f"permute {value} [1, 0] : {tile(shape[::-1], element)} -> {tile(shape, element)}",
        )
    count = prod(shape)
    out = draft.array(element, count * draft.grid)
    draft.arguments[-1].writable = True  # type: ignore[union-attr]
    flat = value
    if len(shape) != 1:
        flat = draft.line(f"reshape {value} : {tile(shape, element)} -> tile<{count}x{element}>")
    draft.lines.append("%bx, %by, %bz = get_tile_block_id : tile<i32>")
    view = f"partition_view<tile=({count}), tensor_view<{count * draft.grid}x{element}, strides=[1]>>"
    tensor = draft.line(
        f"make_tensor_view {out}, shape = [{count * draft.grid}], strides = [1] : "
        f"tensor_view<{count * draft.grid}x{element}, strides=[1]>"
    )
    part = draft.line(f"make_partition_view {tensor} : {view}")
    draft.lines.append(
        f"{draft.name()} = store_view_tko weak {flat}, {part}[%bx] : "
        f"tile<{count}x{element}>, {view}, tile<i32> -> token"
    )


def an_element(draft: FaultyDraft) -> str:
    return draft.random.choice(list(ELEMENTS))


def some_tiles(draft: FaultyDraft, rank: int) -> tuple[int, ...]:
    return tuple(draft.random.choice((1, 2, 4, 8)) for _ in range(rank))


def indices(draft: FaultyDraft, shape: tuple[int, ...], below: int) -> str:
    """Return a tile of numbers below `below`, from an array."""
    count = prod(shape)
    base = draft.array("i32", count, min(below, 1 << 30))
    lanes = draft.line(f"iota : tile<{count}xi32>")
    pointers = draft.line(
        f"offset {draft.spread(base, 'ptr<i32>', (count,))}, {lanes} : "
        f"tile<{count}xptr<i32>>, tile<{count}xi32> -> tile<{count}xptr<i32>>"
    )
    value = draft.name()
    draft.lines.append(
        f"{value}, {draft.name()} = load_ptr_tko weak {pointers} : tile<{count}xptr<i32>> -> tile<{count}xi32>, token"
    )
    if len(shape) == 1:
        return value
    return draft.line(f"reshape {value} : tile<{count}xi32> -> {tile(shape, 'i32')}")
