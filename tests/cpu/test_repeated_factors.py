"""Factors that many tile blocks read again are packed once, and results are those of the interpreter.

Numbers are small integers, whose sums are exact in any order.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.cpu.anew import compile_anew, kernel_of, planned
from tileir.cpu.emit.record import COLUMNS, block_at
from tileir.cpu.matmul.policy import ALL_COLUMNS, band_of
from tileir.cpu.plan import KernelPlan
from tileir.ops import views
from tileir.ops.module import Entry

TILE = 16
NUMPY = {"f32": np.float32, "bf16": ml_dtypes.bfloat16}
HEADS = {"y": "%y", "x": "%x", "z": "%z", "pairs of y": "%half", "x and y": "%sum", "none": "%zero"}
BANDS = {"y": 1, "x": ALL_COLUMNS, "z": COLUMNS, "pairs of y": 1, "x and y": None, "none": COLUMNS}


def program(head: str = "y", element: str = "f32", block: str = "%x") -> str:
    """``o = (q @ k_i) @ v_i - o`` for each of `steps` tiles of k and v, for tile `block` of the rows of q."""
    kind = f"partition_view<tile=(1x{TILE}x{TILE}), padding_value = zero, tensor_view<?x?x{TILE}x{element}, strides="
    rest = f"[?,{TILE},1]>"
    tile, sums = f"tile<{TILE}x{TILE}x{element}>", f"tile<{TILE}x{TILE}xf32>"
    views_of = "".join(
        f"""
  %{name}_tensor = make_tensor_view %{name}, shape = [%heads, %{extent}, {TILE}], strides = [%{extent}_apart, {TILE}, 1]
    : tile<i32> -> tensor_view<?x?x{TILE}x{element}, strides=[?,{TILE},1]>
  %{name}_tiles = make_partition_view %{name}_tensor : {kind}{rest}{turned}>"""
        for name, extent, turned in (("q", "rows", ""), ("k", "keys", ", dim_map=[0, 2, 1]"), ("v", "keys", ""))
    )
    out = f"partition_view<tile=(1x{TILE}x{TILE}), tensor_view<?x?x{TILE}xf32, strides=[?,{TILE},1]>>"
    loaded = f"tile<i32> -> tile<1x{TILE}x{TILE}x{element}>, token"
    narrow = f"%narrow = ftof %scores : {sums} -> {tile}" if element != "f32" else ""
    return f"""
