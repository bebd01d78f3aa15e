"""`tileir farm` as somebody types it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tileir.cli import main
from tileir.farm.launching import launch_job
from tileir.ir.usage import UsageError
from tileir.runtime.loading import load

DOUBLE = """entry @double(%x: tile<ptr<f32>>, %n: tile<i32>) {
  %view = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %tiles = make_partition_view %view : partition_view<tile=(16), padding_value = zero, tensor_view<?xf32, strides=[1]>>
  %i, %y, %z = get_tile_block_id : tile<i32>
  %a, %t = load_view_tko weak %tiles[%i] : partition_view<tile=(16), padding_value = zero,
    tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<16xf32>, token
  %b = addf %a, %a rounding<nearest_even> : tile<16xf32>
  %u = store_view_tko weak %b, %tiles[%i] token=%t : tile<16xf32>, partition_view<tile=(16), padding_value = zero,
    tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
}
"""
OUTSIDE = """entry @outside(%x: tile<ptr<f32>>) {
  %far = constant <i32: 1000> : tile<i32>
  %p = offset %x, %far : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %v, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("double.mlir").write_text(DOUBLE)
    Path("outside.mlir").write_text(OUTSIDE)


def write(*jobs: dict[str, object]) -> None:
    Path("jobs.jsonl").write_text("\n".join(map(json.dumps, jobs)) + "\n")


def sizes(*numbers: int, **more: object) -> list[dict[str, object]]:
    base = {"program": "double.mlir", **more}
    return [{**base, "grid": [-(-n // 16)], "arguments": [f"f32[{n}]:arange", str(n)]} for n in numbers]


def tileir(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(words)
    seen = capsys.readouterr()
    return status, seen.out, seen.err


def test_a_sweep_is_run_listed_and_not_run_again(capsys: pytest.CaptureFixture[str]) -> None:
    write(*sizes(16, 40, 100), *sizes(16, 40, 100, target="interp"))
    assert tileir(capsys, "farm", "run", "s.db", "jobs.jsonl", "--workers", "1") == (0, "6 jobs: 6 done\n", "")
    status, out, _ = tileir(capsys, "farm", "results", "s.db", "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert status == 0 and [row["answer"]["arrays"]["x"]["high"] for row in found] == [30, 78, 198] * 2
    seconds = [row["figures"]["seconds"] for row in found]
    tileir(capsys, "farm", "run", "s.db", "jobs.jsonl")
    again = tileir(capsys, "farm", "results", "s.db", "--json")[1]
    assert [json.loads(line)["figures"]["seconds"] for line in again.splitlines()] == seconds
    assert "@double on interp f32[16]:arange 16: done: " in tileir(capsys, "farm", "results", "s.db")[1]


def test_a_trap_is_the_answer_of_a_job_and_the_status(capsys: pytest.CaptureFixture[str]) -> None:
    write(*sizes(16), {"program": "outside.mlir", "grid": 1, "arguments": ["f32[4]"]})
    ran = tileir(capsys, "farm", "run", "s.db", "jobs.jsonl", "--workers", "1")
    assert ran[:2] == (1, "2 jobs: 1 done, 1 failed\n")
    out = tileir(capsys, "farm", "results", "s.db", "--state", "failed")[1]
    assert "@outside on cpu f32[4]: failed: " in out and "outside" in out
    status = json.loads(tileir(capsys, "farm", "status", "s.db", "--json")[1])
    assert status == {"jobs": 2, "done": 1, "failed": 1, "conflicts": 0}


def test_a_job_that_takes_too_long_is_resumed_with_more_time(capsys: pytest.CaptureFixture[str]) -> None:
    write({"program": "double.mlir", "grid": [65535, 64], "arguments": ["f32[16]", "16"], "target": "interp"})
    command = ("farm", "run", "s.db", "jobs.jsonl", "--workers", "1", "--timeout", "0.5", "--tries", "1")
    assert tileir(capsys, *command)[:2] == (1, "1 job: 1 hung\n")
    assert "hung after 1 tries: no end after 0.5 s" in tileir(capsys, "farm", "results", "s.db")[1]
    assert tileir(capsys, "farm", "resume", "s.db")[:2] == (1, "1 job: 1 hung\n")
    options = ("--retry", "--timeout", "0.4", "--tries", "1", "--workers", "1")
    assert tileir(capsys, "farm", "resume", "s.db", *options)[:2] == (1, "1 job: 1 hung\n")
    assert "no end after 0.4 s" in tileir(capsys, "farm", "results", "s.db")[1]


def test_arrays_are_read_from_files_and_kept(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("a.npy", np.arange(16, dtype=np.float32))
    write({"program": "double.mlir", "grid": 1, "arguments": ["x=@a.npy", "n=16"], "keep": ["x"]})
    assert tileir(capsys, "farm", "run", "s.db", "jobs.jsonl", "--workers", "1")[0] == 0
    tileir(capsys, "farm", "results", "s.db", "--save", "kept")
    (path,) = Path("kept").iterdir()
    np.testing.assert_array_equal(np.load(path), 2.0 * np.arange(16))
    np.save("a.npy", np.ones(16, np.float32))
    assert tileir(capsys, "farm", "run", "s.db", "jobs.jsonl", "--workers", "1")[:2] == (0, "2 jobs: 2 done\n")


def test_a_file_that_has_changed_since_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    from tileir.farm.launching import launched

    np.save("a.npy", np.arange(16, dtype=np.float32))
    job = launch_job(load("double.mlir"), {"grid": 1, "arguments": ["x=@a.npy", "n=16"]})
    np.save("a.npy", np.ones(16, np.float32))
    with pytest.raises(UsageError, match="not what it was"):
        launched(json.loads(job.text), job.content)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"program": "double.mlir"}', "expected a field 'grid', got none"),
        ('{"program": "double.mlir", "grid": "4"}', "field 'grid': expected a number or a list of numbers"),
        ('{"program": "double.mlir", "grid": 1, "gird": 2}', "no field 'gird'; a launch has grid, kernel"),
        ('{"program": "double.mlir", "grid": 1, "target": "cup"}', "no target 'cup'; there are"),
        ('{"program": "double.mlir", "grid": 1, "arguments": [4]}', "field 'arguments': expected words"),
        ('{"program": "double.mlir", "grid": 1, "kernel": "k"}', "no kernel 'k'; the program has double"),
        ('{"program": "no.mlir", "grid": 1}', "cannot read 'no.mlir'"),
        ('{"grid": 1}', "expected a JSON object with a field 'program'"),
        ("[1]", "expected a JSON object"),
        ("{", "expected a JSON object, got what is no JSON (Expecting property name"),
        ("none", "expected a JSON object, got what is no JSON"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_made(line: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("jobs.jsonl").write_text(f"\n{line}\n")
    status, out, err = tileir(capsys, "farm", "run", "s.db", "jobs.jsonl")
    assert (status, out) == (2, "") and err.startswith(f"tileir farm: error: jobs.jsonl:2: {message}")
    assert not Path("s.db").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("status", "s.db"), "no store 's.db'"),
        (("run", "s.db"), "expected a file of jobs for 'run', and for nothing else"),
        (("run", "s.db", "jobs.jsonl", "--on", "moon"), "no workers 'moon': expected processes, dask"),
        (("run", "s.db", "jobs.jsonl", "--workers", "0"), "--workers: expected a positive number, got 0"),
        (("run", "s.db", "jobs.jsonl", "--tries", "0"), "--tries: expected a positive number, got 0"),
        (("status", "double.mlir"), "the store 'double.mlir': file is not a database"),
    ],
)
def test_wrong_usage_says_what_is_expected(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(*sizes(16))
    status, out, err = tileir(capsys, "farm", *words)
    assert (status, out) == (2, "") and err.startswith(f"tileir farm: error: {message}")
