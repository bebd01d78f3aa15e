"""Tiles that are computed in the memory of an operand: only where nothing reads that any more, with equal results."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tileir.analysis.affine import Affines
from tileir.cpu.analysis.fusion import Fusion
from tileir.cpu.analysis.loads import Loads
from tileir.cpu.analysis.reuse import Reuse
from tileir.ops.matmul import MmaF

TILE = "tile<16x16xf32>"
VIEW = "tensor_view<16x16xf32, strides=[16,1]>"
PART = f"partition_view<tile=(16x16), {VIEW}>"
SUM = """%{name} = reduce %{of} dim=1 identities=[0.0 : f32] : tile<16x16xf32> -> tile<16xf32>
    (%{name}l: tile<f32>, %{name}r: tile<f32>) {{
      %{name}both = addf %{name}l, %{name}r : tile<f32>
      yield %{name}both : tile<f32>
    }}
  %{name}_down = reshape %{name} : tile<16xf32> -> tile<16x1xf32>
  %{name}_all = broadcast %{name}_down : tile<16x1xf32> -> tile<16x16xf32>"""


def summed(name: str, of: str) -> str:
    """%NAME_all, the sums of the rows of a tile; to sum a tile takes all of it, so that it is computed before."""
    return SUM.format(name=name, of=of)


A = f"%a = remf %x, %three : {TILE}\n  {summed('s', 'a')}"
B = f"%b = subf %a, %s_all : {TILE}\n  {summed('r', 'b')}"
LAST = f"%y = mulf %b, %r_all : {TILE}"
BODIES = {
    "read for the last time": (f"{A}\n  {B}\n  {LAST}", 1),
    "read again": (f"{A}\n  {B}\n  %c = mulf %b, %r_all : {TILE}\n  %y = addf %c, %a : {TILE}", 0),
    "read at another index": (
        f"""{A}
  %t = permute %a [1, 0] : {TILE} -> {TILE}
  %u = addf %a, %t : {TILE}
  %b = subf %u, %s_all : {TILE}
  {summed("r", "b")}
  {LAST}""",
        0,
    ),
    "read in a region": (
        f"""{A}
  {B}
  %n = constant <i32: 3> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %y = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%c = %b) -> ({TILE}) {{
    %d = mulf %c, %r_all : {TILE}
    %e = subf %d, %a : {TILE}
    continue %e : {TILE}
  }}""",
        0,
    ),
    "carried by a loop": (
        f"""{A}
  %n = constant <i32: 3> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %y = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%c = %a) -> ({TILE}) {{
    {summed("w", "c")}
    %b = subf %c, %w_all : {TILE}
    {summed("r", "b")}
    %d = addf %b, %r_all : {TILE}
    continue %d : {TILE}
  }}""",
        1,
    ),
    "traded by a loop": (
        f"""{A}
  %n = constant <i32: 3> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %y, %z = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%c = %a, %d = %x) -> ({TILE}, {TILE}) {{
    %b = addf %c, %d : {TILE}
    {summed("r", "b")}
    %e = subf %b, %r_all : {TILE}
    continue %e, %c : {TILE}, {TILE}
  }}""",
        1,
    ),
    "scaled, then summed by a product": (
        f"""{A}
  {B}
  %kept = mulf %a, %r_all : {TILE}
  %y = mmaf %b, %x, %kept : {TILE}, {TILE}, {TILE}""",
        1,
    ),
    "multiplied and scaled": (
        f"""{A}
  %kept = mulf %a, %s_all : {TILE}
  %y = mmaf %a, %x, %kept : {TILE}, {TILE}, {TILE}""",
        0,
    ),
    "summed by a product, then read": (
        f"""{A}
  {B}
  %m = mmaf %x, %x, %b : {TILE}, {TILE}, {TILE}
  %y = addf %m, %b : {TILE}""",
        1,
    ),
}


def program(body: str) -> str:
    return f"""entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {{
  %zero = constant <i32: 0> : tile<i32>
  %three = constant <f32: 3.0> : {TILE}
  %pt = make_tensor_view %p, shape = [16, 16], strides = [16, 1] : {VIEW}
  %qt = make_tensor_view %q, shape = [16, 16], strides = [16, 1] : {VIEW}
  %pv = make_partition_view %pt : {PART}
  %qv = make_partition_view %qt : {PART}
  %x, %t0 = load_view_tko weak %pv[%zero, %zero] : {PART}, tile<i32> -> {TILE}, token
  {body}
  %done = store_view_tko weak %y, %qv[%zero, %zero] : {TILE}, {PART}, tile<i32> -> token
}}"""


@pytest.mark.parametrize("body", [body for body, _ in BODIES.values()], ids=BODIES)
def test_results_are_those_of_the_interpreter(body: str) -> None:
    kernel = tileir.parse(program(body))["k"]
    x = np.random.default_rng(1).integers(-2, 3, (16, 16)).astype(np.float32)
    results = [np.zeros_like(x) for _ in range(2)]
    for target, result in zip(("interp", "cpu"), results):
        kernel.launch(1, x, result, target=target)
    assert np.array_equal(*results)


@pytest.mark.parametrize(("body", "expected"), BODIES.values(), ids=BODIES)
def test_memory_is_given_up_by_the_last_reader(body: str, expected: int) -> None:
    entry = tileir.parse(program(body))["k"].entry
    fusion = Fusion(entry.body)
    reuse = Reuse(fusion, Loads(fusion, Affines(entry.body)).readers)
    roots = [(value, op) for op in fusion.operations for value in op.results if not fusion.fused(value)]
    sums = [(op.acc, op) for op in fusion.operations if isinstance(op, MmaF)]
    assert sum(bool(list(reuse.given_up(value, op))) for value, op in roots + sums) == expected


CARRIED = f"""entry @k(%a: tile<ptr<f32>>, %sums: tile<ptr<f32>>, %others: tile<ptr<f32>>, %end: tile<i32>) {{
  %from = constant <i32: 2> : tile<i32>
  %by = constant <i32: 3> : tile<i32>
  %odd = constant <i32: 5> : tile<i32>
  %start = constant <f32: -1.5> : {TILE}
  %none = constant <f32: -0.0> : {TILE}
  %a_view = make_tensor_view %a, shape = [16, 16], strides = [16, 1] : {VIEW}
  %s_view = make_tensor_view %sums, shape = [16, 16], strides = [16, 1] : {VIEW}
  %o_view = make_tensor_view %others, shape = [16, 16], strides = [16, 1] : {VIEW}
  %a_tiles = make_partition_view %a_view : {PART}
  %s_tiles = make_partition_view %s_view : {PART}
  %o_tiles = make_partition_view %o_view : {PART}
  %z = constant <i32: 0> : tile<i32>
  %x, %read = load_view_tko weak %a_tiles[%z, %z] : {PART}, tile<i32> -> {TILE}, token
  %sum, %other = for %i in (%from to %end, step %by) : tile<i32>
    iter_values(%s = %start, %o = %none) -> ({TILE}, {TILE}) {{
    %more = addf %s, %x : {TILE}
    %is_odd = cmpi equal %i, %odd, signed : tile<i32> -> tile<i1>
    if %is_odd {{
      continue %o, %s : {TILE}, {TILE}
    }}
    %both = mulf %more, %o : {TILE}
    continue %more, %both : {TILE}, {TILE}
  }}
  %s_done = store_view_tko weak %sum, %s_tiles[%z, %z] token = %read : {TILE}, {PART}, tile<i32> -> token
  %o_done = store_view_tko weak %other, %o_tiles[%z, %z] token = %s_done : {TILE}, {PART}, tile<i32> -> token
}}"""


@pytest.mark.parametrize("end", [-4, 2, 3, 5, 6, 9, 20])
def test_a_carried_tile_begins_as_a_constant_however_often_the_loop_runs(end: int) -> None:
    module, x = tileir.parse(CARRIED), np.random.default_rng(3).standard_normal((16, 16), np.float32)
    results = []
    for target in ("interp", "cpu"):
        sums, others = np.full((2, 16, 16), 7, np.float32)
        module["k"].launch(1, x, sums, others, end, target=target)
        results.append((sums.tobytes(), others.tobytes()))
    assert results[0] == results[1]
