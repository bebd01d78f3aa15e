"""Deferred products of a loop leave the same as the interpreter; only products whose sums the loop never looks at are
deferred.

Numbers are small integers, whose sums are exact in any order. Tiles are small, so that panels hold several.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.cpu.anew import compile_anew, kernel_of, plan_of_text
from tests.thorough import sampled
from tileir.cpu.matmul.panel_cache import Panels

TILE = 32
NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8}
SUMS = {"f64": "f64", "i8": "i32"}
TAKEN = "if %is_third {{ {then} }}"


def program(
    element: str = "f32",
    turned: tuple[bool, bool] = (False, False),
    body: str = "",
    given: str = "%next",
    bounds: str = "%zero to %steps, step %one",
    counter: str = "i32",
    accumulator: str = "%partial",
    start: str = "%zeros",
    signs: str = "signed signed",
    size: int = TILE,
) -> str:
    """Return ``c = a @ b`` over `steps` tiles of `size` along K.

    `body` follows the product, which continues as `given`. `start` holds the first sums and may be `%old`, the contents
    of c; `signs` are those of i8.
    """
    sums = SUMS.get(element, "f32")
    op, words, zero = ("mmai", signs, "0") if element == "i8" else ("mmaf", "", "0.0")
    tile, acc = f"tile<{size}x{size}x{element}>", f"tile<{size}x{size}x{sums}>"
    kinds = [
        f"partition_view<tile=({size}x{size}), padding_value = zero, tensor_view<?x?x{element}, strides=[?,1]>"
        f"{', dim_map=[1, 0]' if is_turned else ''}>"
        for is_turned in turned
    ]
    (a_rows, a_columns), (b_rows, b_columns) = (
        (second, first) if is_turned else (first, second)
        for is_turned, (first, second) in zip(turned, (("%m", "%k"), ("%k", "%n")))
    )
    c_kind = f"partition_view<tile=({size}x{size}), tensor_view<?x?x{sums}, strides=[?,1]>>"
    old = f"%old, %t4 = load_view_tko weak %c_tiles[%x, %y] : {c_kind}, tile<i32> -> {acc}, token"
    return f"""
