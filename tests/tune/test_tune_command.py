"""`tileir tune` leaves out what is wrong, times the rest, and its record launches the fastest."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tileir
from tests.thorough import sampled
from tileir.cli import main
from tileir.host import child
from tileir.ir.usage import UsageError

pytestmark = pytest.mark.skipif(not child.POSSIBLE, reason="this system cannot copy a process")
VIEW = "partition_view<tile=({{T}}), padding_value = zero, tensor_view<?xf32, strides=[1]>>"
SCALE = f"""entry @scale(%x: tile<ptr<f32>>, %n: tile<i32>) {{
  %view = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %tiles = make_partition_view %view : {VIEW}
  %i, %y, %z = get_tile_block_id : tile<i32>
  %a, %t = load_view_tko weak %tiles[%i] : {VIEW}, tile<i32> -> tile<{{{{T}}}}xf32>, token
  %c = constant <f32: {{{{F}}}}> : tile<{{{{T}}}}xf32>
  %b = mulf %a, %c rounding<nearest_even> : tile<{{{{T}}}}xf32>
  %u = store_view_tko weak %b, %tiles[%i] token=%t : tile<{{{{T}}}}xf32>, {VIEW}, tile<i32> -> token
}}
"""
LAUNCH = ("--grid", "{{(n + T - 1) // T}}", "x=f32[1000]:rand", "n=1000", "--seconds", "0.05", "--workers", "1")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "cache"))
    Path("scale.mlir.in").write_text(SCALE)


def tune(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["tune", *words])
    seen = capsys.readouterr()
    return status, seen.out, seen.err


def test_wrong_configurations_are_left_out_and_the_record_launches(capsys: pytest.CaptureFixture[str]) -> None:
    space = ("--space", "F=2.0,3.0", "--space", "T=64,256,48", "--option", "threads=1,2")
    files = ("--name", "scale", "-o", "r.json", "--picture", "p.svg")
    status, out, err = tune(capsys, "scale.mlir.in", *LAUNCH, *space, *files)
    assert status == 0, err
    record = json.loads(Path("r.json").read_text())
    states = {(row["point"]["F"], row["point"]["T"]): (row["state"], row["reason"]) for row in record["rows"]}
    assert states[2.0, 64][0] == states[2.0, 256][0] == "right"
    assert states[3.0, 64][0] == "failed" and "wrong result: 'x' is" in states[3.0, 64][1]
    assert states[2.0, 48][0] == "failed" and "48" in states[2.0, 48][1]
    assert record["best"]["F"] == 2.0 and record["machine"]["versions"]["numpy"]
    timed = [row for row in record["rows"] if "median" in row]
    assert len(timed) == 4 and all(row["low"] <= row["median"] <= row["high"] for row in timed)
    assert Path("p.svg").read_text().count("<rect") == 4 and "wrong result" in out
    values = np.arange(77, dtype=np.float32)
    tileir.tuned("scale").launch(values, 77)
    np.testing.assert_array_equal(values, 2.0 * np.arange(77))
    tileir.tuned("scale", "r.json").launch(values, n=77, target="interp")
    np.testing.assert_array_equal(values, 4.0 * np.arange(77))


def test_levels_and_constants_are_tried(capsys: pytest.CaptureFixture[str]) -> None:
    space = ("--space", "F=2.0", "--space", "T=64", "--constant", "n", "--optimise", "0,2", "--reference", "interp")
    status, _, err = tune(capsys, "scale.mlir.in", *LAUNCH, *space, "-o", "r.json")
    assert status == 0, err
    record = json.loads(Path("r.json").read_text())
    assert {(row["point"]["constant:n"], row["point"]["level"]) for row in record["rows"]} == {
        (constant, level) for constant in (False, True) for level in (0, 2)
    }
    values = np.ones(50, np.float32)
    tileir.tuned("", "r.json").launch(values, 50)
    np.testing.assert_array_equal(values, 2.0 * np.ones(50))


def test_a_configuration_that_hangs_costs_only_itself(capsys: pytest.CaptureFixture[str]) -> None:
    text = """entry @wait(%x: tile<ptr<i32>>) {
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %last = constant <i32: {{N}}> : tile<i32>
      for %i in (%zero to %last, step %one) : tile<i32> {
        for %j in (%zero to %last, step %one) : tile<i32> {
          %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
        }
      }
    }"""
    Path("wait.mlir.in").write_text(text)
    words = ("--grid", "1", "i32[1]", "--space", "N=1,2000000", "--timeout", "2", "--tries", "1", "--target", "interp")
    status, _, err = tune(capsys, "wait.mlir.in", *words, "--seconds", "0.01", "-o", "r.json")
    assert status == 0, err
    rows = json.loads(Path("r.json").read_text())["rows"]
    assert [(row["point"]["N"], row["state"]) for row in rows] == [(1, "right"), (2000000, "hung")]


@pytest.mark.thorough
def test_a_model_leads_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna", reason="needs optuna: pip install '.[tune]'")
    space = ("--space", "F=2.0", "--space", "T=16,32,64,128,256", "--option", "threads=1,2", "--search", "optuna")
    status, _, err = tune(capsys, "scale.mlir.in", *LAUNCH, *space, "--trials", "9", "-o", "r.json")
    assert status == 0, err
    record = json.loads(Path("r.json").read_text())
    assert len(record["rows"]) == 9 and record["search"] == "optuna" and "median" in record["rows"][0]


@pytest.mark.parametrize("name", sampled(["made", "add"], 2))
def test_a_cutile_kernel_and_a_function_that_makes_one_are_tuned(capsys: pytest.CaptureFixture[str], name: str) -> None:
    pytest.importorskip("cuda.tile", reason="needs cuda-tile: pip install '.[cutile]'")
    Path("add.py").write_text(
        "import cuda.tile as ct\n\n"
        "@ct.kernel\ndef add(a, out, tile: ct.Constant[int]):\n"
        "    i = ct.bid(0)\n    ct.store(out, (i,), ct.load(a, (i,), (tile,)) + 1.0)\n\n"
        "def made(T):\n    assert T in (64, 128)\n    return add\n"
    )
    words = ("--grid", "{{512 // T}}", "f32[512]:randn", "f32[512]", "{{T}}", "--space", "T=64,128")
    status, _, err = tune(capsys, f"add.py:{name}", *words, "--seconds", "0.05", "--workers", "1", "-o", "r.json")
    assert status == 0, err
    record = json.loads(Path("r.json").read_text())
    assert [row["state"] for row in record["rows"]] == ["right", "right"]
    with pytest.raises(UsageError, match="of a cuTile function"):
        tileir.tuned("", "r.json").launch(1)


SEARCH = """
from typing import Literal

