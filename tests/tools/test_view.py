"""The record of a launch matches the launch, and the page holds all of it."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launches import race

import tileir
from tests.processes import run_python
from tileir.runtime.arrays import described
from tileir.tools.view.pictures import Picture
from tileir.tools.view.record import MOST_RECORDS

ROOT = Path(__file__).parents[2]


def touched(data: dict) -> np.ndarray:
    """Rows of: tile block, operation, array, execution, row, column, height, width."""
    rows = np.frombuffer(base64.b64decode(data["touched"]), "<i4").reshape(-1, 8).copy()
    rows[:, 1] >>= 1
    return rows


def painted(data: dict, array: int, name: str) -> np.ndarray:
    """Return how often operations of that name touch each element of an array."""
    shape = data["arrays"][array]["rows"], data["arrays"][array]["columns"]
    counts = np.zeros(shape, int)
    for _, op, where, _, row, column, height, width in touched(data):
        if where == array and data["ops"][op]["name"] == name:
            counts[row : row + height, column : column + width] += 1
    return counts


@pytest.fixture(scope="module")
def transposed() -> dict:
    kernel = tileir.load(ROOT / "examples/transpose.mlir")["transpose"]
    x, y = np.random.default_rng(0).normal(size=(100, 70)).astype(np.float32), np.zeros((70, 100), np.float32)
    found = tileir.view(kernel, (2, 3), x, y, 100, 70)
    assert np.array_equal(y, x.T), "the launch has run"
    return found.data


def test_each_element_is_read_and_written_once(transposed: dict) -> None:
    assert (painted(transposed, 0, "load_view_tko") == 1).all()
    assert (painted(transposed, 1, "store_view_tko") == 1).all()
    assert len(transposed["blocks"]) == 6 and transposed["findings"] == []


def test_counts_bytes_and_lanes_outside_add_up(transposed: dict) -> None:
    load = next(op for op in transposed["ops"] if op["name"] == "load_view_tko")
    assert (load["count"], load["read"], load["written"]) == (6, 100 * 70 * 4, 0)
    assert load["outside"] == 6 * 64 * 32 - 100 * 70
    assert sum(block[4] for block in transposed["blocks"]) == 100 * 70 * 4
    assert load["places"] == [[0, transposed["files"][0]["text"].split("load_view_tko")[0].count("\n") + 1]]


def test_values_before_and_after_are_there(transposed: dict) -> None:
    x, y = transposed["arrays"]
    assert x["after"] is None and y["after"] is not None
    assert np.allclose(np.array(y["after"]["exact"]).reshape(70, 100).T.ravel(), x["before"]["exact"])
    assert len(base64.b64decode(y["after"]["cells"])) == 70 * 100


def test_findings_loops_and_tokens_are_recorded() -> None:
    kernel, arrays = race()
    data = tileir.view(kernel, 4, *arrays, blocks=[(2,)]).data
    assert {found["kind"] for found in data["findings"]} == {"race"}
    lines = {place[1] for found in data["findings"] for place in found["places"]}
    assert lines == {16, 18}
    sums = [one for one in data["values"] if data["ops"][one["op"]]["name"] == "addf"]
    assert [(one["block"], one["turn"], one["high"]) for one in sums][:4] == [
        (2, 0, 8),
        (2, 1, 17),
        (2, 2, 27),
        (2, 3, 38),
    ]
    assert [[data["ops"][op]["name"] for op in edge] for edge in data["edges"]] == [["load_ptr_tko", "store_ptr_tko"]]


def test_a_trap_is_in_the_picture() -> None:
    kernel, (x, total) = race()
    data = tileir.view(kernel, 5, x, total, findings=False).data
    assert data["findings"][0]["kind"] == "trap" and data["findings"][0]["blocks"] == [[4, 0, 0]]
    assert data["findings"][0]["places"] == [[0, 12]]


def test_the_page_needs_nothing_else_and_no_text_ends_its_script() -> None:
    program = "cuda_tile.module @m {\n  // </script><script>alert(1)</script>\n  entry @k(%x: tile<ptr<i32>>) { }\n}\n"
    found = tileir.view(tileir.parse(program)["k"], 1, np.zeros(3, np.int32))
    page = found.html
    assert not re.search(r"""(?:src|href)=|@import|https?://(?!www\.w3\.org/2000/svg)""", page)
    assert page.count("</script>") == 2
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert data["files"][0]["text"] == program
    assert found._repr_html_().startswith("<iframe") and "&lt;!doctype html&gt;" in found._repr_html_()


