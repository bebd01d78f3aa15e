"""``tileir explore``: where the launch comes from, the forms of the report, the status."""

import json
from pathlib import Path

import pytest

from tileir.examples import FOLDER

MP13 = str(FOLDER / "litmus" / "MP13.mlir")
MUTEX = str(FOLDER / "concurrent" / "mutex.mlir")


def test_a_program_says_how_it_is_launched(tileir) -> None:
    ran = tileir("explore", MP13)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("kernel @litmus, grid 2: 4 executions\n")


def test_the_command_line_goes_before_the_program(tileir) -> None:
    ran = tileir("explore", MP13, "--grid", "1", "i32[1]:zeros", "i32[1]:zeros")
    assert ran.status == 2
    assert "'1:%f': the grid has no tile block 1" in ran.err


def test_a_kernel_is_chosen_with_its_own_lines(tileir) -> None:
    ran = tileir("explore", MUTEX, "--kernel", "mutex")
    assert (ran.status, ran.err) == (0, "")
    assert "forbidden: count != 3: holds" in ran.out
    assert tileir("explore", MUTEX).status == 2


def test_the_status_is_1_for_a_fault_without_lines(tileir, tmp_path: Path) -> None:
    text = Path(MUTEX).read_text()
    (tmp_path / "bare.mlir").write_text("\n".join(line for line in text.splitlines() if "exists" not in line))
    words = ("--kernel", "mutex_relaxed_unlock", "--grid", "2", "lock=i32[1]:zeros", "count=i32[1]:zeros")
    ran = tileir("explore", "bare.mlir", *words)
    assert ran.status == 1 and "ERROR: tileir explore: race" in ran.out
    assert "the weakest mend:" in ran.out
    assert "the weakest mend:" not in tileir("explore", "bare.mlir", *words, "--no-mends").out


def test_the_report_as_data(tileir) -> None:
    data = json.loads(tileir("explore", MUTEX, "--kernel", "mutex_relaxed_unlock", "--json").out)
    assert data["ok"] and data["complete"] and data["executions"] == 12
    assert {fault["kind"] for fault in data["faults"]} == {"race"}
    assert data["verdicts"] == [{"line": 50, "text": "exists: race", "holds": True, "reason": "an execution ends so"}]
    assert data["mends"][0]["cost"] == 1


def test_the_report_as_a_page(tileir, tmp_path: Path) -> None:
    assert tileir("explore", MP13, "--html", "page.html").status == 0
    assert "<svg" in (tmp_path / "page.html").read_text()


def test_a_launch_has_to_be_said(tileir, tmp_path: Path) -> None:
    (tmp_path / "k.mlir").write_text("cuda_tile.module @m {\n  entry @k() {\n  }\n}\n")
    ran = tileir("explore", "k.mlir")
    assert ran.status == 2 and "expected a --grid, or a comment" in ran.err


@pytest.mark.parametrize("words", [("--iterations", "0"), ("--limit", "0")])
def test_bounds_are_positive(tileir, words: tuple[str, str]) -> None:
    ran = tileir("explore", MP13, *words)
    assert ran.status == 2 and "expected a positive integer" in ran.err


def test_the_model_has_the_axioms_of_the_specification(tileir) -> None:
    ran = tileir("explore", "--model")
    assert ran.status == 0
    printed = {line.partition("  ")[0] for line in ran.out.partition("axiom ")[2].splitlines()}
    page = (Path(__file__).parents[2] / "docs" / "spec" / "memory-model.md").read_text(encoding="utf-8")
    rows = page.partition("| Axiom | Statement |")[2].partition("\n\n")[0].splitlines()[2:]
    axioms = {row.split("|")[1].partition("[")[0].strip() for row in rows}
    # A strong access is one event, so it cannot be torn.
    assert axioms - {"Single-copy atomicity"} <= printed and len(axioms) == 7


FALSE_DEPENDENCE = """// launch: --grid 2 x=i32[1]:zeros y=i32[1]:zeros
entry @k(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
  if %first {
    %r, %t = load_ptr_tko relaxed device %x : tile<ptr<i32>> -> tile<i32>, token
    %d = subi %r, OTHER : tile<i32>
    %v = addi %d, %one : tile<i32>
    %s = store_ptr_tko relaxed device %y, %v : tile<ptr<i32>>, tile<i32> -> token
  } else {
    %q, %u = load_ptr_tko relaxed device %y : tile<ptr<i32>> -> tile<i32>, token
    %w = minsi
    %s = store_ptr_tko relaxed device %x, %w : tile<ptr<i32>>, tile<i32> -> token
  }
}
""".replace("%w = minsi", "%w = mini %q, %one signed : tile<i32>")


@pytest.mark.parametrize(("other", "both"), [("%r", True), ("%zero", False)])
def test_what_does_not_depend_on_a_value_need_not_wait_for_it(other, both, tileir, tmp_path: Path) -> None:
    (tmp_path / "k.mlir").write_text(FALSE_DEPENDENCE.replace("OTHER", other))
    plain = tileir("explore", "k.mlir").out
    assert ("0:%r = 1, 1:%q = 1" in plain) is both
    words = ("--grid", "2", "x=i32[1]:zeros", "y=i32[1]:zeros")
    assert tileir("opt", "-O2", "k.mlir", "-o", "o.mlir").status == 0
    assert tileir("equiv", "k.mlir", "o.mlir", *words).status == 0
