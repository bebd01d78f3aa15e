"""Findings on faulty programs are made small with their arguments, and one command shows each again."""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.thorough import sampled
from tileir.cli import main
from tileir.fuzz import jobs, reducing
from tileir.fuzz.faulty import outcomes
from tileir.fuzz.faulty.draft import FaultyArray, FaultyProgram
from tileir.fuzz.faulty.outcomes import FaultyOutcome, GuardedArray
from tileir.fuzz.faulty.programs import program, with_launch_line, with_launch_read
from tileir.host import child

pytestmark = pytest.mark.skipif(not child.POSSIBLE, reason="this system cannot copy a process")
TEXT = """cuda_tile.module @m {
  entry @k(%out: tile<ptr<i32>>, %x: tile<ptr<f32>>, %by: tile<i32>) {
    %place = offset %x, %by : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %value, %read = load_ptr_tko weak %place : tile<ptr<f32>> -> tile<f32>, token
    %written = store_ptr_tko weak %out, %by : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""
FAULTY = FaultyProgram(TEXT, 2, [FaultyArray("out", "i32", 1), FaultyArray("x", "f32", 9, writable=False), 12], 7)
"""A load of element 12 of 9, among other things."""
OUTCOME = outcomes.outcome


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def native_code_that(monkeypatch: pytest.MonkeyPatch, ends: Callable[[FaultyOutcome], FaultyOutcome]) -> None:
    """Let every seed mean `FAULTY`, and native code end otherwise at loads; its processes are copies of this one."""

    def wrong(faulty: FaultyProgram, memories: list[GuardedArray | None], target: str) -> FaultyOutcome:
        found = OUTCOME(faulty, memories, target)
        stops = target == "cpu" and found.trap is not None and found.trap[1] == "load_ptr_tko"
        return ends(found) if stops else found

    monkeypatch.setattr(outcomes, "outcome", wrong)
    for user in (jobs, reducing):
        monkeypatch.setattr(user, "faulty_program", lambda seed: FAULTY)


def fuzz(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["fuzz", *words, "--workers", "1", "--tries", "1"])
    seen = capsys.readouterr()
    return status, seen.out, seen.err


def dies(found: FaultyOutcome) -> FaultyOutcome:
    os.kill(os.getpid(), signal.SIGKILL)
    return found


@pytest.mark.parametrize(
    ("ends", "name", "text"),
    sampled(
        [
            (
                lambda found: replace(found, trap=None),
                "cpu-difference-",
                "interp stops in load_ptr_tko, cpu does not\n",
            ),
            (dies, "cpu-crashed-", "SIGKILL"),
        ],
        2,
    ),
)
def test_a_finding_is_reduced_with_its_arguments_and_shown_again(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    ends: Callable[[FaultyOutcome], FaultyOutcome],
    name: str,
    text: str,
) -> None:
    native_code_that(monkeypatch, ends)
    status, out, _ = fuzz(capsys, "--source", "faulty", "--count", "1")
    (bucket,) = Path("fuzz-findings").iterdir()
    report = json.loads((bucket / "report.json").read_text())
    assert status == 1 and "1 program, 1 finding\n" in out
    assert bucket.name.startswith(name) and text in report["text"]
    assert report["command"] == "tileir fuzz --source faulty --first 0 --count 1"
    assert with_launch_read((bucket / "program.mlir").read_text()) == FAULTY
    small = with_launch_read((bucket / "reduced.mlir").read_text())
    assert small is not None and small.grid == 1
    assert small.arguments == [FaultyArray("x", "f32", 1), 1]
    assert "load_ptr_tko" in small.text and "store_ptr_tko" not in small.text and report["operations"] == 5
    monkeypatch.chdir(bucket)
    again, out, _ = fuzz(capsys, *shlex.split(report["reduced"])[2:])
    assert again == 1 and out.startswith(bucket.name)


def test_a_reduction_keeps_to_its_time(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    native_code_that(monkeypatch, lambda found: replace(found, trap=None))
    monkeypatch.setattr(reducing, "REDUCTION_SECONDS", 0.0)
    assert fuzz(capsys, "--source", "faulty", "--count", "1")[0] == 1
    (bucket,) = Path("fuzz-findings").iterdir()
    small = with_launch_read((bucket / "reduced.mlir").read_text())
    assert small is not None and small.arguments == FAULTY.arguments and "store_ptr_tko" in small.text


def test_a_program_is_read_with_what_it_is_launched_with() -> None:
    for seed in range(30):
        made = program(seed)
        assert with_launch_read(with_launch_line(made)) == made
    assert with_launch_read(TEXT) is None


def test_a_faulty_program_that_both_stop_at_is_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.mlir").write_text(with_launch_line(FAULTY))
    assert fuzz(capsys, "--program", "p.mlir") == (0, "1 program, 0 findings\n", "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "'// launch:': expected the JSON of a report of tileir fuzz: Expecting property name"),
        ('{"seed": 1, "grid": 0, "arguments": []}', "expected a number from 1 to 1048576, got 0"),
        ('{"seed": 1, "grid": 1, "arguments": [3]}', "'// launch:': expected 3 arguments, got 1"),
        ('{"seed": 1, "grid": 1, "arguments": [{"name": "x", "element": "i7", "count": 1}]}', "no element type 'i7'"),
        ('{"seed": 1, "grid": 1, "arguments": [{"size": 1}]}', "unexpected keyword argument 'size'"),
    ],
)
def test_a_damaged_line_says_what_is_expected(capsys: pytest.CaptureFixture[str], line: str, message: str) -> None:
    Path("p.mlir").write_text(f"// launch: {line}\n{TEXT}")
    status, out, err = fuzz(capsys, "--program", "p.mlir")
    assert (status, out) == (2, "") and err.startswith("tileir fuzz: error: ") and message in err


def test_targets_that_stop_elsewhere_say_in_which_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    trap = ("m", "store_ptr_tko", "p:1:1", "x", 12, (0, 0, 0))
    native_code_that(monkeypatch, lambda found: replace(found, trap=trap))
    said = outcomes.difference(FAULTY)
    assert said is not None and said.startswith("interp stops in load_ptr_tko, cpu in store_ptr_tko\ninterp: (")
    native_code_that(monkeypatch, lambda found: replace(found, trap=("m", *(found.trap or ())[1:])))
    assert (outcomes.difference(FAULTY) or "").startswith("both stop in load_ptr_tko, saying different things\n")
