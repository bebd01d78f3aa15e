"""The arguments of each example program, and the answer that NumPy gives.

Each example has arguments, a grid, a reference in float64 and a tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

from tileir.examples import Example

if TYPE_CHECKING:
    from tileir.examples import Answer, Arguments, Sizes

BF16 = np.dtype(ml_dtypes.bfloat16)


def largest_error(arrays: Mapping[str, np.ndarray | np.generic], answer: Mapping[str, np.ndarray]) -> float:
    """Return the largest difference, relative to the largest element of its answer; NaN if a result has one."""
    errors = [_error(np.asarray(arrays[name]), expected) for name, expected in answer.items()]
    return float(np.max(errors, initial=0.0))


def _error(got: np.ndarray, expected: np.ndarray) -> float:
    if expected.dtype.kind in "iub":
        return float(np.max(got.astype(object) != expected.astype(object), initial=False))
    scale = float(np.max(np.abs(expected), initial=0.0)) or 1.0
    return float(np.max(np.abs(got.astype(np.float64) - expected), initial=0.0)) / scale


def _normal(random: np.random.Generator, dtype: np.dtype | type, *shape: int) -> np.ndarray:
    return random.standard_normal(shape, np.float32).astype(dtype)


def _f64(array: np.ndarray | np.generic) -> np.ndarray:
    return np.asarray(array).astype(np.float64)


def _tiles(extent: int, tile: int) -> int:
    return -(-extent // tile)


# ---------------------------------------------------------------- first steps


def _greetings(sizes: Sizes) -> list[str]:
    x, y, z = sizes["x"], sizes["y"], sizes["z"]
    return [
        f"hello from tile block ({i}, {j}, {k}) of a {x} x {y} x {z} grid"
        for k in range(z)
        for j in range(y)
        for i in range(x)
    ]


def _vector_add(sizes: Sizes, random: np.random.Generator) -> Arguments:
    n = sizes["n"]
    a, b = _normal(random, np.float32, n), _normal(random, np.float32, n)
    return {"a": a, "b": b, "c": np.zeros(n, np.float32), "n": np.int32(n)}


def _saxpy(sizes: Sizes, random: np.random.Generator) -> Arguments:
    rows, columns = sizes["M"], sizes["N"]
    x, y = _normal(random, np.float32, rows, columns), _normal(random, np.float32, rows, columns)
    return {"X": x, "Y": y, "alpha": np.float32(2.5), "M": np.int32(rows), "N": np.int32(columns)}


def _saxpy_answer(given: Arguments) -> Answer:
    return {"Y": _f64(given["alpha"]) * _f64(given["X"]) + _f64(given["Y"])}


def _mutex(sizes: Sizes, random: np.random.Generator) -> Arguments:
    return {"counter": np.zeros(1, np.int32)}


# ---------------------------------------------------------------- matrix products


def _gemm_square(sizes: Sizes, random: np.random.Generator) -> Arguments:
    n = sizes["size"]
    a, b = _normal(random, np.float32, n, n), _normal(random, np.float32, n, n)
    return {"a": a, "b": b, "c": np.zeros((n, n), np.float32)}


def _gemm_blocked(sizes: Sizes, random: np.random.Generator) -> Arguments:
    return {**_gemm_square(sizes, random), "size": np.int32(sizes["size"])}


def _gemm_f16(sizes: Sizes, random: np.random.Generator, transposed: bool) -> Arguments:
    m, n, k = sizes["M"], sizes["N"], sizes["K"]
    a = _normal(random, np.float16, m, k)
    b = _normal(random, np.float16, *((n, k) if transposed else (k, n)))
    extents = {"M": np.int32(m), "N": np.int32(n), "K": np.int32(k)}
    strides = {"stride_a": np.int32(k), "stride_b": np.int32(b.shape[1]), "stride_c": np.int32(n)}
    return {"A": a, "B": b, "C": np.zeros((m, n), np.float32), **extents, **strides}


def _gemm_grid(sizes: Sizes) -> tuple[int, ...]:
    return _tiles(sizes["M"], 128), _tiles(sizes["N"], 128)


# ---------------------------------------------------------------- rows of a matrix


def _rows(sizes: Sizes, random: np.random.Generator, dtype: np.dtype | type = np.float32) -> Arguments:
    x = _normal(random, dtype, sizes["rows"], sizes["columns"])
    return {"x": x, "y": np.zeros_like(x)}


def _extents(sizes: Sizes) -> Arguments:
    return {"rows": np.int32(sizes["rows"]), "columns": np.int32(sizes["columns"])}


def _one_block_a_row(sizes: Sizes) -> tuple[int, ...]:
    return (sizes["rows"],)


def _softmax(given: Arguments) -> Answer:
    x = _f64(given["x"])
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return {"y": powers / powers.sum(axis=1, keepdims=True)}


def _layer_norm(sizes: Sizes, random: np.random.Generator) -> Arguments:
    arrays = _rows(sizes, random)
    weight, bias = _normal(random, np.float32, sizes["columns"]), _normal(random, np.float32, sizes["columns"])
    given = {"x": arrays["x"], "weight": weight, "bias": bias, "y": arrays["y"]}
    return {**given, **_extents(sizes), "epsilon": np.float32(1e-5)}


def _layer_norm_answer(given: Arguments) -> Answer:
    x = _f64(given["x"])
    centred = x - x.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + _f64(given["epsilon"]))
    return {"y": centred / deviation * _f64(given["weight"]) + _f64(given["bias"])}


def _rms_norm(sizes: Sizes, random: np.random.Generator) -> Arguments:
    arrays = _rows(sizes, random, BF16)
    given = {"x": arrays["x"], "weight": _normal(random, BF16, sizes["columns"]), "y": arrays["y"]}
    return {**given, **_extents(sizes), "epsilon": np.float32(1e-6)}


def _rms_norm_answer(given: Arguments) -> Answer:
    x = _f64(given["x"])
    root = np.sqrt(np.square(x).mean(axis=1, keepdims=True) + _f64(given["epsilon"]))
    return {"y": x / root * _f64(given["weight"])}


def _attention(sizes: Sizes, random: np.random.Generator) -> Arguments:
    heads, length = sizes["heads"], sizes["length"]
    q, k, v = (_normal(random, np.float16, heads, length, 64) for _ in range(3))
    scalars = {"heads": np.int32(heads), "length": np.int32(length), "scale": np.float32(0.125)}
    return {"q": q, "k": k, "v": v, "out": np.zeros_like(q), **scalars}


def _attention_answer(given: Arguments) -> Answer:
    scores = _f64(given["q"]) @ _f64(given["k"]).swapaxes(1, 2) * _f64(given["scale"])
    powers = np.exp(scores - scores.max(axis=2, keepdims=True))
    return {"out": powers / powers.sum(axis=2, keepdims=True) @ _f64(given["v"])}


# ---------------------------------------------------------------- reductions and movement


def _total(sizes: Sizes, random: np.random.Generator) -> Arguments:
    n = sizes["n"]
    return {"x": random.random(n, np.float32), "sum": np.zeros(1, np.float32), "n": np.int32(n)}


def _row_argmax(sizes: Sizes, random: np.random.Generator) -> Arguments:
    # Few different values, so that ties occur.
    x = random.integers(-40, 40, (sizes["rows"], sizes["columns"])).astype(np.float32)
    results = {"value": np.zeros(len(x), np.float32), "place": np.zeros(len(x), np.int32)}
    return {"x": x, **results, **_extents(sizes)}


def _row_argmax_answer(given: Arguments) -> Answer:
    x = np.asarray(given["x"])
    return {"value": _f64(x.max(axis=1)), "place": x.argmax(axis=1)}


def _transpose(sizes: Sizes, random: np.random.Generator) -> Arguments:
    x = _normal(random, np.float32, sizes["rows"], sizes["columns"])
    return {"x": x, "y": np.zeros(x.shape[::-1], np.float32), **_extents(sizes)}


def _prefix_sum(sizes: Sizes, random: np.random.Generator) -> Arguments:
    x = random.integers(-(2**60), 2**60, (sizes["rows"], sizes["columns"]), dtype=np.int64)
    return {"x": x, "y": np.zeros_like(x), **_extents(sizes)}


def _embedding(sizes: Sizes, random: np.random.Generator) -> Arguments:
    words, count = sizes["words"], sizes["count"]
    table, ids = _normal(random, np.float16, words, 512), random.integers(0, words, count, dtype=np.int32)
    arrays = {"table": table, "ids": ids, "y": np.zeros((count, 512), np.float16)}
    return {**arrays, "words": np.int32(words), "count": np.int32(count)}


# ---------------------------------------------------------------- the table

EXAMPLES = (
    Example(
        name="hello_grid",
        file="hello_grid.mlir",
        kernel="hello_grid",
        sizes={"x": 3, "y": 2, "z": 1},
        grid=lambda sizes: (sizes["x"], sizes["y"], sizes["z"]),
        arguments=lambda sizes, random: {},
        answer=lambda given: {},
        printed=_greetings,
    ),
    Example(
        name="vector_add",
        file="vector_add.mlir",
        kernel="vector_add",
        sizes={"n": 100_000},
        grid=lambda sizes: (_tiles(sizes["n"], 1024),),
        arguments=_vector_add,
        answer=lambda given: {"c": _f64(given["a"]) + _f64(given["b"])},
        tolerance=1e-7,
    ),
    Example(
        name="saxpy",
        file="saxpy.mlir",
        kernel="saxpy",
        sizes={"M": 300, "N": 500},
        grid=lambda sizes: (_tiles(sizes["M"], 128), _tiles(sizes["N"], 256)),
        arguments=_saxpy,
        answer=_saxpy_answer,
        tolerance=2e-7,
    ),
    Example(
        name="transpose",
        file="transpose.mlir",
        kernel="transpose",
        sizes={"rows": 200, "columns": 150},
        grid=lambda sizes: (_tiles(sizes["rows"], 64), _tiles(sizes["columns"], 32)),
        arguments=_transpose,
        answer=lambda given: {"y": _f64(given["x"]).T},
    ),
    Example(
        name="gemm_single_block",
        file="gemm_single_block.mlir",
        kernel="gemm_single_block",
        sizes={"size": 64},
        grid=lambda sizes: (1,),
        arguments=_gemm_square,
        answer=lambda given: {"c": _f64(given["a"]) @ _f64(given["b"])},
        tolerance=1e-5,
    ),
    Example(
        name="gemm_blocked",
        file="gemm_blocked.mlir",
        kernel="gemm_blocked",
        sizes={"size": 256},
        grid=lambda sizes: (_tiles(sizes["size"], 64),) * 2,
        arguments=_gemm_blocked,
        answer=lambda given: {"c": _f64(given["a"]) @ _f64(given["b"]).T},
        tolerance=1e-5,
    ),
    Example(
        name="gemm_kloop",
        file="gemm_kloop.mlir",
        kernel="gemm_kloop_kernel",
        sizes={"M": 256, "N": 200, "K": 300},
        grid=_gemm_grid,
        arguments=lambda sizes, random: _gemm_f16(sizes, random, transposed=False),
        answer=lambda given: {"C": _f64(given["A"]) @ _f64(given["B"])},
        tolerance=1e-5,
    ),
    Example(
        name="gemm_views",
        file="gemm_views.mlir",
        kernel="gemm_views",
        sizes={"M": 256, "N": 256, "K": 512},
        grid=_gemm_grid,
        arguments=lambda sizes, random: _gemm_f16(sizes, random, transposed=True),
        answer=lambda given: {"C": _f64(given["A"]) @ _f64(given["B"]).T},
        tolerance=1e-5,
    ),
    Example(
        name="softmax",
        file="softmax.mlir",
        kernel="softmax",
        sizes={"rows": 128, "columns": 1000},
        grid=_one_block_a_row,
        arguments=lambda sizes, random: {**_rows(sizes, random), **_extents(sizes)},
        answer=_softmax,
        tolerance=5e-6,
    ),
    Example(
        name="layer_norm",
        file="layer_norm.mlir",
        kernel="layer_norm",
        sizes={"rows": 64, "columns": 768},
        grid=_one_block_a_row,
        arguments=_layer_norm,
        answer=_layer_norm_answer,
        tolerance=5e-6,
    ),
    Example(
        name="rms_norm",
        file="rms_norm.mlir",
        kernel="rms_norm",
        sizes={"rows": 64, "columns": 896},
        grid=_one_block_a_row,
        arguments=_rms_norm,
        answer=_rms_norm_answer,
        tolerance=2**-8,
    ),
    Example(
        name="attention",
        file="attention.mlir",
        kernel="attention",
        sizes={"heads": 8, "length": 200},
        grid=lambda sizes: (_tiles(sizes["length"], 64), sizes["heads"]),
        arguments=_attention,
        answer=_attention_answer,
        tolerance=2e-3,
    ),
    Example(
        name="total",
        file="reduction.mlir",
        kernel="total",
        sizes={"n": 100_000},
        grid=lambda sizes: (_tiles(sizes["n"], 4096),),
        arguments=_total,
        answer=lambda given: {"sum": _f64(given["x"]).sum(keepdims=True)},
        tolerance=1e-5,
    ),
    Example(
        name="row_argmax",
        file="reduction.mlir",
        kernel="row_argmax",
        sizes={"rows": 64, "columns": 500},
        grid=_one_block_a_row,
        arguments=_row_argmax,
        answer=_row_argmax_answer,
    ),
    Example(
        name="prefix_sum",
        file="prefix_sum.mlir",
        kernel="prefix_sum",
        sizes={"rows": 16, "columns": 300},
        grid=_one_block_a_row,
        arguments=_prefix_sum,
        answer=lambda given: {"y": np.cumsum(np.asarray(given["x"]), axis=1)},
    ),
    Example(
        name="embedding",
        file="embedding.mlir",
        kernel="embedding",
        sizes={"words": 1000, "count": 100},
        grid=lambda sizes: (_tiles(sizes["count"], 16), 2),
        arguments=_embedding,
        answer=lambda given: {"y": _f64(np.asarray(given["table"])[np.asarray(given["ids"])])},
    ),
    Example(
        name="mutex",
        file="mutex.mlir",
        kernel="mutex",
        sizes={},
        grid=lambda sizes: (32,),
        arguments=_mutex,
        answer=lambda given: {"counter": np.array([sum(range(1, 33))])},
    ),
)
"""Every example, from the simplest on."""
