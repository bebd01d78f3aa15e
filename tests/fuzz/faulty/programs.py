"""Programs over arrays, most of which have one thing wrong with their memory accesses.

Knows: how accesses of every kind are written, and what can be wrong with each. Does not know: what should happen; the
two targets are compared with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from random import Random

import ml_dtypes
import numpy as np

from tests.fuzz.faulty.arithmetic import arithmetic

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
class Array:
    """An argument: `count` elements filled from the seed of the program; `index` ones hold numbers below `below`."""

    name: str
    element: str
    count: int
    below: int | None = None
    at_end: bool = True
    writable: bool = True


@dataclass
class Faulty:
    """A program: its text, the grid, and the arguments in the order of the parameters (an int is an i32)."""

    text: str
    grid: int
    arguments: list[Array | int]


@dataclass
class Draft:
    """A program being written: the lines of its entry, its parameters, its globals."""

    random: Random
    lines: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    arguments: list[Array | int] = field(default_factory=list)
    globals: list[str] = field(default_factory=list)
    grid: int = 1
    names: int = 0

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def line(self, text: str) -> str:
        """A line that defines one value; gives the value's name."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def array(self, element: str, count: int, below: int | None = None) -> str:
        name = f"a{len(self.arguments)}"
        self.parameters.append(f"%{name}: tile<ptr<{element}>>")
        at_end, writable = self.random.random() < 0.7, self.random.random() < 0.95
        self.arguments.append(Array(name, element, max(0, count), below, at_end, writable))
        return f"%{name}"

    def number(self, value: int) -> str:
        """An i32 parameter with that value, or a constant."""
        if self.random.random() < 0.5:
            wrapped = (value + (1 << 31)) % (1 << 32) - (1 << 31)
            return self.line(f"constant <i32: {wrapped}> : tile<i32>")
        name = f"n{len(self.arguments)}"
        self.parameters.append(f"%{name}: tile<i32>")
        self.arguments.append(value)
        return f"%{name}"

    def spread(self, value: str, element: str, shape: Sequence[int]) -> str:
        """A scalar as a tile of `shape`."""
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


def program(seed: int) -> Faulty:
    """The program of that seed."""
    random = Random(seed)
    draft = Draft(random)
    random.choice(KINDS)(draft)
    return Faulty(draft.text(), draft.grid, draft.arguments)


def _wrong(draft: Draft, likely: float = 0.5) -> bool:
    return draft.random.random() < likely


# ---------------------------------------------------------------- what is done with a loaded tile


def _finish(draft: Draft, value: str, shape: Sequence[int], element: str) -> None:
    """Stores a tile, perhaps doubled, into an array of its own that is long enough, a part for each tile block."""
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


# ---------------------------------------------------------------- views


def _tensor(draft: Draft, element: str, rank: int, writable: bool) -> tuple[str, str, list[int]]:
    """A tensor view that may claim more than its array has: its name, its type, its extents."""
    random = draft.random
    extents = [random.randint(1, 9) for _ in range(rank)]
    strides = [prod(extents[dim + 1 :]) for dim in range(rank)]
    if random.random() < 0.3:
        order = random.sample(range(rank), rank)
        step = 1
        for dim in order:
            strides[dim], step = step, step * extents[dim]
    needed = sum((extent - 1) * stride for extent, stride in zip(extents, strides)) + 1
    count = needed
    base = draft.array(element, count)
    array = draft.arguments[-1]
    assert isinstance(array, Array)
    if writable and random.random() < 0.9:
        array.writable = True
    if _wrong(draft):
        choice = random.randrange(5)
        dim = random.randrange(rank)
        if choice == 0:
            extents[dim] += random.choice((1, 2, 7, 1 << 20))
        elif choice == 1:
            strides[dim] += random.choice((1, 3, 1 << 24))
        elif choice == 2:
            array.count = max(0, array.count - random.choice((1, 2, array.count)))
        elif choice == 3:
            by = draft.number(random.choice((1, -1, 5, 1 << 20)))
            base = draft.line(f"offset {base}, {by} : tile<ptr<{element}>>, tile<i32> -> tile<ptr<{element}>>")
        else:
            extents[dim] = random.choice(WILD)
    shape, types, given = [], [], []
    for extent in extents:
        dynamic = random.random() < 0.5 or extent < 0
        shape.append(draft.number(extent) if dynamic else str(extent))
        types.append("?" if dynamic else str(extent))
        given += ["i32"] if dynamic else []
    steps, step_types = [], []
    for stride in strides:
        dynamic = random.random() < 0.3
        steps.append(draft.number(stride) if dynamic else str(stride))
        step_types.append("?" if dynamic else str(stride))
        given += ["i32"] if dynamic else []
    type = f"tensor_view<{''.join(f'{entry}x' for entry in types)}{element}, strides=[{','.join(step_types)}]>"
    operands = "tile<i32> -> " if given else ""
    name = draft.line(
        f"make_tensor_view {base}, shape = [{', '.join(shape)}], strides = [{', '.join(steps)}] : {operands}{type}"
    )
    return name, type, extents