entry @k(%a: tile<ptr<{element}>>, %b: tile<ptr<{element}>>, %c: tile<ptr<{sums}>>,
         %m: tile<i32>, %n: tile<i32>, %k: tile<i32>, %steps: tile<{counter}>) {{
  %a_tensor = make_tensor_view %a, shape = [{a_rows}, {a_columns}], strides = [{a_columns}, 1]
    : tile<i32> -> tensor_view<?x?x{element}, strides=[?,1]>
  %b_tensor = make_tensor_view %b, shape = [{b_rows}, {b_columns}], strides = [{b_columns}, 1]
    : tile<i32> -> tensor_view<?x?x{element}, strides=[?,1]>
  %c_tensor = make_tensor_view %c, shape = [%m, %n], strides = [%n, 1]
    : tile<i32> -> tensor_view<?x?x{sums}, strides=[?,1]>
  %a_tiles = make_partition_view %a_tensor : {kinds[0]}
  %b_tiles = make_partition_view %b_tensor : {kinds[1]}
  %c_tiles = make_partition_view %c_tensor : {c_kind}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <{counter}: 0> : tile<{counter}>
  %one = constant <{counter}: 1> : tile<{counter}>
  %two = constant <{counter}: 2> : tile<{counter}>
  %zeros = constant <{sums}: {zero}> : {acc}
  {old if start == "%old" else ""}
  %sum = for %i in ({bounds}) : tile<{counter}> iter_values(%partial = {start}) -> ({acc}) {{
    %is_third = cmpi equal %i, %two, signed : tile<{counter}> -> tile<i1>
    %ta, %t0 = load_view_tko weak %a_tiles[%x, %i] : {kinds[0]}, {INDEX[counter]} -> {tile}, token
    %tb, %t1 = load_view_tko weak %b_tiles[%i, %y] : {kinds[1]}, {INDEX[counter]} -> {tile}, token
    %next = {op} %ta, %tb, {accumulator} {words} : {tile}, {tile}, {acc}
    {body}
    continue {given} : {acc}
  }}
  %t2 = store_view_tko weak %sum, %c_tiles[%x, %y] : {acc}, {c_kind}, tile<i32> -> token
}}"""


INDEX = {"i32": "tile<i32>", "i8": "tile<i32>, tile<i8>"}
ACC, KIND = f"tile<{TILE}x{TILE}xf32>", f"partition_view<tile=({TILE}x{TILE}), tensor_view<?x?xf32, strides=[?,1]>>"
READ = f"%t3 = store_view_tko weak %partial, %c_tiles[%x, %y] : {ACC}, {KIND}, tile<i32> -> token"
PADDED = KIND.replace("),", "), padding_value = zero,")
NOT_DEFERRED = {
    "the sums are stored": program(body=READ),
    "the result is stored": program(body=READ.replace("%partial", "%next")),
    "more is added": program(body=f"%more = addf %next, %next : {ACC}", given="%more"),
    "sums start anew": program(accumulator="%zeros"),
    "another iteration begins earlier": program(body=TAKEN.format(then=f"continue %zeros : {ACC}")),
}
STORED = f"%t3 = store_view_tko weak %tb, %a_tiles[%x, %one] : {ACC}, {PADDED}, tile<i32> -> token"


@pytest.fixture(autouse=True)
def compiled_anew(monkeypatch):
    compile_anew(monkeypatch)


@pytest.fixture
def keeping(monkeypatch) -> list[Panels]:
    """The panels whose tiles may stay, of all kernels that are compiled."""
    keep, found = Panels.keep, []

    def noted(self, *given):
        keep(self, *given)
        found.extend([] if self.tags is None else [self])

    monkeypatch.setattr(Panels, "keep", noted)
    return found


def numbers(rows: int, columns: int, element: str, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-3, 4, (rows, columns)).astype(NUMPY[element])


def launched(
    kernel: tileir.Kernel, target: str, arrays: list[np.ndarray], *rest: int, size: int = TILE, **options: object
) -> np.ndarray:
    a, b, c = (array.copy() for array in arrays)
    options = {"threads": 1, **options} if target == "cpu" else {}
    kernel.launch((-(-rest[0] // size), -(-rest[1] // size)), a, b, c, *rest, target=target, **options)
    return np.concatenate([array.astype(np.float64).ravel() for array in (a, b, c)])


def agrees(
    text: str, m: int, n: int, k: int, steps: int, element: str = "f32", turned=(False, False), **options: object
) -> None:
    kernel = kernel_of(text)
    a = numbers(*((k, m) if turned[0] else (m, k)), element, 1)
    b = numbers(*((n, k) if turned[1] else (k, n)), element, 2)
    c = np.full((m, n), 7, {"f64": np.float64, "i8": np.int32}.get(element, np.float32))
    mine, expected = (launched(kernel, target, [a, b, c], m, n, k, steps, **options) for target in ("cpu", "interp"))
    is_same = mine.tobytes() == expected.tobytes()
    assert is_same, (m, n, k, steps)


def deferred(text: str) -> int:
    """Return how many products of a program are deferred."""
    return sum(
        bool(product.panels and product.panels.is_deferred) for product in plan_of_text(text).body.products.values()
    )


@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False)], ids=["plain", "b", "a"])
@pytest.mark.parametrize("element", sampled(NUMPY, 3))
def test_tiles_at_all_borders_and_panels_of_any_filling(element, turned):
    size = 2 * TILE if element == "i8" else TILE  # a matrix unit takes 64 bytes along K
    text = program(element, turned, size=size)
    assert deferred(text) == 1
    for m, n, k in ((70, 90, 300), (64, 96, 544), (6, 100, 256), (100, 33, 32)):
        agrees(text, m, n, k, -(-k // size), element, turned, size=size)


@pytest.mark.parametrize("element", NUMPY)
def test_zeros_behind_the_depth_of_both_factors_are_left_out(element):
    text = program(element)
    for k in (1, 3, 4, 5, 28, 31, 33, 60, 64):
        agrees(text, 40, 40, k, 2, element)


def test_the_factors_may_end_in_different_places():
    text = program().replace("shape = [%k, %n]", "shape = [%n, %n]")
    kernel, a = tileir.parse(text)["k"], numbers(40, 50, "f32", 1)
    for n in (20, 40, 64):
        arrays = [a, numbers(n, n, "f32", 2), np.zeros((40, n), np.float32)]
        a[0, -1] = np.inf
        mine, expected = (launched(kernel, target, arrays, 40, n, 50, 2) for target in ("cpu", "interp"))
        assert np.array_equal(mine, expected, equal_nan=True)


@pytest.mark.parametrize(("k", "is_negative"), [(TILE, True), (TILE - 4, False), (TILE - 1, False), (5, False)])
def test_a_sum_of_padding_turns_a_negative_zero(k, is_negative):
    a, b, c = np.zeros((32, k), np.float32), np.full((k, 32), -1, np.float32), np.full((32, 32), -0.0, np.float32)
    tileir.parse(program(start="%old"))["k"].launch((1, 1), a, b, c, 32, 32, k, 1, target="cpu")
    assert (np.signbit(c) == is_negative).all()


@pytest.mark.parametrize("steps", [0, 1, 2, 7, 8, 9, 17])
def test_any_number_of_iterations(steps):
    agrees(program(), 64, 64, 544, steps)


@pytest.mark.parametrize("start", ["0.0", "-0.0", "2.5"])
@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_sums_start_from_what_the_loop_is_given(element, start):
    zeros = "%zeros = constant <f32: 0.0>"
    text = program(element).replace(zeros, zeros.replace("0.0", start))
    for m, steps in ((64, 0), (64, 9), (33, 18), (3, 0), (3, 9)):
        agrees(text, m, 40, 18 * TILE, steps, element)


def test_the_last_iteration_may_be_where_the_counter_overflows():
    text = program(bounds="%zero to %steps, step %two", counter="i8").replace("<i8: 2>", "<i8: 100>")
    text = text.replace("%a_tiles[%x, %i]", "%a_tiles[%x, %w]").replace("%b_tiles[%i, %y]", "%b_tiles[%w, %y]")
    text = text.replace(INDEX["i8"], "tile<i32>")
    text = text.replace("%ta, %t0", "%w = exti %i unsigned : tile<i8> -> tile<i32>\n %ta, %t0")
    assert deferred(text) == 1
    agrees(text, 40, 64, 101 * TILE, 127)


@pytest.mark.parametrize("name", NOT_DEFERRED)
def test_sums_that_are_looked_at_are_not_deferred(name):
    assert deferred(NOT_DEFERRED[name]) == 0
    agrees(NOT_DEFERRED[name], 64, 40, 300, 10)


def test_factors_are_read_before_a_store_of_the_loop_changes_them():
    text = program(body=STORED)
    assert deferred(text) == 1
    agrees(text, 32, 32, 300, 10)


def test_panels_stay_only_as_long_as_a_launch():
    kernel = tileir.parse(program())["k"]
    a, b, c = numbers(96, 288, "f32", 1), numbers(288, 96, "f32", 2), np.zeros((96, 96), np.float32)
    for size in (96, 32, 96, 96, 32):
        kernel.launch((size // TILE,) * 2, a, b, c, 96, 96, 288, 9, target="cpu")
        assert np.array_equal(c[:size, :size], (a @ b)[:size, :size])
        a += 1
        b -= 1


def converted(element: str, to: str, words: str = "", **how: object) -> str:
    """Return the product of factors that are converted after they are loaded, `words` say how."""
    tile, other = (f"tile<{TILE}x{TILE}x{kind}>" for kind in (element, to))
    casts = "\n    ".join(f"%c{side} = ftof %t{side} {words} : {tile} -> {other}" for side in "ab")
    text = program(element, **how)
    product = next(line for line in text.splitlines() if "mmaf" in line)
    changed = product.replace("%ta, %tb", "%ca, %cb").replace(f": {tile}, {tile}", f": {other}, {other}")
    return text.replace(product, f"    {casts}\n{changed}")


@pytest.mark.parametrize(("element", "to"), [("f32", "tf32"), ("f32", "bf16"), ("f32", "f16"), ("f16", "f32")])
def test_panels_of_converted_factors_stay(element, to, keeping):
    text = converted(element, to)
    for m, n, k in ((64, 96, 300), (70, 40, 33), (32, 64, 1024)):
        agrees(text, m, n, k, -(-k // TILE), element)
    assert len(keeping) == 2
    kernel, c = tileir.parse(text)["k"], np.zeros((96, 96), np.float32)
    a, b = (numbers(96, 96, element, seed) for seed in (1, 2))
    inexact = a + (a * 2.0**-13).astype(a.dtype)  # as good as `a` where fewer than 13 bits are left
    kernel.launch((3, 3), inexact, b, c, 96, 96, 96, 3, target="cpu")
    assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("turned", [(False, False), (True, True)])
@pytest.mark.parametrize("mode", ["nearest_even", "zero"])
@pytest.mark.parametrize("m", [3, 70])
def test_factors_are_rounded_to_tf32_as_the_conversion_says(m, mode, turned):
    module = tileir.parse(converted("f32", "tf32", f"rounding<{mode}>", turned=turned))
    patterns = np.random.default_rng(m).integers(0, 1 << 32, (m, 64), np.uint32)
    patterns[0, :4] = 0x3F801000, 0x3F803000, 0x7F7FFFFF, 0x80000001  # two ties, the largest and the smallest number
    numbers = np.where(np.isfinite(patterns.view(np.float32)), patterns.view(np.float32), np.float32(0.1))
    numbers[1, 5], numbers[2, 6] = np.nan, -np.inf
    for sides in ((numbers, np.eye(64, dtype=np.float32)), (np.eye(64, dtype=np.float32), numbers.T)):
        a, b = (np.ascontiguousarray(side.T if turn else side) for side, turn in zip(sides, turned))
        rows, columns = sides[0].shape[0], sides[1].shape[1]
        both = [np.zeros((rows, columns), np.float32) for _ in range(2)]
        for c, target in zip(both, ("cpu", "interp")):
            grid = -(-rows // TILE), -(-columns // TILE)
            module["k"].launch(grid, a, b, c, rows, columns, 64, 2, target=target)
        assert np.array_equal(*both, equal_nan=True)


def gathered(element: str) -> str:
    """Return the product of a left factor that is gathered under a mask: its rows change places in pairs."""
    text, tile = program(element), f"tile<{TILE}x{TILE}x{{}}>".format
    load = next(line for line in text.splitlines() if "load_view_tko weak %a_tiles" in line)
    whole = "broadcast %{0}_one : tile<1x1x{1}> -> " + tile("{1}")
    repeated = "%{0}_one = reshape %{0} : tile<{1}> -> tile<1x1x{1}>\n%{0}_all = " + whole
    lanes = "%{0} = reshape %lanes : tile<{2}xi32> -> tile<{1}xi32>\n%{0}_all = broadcast %{0} : tile<{1}xi32> -> "
    lines = [
        f"%size = constant <i32: {TILE}> : tile<i32>\n%lanes = iota : tile<{TILE}xi32>",
        "%first_row = muli %x, %size : tile<i32>\n%first_k = muli %i, %size : tile<i32>",
        *(repeated.format(name, "i32") for name in ("first_row", "first_k", "m", "k")),
        repeated.format("a", f"ptr<{element}>"),
        lanes.format("down", f"{TILE}x1", TILE) + tile("i32"),
        lanes.format("along", f"1x{TILE}", TILE) + tile("i32"),
        f"%flips = constant <i32: 1> : {tile('i32')}\n%lines = addi %first_row_all, %down_all : {tile('i32')}",
        f"%rows = xori %lines, %flips : {tile('i32')}",
        f"%columns = addi %first_k_all, %along_all : {tile('i32')}",
        f"%begins = muli %rows, %k_all : {tile('i32')}\n%places = addi %begins, %columns : {tile('i32')}",
        f"%row_mask = cmpi less_than %rows, %m_all, signed : {tile('i32')} -> {tile('i1')}",
        f"%column_mask = cmpi less_than %columns, %k_all, signed : {tile('i32')} -> {tile('i1')}",
        f"%mask = andi %row_mask, %column_mask : {tile('i1')}",
        f"%from = offset %a_all, %places : {tile(f'ptr<{element}>')}, {tile('i32')} -> {tile(f'ptr<{element}>')}",
        f"%padding = constant <{element}: 0.0> : {tile(element)}",
        f"%ta, %t0 = load_ptr_tko weak %from, %mask, %padding : {tile(f'ptr<{element}>')}, {tile('i1')}, "
        f"{tile(element)} -> {tile(element)}, token",
    ]
    return text.replace(load, "\n".join(lines))


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("number", [1.0, np.inf, np.nan])
def test_rows_of_zeros_are_left_out_only_where_they_add_zeros(element, number):
    text, (m, n, k) = gathered(element), (TILE, 40, 1100)
    ((plan,), (other,)) = (plan_of_text(text, *off).body.products.values() for off in ((), ("rows of zeros",)))
    assert plan.panels.skips_zeros is not plan.size.uses_matrix_unit
    assert not other.panels.skips_zeros
    kernel = tileir.parse(text)["k"]
    for rows, place in ((3, 0), (9, 1099), (17, 700), (32, 5)):
        a, b = numbers(m, k, element, 1), numbers(k, n, element, 2)
        a[rows:], b[place, 7] = 0, number
        a[20, 900:], a[25, 600] = 2, -0.0  # rows of zeros at first; a zero with a sign
        both = [np.full((m, n), 7, np.float32) for _ in range(2)]
        for c, target in zip(both, ("cpu", "interp")):
            kernel.launch((1, 2), a, b, c, m, n, k, -(-k // TILE), target=target)
        assert np.array_equal(*both, equal_nan=True)
        signs = [np.signbit(c[~np.isnan(c)]) for c in both]
        assert np.array_equal(*signs)


def test_a_kernel_that_numbers_its_tiles_itself_has_panels_for_a_group_of_rows():
    own = "%sum_xy = addi %x, %y : tile<i32>\n  %three = constant <i32: 3> : tile<i32>\n"
    own += "  %q = remi %sum_xy, %three signed : tile<i32>\n  %zero ="
    text = program().replace("%zero =", own, 1).replace("%i, %y]", "%i, %q]").replace("%x, %y]", "%x, %q]")
    agrees(text, 96, 96, 300, 10)
    ways = [next(iter(plan_of_text(one).body.products.values())).panels.left.ways for one in (program(), text)]
    assert ways == [1, 8]


def test_panels_do_not_stay_where_the_result_goes_into_a_factor():
    kernel = tileir.parse(program())["k"]
    results = []
    for target in ("cpu", "interp"):
        memory, b = numbers(64, 64, "f32", 1), numbers(64, 64, "f32", 2)
        options = {"threads": 1} if target == "cpu" else {}
        kernel.launch((2, 2), memory, b, memory, 64, 64, 64, 2, target=target, **options)
        results.append(memory)
    assert np.array_equal(*results)


@pytest.mark.parametrize("into_a_factor", [False, True])
def test_a_result_whose_rows_are_scattered_through_the_view_of_a_tensor(into_a_factor):
    text = program()
    stored = text[text.index("  %t2 =") : text.rindex("}")]
    scattered = f"""
  %lanes = iota : tile<{TILE}xi32>
  %height = constant <i32: {TILE}> : tile<i32>
  %first = muli %x, %height : tile<i32>
  %column = muli %y, %height : tile<i32>
  %first_1 = reshape %first : tile<i32> -> tile<1xi32>
  %firsts = broadcast %first_1 : tile<1xi32> -> tile<{TILE}xi32>
  %rows = addi %firsts, %lanes : tile<{TILE}xi32>
  %t2 = experimental$scatter_store %sum, %c_tensor, %rows, [%column] <{{dim = 0 : i64}}>
    : {ACC}, tensor_view<?x?xf32, strides=[?,1]>, tile<{TILE}xi32>, tile<i32> -> token
