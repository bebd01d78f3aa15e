"""Stores that share a loop leave what they leave one after the other, wherever their arrays overlap, and trap alike."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import tileir
from tests.cpu.anew import kernel_of, plan_of_text, planned
from tileir.cpu.plan_text import text_of

LATER = "in the loop of a later store"
VECTOR = "tensor_view<?xf32, strides=[1]>"


def through_views(tile: int) -> dict[str, str]:
    part = f"partition_view<tile=({tile}), padding_value = zero, {VECTOR}>"
    made = [
        f"""%{name}_view = make_tensor_view %{name}, shape = [%n], strides = [1] : tile<i32> -> {VECTOR}
        %{name}_tiles = make_partition_view %{name}_view : {part}"""
        for name in "abcd"
    ]
    type = f"tile<{tile}xf32>"
    return {
        "places": "\n".join(made),
        "load": f"load_view_tko weak %{{}}_tiles[%i] : {part}, tile<i32> -> {type}, token",
        "store": f"store_view_tko weak %{{1}}, %{{0}}_tiles[%i] : {type}, {part}, tile<i32> -> token",
    }


def through_pointers(tile: int) -> dict[str, str]:
    type, index, address = f"tile<{tile}xf32>", f"tile<{tile}xi32>", f"tile<{tile}xptr<f32>>"
    made = [
        f"""%{name}_1 = reshape %{name} : tile<ptr<f32>> -> tile<1xptr<f32>>
        %{name}_all = broadcast %{name}_1 : tile<1xptr<f32>> -> {address}
        %{name}_at = offset %{name}_all, %index : {address}, {index} -> {address}"""
        for name in "abcd"
    ]
    numbers = f"""%length = constant <i32: {tile}> : tile<i32>
        %first = muli %i, %length : tile<i32>
        %first_1 = reshape %first : tile<i32> -> tile<1xi32>
        %firsts = broadcast %first_1 : tile<1xi32> -> {index}
        %lanes = iota : {index}
        %index = addi %firsts, %lanes : {index}
        %n_1 = reshape %n : tile<i32> -> tile<1xi32>
        %ns = broadcast %n_1 : tile<1xi32> -> {index}
        %mask = cmpi less_than %index, %ns, signed : {index} -> tile<{tile}xi1>"""
    return {
        "places": "\n".join([numbers, *made]),
        "load": f"load_ptr_tko weak %{{}}_at, %mask : {address}, tile<{tile}xi1> -> {type}, token",
        "store": f"store_ptr_tko weak %{{0}}_at, %{{1}}, %mask : {address}, {type}, tile<{tile}xi1> -> token",
    }


def step(tile: int, pointers: bool = False, looped: bool = False, between: str = "") -> str:
    """``c, d = a + b, (a + b) * a`` of vectors of `n` elements, a tile for each tile block or for each iteration."""
    form, type = (through_pointers if pointers else through_views)(tile), f"tile<{tile}xf32>"
    body = f"""{form["places"]}
        %p, %p_read = {form["load"].format("a")}
        %q, %q_read = {form["load"].format("b")}
        %sum = addf %p, %q : {type}
        %scaled = mulf %sum, %p : {type}
        %first_done = {form["store"].format("c", "sum")}
        {between.replace("LOAD", form["load"].format("a"))}
        %done = {form["store"].format("d", "scaled")}"""
    if looped:
        body = f"""%zero = constant <i32: 0> : tile<i32>
        %one = constant <i32: 1> : tile<i32>
        for %i in (%zero to %pieces, step %one) : tile<i32> {{ {body} }}"""
    else:
        body = f"%i, %y, %z = get_tile_block_id : tile<i32>\n {body}"
    arrays = ", ".join(f"%{name}: tile<ptr<f32>>" for name in "abcd")
    return f"entry @k({arrays}, %n: tile<i32>, %pieces: tile<i32>) {{ {body} }}"


FORMS = list(product((16, 512), (False, True), (False, True)))
"""The elements of a tile, whether it is one of pointers, and whether a loop goes through them."""


def same(text: str, tile: int, looped: bool, arrays: list[np.ndarray], count: int) -> str:
    """Launch on both targets, on the arrays themselves; return what is said when both trap."""
    kernel, pieces = kernel_of(text), -(-count // tile)
    before, found = [array.copy() for array in arrays], []
    for target, options in (("interp", {}), ("cpu", {"threads": 1})):
        said = ""
        try:
            kernel.launch(1 if looped else pieces, *arrays, count, pieces, target=target, **options)
        except tileir.Trap as trap:
            said = str(trap)
        found.append((said, [array.tobytes() for array in arrays]))
        for array, content in zip(arrays, before):
            array[...] = content
    assert found[0] == found[1]
    return found[0][0]


@pytest.mark.parametrize(("tile", "pointers", "looped"), FORMS)
def test_arrays_that_are_apart_the_same_or_overlap(tile: int, pointers: bool, looped: bool) -> None:
    text = step(tile, pointers, looped)
    assert LATER in text_of(plan_of_text(text), "k")
    near = (0, 5, 4 * tile)
    for places in (*product(near, repeat=4), *((0, tile, c, d) for c, d in product((tile - 3, 2 * tile), near))):
        count = 3 * tile - 7
        memory = np.random.default_rng(1).standard_normal(8 * tile, np.float32)
        assert same(text, tile, looped, [memory[place : place + 3 * tile] for place in places], count) == ""


@pytest.mark.parametrize(("tile", "pointers", "looped"), FORMS)
def test_a_trap_in_one_store_leaves_what_the_ones_before_have_written(tile: int, pointers: bool, looped: bool) -> None:
    text, count = step(tile, pointers, looped), 3 * tile
    for short in (2, 3):
        arrays = [np.arange(count, dtype=np.float32) for _ in range(4)]
        arrays[short] = np.arange(2 * tile + 5, dtype=np.float32)
        assert same(text, tile, looped, arrays, count) != ""


BETWEEN = {
    "a load": "%r, %r_read = LOAD",
    "a division": "%m = constant <i32: 0> : tile<i32> %t = divi %n, %m signed rounding<zero> : tile<i32>",
    "output": '%t = print_tko "%d", %n : tile<i32> -> token',
}


@pytest.mark.parametrize("name", BETWEEN)
def test_what_may_stop_or_read_memory_stands_between_stores(name: str) -> None:
    assert LATER not in text_of(plan_of_text(step(16, between=BETWEEN[name])), "k")


def test_kernels_compute_the_same_in_loops_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = planned(monkeypatch, "joint stores")
    memory = np.random.default_rng(1).standard_normal((4, 100), np.float32)
    assert same(step(16), 16, False, list(memory), 100) == ""
    assert plans
    assert plans[0].coarsening is None
