"""The interface: arguments, the report and its forms, the command, and that every access is watched."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import tileir
from tileir import ops
from tileir.cli import main
from tileir.interp.machine import TABLES
from tileir.ir.effects import AccessTrait, Effect
from tileir.sanitize.findings import KINDS

RACE = """
cuda_tile.module @m { entry @k(%x: tile<ptr<i32>>) {
  %b, %y, %z = get_tile_block_id : tile<i32>
  %t = store_ptr_tko weak %x, %b : tile<ptr<i32>>, tile<i32> -> token
} }"""
TEXT = "ERROR: tileir sanitize: race: store of 'x'[0] conflicts with a store of tile block (0, 0, 0)"


def racing() -> tileir.Kernel:
    return tileir.parse(RACE, "race.mlir")["k"]


@pytest.mark.parametrize("op", ops.OPS.values(), ids=lambda op: op.spec.name)
def test_every_operation_that_accesses_memory_is_watched(op) -> None:
    effects = {trait.effect for trait in op.spec.traits if isinstance(trait, AccessTrait)}
    if effects:
        assert effects <= {Effect.READ, Effect.WRITE, Effect.UPDATE}
        assert op in TABLES.effects
        assert op not in TABLES.pure


def test_a_finding_has_both_places_and_the_reason() -> None:
    (found,) = tileir.sanitize(racing(), 4, np.zeros(2, np.int32))
    assert (found.kind, found.severity, found.array, found.indices) == ("race", "error", "x", ((0,),))
    assert found.op == found.other_op == "store_ptr_tko"
    assert found.blocks == ((1, 0, 0), (0, 0, 0))
    assert (found.count, found.pairs) == (6, 6)
    assert "nothing orders" in str(found.because)


def test_the_text_shows_headline_caret_reason_mend_and_summary() -> None:
    text = str(tileir.sanitize(racing(), 4, np.zeros(2, np.int32)))
    assert TEXT in text
    assert text.count("^~~~~~~~~~~~~") == 2
    for part in ("the other access: ", "why: ", "instead: ", "and 5 more pairs of blocks"):
        assert part in text
    assert text.splitlines()[-1].startswith(
        "SUMMARY: tileir sanitize: 1 race in kernel @k (1 schedule), first at race."
    )


def test_arrays_are_changed_unless_it_works_on_copies() -> None:
    x = np.full(1, -1, np.int32)
    tileir.sanitize(racing(), 4, x, copy=True)
    assert x[0] == -1
    tileir.sanitize(racing(), 4, x)
    assert x[0] == 3


def test_only_the_checks_asked_for_are_reported() -> None:
    x = np.zeros(1, np.int32)
    assert not len(tileir.sanitize(racing(), 4, x, checks=["padding"]))
    assert not tileir.sanitize(racing(), 4, x, checks="race").ok
    with pytest.raises(ValueError, match="'all' or kinds of race"):
        tileir.sanitize(racing(), 4, x, checks="everything")
    with pytest.raises(ValueError, match="expected names of x"):
        tileir.sanitize(racing(), 4, x, uninitialized=["y"])


def test_json_and_sarif_name_the_places() -> None:
    report = tileir.sanitize(racing(), 4, np.zeros(1, np.int32))
    data = json.loads(json.dumps(report.to_json()))
    assert data["findings"][0]["place"] == {"file": "race.mlir", "line": 4, "column": 8}
    log = json.loads(json.dumps(report.to_sarif()))["runs"][0]
    assert {rule["id"] for rule in log["tool"]["driver"]["rules"]} == set(KINDS)
    assert log["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 4


def test_the_page_shows_findings_and_needs_nothing_else() -> None:
    kernel = tileir.parse(RACE.replace("@k", '@"<b>k</b>"'), "race.mlir")["<b>k</b>"]
    page = tileir.sanitize(kernel, 4, np.zeros(2, np.int32)).to_html()
    access = "race.mlir:4:8: &#x27;store_ptr_tko&#x27; by tile block (1, 0, 0)"
    assert all(part in page for part in ("&lt;b&gt;k&lt;/b&gt;", access, "^~~~~", "Why"))
    assert "<b>k</b>" not in page and "http" not in page and "<script" not in page


def test_the_command_fails_on_errors(tmp_path, capsys) -> None:
    path = tmp_path / "race.mlir"
    path.write_text(RACE)
    assert main(["sanitize", str(path), "--grid", "4", "i32[1]:zeros"]) == 1
    assert TEXT in capsys.readouterr().out
    assert main(["sanitize", str(path), "--grid", "1", "i32[1]:zeros"]) == 0
    assert main(["sanitize", str(path), "--grid", "4", "i32[1]:zeros", "--checks", "nothing"]) == 2


def test_the_command_writes_a_page(tmp_path, capsys) -> None:
    (tmp_path / "race.mlir").write_text(RACE)
    page = tmp_path / "report.html"
    assert main(["sanitize", str(tmp_path / "race.mlir"), "--grid", "2", "i32[2]:zeros", "--html", str(page)]) == 1
    assert page.read_text().startswith("<!doctype html>")
    assert "SUMMARY" in capsys.readouterr().out


def test_that_the_same_value_is_written_is_said_and_no_excuse() -> None:
    text = RACE.replace("%x, %b", "%x, %one").replace("%t =", "%one = constant <i32: 7> : tile<i32>\n  %t =")
    (found,) = tileir.sanitize(tileir.parse(text)["k"], 4, np.zeros(2, np.int32))
    assert found.kind == "race" and "the same value does not make it right" in str(found.why)
    (other,) = tileir.sanitize(racing(), 4, np.zeros(2, np.int32))
    assert "same value" not in str(other.why)


def test_what_one_order_does_not_write_is_shown_where_the_other_does() -> None:
    text = """
    entry @k(%flag: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
      %b, %y, %z = get_tile_block_id : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %was, %t = atomic_rmw_tko relaxed device %flag, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %same = cmpi equal %was, %b, signed : tile<i32> -> tile<i1>
      if %same {
        %p = offset %out, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %s = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
      }
    }"""
    (found,) = tileir.sanitize(tileir.parse(text, "k.mlir")["k"], 2, np.zeros(1, np.int32), np.zeros(2, np.int32))
    assert (found.kind, found.to_json()["place"]["line"], found.op) == ("order-dependent", 9, "store_ptr_tko")


VIEW = """entry @k(%x: tile<ptr<f32>>, %n: tile<i32>) {
  %b, %y, %z = get_tile_block_id : tile<i32>
  %t = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %v = make_partition_view %t : partition_view<tile=(64), tensor_view<?xf32, strides=[1]>>
  %one = constant <f32: 1.0> : tile<64xf32>
  %u = store_view_tko weak %one, %v[%b] : tile<64xf32>, partition_view<tile=(64), tensor_view<?xf32, strides=[1]>>,
    tile<i32> -> token
}"""


@pytest.mark.parametrize(("n", "claimed"), [(1000, 1000), (257, 257), (-1, (1 << 32) - 1)])
def test_a_view_that_claims_more_than_its_array_has_is_a_warning(n: int, claimed: int) -> None:
    report = tileir.sanitize(tileir.parse(VIEW)["k"], 4, np.zeros(256, np.float32), n)
    (found,) = report
    assert (found.kind, found.severity, found.op, found.array) == ("oversized-view", "warning", "make_tensor_view", "x")
    assert found.message == f"the view claims {claimed} elements of 'x', which has 256"
    assert report.ok and found.pairs == 4


def test_a_view_of_what_there_is_or_less_is_none() -> None:
    assert not list(tileir.sanitize(tileir.parse(VIEW)["k"], 4, np.zeros(256, np.float32), 256))
    assert not list(tileir.sanitize(tileir.parse(VIEW)["k"], 1, np.zeros(256, np.float32), 64))


MASKED = """entry @k(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {{
  %i = iota : tile<4xi32>
  %three = constant <i32: 3> : tile<4xi32>
  %inside = cmpi less_than %i, %three, signed : tile<4xi32> -> tile<4xi1>
  %x_1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
  %x_4 = broadcast %x_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
  %from = offset %x_4, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
  %out_1 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
  %out_4 = broadcast %out_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
  %to = offset %out_4, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
  %fill = constant <i32: {fill}> : tile<4xi32>
  %v, %t = load_ptr_tko weak %from, %inside, %fill
    : tile<4xptr<i32>>, tile<4xi1>, tile<4xi32> -> tile<4xi32>, token
  %old, %u = load_ptr_tko weak %to : tile<4xptr<i32>> -> tile<4xi32>, token
  %new = {operation} : tile<4xi32>
  %s = store_ptr_tko weak %to, %new token=%u : tile<4xptr<i32>>, tile<4xi32> -> token
}}"""


@pytest.mark.parametrize(
    ("fill", "operation", "clean"),
    [
        (0, "addi %old, %v", True),
        (0, "addi %v, %old", True),
        (1, "muli %old, %v", True),
        (0, "subi %old, %v", True),
        (0, "subi %v, %old", False),
        (1, "addi %old, %v", False),
        (2, "muli %old, %v", False),
        (0, "addi %three, %v", False),
    ],
)
def test_padding_that_leaves_a_value_as_it_is_does_not_mark_it(fill: int, operation: str, clean: bool) -> None:
    kernel = tileir.parse(MASKED.format(fill=fill, operation=operation))["k"]
    found = list(tileir.sanitize(kernel, 1, np.ones(4, np.int32), np.arange(5, 9, dtype=np.int32)))
    assert [(one.kind, one.array) for one in found] == ([] if clean else [("padding", "x")])


@pytest.mark.parametrize(("fill", "clean"), [(0, True), (1, False)])
def test_padding_of_flags_is_neutral_for_a_reduction_of_them(fill: int, clean: bool) -> None:
    reduced = """reduce %flags dim=0 identities=[false] : tile<4xi1> -> tile<i1>
      (%a: tile<i1>, %b: tile<i1>) { %c = ori %a, %b : tile<i1>  yield %c : tile<i1> }"""
    operation = f"""constant <i32: 0> : tile<4xi32>
      %flags = cmpi not_equal %v, %new, signed : tile<4xi32> -> tile<4xi1>
      %any = {reduced}
      %one = exti %any unsigned : tile<i1> -> tile<i32>
      %o = reshape %one : tile<i32> -> tile<1xi32>
      %o_4 = broadcast %o : tile<1xi32> -> tile<4xi32>
      %sum = addi %old, %o_4"""
    text = MASKED.format(fill=fill, operation=operation).replace("weak %to, %new", "weak %to, %sum")
    found = list(tileir.sanitize(tileir.parse(text)["k"], 1, np.zeros(4, np.int32), np.zeros(4, np.int32)))
    assert [one.kind for one in found] == ([] if clean else ["padding"])


def test_an_address_that_is_stored_is_no_dependence_on_the_order() -> None:
    text = """entry @k(%flag: tile<ptr<i32>>, %out: tile<ptr<i64>>) {
      %b, %y, %z = get_tile_block_id : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %was, %t = atomic_rmw_tko relaxed device %flag, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %own = alloca num_elem = 4, alignment = 16 : tile<ptr<i32>>
      %address = ptr_to_int %own : tile<ptr<i32>> -> tile<i64>
      %to = offset %out, %b : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
      %s = store_ptr_tko weak %to, %address : tile<ptr<i64>>, tile<i64> -> token
    }"""
    assert not list(tileir.sanitize(tileir.parse(text)["k"], 4, np.zeros(1, np.int32), np.zeros(4, np.int64)))


SECOND = """entry @k(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {{
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %at = constant <i32: {at}> : tile<i32>
  %p = offset %y, %at : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %t = store_ptr_tko weak %p, %b : tile<ptr<i32>>, tile<i32> -> token
}}"""


@pytest.mark.parametrize("first", [slice(None), slice(0, 8), slice(4, 16)])
def test_the_array_of_a_report_is_the_one_that_was_accessed(first: slice) -> None:
    memory = np.zeros(16, np.int32)
    (race,) = tileir.sanitize(tileir.parse(SECOND.format(at=1))["k"], 2, memory[first], memory[8:])
    assert (race.kind, race.array, race.indices) == ("race", "y", ((1,),))
    (outside,) = tileir.sanitize(tileir.parse(SECOND.format(at=40))["k"], 1, memory[first], memory[8:])
    assert (outside.array, outside.indices) == ("y", ((40,),)) and "byte offset 160 of 'y'" in outside.message


COUNTING = """entry @k(%x: tile<ptr<i32>>, %n: tile<i32>) {{
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  for %i in (%zero to %n, step %one) : tile<i32> {{
    %o, %t = atomic_rmw_tko {ordering} device %x, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    continue
  }}
}}"""


@pytest.mark.parametrize("ordering", ["relaxed", "acquire", "release"])
def test_the_history_of_unordered_updates_costs_a_share_of_each(ordering: str) -> None:
    kernel = tileir.parse(COUNTING.format(ordering=ordering))["k"]

    def calls(count: int) -> int:
        seen = 0

        def see(frame: object, event: str, argument: object) -> None:
            nonlocal seen
            seen += 1

        sys.setprofile(see)
        try:
            assert tileir.sanitize(kernel, 4, np.zeros(1, np.int32), count).ok
        finally:
            sys.setprofile(None)
        return seen

    calls(4)
    assert calls(100) - calls(50) < 3 * (calls(50) - calls(25))


ENTERING = """entry @k(%mine: tile<ptr<i32>>, %x: tile<ptr<i32>>) {
  %b, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %two = constant <i32: 2> : tile<i32>
  %c = subi %one, %b : tile<i32>
  %own = offset %mine, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %other = offset %mine, %c : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %t = store_ptr_tko relaxed device %own, %one : tile<ptr<i32>>, tile<i32> -> token
  %seen, %u = load_ptr_tko relaxed device %other token=%t : tile<ptr<i32>> -> tile<i32>, token
  %free = cmpi equal %seen, %zero, signed : tile<i32> -> tile<i1>
  if %free {
    %s = store_ptr_tko weak %x, %b token=%u : tile<ptr<i32>>, tile<i32> -> token
  }
}"""


def test_what_runs_in_several_orders_prints_in_the_first_alone(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tileir.parse("""entry @k(%x: tile<ptr<i32>>) {
      %one = constant <i32: 1> : tile<i32>
      %b, %y, %z = get_tile_block_id : tile<i32>
      %old, %t = atomic_rmw_tko relaxed device %x, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      print_tko "block %i\\n", %b : tile<i32> -> token
    }""")["k"]
    for run in (tileir.sanitize, tileir.view):
        run(kernel, 2, np.zeros(1, np.int32))
        assert capsys.readouterr().out == "block 0\nblock 1\n"
    tileir.sanitize(kernel, 2, np.zeros(1, np.int32), schedules=4)
    assert capsys.readouterr().out == "block 0\nblock 1\n"


def test_more_schedules_try_values_that_have_been_overwritten() -> None:
    # In any order of turns the second block to come sees that the first one is there; on a GPU neither may.
    kernel = tileir.parse(ENTERING)["k"]
    few, many = (
        tileir.sanitize(kernel, 2, np.zeros(2, np.int32), np.zeros(1, np.int32), schedules=count) for count in (1, 12)
    )
    assert "race" not in {one.kind for one in few} and "race" in {one.kind for one in many}


@pytest.mark.parametrize("token", ["", " token=%u"])
def test_a_load_after_another_gives_nothing_older(token: str) -> None:
    text = """entry @k(%x: tile<ptr<i32>>) {
      %b, %y, %z = get_tile_block_id : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
      if %first {
        %t = store_ptr_tko relaxed device %x, %one : tile<ptr<i32>>, tile<i32> -> token
      } else {
        %p, %u = load_ptr_tko relaxed device %x : tile<ptr<i32>> -> tile<i32>, token
        %q, %v = load_ptr_tko relaxed device %xTOKEN : tile<ptr<i32>> -> tile<i32>, token
        %ordered = cmpi less_than_or_equal %p, %q, signed : tile<i32> -> tile<i1>
        assert %ordered, "older" : tile<i1>
      }
    }"""
    report = tileir.sanitize(tileir.parse(text.replace("TOKEN", token))["k"], 2, np.zeros(1, np.int32), schedules=40)
    assert ("assert" in {one.kind for one in report}) is (token == "")


@pytest.mark.parametrize("kind", ["load", "store", "update"])
@pytest.mark.parametrize("shift", [-16, 16, 14])
def test_an_access_that_lands_in_a_neighbouring_array_is_out_of_bounds(kind: str, shift: int) -> None:
    """The arrays lie side by side, as small ones often do by chance."""
    ops_of = {
        "load": "%v, %t = load_ptr_tko weak %at : tile<4xptr<i32>> -> tile<4xi32>, token",
        "store": "%t = store_ptr_tko weak %at, %n : tile<4xptr<i32>>, tile<4xi32> -> token",
        "update": "%v, %t = atomic_rmw_tko relaxed device %at, add, %n"
        " : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token",
    }
    kernel = tileir.parse(f"""
    entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>) {{
      %lane = iota : tile<4xi32>
      %shift = constant <i32: {shift}> : tile<4xi32>
      %n = addi %lane, %shift : tile<4xi32>
      %p = reshape %b : tile<ptr<i32>> -> tile<1xptr<i32>>
      %ps = broadcast %p : tile<1xptr<i32>> -> tile<4xptr<i32>>
      %at = offset %ps, %n : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
      {ops_of[kind]}
    }}""")["k"]
    memory = np.zeros(48, np.int32)
    before, middle, after = memory[:16], memory[16:32], memory[32:]
    first = after if shift > 0 else before
    found = {finding.kind: finding for finding in tileir.sanitize(kernel, 1, first, middle)}
    assert set(found) == {"out-of-bounds"} and found["out-of-bounds"].array == "b"
    assert "'b'" in found["out-of-bounds"].message and not memory[:16].any() and not memory[32:].any()
    assert not tileir.sanitize(kernel, 1, memory, memory[16:32], copy=True).findings