import cuda.tile as ct
from cuda.tile.tune import exhaustive_search

@ct.kernel
def add(a, out, tile: ct.Constant[int], more: ct.Constant[float]):
    i = ct.bid(0)
    ct.store(out, (i,), ct.load(a, (i,), (tile,)) + more)

def search(a, out):
    space = [{"tile": 64, "more": 1.0}, {"tile": 128, "more": 1.0}, {"tile": 128, "more": 2.0}]
    exhaustive_search(space, None, lambda one: (512 // one["tile"],), lambda one: add,
                      lambda one: (a, out.copy(), one["tile"], one["more"]), lambda one: {"occupancy": 2})
    raise AssertionError("the search is not made")

def made(T: Literal[64, 128], U: Literal[1, 2] = 1):
    assert T in (64, 128) and U in (1, 3)
    return add

def broken():
    raise ZeroDivisionError("by nothing")
"""


@pytest.mark.thorough
def test_a_search_of_the_library_is_made_here(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cuda.tile", reason="needs cuda-tile: pip install '.[cutile]'")
    Path("add.py").write_text(SEARCH)
    words = ("add.py:search", "f32[512]:randn", "f32[512]", "--seconds", "0.05", "--workers", "1", "-o", "r.json")
    status, _, err = tune(capsys, *words)
    assert status == 0, err
    rows = {row["point"]["config"]: row for row in json.loads(Path("r.json").read_text())["rows"]}
    assert sorted(rows)[1] == "1: {'tile': 128, 'more': 1.0}"
    assert [rows[name]["state"] for name in sorted(rows)] == ["right", "right", "failed"]
    assert "wrong result: 'argument 1'" in rows["2: {'tile': 128, 'more': 2.0}"]["reason"]


@pytest.mark.thorough
def test_parameters_with_values_need_no_space(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cuda.tile", reason="needs cuda-tile: pip install '.[cutile]'")
    Path("add.py").write_text(SEARCH)
    words = ("--grid", "{{512 // T}}", "f32[512]:randn", "f32[512]", "{{T}}", "1.0", "--space", "U=1,3")
    status, _, err = tune(capsys, "add.py:made", *words, "--seconds", "0.05", "--workers", "1", "-o", "r.json")
    assert status == 0, err
    rows = json.loads(Path("r.json").read_text())["rows"]
    points = {(row["point"]["T"], row["point"]["U"]) for row in rows if row["state"] == "right"}
    assert points == {(64, 1), (64, 3), (128, 1), (128, 3)}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none", "no function 'none'"),
        ("broken", "ZeroDivisionError: by nothing"),
        ("add", "without --grid, expected a call of cuda.tile.tune.exhaustive_search"),
    ],
)
def test_a_script_without_a_search_is_refused(capsys: pytest.CaptureFixture[str], name: str, message: str) -> None:
    pytest.importorskip("cuda.tile", reason="needs cuda-tile: pip install '.[cutile]'")
    Path("add.py").write_text(SEARCH)
    status, out, err = tune(capsys, f"add.py:{name}")
    assert (status, out) == (2, "") and err.startswith("tileir tune: error: ") and message in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("scale.mlir.in", "--space", "T=64"), "--grid: expected 1 to 3 extents"),
        (("scale.mlir.in", *LAUNCH, "--seconds", "inf"), "--seconds: expected a positive number, got inf"),
        (("scale.mlir.in", *LAUNCH), "nothing to tune: expected --space"),
        (
            ("scale.mlir.in", *LAUNCH, "--space", "T=64"),
            'the first configuration, {"T": 64}, fails on',
        ),
        (("scale.mlir.in", *LAUNCH, "--space", "T=64", "--space", "T=2"), "--space: 'T' is given twice"),
        (("scale.mlir.in", *LAUNCH, "--space", "T"), "--space: expected a name and values"),
        (("no.py:f", *LAUNCH, "--space", "T=64"), "cannot read 'no.py'"),
        (("scale.mlir.in", *LAUNCH, "--space", "T=64", "--name", "a/b"), "name of a record: expected letters"),
    ],
)
def test_wrong_usage_says_what_is_expected(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    status, out, err = tune(capsys, *words)
    assert (status, out) == (2, "") and err.startswith(f"tileir tune: error: {message}")


@pytest.mark.parametrize("content", ["{}", "[]", "no JSON", '{"format": 1}'])
def test_what_is_no_record_is_refused(content: str) -> None:
    Path("r.json").write_text(content)
    with pytest.raises(UsageError, match=r"is no record of 'tileir tune'"):
        tileir.tuned("", "r.json")
    with pytest.raises(UsageError, match=r"no record 'none': no such file or directory; 'tileir tune --name none'"):
        tileir.tuned("none")
