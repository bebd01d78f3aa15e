"""``tileir equiv`` tells programs apart that differ on few inputs, or by behaviour that one run does not show."""

from __future__ import annotations

from pathlib import Path

import pytest

HEAD = """entry @k(%p: tile<ptr<{e}>>, %q: tile<ptr<{e}>>, %r: tile<ptr<{e}>>) {{
  %lanes = iota : tile<64xi32>
  %p1 = reshape %p : tile<ptr<{e}>> -> tile<1xptr<{e}>>
  %ps = broadcast %p1 : tile<1xptr<{e}>> -> tile<64xptr<{e}>>
  %pa = offset %ps, %lanes : tile<64xptr<{e}>>, tile<64xi32> -> tile<64xptr<{e}>>
  %q1 = reshape %q : tile<ptr<{e}>> -> tile<1xptr<{e}>>
  %qs = broadcast %q1 : tile<1xptr<{e}>> -> tile<64xptr<{e}>>
  %qa = offset %qs, %lanes : tile<64xptr<{e}>>, tile<64xi32> -> tile<64xptr<{e}>>
  %r1 = reshape %r : tile<ptr<{e}>> -> tile<1xptr<{e}>>
  %rs = broadcast %r1 : tile<1xptr<{e}>> -> tile<64xptr<{e}>>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
  %b0 = muli %bz, %gy : tile<i32>
  %b1 = addi %b0, %by : tile<i32>
  %b2 = muli %b1, %gx : tile<i32>
  %b3 = addi %b2, %bx : tile<i32>
  %width = constant <i32: 64> : tile<i32>
  %b4 = muli %b3, %width : tile<i32>
  %b5 = reshape %b4 : tile<i32> -> tile<1xi32>
  %b6 = broadcast %b5 : tile<1xi32> -> tile<64xi32>
  %to = addi %b6, %lanes : tile<64xi32>
  %ra = offset %rs, %to : tile<64xptr<{e}>>, tile<64xi32> -> tile<64xptr<{e}>>
  %x, %t0 = load_ptr_tko weak %pa : tile<64xptr<{e}>> -> tile<64x{e}>, token
  %y, %t1 = load_ptr_tko weak %qa token=%t0 : tile<64xptr<{e}>> -> tile<64x{e}>, token
"""
TAIL = """
  %t2 = store_ptr_tko weak %ra, %v token=%t1 : tile<64xptr<{e}>>, tile<64x{e}> -> token
  return
}}
"""
F, B = "tile<64xf32>", "tile<64xi1>"
FLOATS = {
    "a maximum that keeps NaN": (f"%v = maxf %x, %y propagate_nan : {F}", f"%v = maxf %x, %y : {F}"),
    "a maximum by a select": (
        f"%v = maxf %x, %y : {F}",
        f"%c = cmpf greater_than ordered %x, %y : {F} -> {B}\n%v = select %c, %x, %y : {B}, {F}",
    ),
    "a negated comparison": (
        f"%c = cmpf less_than ordered %x, %y : {F} -> {B}\n%v = select %c, %x, %y : {B}, {F}",
        f"%c = cmpf greater_than_or_equal ordered %x, %y : {F} -> {B}\n%v = select %c, %y, %x : {B}, {F}",
    ),
    "a product with zero": (
        f"%z = constant <f32: 0.0> : {F}\n%v = mulf %x, %z : {F}",
        f"%v = constant <f32: 0.0> : {F}",
    ),
    "a sum with zero": (
        f"%z = constant <f32: 0.0> : {F}\n%v = addf %x, %z : {F}",
        f"%z = constant <f32: -0.0> : {F}\n%v = addf %x, %z : {F}",
    ),
    "a flush to zero": (f"%v = mulf %x, %y flush_to_zero : {F}", f"%v = mulf %x, %y : {F}"),
}
N = "tile<64xi32>"
INTEGERS = {
    "a division by a shift": (
        f"%c = constant <i32: 2> : {N}\n%v = divi %x, %c signed : {N}",
        f"%c = constant <i32: 1> : {N}\n%v = shri %x, %c signed : {N}",
    ),
    "a comparison without sign": (
        f"%v = maxi %x, %y signed : {N}",
        f"%v = maxi %x, %y unsigned : {N}",
    ),
    "one pair of edge values": (
        f"%v = addi %x, %y : {N}",
        f"%lo = constant <i32: -2147483648> : {N}\n%m = constant <i32: -1> : {N}\n"
        f"%c = cmpi equal %x, %lo, signed : {N} -> {B}\n%d = cmpi equal %y, %m, signed : {N} -> {B}\n"
        f"%both = andi %c, %d : {B}\n%s = addi %x, %y : {N}\n%v = select %both, %x, %s : {B}, {N}",
    ),
}
PAIRS = [("f32", name, pair) for name, pair in FLOATS.items()] + [
    ("i32", name, pair) for name, pair in INTEGERS.items()
]