entry @k(%q: tile<ptr<{element}>>, %k: tile<ptr<{element}>>, %v: tile<ptr<{element}>>, %o: tile<ptr<f32>>,
         %heads: tile<i32>, %rows: tile<i32>, %keys: tile<i32>, %steps: tile<i32>) {{
  %tile = constant <i32: {TILE}> : tile<i32>
  %two = constant <i32: 2> : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %rows_apart = muli %rows, %tile : tile<i32>
  %keys_apart = muli %keys, %tile : tile<i32>{views_of}
  %o_tensor = make_tensor_view %o, shape = [%heads, %rows, {TILE}], strides = [%rows_apart, {TILE}, 1]
    : tile<i32> -> tensor_view<?x?x{TILE}xf32, strides=[?,{TILE},1]>
  %o_tiles = make_partition_view %o_tensor : {out}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %half = divi %y, %two signed : tile<i32>
  %sum = addi %x, %y : tile<i32>
  %q_1, %t0 = load_view_tko weak %q_tiles[{HEADS[head]}, {block}, %zero] : {kind}{rest}>, {loaded}
  %q_tile = reshape %q_1 : tile<1x{TILE}x{TILE}x{element}> -> {tile}
  %zeros = constant <f32: 0.0> : {sums}
  %end = for %i in (%zero to %steps, step %one) : tile<i32> iter_values(%so_far = %zeros) -> ({sums}) {{
    %k_1, %t1 = load_view_tko weak %k_tiles[{HEADS[head]}, %zero, %i] : {kind}{rest}, dim_map=[0, 2, 1]>, {loaded}
    %v_1, %t2 = load_view_tko weak %v_tiles[{HEADS[head]}, %i, %zero] : {kind}{rest}>, {loaded}
    %k_tile = reshape %k_1 : tile<1x{TILE}x{TILE}x{element}> -> {tile}
    %v_tile = reshape %v_1 : tile<1x{TILE}x{TILE}x{element}> -> {tile}
    %scores = mmaf %q_tile, %k_tile, %zeros : {tile}, {tile}, {sums}
    {narrow}
    %less = negf %so_far : {sums}
    %next = mmaf {"%narrow" if narrow else "%scores"}, %v_tile, %less : {tile}, {tile}, {sums}
    continue %next : {sums}
  }}
  %end_1 = reshape %end : {sums} -> tile<1x{TILE}x{TILE}xf32>
  %t3 = store_view_tko weak %end_1, %o_tiles[{HEADS[head]}, {block}, %zero]
    : tile<1x{TILE}x{TILE}xf32>, {out}, tile<i32> -> token
}}"""


@pytest.fixture(autouse=True)
def compiled_anew(monkeypatch):
    compile_anew(monkeypatch)


def numbers(heads: int, rows: int, element: str, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-1, 2, (heads, rows, TILE)).astype(NUMPY[element])


def arrays(heads: int, rows: int, keys: int, element: str = "f32") -> list[np.ndarray]:
    extents = rows, keys, keys
    return [
        *(numbers(heads, count, element, seed) for seed, count in enumerate(extents)),
        np.zeros((heads, rows, TILE), "f4"),
    ]


def agrees(
    text: str, grid: tuple[int, ...], given: list[np.ndarray], steps: int | None = None, threads: int = 1
) -> None:
    kernel, results = kernel_of(text), []
    (heads, rows, _), keys = given[0].shape, given[1].shape[1]
    for target in ("cpu", "interp"):
        mine = [array.copy() for array in given]
        options = {"threads": threads} if target == "cpu" else {}
        kernel.launch(grid, *mine, heads, rows, keys, steps or -(-keys // TILE), target=target, **options)
        results.append(np.concatenate([array.astype(np.float32).ravel() for array in mine]))
    is_same = np.array_equal(*results)
    assert is_same


@pytest.fixture
def plans(monkeypatch) -> list[KernelPlan]:
    return planned(monkeypatch)


def reserved(plans: list[KernelPlan]) -> list[int]:
    """Return how many products of each compiled kernel keep their right factors."""
    return [
        sum(bool(product.panels and not product.panels.left) for product in plan.body.products.values())
        for plan in plans
    ]


@pytest.mark.parametrize("element", NUMPY)
def test_tiles_that_are_whole_and_such_at_the_border(element, plans):
    for heads, rows, keys in ((3, 64, 64), (2, 50, 70), (1, 48, 5), (2, 33, 160)):
        agrees(program(element=element), (-(-rows // TILE), heads), arrays(heads, rows, keys, element))
    assert set(reserved(plans)) == {2}


@pytest.mark.parametrize("threads", [1, 2])
def test_more_iterations_than_there_are_panels(threads):
    agrees(program(), (3, 2), arrays(2, 48, 70 * TILE + 3), threads=threads)


@pytest.mark.parametrize("head", HEADS)
def test_the_index_of_the_head_may_come_from_any_axis(head, plans):
    grid = {"x": (2, 3), "z": (3, 1, 2), "x and y": (2, 2)}.get(head, (3, 2))
    agrees(program(head, block="%y" if head == "x" else "%x"), grid, arrays(3, 48, 48))
    assert reserved(plans) == [0 if BANDS[head] is None else 2]


def test_tiles_stay_only_as_long_as_a_launch():
    kernel = tileir.parse(program())["k"]
    q, k, v, o = arrays(2, 48, 48)
    for _ in range(3):
        kernel.launch((3, 2), q, k, v, o, 2, 48, 48, 3, target="cpu", threads=1)
        parts = [q @ k[:, i : i + TILE].swapaxes(1, 2) @ v[:, i : i + TILE] for i in range(0, 48, TILE)]
        assert np.array_equal(o, parts[2] - parts[1] + parts[0])
        k += 1
        v -= 1


def test_tiles_do_not_stay_where_the_result_goes_into_a_factor():
    kernel, results = tileir.parse(program())["k"], []
    for target in ("cpu", "interp"):
        q, k, v, _ = arrays(1, 48, 48)
        options = {"threads": 1} if target == "cpu" else {}
        kernel.launch((3, 1), q, k, v, k, 1, 48, 48, 3, target=target, **options)
        results.append(k)
    assert np.array_equal(*results)


def test_tiles_do_not_stay_where_a_view_leads_from_the_array_of_the_result_into_a_factor():
    moved = (
        "%moved = offset %o, %by : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n  %o_tensor = make_tensor_view %moved,"
    )
    text = (
        program()
        .replace("%o_tensor = make_tensor_view %o,", moved)
        .replace("%steps: tile<i32>)", "%steps: tile<i32>, %by: tile<i32>)")
    )
    kernel, results = tileir.parse(text)["k"], []
    for target in ("cpu", "interp"):
        q, k, v, o = arrays(1, 48, 48)
        whole = np.concatenate([o, k])
        options = {"threads": 1} if target == "cpu" else {}
        kernel.launch((3, 1), q, whole[1:], v, whole[:1], 1, 48, 48, 3, o.size, target=target, **options)
        results.append(whole)
    assert np.array_equal(*results)


def scattered() -> str:
    """Return the program with its result stored through pointers, `by` elements behind where it belongs."""
    head, _ = program().replace("%steps: tile<i32>)", "%steps: tile<i32>, %by: tile<i32>)").split("  %end_1 =")
    numbers, pointers = (f"tile<{TILE}x{TILE}x{kind}>" for kind in ("i32", "ptr<f32>"))
    return f"""{head}
  %first = muli %y, %rows : tile<i32>
  %block = muli %x, %tile : tile<i32>
  %row = addi %first, %block : tile<i32>
  %number = muli %row, %tile : tile<i32>
  %moved = addi %number, %by : tile<i32>
  %to_first = offset %o, %moved : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %to_one = reshape %to_first : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %to_all = broadcast %to_one : tile<1x1xptr<f32>> -> {pointers}
  %lanes = iota : tile<{TILE * TILE}xi32>
  %within = reshape %lanes : tile<{TILE * TILE}xi32> -> {numbers}
  %to = offset %to_all, %within : {pointers}, {numbers} -> {pointers}
  %t3 = store_ptr_tko weak %to, %end : {pointers}, tile<{TILE}x{TILE}xf32> -> token
}}"""


@pytest.mark.parametrize(("own", "by"), [(slice(1, None), 0), (slice(1), 1), (slice(1), 1 + TILE * TILE)])
def test_tiles_do_not_stay_where_pointers_lead_into_a_factor(own, by, plans):
    """Also where they leave the array that they are computed from."""
    kernel, results = tileir.parse(scattered())["k"], []
    for target in ("cpu", "interp"):
        q, k, v, _ = arrays(2, 48, 48)
        whole = np.concatenate([[0], k.ravel(), np.zeros(TILE * TILE)]).astype("f4")
        options = {"threads": 1} if target == "cpu" else {}
        kernel.launch((3, 2), q, whole[1:], v, whole[own], 2, 48, 48, 3, by, target=target, **options)
        results.append(whole)
    assert np.array_equal(*results)
    assert reserved(plans) == [2]


@pytest.mark.parametrize("head", HEADS)
def test_the_order_of_tile_blocks_follows_the_axes_that_the_index_depends_on(head):
    (entry,) = [op for op in tileir.parse(program(head)).op.walk() if isinstance(op, Entry)]
    load = next(op for op in entry.walk() if isinstance(op, views.LoadView))
    assert band_of(entry.walk(), [load.index[0]]) == BANDS[head]


def test_bands_of_one_column_and_of_all_columns():
    assert [block_at(number, (2, 2, 1), 1) for number in range(4)] == [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]
    assert [block_at(number, (2, 2, 1), ALL_COLUMNS) for number in range(4)] == [
        (0, 0, 0),
        (0, 1, 0),
        (1, 0, 0),
        (1, 1, 0),
    ]