def _element(draft: Draft) -> str:
    return draft.random.choice(list(ELEMENTS))


def _tiles(draft: Draft, rank: int) -> tuple[int, ...]:
    return tuple(draft.random.choice((1, 2, 4, 8)) for _ in range(rank))


def _index(draft: Draft) -> str:
    return draft.number(draft.random.choice((0, 0, 0, 1, 1, 2, 5, -1, 1 << 28)))


def view(draft: Draft) -> None:
    """A tile of a partition or strided view: loaded, or stored, or combined into memory."""
    random = draft.random
    element, rank = _element(draft), random.randint(1, 3)
    shape = _tiles(draft, rank)
    stores = random.random() < 0.4
    tensor, tensor_type, _ = _tensor(draft, element, rank, stores)
    padding = random.choice(("", "padding_value = zero, "))
    dims = f", dim_map=[{', '.join(map(str, reversed(range(rank))))}]" if random.random() < 0.3 else ""
    tiles = "x".join(map(str, shape))
    if random.random() < 0.3:
        steps = ",".join(str(random.randint(1, 4)) for _ in range(rank))
        type = f"strided_view<tile=({tiles}), traversal_strides=[{steps}], {padding}{tensor_type}{dims}>"
        made = draft.line(f"make_strided_view {tensor} : {type}")
    else:
        type = f"partition_view<tile=({tiles}), {padding}{tensor_type}{dims}>"
        made = draft.line(f"make_partition_view {tensor} : {type}")
    index = ", ".join(_index(draft) for _ in range(rank))
    _view_access(draft, made, type, index, "tile<i32>", shape, element, stores)


def _view_access(
    draft: Draft, made: str, type: str, index: str, index_types: str, shape: tuple[int, ...], element: str, stores: bool
) -> None:
    held = tile(shape, element)
    ordering = draft.random.choice(ORDERINGS)
    if not stores:
        value = draft.name()
        draft.lines.append(
            f"{value}, {draft.name()} = load_view_tko {ordering} {made}[{index}] : "
            f"{type}, {index_types} -> {held}, token"
        )
        _finish(draft, value, shape, element)
        return
    zero = "false" if element == "i1" else "1.0" if element[0] in "fb" else "1"
    value = draft.line(f"constant <{element}: {zero}> : {held}")
    reducible = element in ("i32", "i64", "f32") and not type.startswith("gather")
    if reducible and draft.random.random() < 0.4:
        mode = "addf" if element == "f32" else draft.random.choice(("add", "max", "xor"))
        draft.lines.append(
            f"{draft.name()} = atomic_red_view_tko relaxed device {made}[{index}], {mode}, {value} : "
            f"{held}, {type}, {index_types} -> token"
        )
        return
    ordering = ordering.replace("acquire", "release")
    draft.lines.append(
        f"{draft.name()} = store_view_tko {ordering} {value}, {made}[{index}] : {held}, {type}, {index_types} -> token"
    )


def rows_of_a_view(draft: Draft) -> None:
    """Rows of a gather/scatter view, by an array of row numbers some of which may lie outside."""
    random = draft.random
    element = random.choice([name for name in ELEMENTS if name != "i1"])
    shape = _tiles(draft, 2)
    stores = random.random() < 0.4
    tensor, tensor_type, extents = _tensor(draft, element, 2, stores)
    rows = _indices(draft, (shape[0],), max(1, extents[0] + random.choice((0, 0, 3))))
    type = f"gather_scatter_view<tile=({shape[0]}x{shape[1]}), {tensor_type}, sparse_dim=0>"
    made = draft.line(f"make_gather_scatter_view {tensor} : {type}")
    index_types = f"tile<{shape[0]}xi32>, tile<i32>"
    if stores and shape[0] > 1:
        rows = draft.line(f"iota : tile<{shape[0]}xi32>")
    _view_access(draft, made, type, f"{rows}, {_index(draft)}", index_types, shape, element, stores)