"""
    kernel, results = tileir.parse(text.replace(stored, scattered))["k"], []
    for target in ("cpu", "interp"):
        a, b, c = numbers(64, 64, "f32", 1), numbers(64, 64, "f32", 2), np.zeros((64, 64), "f4")
        options = {"threads": 1} if target == "cpu" else {}
        out = a if into_a_factor else c
        kernel.launch((2, 2), a, b, out, 64, 64, 64, 2, target=target, **options)
        results.append(out)
    assert np.array_equal(*results)


def test_panels_stay_where_the_view_of_the_result_is_made_behind_the_loop(keeping):
    text = program()
    made = next(line for line in text.splitlines() if "%c_tiles =" in line)
    behind = text.replace(made, "").replace("  %t2 =", f"{made}\n  %t2 =")
    for one in (text, behind):
        agrees(one, 64, 64, 300, 10)
    assert len(keeping) == 4


def test_a_loop_that_writes_what_it_reads():
    agrees(program(body=STORED), 64, 64, 300, 10)


def test_a_view_of_the_result_in_a_branch_in_front_of_the_loop():
    cleared = f"""
  %is_first = cmpi equal %x, %y, signed : tile<i32> -> tile<i1>
  if %is_first {{
    %same = make_tensor_view %c, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %same_tiles = make_partition_view %same : {KIND}
    %t9 = store_view_tko weak %zeros, %same_tiles[%x, %y] : {ACC}, {KIND}, tile<i32> -> token
  }}
  %sum = for"""
    agrees(program().replace("%sum = for", cleared), 64, 64, 300, 10, optimize=False)


def test_a_device_function_defers_its_product_wherever_it_is_called():
    """Code that stands in several places, none inside another, has panels of its own in each."""
    text = program()
    head, body = text.split("iter_values", 1)
    views, loop = head[head.index("  %a_tensor") :].rsplit("  %sum = for", 1)
    names = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>"
    product = views + "  %sum = for" + loop + "iter_values" + body[: body.index("  %t2 =")]
    function = f"experimental$func @product({names}, %steps: tile<i32>) -> {ACC} {{\n{product}  return %sum : {ACC}\n}}"
    types = f"({', '.join(['tile<ptr<f32>>'] * 3 + ['tile<i32>'] * 4)}) -> {ACC}"
    call = f"experimental$call @product(%a, %b, %c, %m, %n, %k, %steps) : {types}"
    choice = f"""  %is_first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
  %sum = if %is_first -> ({ACC}) {{
    %one_product = {call}
    yield %one_product : {ACC}
  }} else {{
    %first = {call}
    %second = {call}
    %both = addf %first, %second : {ACC}
    yield %both : {ACC}
  }}
"""
    agrees(function + head.rsplit("  %sum = for", 1)[0] + choice + body[body.index("  %t2 =") :], 70, 90, 300, 10)
