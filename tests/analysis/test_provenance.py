"""The parameters that a kernel writes through, however the pointer gets there."""

import pytest

import tileir
from tileir.analysis.provenance import writes_of
from tileir.ir.diagnostics import place_text

STORE = "%t = store_ptr_tko weak {}, %v : tile<ptr<i32>>, tile<i32> -> token"
LOADED = (
    "%n, %f = load_ptr_tko weak %q : tile<ptr<i64>> -> tile<i64>, token\n"
    "%p = int_to_ptr %n : tile<i64> -> tile<ptr<i32>>\n"
)
VIEW = "partition_view<tile=(1), tensor_view<4xi32, strides=[1]>>"
CASES = {
    "nothing": ("", ""),
    "a load": ("%l, %t = load_ptr_tko weak %a : tile<ptr<i32>> -> tile<i32>, token", ""),
    "a store": (STORE.format("%b"), "b"),
    "an update": (
        "%o, %t = atomic_rmw_tko relaxed device %a, add, %v : tile<ptr<i32>>, tile<i32> -> tile<i32>, token",
        "a",
    ),
    "an offset": ("%p = offset %a, %v : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n" + STORE.format("%p"), "a"),
    "a choice": ("%p = select %c, %a, %b : tile<i1>, tile<ptr<i32>>\n" + STORE.format("%p"), "ab"),
    "a view": (
        f"%n = make_tensor_view %b, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>\n"
        f"%w = make_partition_view %n : {VIEW}\n%o = reshape %v : tile<i32> -> tile<1xi32>\n"
        f"%t = store_view_tko weak %o, %w[%v] : tile<1xi32>, {VIEW}, tile<i32> -> token",
        "b",
    ),
    "a branch": (
        "%p = if %c -> (tile<ptr<i32>>) { yield %a : tile<ptr<i32>> } else { yield %b : tile<ptr<i32>> }\n"
        + STORE.format("%p"),
        "ab",
    ),
    "values carried side by side": (
        "%r:2 = for %i in (%v to %v, step %v) : tile<i32> iter_values(%x = %a, %y = %b) "
        "-> (tile<ptr<i32>>, tile<ptr<i32>>) {\n" + STORE.format("%y") + "\n"
        "continue %x, %y : tile<ptr<i32>>, tile<ptr<i32>> }",
        "b",
    ),
    "values exchanged in a loop": (
        "%r:2 = for %i in (%v to %v, step %v) : tile<i32> iter_values(%x = %a, %y = %b) "
        "-> (tile<ptr<i32>>, tile<ptr<i32>>) {\n" + STORE.format("%y") + "\n"
        "continue %y, %x : tile<ptr<i32>>, tile<ptr<i32>> }",
        "ab",
    ),
    "what a for gives": (
        "%p = for %i in (%v to %v, step %v) : tile<i32> iter_values(%x = %a) -> (tile<ptr<i32>>) {\n"
        "continue %b : tile<ptr<i32>> }\n" + STORE.format("%p"),
        "ab",
    ),
    "what a loop gives": (
        "%p = loop iter_values(%x = %a) : tile<ptr<i32>> -> tile<ptr<i32>> {\n"
        "if %c { break %b : tile<ptr<i32>> }\ncontinue %x : tile<ptr<i32>> }\n" + STORE.format("%p"),
        "b",
    ),
    "memory of its own": (
        "%p = alloca num_elem = 1, alignment = 4 : tile<ptr<i32>>\n" + STORE.format("%p"),
        "",
    ),
    "an address made of a number": (
        "%n = ptr_to_int %a : tile<ptr<i32>> -> tile<i64>\n%p = int_to_ptr %n : tile<i64> -> tile<ptr<i32>>\n"
        + STORE.format("%p"),
        "abq?",
    ),
    "an address found in memory": (LOADED + STORE.format("%p"), "abq?"),
    "a function": ("%o = experimental$call @put(%b, %v) : (tile<ptr<i32>>, tile<i32>) -> tile<ptr<i32>>", "b"),
    "what a function gives": (
        "%p = experimental$call @same(%a, %v) : (tile<ptr<i32>>, tile<i32>) -> tile<ptr<i32>>\n" + STORE.format("%p"),
        "a",
    ),
}
FUNCTIONS = f"""
experimental$func @put(%p: tile<ptr<i32>>, %v: tile<i32>) -> tile<ptr<i32>> {{
  {STORE.format("%p")}
  return %p : tile<ptr<i32>>
}}
experimental$func @same(%p: tile<ptr<i32>>, %v: tile<i32>) -> tile<ptr<i32>> {{ return %p : tile<ptr<i32>> }}
"""


@pytest.mark.parametrize("case", CASES)
def test_what_is_written_through(case):
    body, expected = CASES[case]
    parameters = "%a: tile<ptr<i32>>, %b: tile<ptr<i32>>, %q: tile<ptr<i64>>, %v: tile<i32>, %c: tile<i1>"
    module = tileir.parse(f"cuda_tile.module @m {{ {FUNCTIONS} entry @k({parameters}) {{\n{body}\n}} }}")
    module.require_valid()
    writes = writes_of(module["k"].entry)
    found = "".join(name for position, name in enumerate("abq") if writes.to(position) is not None)
    assert found + ("?" if writes.anywhere else "") == expected
    assert (writes.to(None) is None) == (writes.anywhere is None)


def test_the_first_write_is_named_rather_than_one_that_may_go_anywhere():
    body = LOADED + STORE.format("%p") + "\n" + STORE.format("%b").replace("%t", "%u")
    module = tileir.parse(
        f"entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>, %q: tile<ptr<i64>>, %v: tile<i32>) {{\n{body}\n}}", "k"
    )
    writes = writes_of(module["k"].entry)
    for position, (words, line) in enumerate([("may write there, through a pointer of any origin", 4), ("writes", 5)]):
        access, how = writes.to(position)
        assert how.startswith(words)
        assert place_text(access.op.loc).startswith(f"k:{line}:")
