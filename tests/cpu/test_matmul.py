"""Matrix products computed natively are those of the interpreter, for every type, shape, layout and kind of host."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from products import (
    Product,
    dense_view,
    kernel,
    load_text,
    program,
    real_numbers,
    results,
    store_text,
    tile_text,
    whole_numbers,
)

from tests.cpu.anew import compile_anew, planned
from tests.thorough import sampled
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.llvm import engine
from tileir.cpu.run.program import lowered
from tileir.ir import types as t
from tileir.ir.storage import dtype_of

FLOATS = [
    ("f16", "f16"),
    ("f16", "f32"),
    ("bf16", "f32"),
    ("tf32", "f32"),
    ("f32", "f32"),
    ("f64", "f64"),
    ("f8E4M3FN", "f16"),
    ("f8E4M3FN", "f32"),
    ("f8E5M2", "f16"),
    ("f8E5M2", "f32"),
]
SHAPES = [(1, 1, 1), (1, 64, 2), (64, 1, 4), (2, 2, 32), (16, 8, 1), (32, 64, 16), (8, 128, 8), (32, 16, 256)]
BYTE_SHAPES = [(32, 64, 64), (16, 32, 128), (64, 2, 16), (8, 16, 2)]
SIGNS = ["signed signed", "signed unsigned", "unsigned signed", "unsigned unsigned"]
TOLERANCES = {"f16": 4e-3, "f32": 1e-5, "f64": 1e-13}
HOSTS = {
    "as it is": {},
    "without a matrix unit": {"has_matrix_unit": False},
    "without dot products": {"has_bf16_dot": False, "has_int8_dot": False},
    "256 bits": {"vector_bits": 256},
    "256 bits without dot products": {"vector_bits": 256, "has_bf16_dot": False, "has_int8_dot": False},
    "128 bits without dot products": {"vector_bits": 128, "has_bf16_dot": False, "has_int8_dot": False},
}


@pytest.fixture(autouse=True)
def compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_anew(monkeypatch)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def products(inputs: str, sums: str, words: str = "") -> list[Product]:
    plain = [Product(inputs, sums, *shape, words=words) for shape in SHAPES]
    return [*plain, Product(inputs, sums, 4, 16, 8, batch=2, words=words)]


def assert_close(native: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Equal but for `tolerance` times the largest number; NaN and infinities in the same places."""
    wanted = expected.astype(np.float64)
    largest = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=1.0))
    np.testing.assert_allclose(native.astype(np.float64), wanted, rtol=0, atol=tolerance * largest)


def check_whole_numbers(cases: list[Product], rng: np.random.Generator, at_once: int = 5) -> None:
    """Multiply `at_once` pairs in a kernel: more are compiled by a process, which takes long to start."""
    for begin in range(0, len(cases), at_once):
        some = cases[begin : begin + at_once]
        module = program(some)
        arrays = [
            whole_numbers(rng, shape, element) for case in some for shape, element in zip(case.shapes, case.elements)
        ]
        for native, expected in zip(results(module, arrays, "cpu"), results(module, arrays, "interp")):
            np.testing.assert_array_equal(native, expected)


# ---------------------------------------------------------------- types, shapes and hosts


@pytest.mark.parametrize(("inputs", "sums"), FLOATS)
def test_a_product_of_whole_numbers_is_exact(inputs: str, sums: str, rng: np.random.Generator) -> None:
    check_whole_numbers(products(inputs, sums), rng)


@pytest.mark.parametrize(("inputs", "sums"), FLOATS)
def test_a_product_of_real_numbers_is_within_the_error_of_its_sums(
    inputs: str, sums: str, rng: np.random.Generator
) -> None:
    cases = [Product(inputs, sums, 16, 32, 64)]
    module = program(cases)
    arrays = [real_numbers(rng, shape, element) for case in cases for shape, element in zip(case.shapes, case.elements)]
    natives, expected = (results(module, arrays, target)[2::3] for target in ("cpu", "interp"))
    for native, wanted in zip(natives, expected):
        assert_close(native, wanted, TOLERANCES[sums])