def _indices(draft: Draft, shape: tuple[int, ...], below: int) -> str:
    """A tile of numbers below `below`, from an array."""
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


# ---------------------------------------------------------------- pointers


def _steps(draft: Draft, shape: tuple[int, ...], strides: Sequence[int]) -> str:
    """The tile of ``sum(index * stride)``."""
    total = None
    for dim, (extent, stride) in enumerate(zip(shape, strides)):
        row = draft.line(f"iota : tile<{extent}xi32>")
        ones = [extent if other == dim else 1 for other in range(len(shape))]
        if len(shape) > 1:
            row = draft.line(f"reshape {row} : tile<{extent}xi32> -> {tile(ones, 'i32')}")
        wide = (
            row
            if tuple(ones) == shape
            else draft.line(f"broadcast {row} : {tile(ones, 'i32')} -> {tile(shape, 'i32')}")
        )
        factor = draft.spread(draft.number(stride), "i32", shape)
        term = draft.line(f"muli {wide}, {factor} : {tile(shape, 'i32')}")
        total = term if total is None else draft.line(f"addi {total}, {term} : {tile(shape, 'i32')}")
    assert total is not None
    return total


def _affine(draft: Draft, element: str, writable: bool) -> tuple[str, tuple[int, ...], str | None]:
    """A tile of pointers that step evenly, perhaps off an end: its name, its shape, a mask or None."""
    random = draft.random
    shape = _tiles(draft, random.randint(1, 2))
    strides = [prod(shape[dim + 1 :]) * random.choice((1, 1, 2)) for dim in range(len(shape))]
    if random.random() < 0.2:
        strides[0] = -strides[0]
    lowest = sum(min(0, (extent - 1) * stride) for extent, stride in zip(shape, strides))
    highest = sum(max(0, (extent - 1) * stride) for extent, stride in zip(shape, strides))
    start, count, masked = -lowest, highest - lowest + 1, None
    if random.random() < 0.3:
        draft.grid = random.randint(1, 3)
    cells = count * draft.grid
    if _wrong(draft):
        choice = random.randrange(3)
        if choice == 0:
            cells -= random.randint(1, count)
        elif choice == 1:
            start += random.choice((-1, 1, -count, count, 1 << 20, -(1 << 28)))
        else:
            strides[random.randrange(len(shape))] *= random.choice((2, 1 << 10, 1 << 29))
    base = draft.array(element, cells)
    array = draft.arguments[-1]
    assert isinstance(array, Array)
    array.writable = array.writable or (writable and random.random() < 0.9)
    steps = _steps(draft, shape, strides)
    draft.lines.append("%px, %py, %pz = get_tile_block_id : tile<i32>")
    block = draft.line(f"muli %px, {draft.number(count)} : tile<i32>")
    begin = draft.line(f"addi {block}, {draft.number(start)} : tile<i32>")
    index = draft.line(f"addi {steps}, {draft.spread(begin, 'i32', shape)} : {tile(shape, 'i32')}")
    if random.random() < 0.4:
        bound = draft.spread(draft.number(random.choice((cells, cells, cells + 1, 1))), "i32", shape)
        masked = draft.line(f"cmpi less_than {index}, {bound}, signed : {tile(shape, 'i32')} -> {tile(shape, 'i1')}")
    pointer_type = tile(shape, f"ptr<{element}>")
    pointers = draft.line(
        f"offset {draft.spread(base, f'ptr<{element}>', shape)}, {index} : "
        f"{pointer_type}, {tile(shape, 'i32')} -> {pointer_type}"
    )
    return pointers, shape, masked


