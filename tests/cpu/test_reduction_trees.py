"""Reductions and scans of native code and of the interpreter: one tree, equal bits, errors that grow with log2(n)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import islice

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileir
from tests.cpu.anew import kernel_of

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
ROUNDOFF = {"f16": Fraction(1, 2**11), "bf16": Fraction(1, 2**8), "f32": Fraction(1, 2**24), "f64": Fraction(1, 2**53)}
"""Half the distance from 1 to the next number."""
TARGETS = ("interp", "cpu")


def plain(operation: str, element: str) -> str:
    return f"%y = {operation} : tile<{element}>"


def hidden(operation: str, element: str) -> str:
    """The same in a body that is not recognised."""
    return f"""%h = {operation} : tile<{element}>
      %true = constant <i1: true> : tile<i1>
      %y = select %true, %h, %l : tile<i1>, tile<{element}>"""


def view(name: str, element: str, shape: tuple[int, ...]) -> tuple[str, str]:
    """The code of a view of the whole array %name, and the view's type."""
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    extents, steps = ", ".join(map(str, shape)), ", ".join(map(str, strides))
    tensor = f"tensor_view<{'x'.join(map(str, shape))}x{element}, strides=[{steps.replace(' ', '')}]>"
    tiles = f"partition_view<tile=({'x'.join(map(str, shape))}), {tensor}>"
    code = f"%{name}t = make_tensor_view %{name}, shape = [{extents}], strides = [{steps}] : {tensor}\n"
    return code + f"%{name}v = make_partition_view %{name}t : {tiles}", tiles


Fold = tuple[int, str]
"""The dimension that is folded, and the body that makes %y of %l and %r."""


def program(kind: str, element: str, shape: tuple[int, ...], folds: Sequence[Fold], change: str = "") -> str:
    """An entry that folds all of %p into all of %q0, and once more for each fold; `change` makes %c of the tile %x."""
    source = f"tile<{'x'.join(map(str, (*shape, element)))}>"
    first, read = view("p", element, shape)
    parameters = "".join(f", %q{number}: tile<ptr<{element}>>" for number in range(len(folds)))
    stores = "\n".join(stored(kind, element, shape, fold, f"{at}", bool(change)) for at, fold in enumerate(folds))
    return f"""entry @k(%p: tile<ptr<{element}>>{parameters}) {{
      %z = constant <i32: 0> : tile<i32>
      {first}
      %x, %t0 = load_view_tko weak %pv[{", ".join(["%z"] * len(shape))}] : {read}, tile<i32> -> {source}, token
      {change}
      {stores}
    }}"""


def stored(kind: str, element: str, shape: tuple[int, ...], fold: Fold, number: str, changed: bool) -> str:
    """The code of one fold of %x, or of what has been made of it."""
    dim, body = fold
    rest, whole_shape = folded_shapes(kind, shape, dim)
    dims = (shape, rest, whole_shape)
    source, result, whole = (f"tile<{'x'.join(map(str, (*extents, element)))}>" for extents in dims)
    place, written = view(f"q{number}", element, whole_shape)
    return f"""{place}
      %r{number} = {kind.format("%c" if changed else "%x", dim)} identities=[1.0 : {element}] : {source} -> {result}
          (%l: tile<{element}>, %r: tile<{element}>) {{
        {body}
        yield %y : tile<{element}>
      }}
      %s{number} = reshape %r{number} : {result} -> {whole}
      store_view_tko weak %s{number}, %q{number}v[{", ".join(["%z"] * len(whole_shape))}]
        : {whole}, {written}, tile<i32> -> token"""


