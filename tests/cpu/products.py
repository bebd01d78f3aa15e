"""Programs and data for the tests of native matrix products: several in one kernel, so that few are compiled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import tileir
from tileir.ir import types as t
from tileir.ir.storage import dtype_of

Shape = tuple[int, ...]
ELEMENTS = {element.name: element for element in (t.F16, t.BF16, t.TF32, t.F32, t.F64, t.F8E4M3FN, t.F8E5M2)}
ELEMENTS |= {element.name: element for element in (t.I8, t.I32, t.F8E8M0FNU, t.F4E2M1FN)}


@dataclass(frozen=True)
class Product:
    """``inputs[m, k] @ inputs[k, n] + sums[m, n]``, with a leading dimension if `batch`; `words` end the operands."""

    inputs: str
    sums: str
    m: int
    n: int
    k: int
    batch: int = 0
    words: str = ""

    @property
    def shapes(self) -> tuple[Shape, Shape, Shape]:
        batch = (self.batch,) if self.batch else ()
        return (*batch, self.m, self.k), (*batch, self.k, self.n), (*batch, self.m, self.n)

    @property
    def elements(self) -> tuple[str, str, str]:
        return self.inputs, self.inputs, self.sums

    @property
    def op(self) -> str:
        return "mmai" if self.inputs == "i8" else "mmaf"


def tile_text(shape: Shape, element: str) -> str:
    return f"tile<{'x'.join(map(str, shape))}x{element}>"


def dense_view(name: str, pointer: str, shape: Shape, element: str) -> tuple[str, str]:
    """The text that makes a view of a dense array as one tile, and the type of that view."""
    strides = [int(np.prod(shape[dim + 1 :])) for dim in range(len(shape))]
    extents = "x".join(map(str, shape))
    tensor = f"tensor_view<{extents}x{element}, strides={strides}>"
    view = f"partition_view<tile=({extents}), {tensor}>"
    made = f"""
    %{name}_tensor = make_tensor_view {pointer}, shape = {list(shape)}, strides = {strides} : {tensor}
    %{name} = make_partition_view %{name}_tensor : {view}"""
    return made, view


def load_text(name: str, pointer: str, shape: Shape, element: str) -> str:
    made, view = dense_view(f"{name}_view", pointer, shape, element)
    index = ", ".join(["%zero"] * len(shape))
    loaded = f"%{name}, %{name}_read = load_view_tko weak %{name}_view[{index}]"
    return f"{made}\n    {loaded} : {view}, tile<i32> -> {tile_text(shape, element)}, token"


def store_text(value: str, name: str, pointer: str, shape: Shape, element: str) -> str:
    made, view = dense_view(f"{name}_view", pointer, shape, element)
    index = ", ".join(["%zero"] * len(shape))
    stored = f"%{name}_written = store_view_tko weak {value}, %{name}_view[{index}]"
    return f"{made}\n    {stored} : {tile_text(shape, element)}, {view}, tile<i32> -> token"


def kernel(parameters: dict[str, str], body: str) -> tileir.Module:
    """The module with one entry `k`; `parameters` are pointers with the element types given."""
    declared = ", ".join(f"%{name}: tile<ptr<{element}>>" for name, element in parameters.items())
    return tileir.parse(f"entry @k({declared}) {{\n    %zero = constant <i32: 0> : tile<i32>{body}\n    return\n}}")


def program(products: list[Product]) -> tileir.Module:
    """A kernel that updates the sums of every product in place."""
    parameters, body = {}, ""
    for number, product in enumerate(products):
        names = [f"{letter}{number}" for letter in "abc"]
        parameters |= dict(zip(names, product.elements))
        for name, shape, element in zip(names, product.shapes, product.elements):
            body += load_text(f"{name}_tile", f"%{name}", shape, element)
        tiles = ", ".join(f"%{name}_tile" for name in names)
        types = ", ".join(map(tile_text, product.shapes, product.elements))
        body += f"\n    %r{number} = {product.op} {tiles} {product.words} : {types}"
        body += store_text(f"%r{number}", f"s{number}", f"%{names[2]}", product.shapes[2], product.sums)
    return kernel(parameters, body)


def whole_numbers(rng: np.random.Generator, shape: Shape, element: str) -> np.ndarray:
    """Numbers whose sums of products are exact in any order, of bytes all that there are."""
    bound = {"i8": 128, "i32": 1 << 31}.get(element, 3)
    return rng.integers(-bound, bound, shape).astype(dtype_of(ELEMENTS[element]))


def real_numbers(rng: np.random.Generator, shape: Shape, element: str) -> np.ndarray:
    made = rng.standard_normal(shape).astype(np.float32)
    if element == "tf32":
        return (made.view(np.uint32) & 0xFFFFE000).view(np.float32)
    return made.astype(dtype_of(ELEMENTS[element]))


def results(module: tileir.Module, arrays: list[np.ndarray], target: str) -> list[np.ndarray]:
    """The arrays after a launch of one tile block on copies of `arrays`."""
    copies = [array.copy() for array in arrays]
    module["k"].launch(1, *copies, target=target)
    return copies