def _access(draft: Draft, pointers: str, shape: tuple[int, ...], mask: str | None, element: str, stores: bool) -> None:
    random = draft.random
    pointer_type, held = tile(shape, f"ptr<{element}>"), tile(shape, element)
    tail, tail_type = ("", "") if mask is None else (f", {mask}", f", {tile(shape, 'i1')}")
    ordering = random.choice(ORDERINGS)
    if not stores:
        value = draft.name()
        draft.lines.append(
            f"{value}, {draft.name()} = load_ptr_tko {ordering} {pointers}{tail} : "
            f"{pointer_type}{tail_type} -> {held}, token"
        )
        _finish(draft, value, shape, element)
        return
    number = "false" if element == "i1" else "1.0" if element[0] in "fb" else "1"
    value = draft.line(f"constant <{element}: {number}> : {held}")
    if element in ("i32", "i64", "f32", "f64") and random.random() < 0.4:
        old = draft.name()
        if random.random() < 0.5:
            mode = "addf" if element[0] == "f" else random.choice(("add", "umax", "xchg"))
            draft.lines.append(
                f"{old}, {draft.name()} = atomic_rmw_tko relaxed device {pointers}, {mode}, {value}{tail} : "
                f"{pointer_type}, {held}{tail_type} -> {held}, token"
            )
        else:
            draft.lines.append(
                f"{old}, {draft.name()} = atomic_cas_tko relaxed device {pointers}, {value}, {value}{tail} : "
                f"{pointer_type}, {held}{tail_type} -> {held}, token"
            )
        _finish(draft, old, shape, element)
        return
    ordering = ordering.replace("acquire", "release")
    draft.lines.append(
        f"{draft.name()} = store_ptr_tko {ordering} {pointers}, {value}{tail} : "
        f"{pointer_type}, {held}{tail_type} -> token"
    )


def pointers(draft: Draft) -> None:
    """Loads, stores and atomics through pointers that step evenly."""
    element, stores = _element(draft), draft.random.random() < 0.5
    _access(draft, *_affine(draft, element, stores), element, stores)


def gathered(draft: Draft) -> None:
    """Loads through pointers at numbers from an array."""
    random = draft.random
    element, shape = _element(draft), _tiles(draft, random.randint(1, 2))
    cells = random.randint(1, 20)
    index = _indices(draft, shape, cells + (random.choice((1, 5, 1 << 29)) if _wrong(draft) else 0))
    base = draft.array(element, cells)
    pointer_type = tile(shape, f"ptr<{element}>")
    placed = draft.line(
        f"offset {draft.spread(base, f'ptr<{element}>', shape)}, {index} : "
        f"{pointer_type}, {tile(shape, 'i32')} -> {pointer_type}"
    )
    mask = None
    if random.random() < 0.4:
        bound = draft.spread(draft.number(cells), "i32", shape)
        mask = draft.line(f"cmpi less_than {index}, {bound}, unsigned : {tile(shape, 'i32')} -> {tile(shape, 'i1')}")
    _access(draft, placed, shape, mask, element, stores=False)


def computed_address(draft: Draft) -> None:
    """Pointers made from integers: null, misaligned, moved from one array to another."""
    random = draft.random
    element, stores = _element(draft), random.random() < 0.5
    placed, shape, mask = _affine(draft, element, stores)
    pointer_type, integers = tile(shape, f"ptr<{element}>"), tile(shape, "i64")
    address = draft.line(f"ptr_to_int {placed} : {pointer_type} -> {integers}")
    moved = random.choice((0, 0, 1, -1, 2, 8, -8, 1 << 40))
    by = draft.line(f"constant <i64: {moved}> : {integers}")
    address = draft.line(f"addi {address}, {by} : {integers}")
    if random.random() < 0.1:
        address = draft.line(f"constant <i64: {random.choice((0, 8, -8))}> : {integers}")
    again = draft.line(f"int_to_ptr {address} : {integers} -> {pointer_type}")
    _access(draft, again, shape, mask, element, stores)