@pytest.mark.parametrize(("element", "pair"), [(e, pair) for e, _, pair in PAIRS], ids=[name for _, name, _ in PAIRS])
def test_a_textbook_miscompile_is_found(element, pair, tileir, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, body in zip("ab", pair):
        Path(f"{name}.mlir").write_text((HEAD + "{body}" + TAIL).format(e=element, body=body))
    for seed in "0", "1", "2":
        for order in ("a.mlir", "b.mlir"), ("b.mlir", "a.mlir"):
            ran = tileir("equiv", *order, "--seed", seed)
            assert (ran.status, ran.out.partition(":")[2][:11]) == (1, " different:"), ran
        assert tileir("equiv", "a.mlir", "a.mlir", "--seed", seed).status == 0


COUNT = """entry @k(%n: tile<ptr<i32>>) {{
  %one = constant <i32: 1> : tile<i32>
  {body}
  return
}}
"""
UPDATE = "%o, %t = atomic_rmw_tko relaxed device %n, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
SPLIT = """%o, %t = load_ptr_tko relaxed device %n : tile<ptr<i32>> -> tile<i32>, token
  %s = addi %o, %one : tile<i32>
  %u = store_ptr_tko relaxed device %n, %s token=%t : tile<ptr<i32>>, tile<i32> -> token"""
NARROW = UPDATE.replace("device", "tl_blk")
ORDERED = """%t0 = store_ptr_tko weak %n, %one : tile<ptr<i32>>, tile<i32> -> token
  %v, %t1 = load_ptr_tko weak %n token=%t0 : tile<ptr<i32>> -> tile<i32>, token
  %p = constant <i64: 4> : tile<i64>
  %m = offset %n, %p : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
  %t2 = store_ptr_tko weak %m, %v token=%t1 : tile<ptr<i32>>, tile<i32> -> token"""


@pytest.mark.parametrize(
    ("first", "second", "grid", "expected"),
    [
        (UPDATE, SPLIT, "2", "outcomes"),
        (UPDATE, NARROW, "2", "faults"),
        (ORDERED, ORDERED.replace(" token=%t0", ""), "1", "faults"),
    ],
    ids=["an atomic update split", "a narrower scope", "a dropped token"],
)
def test_behaviour_that_the_second_program_adds_is_a_difference(
    first, second, grid, expected, tileir, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, body in zip("ab", (first, second)):
        Path(f"{name}.mlir").write_text(COUNT.format(body=body))
    ran = tileir("equiv", "a.mlir", "b.mlir", "--grid", grid, "n=i32[16]:zeros")
    assert (ran.status, f"different: {expected}" in ran.out) == (1, True), ran
    ran = tileir("equiv", "a.mlir", "a.mlir", "--grid", grid, "n=i32[16]:zeros")
    assert ran.status == 0, ran


READ = "%before, %r = load_ptr_tko relaxed device %n : tile<ptr<i32>> -> tile<i32>, token\n  "


@pytest.mark.parametrize(
    ("first", "second", "grid"),
    [
        (UPDATE, UPDATE.replace("%o,", "%old,"), "2"),
        (UPDATE, UPDATE.replace("%n", "%m"), "2"),
        (READ + UPDATE, UPDATE, "2"),
        (UPDATE, READ + UPDATE, "2"),
        (UPDATE, SPLIT, "1"),
    ],
    ids=["other names of values", "other names of parameters", "a load less", "a load more", "one block cannot tell"],
)
def test_programs_that_leave_the_same_behind_are_equal(first, second, grid, tileir, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, body in zip("ab", (first, second)):
        text = COUNT.format(body=body)
        Path(f"{name}.mlir").write_text(text.replace("@k(%n", "@k(%m") if "%m" in body else text)
    ran = tileir("equiv", "a.mlir", "b.mlir", "--grid", grid, "i32[16]:zeros")
    assert ran.status == 0, ran


TILES = """entry @k(%n: tile<ptr<i32>>) {{
  %lanes = iota : tile<32xi32>
  %n1 = reshape %n : tile<ptr<i32>> -> tile<1xptr<i32>>
  %ns = broadcast %n1 : tile<1xptr<i32>> -> tile<32xptr<i32>>
  %at = offset %ns, %lanes : tile<32xptr<i32>>, tile<32xi32> -> tile<32xptr<i32>>
  %o, %t = atomic_rmw_tko relaxed device %at, add, %lanes : tile<32xptr<i32>>, tile<32xi32> -> tile<32xi32>, token
  {body}
}}
"""


def test_tiles_that_are_updated_are_compared_in_few_executions(tileir, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    kinds = "tile<32xptr<i32>>, tile<32xi32> -> tile<32xi32>, token"
    for name in "ab":
        body = f"%{name}, %u = atomic_rmw_tko relaxed device %at, umax, %lanes token=%t : {kinds}"
        Path(f"{name}.mlir").write_text(TILES.format(body=body))
    ran = tileir("equiv", "a.mlir", "b.mlir")
    assert ran.status == 0, ran
