"""Random programs that load a tile through a view and store another one there."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import ml_dtypes
import numpy as np

ELEMENTS = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "tf32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f4E2M1FN": np.uint8,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}
PADDINGS = {
    **dict.fromkeys(("f16", "bf16", "f32", "tf32", "f64", "f8E5M2"), ("zero", "neg_zero", "nan", "pos_inf", "neg_inf")),
    "f8E4M3FN": ("zero", "neg_zero", "nan"),
    "f8E8M0FNU": ("zero", "nan"),
    "f4E2M1FN": ("zero", "neg_zero"),
}
INDEX_TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


@dataclass
class ViewProgram:
    """A kernel @k and the arguments of one launch."""

    text: str
    args: list[object]


@dataclass
class _Writer:
    """The parameters and the lines of the kernel so far."""

    random: Random
    parameters: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    args: list[object] = field(default_factory=list)

    def parameter(self, type: str, value: object) -> str:
        name = f"%p{len(self.parameters)}"
        self.parameters.append(f"{name}: tile<{type}>")
        self.args.append(value)
        return name

    def scalar(self, type: str, value: int) -> str:
        """A number that the code knows more or less of."""
        if self.random.random() < 0.15:
            return self.line(f"constant <{type}: {value}> : tile<{type}>")
        name = self.parameter(type, INDEX_TYPES[type](value))
        divisor = value & -value
        if value and self.random.random() < 0.5:
            name = self.line(f"assume div_by<{divisor if divisor > 0 else 1}>, {name} : tile<{type}>")
        if self.random.random() < 0.3:
            low, high = (value, value + 3) if self.random.random() < 0.5 and type == "i64" else (value, "?")
            name = self.line(f"assume bounded<{low}, {high}>, {name} : tile<{type}>")
        return name

    def line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name


def view_program(seed: int) -> ViewProgram:
    random = Random(seed)
    writer = _Writer(random)
    element = random.choice(list(ELEMENTS))
    tile = _tile(random, element)
    least = 2 if element == "f4E2M1FN" else 1
    shape = [random.choice([least, extent, 2 * extent, 3 * extent, 3 * extent + 1, 16]) for extent in tile]
    dims = random.sample(range(len(tile)), len(tile))
    strides, size = _strides(random, [shape[dim] for dim in range(len(shape))], element)
    base = writer.parameter(f"ptr<{element}>", _array(random, element, size))
    dense_in = writer.parameter(f"ptr<{element}>", _array(random, element, int(np.prod(tile))))
    dense_out = writer.parameter(f"ptr<{element}>", _array(random, element, int(np.prod(tile))))
    tensor_type, tensor = _tensor(writer, base, element, shape, strides)
    view_type, coordinates = _view(random, tile, element, dims, tensor_type)
    index, index_types, promised = _index(writer, view_type, tile, shape, dims, coordinates)
    view = writer.line(f"make_{view_type.partition('<')[0]} {tensor} : {view_type}")
    _body(writer, element, tile, view, view_type, index, index_types, promised, dense_in, dense_out)
    body = "\n".join(writer.lines)
    return ViewProgram(f"entry @k({', '.join(writer.parameters)}) {{\n{body}\n  return\n}}\n", writer.args)


def _tile(random: Random, element: str) -> list[int]:
    """Elements of half a byte are packed along exactly one dimension of stride 1."""
    extents = [2, 4, 8] if element == "f4E2M1FN" else [1, 2, 4, 8]
    return [random.choice(extents) for _ in range(random.choice([1, 1, 2, 2, 2, 3, 4]))]


def _strides(random: Random, shape: list[int], element: str) -> tuple[list[int], int]:
    """Strides of a layout without overlaps, and the extent of memory, in elements."""
    strides, size = [0] * len(shape), 1
    for dim in random.sample(range(len(shape)), len(shape)):
        strides[dim] = size
        size *= shape[dim]
        size += random.choice([0, 0, size % 2, -size % 8])
    return strides, size


def _array(random: Random, element: str, size: int) -> np.ndarray:
    dtype = np.dtype(ELEMENTS[element])
    numbers = np.random.default_rng(random.randrange(1 << 30))
    if element == "i1":
        return numbers.integers(0, 2, size).astype(np.bool_)
    if element == "f4E2M1FN":
        return numbers.integers(0, 256, -(-size // 8) * 4).astype(np.uint8)
    array = numbers.integers(0, 256, size * dtype.itemsize).astype(np.uint8).view(dtype)
    return (array.view(np.uint32) & np.uint32(0xFFFFE000)).view(dtype) if element == "tf32" else array


def _tensor(writer: _Writer, base: str, element: str, shape: list[int], strides: list[int]) -> tuple[str, str]:
    """The type of the tensor view, and the view."""
    random = writer.random
    kind = random.choice(["i16", "i32", "i32", "i64"])
    known = [[random.random() < 0.4 for _ in entries] for entries in (shape, strides)]
    if element == "f4E2M1FN":
        known[1] = [stride == 1 or chosen for stride, chosen in zip(strides, known[1])]
    written = [
        [str(entry) if keep else writer.scalar(kind, entry) for entry, keep in zip(entries, kept)]
        for entries, kept in zip((shape, strides), known)
    ]
    types = [[item if item.isdigit() else "?" for item in items] for items in written]
    type = f"tensor_view<{'x'.join(types[0])}x{element}, strides=[{','.join(types[1])}]>"
    dynamic = "" if all(item.isdigit() for items in written for item in items) else f"tile<{kind}> -> "
    clause = f"shape = [{', '.join(written[0])}], strides = [{', '.join(written[1])}]"
    return type, writer.line(f"make_tensor_view {base}, {clause} : {dynamic}{type}")


def _view(random: Random, tile: list[int], element: str, dims: list[int], tensor: str) -> tuple[str, list[int] | None]:
    """The type of a view, and the steps of its indices; None for a gather/scatter view."""
    extents = "x".join(map(str, tile))
    value = random.choice([None, *PADDINGS.get(element, ("zero",))])
    padding = "" if value is None else f"padding_value = {value}, "
    kind = random.choice(["partition", "partition", "strided", "gather"])
    mapped = f", dim_map=[{', '.join(map(str, dims))}]"
    if kind == "gather":
        sparse = random.randrange(len(tile))
        return f"gather_scatter_view<tile=({extents}), {padding}{tensor}, sparse_dim={sparse}>", None
    if kind == "partition":
        return f"partition_view<tile=({extents}), {padding}{tensor}{mapped}>", tile
    steps = [random.choice([1, extent, 2 * extent, 3]) for extent in tile]
    listed = ",".join(map(str, steps))
    return f"strided_view<tile=({extents}), traversal_strides=[{listed}], {padding}{tensor}{mapped}>", steps


def _index(
    writer: _Writer, view: str, tile: list[int], shape: list[int], dims: list[int], steps: list[int] | None
) -> tuple[list[str], list[str], list[bool]]:
    """The indices, their types, and what may be promised of them."""
    random = writer.random
    kind = random.choice(list(INDEX_TYPES))
    index, types, promised = [], [], []
    sparse = None if steps else int(view.rpartition("sparse_dim=")[2].rstrip(">"))
    for position, extent in enumerate(tile):
        size = shape[dims[position]] if steps else shape[position]
        if position == sparse:
            rows = np.array([random.choice([*range(size), size, -1]) for _ in range(extent)], np.int32)
            if len(set(rows.tolist())) < extent:
                rows = np.arange(extent, dtype=np.int32) + random.randrange(size)
            index.append(_rows(writer, rows))
            types.append(f"tile<{extent}xi32>")
            promised.append(bool(((rows >= 0) & (rows < size)).all()) and random.random() < 0.5)
            continue
        step = steps[position] if steps else 1
        value = random.choice([0, 0, 1, 1, 2, 3, size // step, -1, 100])
        index.append(writer.scalar(kind, value))
        types.append(f"tile<{kind}>")
        promised.append(0 <= value * step <= size - extent and random.random() < 0.5)
    return index, types, promised


def _rows(writer: _Writer, rows: np.ndarray) -> str:
    pointer, count = writer.parameter("ptr<i32>", rows), len(rows)
    tensor = f"tensor_view<{count}xi32, strides=[1]>"
    view = f"partition_view<tile=({count}), {tensor}>"
    first = writer.line(f"make_tensor_view {pointer}, shape = [{count}], strides = [1] : {tensor}")
    through = writer.line(f"make_partition_view {first} : {view}")
    zero = writer.line("constant <i32: 0> : tile<i32>")
    name = f"%rows{len(writer.lines)}"
    writer.lines.append(
        f"  {name}, {name}_token = load_view_tko weak {through}[{zero}] : {view}, tile<i32> -> tile<{count}xi32>, token"
    )
    return name


def _body(
    writer: _Writer,
    element: str,
    tile: list[int],
    view: str,
    view_type: str,
    index: list[str],
    index_types: list[str],
    promised: list[bool],
    dense_in: str,
    dense_out: str,
) -> None:
    """Loads through the view what goes to `dense_out`; then stores there what comes from `dense_in`."""
    random, extents = writer.random, "x".join(map(str, tile))
    type = f"tile<{extents}x{element}>"
    steps = [int(np.prod(tile[dim + 1 :])) for dim in range(len(tile))]
    dense = f"tensor_view<{extents}x{element}, strides=[{','.join(map(str, steps))}]>"
    whole = f"partition_view<tile=({extents}), {dense}>"
    shape = f"shape = [{', '.join(map(str, tile))}], strides = [{', '.join(map(str, steps))}]"
    source, target = (
        writer.line(f"make_partition_view {writer.line(f'make_tensor_view {base}, {shape} : {dense}')} : {whole}")
        for base in (dense_in, dense_out)
    )
    zeros = ", ".join([writer.line("constant <i32: 0> : tile<i32>")] * len(tile))
    place, through = ", ".join(index), f"{view_type}, {', '.join(index_types)}"
    promise = f" inbounds = [{', '.join(str(item).lower() for item in promised)}]" if any(promised) else ""
    load = random.choice(["weak", "weak", "relaxed device", "acquire sys"])
    store = random.choice(["weak", "weak", "relaxed device", "release sys"])
    writer.lines += [
        f"  %x, %t0 = load_view_tko {load} {view}[{place}]{promise} : {through} -> {type}, token",
        f"  %t1 = store_view_tko weak %x, {target}[{zeros}] token = %t0 : {type}, {whole}, tile<i32> -> token",
        f"  %y, %t2 = load_view_tko weak {source}[{zeros}] token = %t1 : {whole}, tile<i32> -> {type}, token",
        f"  %t3 = store_view_tko {store} %y, {view}[{place}] token = %t2{promise} : {type}, {through} -> token",
    ]