def chosen(draft: Draft) -> None:
    """Pointers selected, lane by lane, from two arrays."""
    random = draft.random
    element = _element(draft)
    count = random.choice((2, 4, 8))
    type, lanes = f"tile<{count}xptr<{element}>>", draft.line(f"iota : tile<{count}xi32>")
    sides = []
    for _ in range(2):
        cells = count - (random.randint(1, count) if _wrong(draft, 0.3) else 0)
        base = draft.spread(draft.array(element, cells), f"ptr<{element}>", (count,))
        sides.append(draft.line(f"offset {base}, {lanes} : {type}, tile<{count}xi32> -> {type}"))
    half = draft.spread(draft.number(count // 2), "i32", (count,))
    which = draft.line(f"cmpi less_than {lanes}, {half}, signed : tile<{count}xi32> -> tile<{count}xi1>")
    both = draft.line(f"select {which}, {sides[0]}, {sides[1]} : tile<{count}xi1>, {type}")
    _access(draft, both, (count,), None, element, stores=False)


def carried(draft: Draft) -> None:
    """Pointers that a loop carries and moves, perhaps past the end; sums what they point to."""
    random = draft.random
    element = random.choice(("i32", "f32", "i64"))
    count, turns = random.choice((2, 4, 8)), random.randint(1, 5)
    cells = count * turns - (random.randint(1, count) if _wrong(draft) else 0)
    type, held = f"tile<{count}xptr<{element}>>", f"tile<{count}x{element}>"
    lanes = draft.line(f"iota : tile<{count}xi32>")
    base = draft.spread(draft.array(element, cells), f"ptr<{element}>", (count,))
    first = draft.line(f"offset {base}, {lanes} : {type}, tile<{count}xi32> -> {type}")
    step = draft.spread(draft.number(count), "i32", (count,))
    zero, end, one = (draft.line(f"constant <i32: {value}> : tile<i32>") for value in (0, turns, 1))
    start = draft.line(f"constant <{element}: {'0.0' if element == 'f32' else '0'}> : {held}")
    both, at, sum, value, next, moved = (draft.name() for _ in range(6))
    draft.lines += [
        f"{both}:2 = for %turn in ({zero} to {end}, step {one}) : tile<i32> "
        f"iter_values({at} = {first}, {sum} = {start}) -> ({type}, {held}) {{",
        f"  {value}, {draft.name()} = load_ptr_tko weak {at} : {type} -> {held}, token",
        f"  {next} = {DOUBLED[element]} {sum}, {value} : {held}",
        f"  {moved} = offset {at}, {step} : {type}, tile<{count}xi32> -> {type}",
        f"  continue {moved}, {next} : {type}, {held}",
        "}",
    ]
    _finish(draft, f"{both}#1", (count,), element)


# ---------------------------------------------------------------- storage of the program


def storage(draft: Draft) -> None:
    """An `alloca` or a global, accessed within or beyond its end; constant globals are written to as well."""
    random = draft.random
    element = random.choice(("i8", "i32", "f32", "f64"))
    cells, count = random.choice((2, 4, 8)), random.choice((1, 2, 4, 8))
    number = "1.0" if element[0] == "f" else "1"
    constant = False
    if random.random() < 0.5:
        constant = random.random() < 0.3
        draft.globals.append(
            f"global {'constant ' if constant else ''}@g <{element}: {number}> : tile<{cells}x{element}>"
        )
        base = draft.line(f"get_global @g : tile<ptr<{element}>>")
    else:
        base = draft.line(f"alloca num_elem = {cells}, alignment = {random.choice((8, 16, 64))} : tile<ptr<{element}>>")
    type, held = f"tile<{count}xptr<{element}>>", f"tile<{count}x{element}>"
    start = random.choice((0, 0, cells - count, cells, -1)) if _wrong(draft) else max(0, cells - count)
    lanes = draft.line(f"iota : tile<{count}xi32>")
    index = draft.line(f"addi {lanes}, {draft.spread(draft.number(start), 'i32', (count,))} : tile<{count}xi32>")
    placed = draft.line(
        f"offset {draft.spread(base, f'ptr<{element}>', (count,))}, {index} : {type}, tile<{count}xi32> -> {type}"
    )
    value = draft.line(f"constant <{element}: {number}> : {held}")
    stored, loaded = draft.name(), draft.name()
    draft.lines.append(f"{stored} = store_ptr_tko weak {placed}, {value} : {type}, {held} -> token")
    draft.lines.append(
        f"{loaded}, {draft.name()} = load_ptr_tko weak {placed} token={stored} : {type} -> {held}, token"
    )
    _finish(draft, loaded, (count,), element)


def computed(draft: Draft) -> None:
    """Arithmetic that may break promises."""
    draft.lines += arithmetic(draft.random)


KINDS: tuple[Callable[[Draft], None], ...] = (
    view,
    view,
    rows_of_a_view,
    pointers,
    pointers,
    gathered,
    computed_address,
    chosen,
    carried,
    storage,
    computed,
)