def folded_shapes(kind: str, shape: tuple[int, ...], dim: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of the result, and that of the array for it, which has a dimension at least."""
    rest = shape if "scan" in kind else (*shape[:dim], *shape[dim + 1 :])
    return rest, rest or (1,)


REDUCE = "reduce {} dim={}"
FORWARD, BACKWARD = "scan {} dim={} reverse=false", "scan {} dim={} reverse=true"


def ran(text: str, x: np.ndarray, shapes: Sequence[tuple[int, ...]], target: str) -> list[np.ndarray]:
    results = [np.zeros(shape, x.dtype) for shape in shapes]
    kernel_of(text).launch((1,), x.copy(), *results, target=target)
    return results


def name_of(dtype: np.dtype) -> str:
    return next(name for name, known in DTYPES.items() if dtype == known)


def folded(x: np.ndarray, kind: str, dim: int, body: str, change: str = "") -> np.ndarray:
    """The result, which is the same on both targets bit for bit; one NaN is like another."""
    (result,) = all_folded(x, kind, [(dim, body)], change)
    return result


def all_folded(x: np.ndarray, kind: str, folds: Sequence[Fold], change: str = "") -> list[np.ndarray]:
    """The results of several folds in one program."""
    text = program(kind, name_of(x.dtype), x.shape, folds, change)
    shapes = [folded_shapes(kind, x.shape, dim)[1] for dim, _ in folds]
    found = [ran(text, x, shapes, target) for target in TARGETS]
    for first, second in zip(*found, strict=True):
        nan = np.isnan(first.astype(np.float64))
        assert np.array_equal(nan, np.isnan(second.astype(np.float64)))
        assert first[~nan].tobytes() == second[~nan].tobytes()
    return found[-1]


# ---------------------------------------------------------------- the tree, written down once more


def reduced(values: list, join: Callable) -> object:
    while len(values) > 32:
        blocks = [values[at : at + 32] for at in range(0, len(values), 32)]
        values = [join(a, b) for one, other in zip(blocks[::2], blocks[1::2]) for a, b in zip(one, other)]
    while len(values) > 1:
        half = len(values) // 2
        values = [join(a, b) for a, b in zip(values[:half], values[half:])]
    return values[0]


def scanned(values: list, join: Callable) -> list:
    blocks = []
    for at in range(0, len(values), 8):
        blocks.append([values[at]])
        for value in values[at + 1 : at + 8]:
            blocks[-1].append(join(blocks[-1][-1], value))
    if len(blocks) == 1:
        return blocks[0]
    before = scanned([block[-1] for block in blocks], join)
    return blocks[0] + [join(before[number], value) for number, block in enumerate(blocks[1:]) for value in block]


def expected(x: np.ndarray, kind: str, dim: int, join: Callable) -> np.ndarray:
    rows = np.moveaxis(x, dim, -1)
    if "reduce" in kind:
        flat = [reduced(list(row), join) for row in rows.reshape(-1, x.shape[dim])]
        return np.array(flat, x.dtype).reshape(rows.shape[:-1] or (1,))
    step = -1 if kind == BACKWARD else 1
    flat = [scanned(list(row[::step]), join)[::step] for row in rows.reshape(-1, x.shape[dim])]
    return np.moveaxis(np.array(flat, x.dtype).reshape(rows.shape), -1, dim)


SHAPES = [(1,), (2,), (64,), (1024,), (16, 32), (128, 4), (4, 256), (2, 64, 8), (8, 1, 16)]


KINDS = [REDUCE, FORWARD, BACKWARD]


def uniform(shape: tuple[int, ...], element: str) -> np.ndarray:
    return np.random.default_rng(len(shape)).uniform(0.5, 1.5, shape).astype(DTYPES[element])


@settings(max_examples=50, deadline=None)
@given(
    element=st.sampled_from(list(DTYPES)),
    shape=st.sampled_from(SHAPES),
    kind=st.sampled_from(KINDS),
    join=st.sampled_from([("addf %l, %r", np.add), ("mulf %l, %r", np.multiply)]),
    body=st.sampled_from([plain, hidden]),
    data=st.data(),
)
def test_rows_and_columns_are_combined_in_the_documented_tree(element, shape, kind, join, body, data) -> None:
    dim = data.draw(st.integers(0, len(shape) - 1), label="dim")
    x = uniform(shape, element)
    got = folded(x, kind, dim, body(join[0], element))
    assert got.tobytes() == expected(x, kind, dim, join[1]).tobytes()


@pytest.mark.parametrize("shape", [(16, 16), (64, 16), (32, 32), (16, 256), (2, 32, 64)], ids=str)
@pytest.mark.parametrize("element", ["f16", "f32", "f64"])
def test_many_rows_are_combined_in_the_documented_tree(element: str, shape: tuple[int, ...]) -> None:
    dim, x = len(shape) - 1, uniform(shape, element)
    got = folded(x, REDUCE, dim, plain("addf %l, %r", element))
    assert got.tobytes() == expected(x, REDUCE, dim, np.add).tobytes()


@pytest.mark.parametrize(("shape", "dim"), [((32768,), 0), ((256, 128), 0), ((2, 32768), 1)], ids=str)
def test_large_tiles_are_scanned_to_their_end(shape: tuple[int, ...], dim: int) -> None:
    x = np.random.default_rng(0).integers(-3, 4, shape).astype(np.float32)
    assert (folded(x, FORWARD, dim, plain("addf %l, %r", "f32")) == x.cumsum(dim)).all()


def test_the_columns_of_the_largest_of_many_rows_are_found() -> None:
    (inside, read), (outside, written) = view("p", "f32", (32, 64)), view("q", "i32", (32,))
    text = f"""entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<i32>>) {{
      %z = constant <i32: 0> : tile<i32>
      {inside}
      {outside}
      %x, %t0 = load_view_tko weak %pv[%z, %z] : {read}, tile<i32> -> tile<32x64xf32>, token
      %numbers = iota : tile<64xi32>
      %along = reshape %numbers : tile<64xi32> -> tile<1x64xi32>
      %columns = broadcast %along : tile<1x64xi32> -> tile<32x64xi32>
      %best, %column = reduce %x, %columns dim=1 identities=[0xFF800000 : f32, 2147483647 : i32]
        : tile<32x64xf32>, tile<32x64xi32> -> tile<32xf32>, tile<32xi32>
        (%a: tile<f32>, %b: tile<f32>, %i: tile<i32>, %j: tile<i32>) {{
          %won = cmpf greater_than_or_equal ordered %a, %b : tile<f32> -> tile<i1>
          %most = select %won, %a, %b : tile<i1>, tile<f32>
          %where = select %won, %i, %j : tile<i1>, tile<i32>
          yield %most, %where : tile<f32>, tile<i32>
        }}
      store_view_tko weak %column, %qv[%z] : tile<32xi32>, {written}, tile<i32> -> token
    }}"""
    x, found = uniform((32, 64), "f32"), np.zeros(32, np.int32)
    tileir.parse(text)["k"].launch(1, x, found, target="cpu")
    assert found.tolist() == x.argmax(axis=1).tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [0, 1])
def test_what_is_computed_on_the_way_makes_no_difference(kind: str, dim: int) -> None:
    shape, steps = "tile<64x64xf32>", 6
    chain = [f"%c{at + 1} = mulf %c{at}, %x : {shape}" for at in range(steps)]
    change = "\n".join(chain).replace("%c0", "%x").replace(f"%c{steps}", "%c")
    x = uniform((64, 64), "f32")
    powers = x
    for _ in range(steps):
        powers = powers * x
    assert (
        folded(x, kind, dim, plain("addf %l, %r", "f32"), change).tobytes()
        == expected(powers, kind, dim, np.add).tobytes()
    )


# ---------------------------------------------------------------- its error


def exact_sums(row: np.ndarray, kind: str) -> list[Fraction]:
    """Of all elements, or of all up to each of them."""
    total, sums = Fraction(0), []
    for value in row if kind != BACKWARD else row[::-1]:
        total += Fraction(float(value))
        sums.append(total)
    return sums[-1:] if kind == REDUCE else sums if kind == FORWARD else sums[::-1]


def depth(count: int, kind: str) -> int:
    """The additions that one summand goes through, at most."""
    return count.bit_length() - 1 if kind == REDUCE else 8 * math.ceil(math.log(count, 8))


@pytest.mark.thorough
@settings(max_examples=25, deadline=None)
@given(
    element=st.sampled_from(["bf16", "f16", "f32"]),
    kind=st.sampled_from(KINDS),
    shape=st.sampled_from([(2, 256), (256, 2), (2048,), (4, 8)]),
    signed=st.booleans(),
    seed=st.integers(0, 99),
)
def test_the_error_of_a_sum_grows_with_the_logarithm_of_its_length(element, kind, shape, signed, seed) -> None:
    dim = int(np.argmax(shape))
    generator = np.random.default_rng(seed)
    x = (generator.standard_normal(shape) if signed else generator.random(shape)).astype(DTYPES[element])
    got = np.moveaxis(np.reshape(folded(x, kind, dim, plain("addf %l, %r", element)), _kept(shape, dim, kind)), dim, -1)
    growth = (1 + ROUNDOFF[element]) ** depth(shape[dim], kind) - 1
    for row, results in zip(np.moveaxis(x, dim, -1).reshape(-1, shape[dim]), got.reshape(-1, got.shape[-1])):
        sums, sizes = exact_sums(row, kind), exact_sums(np.abs(row), kind)
        assert all(abs(Fraction(float(r)) - s) <= growth * size for r, s, size in zip(results, sums, sizes))


def _kept(shape: tuple[int, ...], dim: int, kind: str) -> tuple[int, ...]:
    """The shape of the result with the reduced dimension left in."""
    return tuple(1 if axis == dim and kind == REDUCE else extent for axis, extent in enumerate(shape))


@pytest.mark.parametrize(("shape", "dim"), [((2048,), 0), ((2048, 2), 0), ((2, 2048), 1)])
def test_ones_of_a_narrow_type_are_counted(shape: tuple[int, ...], dim: int) -> None:
    ones = np.ones(shape, ml_dtypes.bfloat16)
    assert (folded(ones, REDUCE, dim, plain("addf %l, %r", "bf16")) == 2048).all()
    counts = np.broadcast_to(
        np.arange(1, 2049).reshape([-1 if axis == dim else 1 for axis in range(len(shape))]), shape
    )
    assert (folded(ones, FORWARD, dim, plain("addf %l, %r", "bf16")) == counts.astype(ml_dtypes.bfloat16)).all()


# ---------------------------------------------------------------- minimum and maximum


EXTREMES = {
    "maxf %l, %r": np.fmax,
    "minf %l, %r": np.fmin,
    "maxf %l, %r propagate_nan": np.maximum,
    "minf %l, %r propagate_nan": np.minimum,
}
EXTREME_FOLDS = [(0, plain), (1, plain), (1, hidden)]
NAN_ROWS = np.array([[np.nan] * 4, [1, np.nan, -np.inf, 2], [np.nan, np.nan, 3, np.inf], [0.5, 2, 1, 4]], np.float32)


@cache
def extremes(kind: str, element: str) -> dict[str, list[np.ndarray]]:
    """Return the results of the folds by each operation, from one program for all."""
    folds = [(dim, body(operation, element)) for operation in EXTREMES for dim, body in EXTREME_FOLDS]
    found = iter(all_folded(NAN_ROWS.astype(DTYPES[element]), kind, folds))
    return {operation: list(islice(found, len(EXTREME_FOLDS))) for operation in EXTREMES}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("element", list(DTYPES))
@pytest.mark.parametrize("operation", EXTREMES)
def test_the_extreme_of_nothing_but_nan_is_nan(kind: str, element: str, operation: str) -> None:
    accumulated, order = EXTREMES[operation], slice(None, None, -1 if kind == BACKWARD else 1)
    for (dim, _), got in zip(EXTREME_FOLDS, extremes(kind, element)[operation], strict=True):
        rows = np.moveaxis(NAN_ROWS, dim, 1)[:, order]
        wanted = (
            accumulated.reduce(rows, 1)
            if kind == REDUCE
            else np.moveaxis(accumulated.accumulate(rows, 1)[:, order], 1, dim)
        )
        np.testing.assert_array_equal(got.astype(np.float32), wanted)