@pytest.mark.parametrize("words", SIGNS)
def test_a_product_of_integers_is_exact_and_saturates(words: str, rng: np.random.Generator) -> None:
    check_whole_numbers(products("i8", "i32", words), rng)


@pytest.mark.parametrize("changes", sampled(HOSTS.values(), 3), ids=HOSTS.keys())
def test_products_of_one_shape_that_read_bytes_in_all_ways_share_no_code(
    changes: dict[str, object], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(monkeypatch, target=dataclasses.replace(engine.host(), **changes))
    shapes = [(2, 2, 8), (4, 32, 8), (1, 64, 4), (16, 16, 8)]
    cases = [Product("i8", "i32", *shape, words=words) for shape in shapes for words in SIGNS]
    check_whole_numbers(cases, rng, at_once=len(cases))


@pytest.mark.parametrize("changes", HOSTS.values(), ids=HOSTS.keys())
def test_every_kind_of_host_computes_the_same(
    changes: dict[str, object], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(monkeypatch, target=dataclasses.replace(engine.host(), **changes))
    floats = [("bf16", "f32"), ("f16", "f16"), ("f64", "f64")]
    bytes = [Product("i8", "i32", *shape, words=words) for words, shape in zip(SIGNS, BYTE_SHAPES)]
    check_whole_numbers([*(Product(*types, 32, 64, 64) for types in floats), *bytes], rng)


def test_the_sum_of_bytes_saturates_only_at_the_end(rng: np.random.Generator) -> None:
    """The products alone leave i32; with the accumulator they fit, or not."""
    depth = 1 << 16
    module = program([Product("i8", "i32", 1, 2, depth, words="unsigned unsigned")])
    ones = np.full((1, depth), -1, np.int8), np.full((depth, 2), -1, np.int8)
    start = np.array([[-(1 << 31), 5]], np.int32)
    native, expected = (results(module, [*ones, start], target)[2] for target in ("cpu", "interp"))
    np.testing.assert_array_equal(native, expected)
    assert native.tolist() == [[255 * 255 * depth - (1 << 31), (1 << 31) - 1]]


@pytest.mark.parametrize(("inputs", "sums"), [("f32", "f32"), ("bf16", "f32"), ("f16", "f16")])
def test_infinities_and_nan_go_where_they_belong(inputs: str, sums: str, rng: np.random.Generator) -> None:
    module = program([Product(inputs, sums, 16, 16, 8)])
    arrays = [real_numbers(rng, (16, 8), inputs), real_numbers(rng, (8, 16), inputs), np.zeros((16, 16))]
    arrays[2] = arrays[2].astype(arrays[0].dtype if sums == inputs else np.float32)
    arrays[0][3, 2], arrays[0][5, 1], arrays[1][2, 7] = np.inf, np.nan, 0
    native, expected = (results(module, arrays, target)[2] for target in ("cpu", "interp"))
    assert_close(native, expected, TOLERANCES[sums])
    assert np.isnan(native[5]).all() and np.isnan(native[3, 7]) and np.isinf(native[3, :7]).all()


def test_code_does_not_grow_with_the_extents() -> None:
    def size(depth: int) -> int:
        entry = program([Product("i8", "i32", 1, 2, depth, words="signed signed")])["k"].entry
        return len(str(lowered(entry, (), CheckLevel.OFF).module))

    assert size(1 << 16) < 2 * size(1 << 6)


def test_a_reshaped_accumulator_leaves_the_tile_it_is_made_of_alone(rng: np.random.Generator) -> None:
    """The same holds for one that repeats a row; both lie in the memory of their source."""
    body = (
        load_text("x", "%a", (8, 8), "f32") + load_text("row", "%b", (64,), "f32") + load_text("y", "%c", (1, 8), "f32")
    )
    body += """
    %line = addf %row, %row : tile<64xf32>
    %square = reshape %line : tile<64xf32> -> tile<8x8xf32>
    %sum = mmaf %x, %x, %square : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
    %short = addf %y, %y : tile<1x8xf32>
    %rows = broadcast %short : tile<1x8xf32> -> tile<8x8xf32>
    %other = mmaf %x, %x, %rows : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
    %again = reshape %sum : tile<8x8xf32> -> tile<64xf32>
    %back = addf %line, %again : tile<64xf32>"""
    body += store_text("%back", "s", "%b", (64,), "f32") + store_text("%short", "u", "%c", (1, 8), "f32")
    body += store_text("%other", "v", "%a", (8, 8), "f32")
    x, row, y = (whole_numbers(rng, shape, "f32") for shape in ((8, 8), (64,), (1, 8)))
    module = kernel({"a": "f32", "b": "f32", "c": "f32"}, body)
    for found, wanted in zip(results(module, [x, row, y], "cpu"), (x @ x + 2 * y, 4 * row + (x @ x).ravel(), 2 * y)):
        np.testing.assert_array_equal(found, wanted)


def test_equal_products_share_their_inner_loop(rng: np.random.Generator) -> None:
    """And panels that are filled alike; each has its own result. Few rows are multiplied straight from memory."""

    def multiplications(products: list[Product]) -> int:
        return str(lowered(program(products)["k"].entry, (), CheckLevel.OFF).module).count('@"llvm.fma.')

    one, other = Product("f32", "f32", 32, 64, 16), Product("f16", "f32", 32, 64, 16)
    assert multiplications([one] * 4) == multiplications([one]) > 0
    both = multiplications([one, other])
    assert multiplications([one, other, one]) == both < multiplications([one]) + multiplications([other])
    arrays = [
        whole_numbers(rng, shape, element) for p in (one, other, one) for shape, element in zip(p.shapes, p.elements)
    ]
    native, expected = (results(program([one, other, one]), arrays, target) for target in ("cpu", "interp"))
    for number in (2, 5, 8):
        np.testing.assert_array_equal(native[number], expected[number])


# ---------------------------------------------------------------- scaled factors

SCALES = [("f8E4M3FN", "f8E8M0FNU", 32), ("f8E5M2", "f8E8M0FNU", 32), ("f4E2M1FN", "f8E8M0FNU", 16)]
SCALES += [("f4E2M1FN", "f8E8M0FNU", 32), ("f4E2M1FN", "f8E4M3FN", 16)]


def scaled(inputs: str, scale: str, block: int) -> tuple[str, dict[str, str], list[tuple[int, ...]]]:
    """The body of a kernel with one scaled product, its parameters, and the shapes of their arrays.

    4-bit factors are made from bytes: in memory two of them share one.
    """
    m, n, k = 8, 16, 64
    shapes = [(m, k), (k, n), (m, n), (m, k // block), (k // block, n)]
    given = "f8E5M2" if inputs == "f4E2M1FN" else inputs
    elements = [given, given, "f32", scale, scale]
    names = ["a", "b", "c", "p", "q"]
    body = "".join(load_text(f"{name}_tile", f"%{name}", *of) for name, *of in zip(names, shapes, elements))
    factors = ["%a_tile", "%b_tile"]
    if inputs != given:
        for place, name in enumerate("ab"):
            narrow = f"ftof %{name}_tile : {tile_text(shapes[place], given)} -> {tile_text(shapes[place], inputs)}"
            body += f"\n    %{name}_narrow = {narrow}"
        factors = ["%a_narrow", "%b_narrow"]
    types = ", ".join(map(tile_text, shapes, [inputs, inputs, "f32", scale, scale]))
    body += f"\n    %r = mmaf_scaled {', '.join(factors)}, %c_tile, %p_tile, %q_tile : {types}"
    return body + store_text("%r", "s", "%c", (m, n), "f32"), dict(zip(names, elements)), shapes


@pytest.mark.parametrize(("inputs", "scale", "block"), SCALES)
def test_each_scale_multiplies_its_block(inputs: str, scale: str, block: int, rng: np.random.Generator) -> None:
    body, parameters, shapes = scaled(inputs, scale, block)
    module = kernel(parameters, body)
    arrays = [whole_numbers(rng, shape, element) for shape, element in zip(shapes, parameters.values())]
    for place in (3, 4):
        choices = np.array([0.25, 0.5, 1, 2, 4]).astype(arrays[place].dtype)
        arrays[place] = rng.choice(choices, shapes[place])
    native, expected = (results(module, arrays, target)[2] for target in ("cpu", "interp"))
    np.testing.assert_array_equal(native, expected)


def test_scales_of_nan_and_of_opposite_extremes(rng: np.random.Generator) -> None:
    body, parameters, shapes = scaled("f8E4M3FN", "f8E8M0FNU", 32)
    module = kernel(parameters, body)
    arrays = [whole_numbers(rng, shape, element) for shape, element in zip(shapes, parameters.values())]
    arrays[3], arrays[4] = (np.full(shapes[place], power, np.uint8) for place, power in ((3, 254), (4, 0)))
    arrays[3][2, 1] = 255
    arrays[3], arrays[4] = (array.view(dtype) for array, dtype in zip(arrays[3:], (dtype_of(t.F8E8M0FNU),) * 2))
    native, expected = (results(module, arrays, target)[2] for target in ("cpu", "interp"))
    np.testing.assert_array_equal(native, expected)
    assert np.isnan(native[2]).all() and np.isfinite(np.delete(native, 2, axis=0)).all()


# ---------------------------------------------------------------- where factors come from


def transposed_views(inputs: str, sums: str, m: int, n: int, k: int) -> str:
    """Loads of both factors from arrays stored the other way round: one by dim_map, one by permute."""
    mapped, view = dense_view("a_mapped", "%a", (k, m), inputs)
    tile = view.replace(f"tile=({k}x{m})", f"tile=({m}x{k})").replace("]>>", "]>, dim_map=[1, 0]>")
    body = mapped.replace(view, tile) + (
        f"\n    %at, %ar = load_view_tko weak %a_mapped[%zero, %zero] : {tile}, tile<i32>"
        f" -> {tile_text((m, k), inputs)}, token"
    )
    body += load_text("b_turned", "%b", (n, k), inputs)
    body += f"\n    %bt = permute %b_turned [1, 0] : {tile_text((n, k), inputs)} -> {tile_text((k, n), inputs)}"
    body += load_text("ct", "%c", (m, n), sums)
    op = "mmai" if inputs == "i8" else "mmaf"
    words = "signed signed " if inputs == "i8" else ""
    types = ", ".join(map(tile_text, [(m, k), (k, n), (m, n)], [inputs, inputs, sums]))
    body += f"\n    %r = {op} %at, %bt, %ct {words}: {types}"
    return body + store_text("%r", "s", "%c", (m, n), sums)


TRANSPOSED = [(types, (32, 64, 32)) for types in (("f16", "f32"), ("bf16", "f32"), ("f64", "f64"), ("i8", "i32"))]
TRANSPOSED += [(("f8E5M2", "f32"), (16, 16, 16)), (("i8", "i32"), (64, 2, 16))]
TRANSPOSED += [(("f32", "f32"), shape) for shape in ((8, 32, 128), (4, 2, 4), (64, 1, 32), (1, 64, 32))]


@pytest.mark.parametrize(("types", "shape"), TRANSPOSED)
def test_factors_stored_transposed(
    types: tuple[str, str], shape: tuple[int, int, int], rng: np.random.Generator
) -> None:
    (inputs, sums), (m, n, k) = types, shape
    module = kernel({"a": inputs, "b": inputs, "c": sums}, transposed_views(inputs, sums, m, n, k))
    places = zip([(k, m), (n, k), (m, n)], [inputs, inputs, sums])
    arrays = [whole_numbers(rng, place, element) for place, element in places]
    native, expected = (results(module, arrays, target)[2] for target in ("cpu", "interp"))
    np.testing.assert_array_equal(native, expected)


@pytest.mark.parametrize("inputs", ["f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("shape", [(256, 16, 64), (16, 256, 64), (2, 256, 64), (256, 16, 8)])
def test_every_number_of_f8_is_multiplied_as_it_is(inputs: str, shape: tuple[int, int, int]) -> None:
    (m, n, k), dtype = shape, dtype_of(t.ELEMENTS[inputs])
    a, b = np.zeros((k, m), dtype), np.zeros((n, k), dtype)
    a[0], b[:, 0] = 1, 1
    (a[0] if m == 256 else b[:, 0])[:] = np.arange(256, dtype=np.uint8).view(dtype)
    module = kernel({"a": inputs, "b": inputs, "c": "f32"}, transposed_views(inputs, "f32", m, n, k))
    (*_, found) = results(module, [a, b, np.zeros((m, n), np.float32)], "cpu")
    np.testing.assert_array_equal(found, np.outer(a[0].astype(np.float32), b[:, 0].astype(np.float32)))


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 2.0**-126, 1 + 2.0**-8, 1 + 3 * 2.0**-8, -1 - 2.0**-9]
"""Floats that are rounded to bf16: the largest to infinity, some halfway between two numbers."""


@pytest.mark.parametrize("factor", ["a", "b"])
@pytest.mark.parametrize("changes", [{}, {"has_matrix_unit": False}, {"has_bf16_dot": False}], ids=str)
def test_factors_rounded_to_bf16_on_the_way(factor: str, changes: dict[str, bool], monkeypatch, rng) -> None:
    planned(monkeypatch, target=dataclasses.replace(engine.host(), **changes))
    m, n, k = 32, 32, 64
    kinds = {"a": "bf16", "b": "bf16", "c": "f32"} | {factor: "f32"}
    body, names = load_text("c_tile", "%c", (m, n), "f32"), {}
    for name, shape in (("a", (m, k)), ("b", (k, n))):
        body += load_text(f"{name}_tile", f"%{name}", shape, kinds[name])
        names[name] = f"%{name}_tile"
    shape = (m, k) if factor == "a" else (k, n)
    body += f"\n    %rounded = ftof {names[factor]} : {tile_text(shape, 'f32')} -> {tile_text(shape, 'bf16')}"
    names[factor] = "%rounded"
    types = f"{tile_text((m, k), 'bf16')}, {tile_text((k, n), 'bf16')}, {tile_text((m, n), 'f32')}"
    body += f"\n    %r = mmaf {names['a']}, {names['b']}, %c_tile : {types}" + store_text(
        "%r", "s", "%c", (m, n), "f32"
    )
    a, b = np.zeros((m, k), np.float32), np.zeros((k, n), np.float32)
    a[:, 0], b[0] = 1, 1
    (a[:, 0] if factor == "a" else b[0])[:] = [*SPECIAL, *rng.standard_normal(32 - len(SPECIAL))]
    given = [x.astype(dtype_of(t.ELEMENTS[kinds[name]])) for name, x in (("a", a), ("b", b))]
    found = results(kernel(kinds, body), [*given, np.zeros((m, n), np.float32)], "cpu")[2]
    rounded = [x.astype(dtype_of(t.BF16)).astype(np.float32) for x in (a[:, 0], b[0])]
    np.testing.assert_array_equal(found, np.outer(*rounded))


@pytest.mark.parametrize(("rows", "stays"), [(32, 4), (64, 6)], ids=["left", "right"])
def test_the_matrix_unit_reads_again_from_the_first_level_cache(rows: int, stays: int, monkeypatch) -> None:
    unit = dataclasses.replace(engine.host(), vector_bits=512, has_bf16_dot=True, has_matrix_unit=True)
    planned(monkeypatch, target=unit)
    body = transposed_views("bf16", "f32", rows, 64, 64)
    entry = kernel({"a": "bf16", "b": "bf16", "c": "f32"}, body)["k"].entry
    text = str(lowered(entry, (), CheckLevel.OFF).module)
    assert f'tileloadd64"(i8 {stays},' in text
    assert f'tileloaddt164"(i8 {10 - stays},' in text
    assert f'tileloaddt164"(i8 {stays},' not in text


def test_a_permutation_that_moves_the_batch(rng: np.random.Generator) -> None:
    body = load_text("a_tile", "%a", (16, 4, 8), "f32") + load_text("b_tile", "%b", (4, 8, 32), "f32")
    body += "\n    %at = permute %a_tile [1, 0, 2] : tile<16x4x8xf32> -> tile<4x16x8xf32>"
    body += "\n    %z = constant <f32: 0.0> : tile<4x16x32xf32>"
    body += "\n    %r = mmaf %at, %b_tile, %z : tile<4x16x8xf32>, tile<4x8x32xf32>, tile<4x16x32xf32>"
    body += store_text("%r", "s", "%c", (4, 16, 32), "f32")
    module = kernel({"a": "f32", "b": "f32", "c": "f32"}, body)
    arrays = [whole_numbers(rng, shape, "f32") for shape in ((16, 4, 8), (4, 8, 32), (4, 16, 32))]
    native = results(module, arrays, "cpu")[2]
    np.testing.assert_array_equal(native, arrays[0].transpose(1, 0, 2) @ arrays[1])


# ---------------------------------------------------------------- where sums stand

LOOP = """
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %total = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%p = %c_tile) -> (tile<16x16xSUMS>) {
      BODY
    }"""
PRODUCT = "mmaf %a_tile, %b_tile, %p : tile<16x8xINPUTS>, tile<8x16xINPUTS>, tile<16x16xSUMS>"
BODIES = {
    "the sums alone": f"%n = {PRODUCT}\n continue %n : tile<16x16xSUMS>",
    "sums still needed": f"%n = {PRODUCT}\n %m = subf %n, %p : tile<16x16xSUMS>\n continue %m : tile<16x16xSUMS>",
    "sums under a condition": f"""%odd = remi %i, %four signed : tile<i32>
      %is = cmpi equal %odd, %one, signed : tile<i32> -> tile<i1>
      %n = if %is -> (tile<16x16xSUMS>) {{
        %m = {PRODUCT}
        yield %m : tile<16x16xSUMS>
      }} else {{
        yield %p : tile<16x16xSUMS>
      }}
      continue %n : tile<16x16xSUMS>""",
    "sums of sums": f"""%n = {PRODUCT}
      %m = mmaf %a_tile, %b_tile, %n : tile<16x8xINPUTS>, tile<8x16xINPUTS>, tile<16x16xSUMS>
      continue %m : tile<16x16xSUMS>""",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize(("inputs", "sums"), [("f32", "f32"), ("f16", "f16")])
def test_sums_carried_by_a_loop(inputs: str, sums: str, body: str, rng: np.random.Generator) -> None:
    text = "".join(
        load_text(f"{name}_tile", f"%{name}", shape, element)
        for name, shape, element in (("a", (16, 8), inputs), ("b", (8, 16), inputs), ("c", (16, 16), sums))
    )
    text += LOOP.replace("BODY", body).replace("SUMS", sums).replace("INPUTS", inputs)
    text += store_text("%total", "s", "%c", (16, 16), sums)
    module = kernel({"a": inputs, "b": inputs, "c": sums}, text)
    arrays = [whole_numbers(rng, (16, 8), inputs), whole_numbers(rng, (8, 16), inputs)]
    arrays.append(whole_numbers(rng, (16, 16), sums))
    native, expected = (results(module, arrays, target)[2] for target in ("cpu", "interp"))
    np.testing.assert_array_equal(native, expected)


def test_a_constant_that_sums_start_from_is_not_changed(rng: np.random.Generator) -> None:
    body = load_text("a_tile", "%a", (2, 2), "f32") + load_text("b_tile", "%b", (2, 2), "f32")
    body += "\n    %k = constant <f32: [[1.0, 2.0], [3.0, 4.0]]> : tile<2x2xf32>"
    body += "\n    %r = mmaf %a_tile, %b_tile, %k : tile<2x2xf32>, tile<2x2xf32>, tile<2x2xf32>"
    body += store_text("%r", "s", "%c", (2, 2), "f32")
    module = kernel({"a": "f32", "b": "f32", "c": "f32"}, body)
    arrays = [whole_numbers(rng, (2, 2), "f32") for _ in range(3)]
    for _ in range(2):
        native = results(module, arrays, "cpu")[2]
        np.testing.assert_array_equal(native, arrays[0] @ arrays[1] + np.array([[1, 2], [3, 4]], np.float32))


@pytest.mark.parametrize("zero", ["0.0", "-0.0"])
@pytest.mark.parametrize(("inputs", "sums"), [("bf16", "f32"), ("f32", "f32"), ("f16", "f16")])
@pytest.mark.parametrize("shape", [(32, 32, 64), (64, 1, 8)])
def test_sums_that_start_from_zero_keep_nothing_of_what_was_in_memory(
    zero: str, inputs: str, sums: str, shape: tuple[int, int, int], rng: np.random.Generator
) -> None:
    m, n, k = shape
    result = tile_text((m, n), sums)
    body = load_text("a_tile", "%a", (m, k), inputs) + load_text("b_tile", "%b", (k, n), inputs)
    body += f"\n    %k = constant <{sums}: {zero}> : {result}"
    body += f"\n    %r = mmaf %a_tile, %b_tile, %k : {tile_text((m, k), inputs)}, {tile_text((k, n), inputs)}, {result}"
    body += store_text("%r", "s", "%c", (m, n), sums)
    module = kernel({"a": inputs, "b": inputs, "c": sums}, body)
    arrays = [whole_numbers(rng, (m, k), inputs), whole_numbers(rng, (k, n), inputs), whole_numbers(rng, (m, n), sums)]
    nothing = [np.full_like(array, np.nan) for array in arrays]
    assert np.isnan(results(module, nothing, "cpu")[2].astype(np.float32)).all()
    found, expected = (results(module, arrays, target)[2] for target in ("cpu", "interp"))
    assert found.tobytes() == expected.tobytes()


def test_loads_still_to_be_read_are_not_overtaken_by_a_store(rng: np.random.Generator) -> None:
    """The factor is a window of the memory that is written between the load and the product."""
    body = load_text("a_tile", "%a", (16, 16), "f32") + load_text("b_tile", "%b", (16, 16), "f32")
    body += "\n    %at = permute %a_tile [1, 0] : tile<16x16xf32> -> tile<16x16xf32>"
    body += "\n    %z = constant <f32: 0.0> : tile<16x16xf32>" + store_text("%z", "zeros", "%a", (16, 16), "f32")
    body += "\n    %r = mmaf %at, %b_tile, %z : tile<16x16xf32>, tile<16x16xf32>, tile<16x16xf32>"
    body += store_text("%r", "s", "%b", (16, 16), "f32")
    module = kernel({"a": "f32", "b": "f32"}, body)
    arrays = [whole_numbers(rng, (16, 16), "f32") for _ in range(2)]
    native = results(module, arrays, "cpu")
    np.testing.assert_array_equal(native[1], arrays[0].T @ arrays[1])
    assert not native[0].any()
