"""The tests of the core operations in the interpreter hold for GPU code, and that code compiles."""

import ml_dtypes
import numpy as np
import pytest

from tests.interp.interp_kernels import evaluate, function
from tests.targets.ttir_functions import compiled
from tests.thorough import sampled

ARCHS = ("sm_80", "sm_90", "sm_100")
ELEMENTS = {
    "i1": np.bool_,
    "i4": np.int8,
    "i8": np.int8,
    "i64": np.int64,
    "f16": np.float16,
    "tf32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "ptr<f16>": np.uint64,
}


def tile(element: str, *shape: int) -> str:
    return f"tile<{'x'.join(map(str, (*shape, element)))}>"


def moves(element: str) -> str:
    """Every operation that moves elements, on tiles of `element`."""
    a, flat, turned = tile(element, 16, 8), tile(element, 128), tile(element, 8, 16)
    lines = [
        ("%p", turned, f"permute %a [1, 0] : {a} -> {turned}"),
        ("%l", flat, f"reshape %p : {turned} -> {flat}"),
        ("%s", tile(element, 1, 16, 8), f"reshape %a : {a} -> {tile(element, 1, 16, 8)}"),
        ("%b", tile(element, 4, 16, 8), f"broadcast %s : {tile(element, 1, 16, 8)} -> {tile(element, 4, 16, 8)}"),
        ("%u", tile(element, 32, 8), f"cat %a, %a dim = 0 : {a}, {a} -> {tile(element, 32, 8)}"),
        ("%v", tile(element, 16, 16), f"cat %a, %a dim = 1 : {a}, {a} -> {tile(element, 16, 16)}"),
        ("%d", tile(element, 8, 4), f"extract %a[%j, %i] : {a} -> {tile(element, 8, 4)}"),
        ("%e", tile(element, 4, 8), f"extract %a[%c3, %c0] : {a} -> {tile(element, 4, 8)}"),
        ("%f", tile(element, 2, 2), f"extract %a[%c5, %j] : {a} -> {tile(element, 2, 2)}"),
        ("%g", a, f"insert %d, %a[%i, %c1] : {tile(element, 8, 4)}, {a}"),
        ("%h", a, f"insert %e, %a[%c1, %c0] : {tile(element, 4, 8)}, {a}"),
    ]
    if element != "f4E2M1FN":
        one = tile(element, 1, 1)
        lines += [
            ("%x", one, f"extract %a[%c5, %j] : {a} -> {one}"),
            ("%y", tile(element), f"reshape %x : {one} -> {tile(element)}"),
            ("%z", a, f"select %m, %g, %h : tile<16x8xi1>, {a}"),
            ("%w", tile(element), f"select %n, %y, %y : tile<i1>, {tile(element)}"),
        ]
    numbers = [f"%c{number} = constant <i32: {number}> : tile<i32>" for number in (0, 1, 3, 5)]
    names, types = (", ".join(column) for column in zip(*(line[:2] for line in lines)))
    body = [*numbers, *(f"{name} = {text}" for name, _, text in lines), f"return {names} : {types}"]
    return function(f"%a: {a}, %i: tile<i32>, %j: tile<i32>, %m: tile<16x8xi1>, %n: tile<i1>", types, "\n".join(body))


def content(dtype: np.dtype | type) -> np.ndarray:
    generator = np.random.default_rng(2)
    if dtype is np.bool_:
        return generator.integers(0, 2, (16, 8)).astype(np.bool_)
    if np.dtype(dtype).kind in "iu":
        return generator.integers(-8, 8, (16, 8)).astype(dtype)
    return generator.integers(0, 4, (16, 8)).astype(dtype)


@pytest.mark.parametrize("element", ELEMENTS)
def test_elements_of_every_type_are_moved(gpu_code, element):
    values = (content(ELEMENTS[element]), np.int32(1), np.int32(0), content(np.bool_), np.bool_(True))
    expected = evaluate(moves(element), *values)
    for wanted, got in zip(expected, gpu_code.evaluated(moves(element), *values), strict=True):
        assert np.array(wanted, order="C").tobytes() == got.tobytes()


@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
def test_moves_compile(arch):
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    for element in ELEMENTS:
        compiled(moves(element), arch)