@pytest.mark.parametrize("level", ["text", "bytecode"])
def test_every_golden_program_of_examples_has_lines(level: str) -> None:
    kernel, arrays = race()
    if level == "bytecode":
        kernel = tileir.from_bytecode(tileir.to_bytecode(kernel.module))["total"]
    data = tileir.view(kernel, 4, *arrays).data
    text = data["files"][0]["text"].split("\n")
    for op in data["ops"]:
        if op["count"]:
            (file, line) = op["places"][0]
            assert file == 0 and op["name"] in text[line - 1]


def test_blocks_outside_the_grid_are_refused() -> None:
    kernel, arrays = race()
    with pytest.raises(ValueError, match="expected tile blocks of the grid"):
        tileir.view(kernel, 4, *arrays, blocks=[(4, 0, 0)])


# ---------------------------------------------------------------- pictures


@pytest.mark.parametrize("shape", [(1,), (40,), (5000,), (7, 9), (3, 4, 5), (2, 3, 4, 5), ()])
def test_rectangles_hold_the_elements_of_addresses(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(1)
    values = np.zeros(shape, np.int32)
    picture = Picture.of("x", described(values))
    chosen = random.permutation(values.size)[: max(1, values.size // 3)]
    rectangles, exact = picture.elements(np.uint64(values.ctypes.data) + np.uint64(4) * chosen.astype(np.uint64))
    cells = np.zeros((picture.rows, picture.columns), int)
    for row, column, height, width in rectangles:
        cells[row : row + height, column : column + width] += 1
    found = np.flatnonzero(cells.ravel())
    if exact:
        assert cells.max() == 1 and sorted(chosen) == found.tolist()
    else:
        assert set(chosen) <= set(found.tolist())


def test_boxes_of_transposed_arrays_are_rectangles() -> None:
    values = np.zeros((8, 6), np.float32).T
    picture = Picture.of("x", described(values))
    at = values.ctypes.data + 2 * values.strides[0] + 3 * values.strides[1]
    assert picture.box(at, (2, 4), values.strides) == [(2, 3, 2, 4)]
    assert picture.box(at, (4, 2), values.strides[::-1]) == [(2, 3, 2, 4)]
    assert picture.box(at, (2,), (12,)) is None


def test_the_budget_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_RECORDS * 8 * 4 * 4 // 3 < 16 << 20, "as text in a page of 20 MB"
    monkeypatch.setattr("tileir.tools.view.record.MOST_RECORDS", 3)
    kernel, arrays = race()
    data = tileir.view(kernel, 4, *arrays).data
    rows = touched(data)
    assert len(rows) < 40 and any("rectangles" in note for note in data["notes"])
    assert {int(row[0]) for row in rows} == {0, 1, 2, 3}


# ---------------------------------------------------------------- the command


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    program, page = tmp_path / "race.mlir", tmp_path / "out.html"
    program.write_text(race()[0].module.source.text)

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return run_python("-m", "tileir", "view", program, "--grid", "4", "x=f32[16]:arange", *more)

    ran = run("total=f32[1]:zeros", "-o", str(page))
    assert (ran.returncode, ran.stderr) == (1, "") and "<title>@total, grid 4 x 1 x 1</title>" in page.read_text()
    assert ran.stdout.startswith(f"{page} shows faults, the first: ")
    ran = run("total=f32[1]:zeros", "-o", str(page), "--no-sanitize")
    assert (ran.returncode, ran.stdout) == (0, "")
    for words, said in ((("total=f32[1]:zeros", "-o", str(page), "--block", "9"), "expected tile blocks of the grid"),
                        (("-o", str(page)), "total"),
                        (("total=f32[1]:zeros",), "-o: expected a file for the page")):  # fmt: skip
        ran = run(*words)
        assert ran.returncode == 2 and said in ran.stderr and "Traceback" not in ran.stderr


def test_time_of_native_code_is_shown_and_the_launch_begins_as_it_was(tmp_path: Path) -> None:
    kernel, (x, total) = race()
    shown = tileir.view(kernel, 4, x, total, time=True, findings=False)
    assert total[0] == x.sum(), "once, not once more for each run on native code"
    data = shown.data
    if sys.platform.startswith("linux"):
        assert data["time"]
        assert all(op["seconds"] is not None for op in data["ops"])
    assert all(block[8] > 0 for block in data["blocks"])


def test_a_launch_that_native_code_cannot_run_has_a_note_in_place_of_times() -> None:
    text = (
        'cuda_tile.module @m { entry @fails() { %no = constant <i1: false> : tile<i1> assert %no, "no" : tile<i1> } }'
    )
    shown = tileir.view(tileir.parse(text)["fails"], 1, time=True)
    assert not shown.data["time"]
    assert any(note.startswith("no time on native code: ") for note in shown.data["notes"])
