"""``tileir check``: what is reported, in which form, with which status."""

import json
import os
import threading
from pathlib import Path

import pytest

WRONG = """\
cuda_tile.module @m {
  entry @k(%a: tile<4xi32>) {
    %b = addf %a, %a : tile<4xi32>
    %c = iota : tile<2x2xi32>
  }
}
"""
RIGHT = "cuda_tile.module @m {\n  entry @k() {\n  }\n}\n"


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    (tmp_path / "wrong.mlir").write_text(WRONG)
    return "wrong.mlir"


@pytest.fixture
def right(tmp_path: Path) -> str:
    (tmp_path / "right.mlir").write_text(RIGHT)
    return "right.mlir"


def test_a_right_program_is_said_to_be(tileir, right: str) -> None:
    ran = tileir("check", right)
    assert ran.status == 0
    assert ran.out == "right.mlir: ok, 1 entry, 3 operations\n"


def test_every_fault_is_shown_with_line_and_caret(tileir, wrong: str) -> None:
    ran = tileir("check", wrong)
    assert ran.status == 1
    lines = ran.out.splitlines()
    places = [line.split(": error[")[0] for line in lines if ": error[" in line]
    assert len(places) >= 3
    assert {place.split(":")[1] for place in places} == {"2", "3", "4"}
    assert "    %b = addf %a, %a : tile<4xi32>" in "\n".join(lines)
    assert any(line.strip(" |~") == "^" for line in lines)
    assert lines[-2].endswith("errors in 1 program")
    assert lines[-1] == "'tileir explain E0811 E0203 E0407' says more"


def test_all_files_are_checked_even_after_a_wrong_one(tileir, wrong: str, right: str) -> None:
    ran = tileir("check", wrong, right)
    assert ran.status == 1
    assert "right.mlir: ok" in ran.out


def test_json_gives_the_same_as_data(tileir, wrong: str, right: str) -> None:
    ran = tileir("check", "--json", right, wrong)
    assert ran.status == 1
    data = json.loads(ran.out)
    assert data["ok"] is False
    assert [(one["file"], one["ok"]) for one in data["programs"]] == [("right.mlir", True), ("wrong.mlir", False)]
    first = data["programs"][1]["diagnostics"][0]
    assert first["line"] == 2
    assert first["code"].startswith("E")
    assert {"column", "message", "severity", "expected", "got", "notes", "op", "hint"} <= first.keys()


def test_standard_input_is_a_dash(tileir) -> None:
    ran = tileir("check", "-", stdin=WRONG.encode())
    assert ran.status == 1
    assert "<stdin>:3:" in ran.out


def test_syntax_faults_are_shown_too(tileir) -> None:
    ran = tileir("check", "-", stdin=b"cuda_tile.module @m { entry @k( {")
    assert ran.status == 1
    assert "error[E01" in ran.out


@pytest.mark.parametrize("junk", [b"\xff\xfe\x00", b"\x7fTileIR\x00junk", b"\x00" * 64, b"%" * 1000, b"{" * 100_000])
def test_junk_gives_a_diagnostic(tileir, junk: bytes) -> None:
    ran = tileir("check", "-", stdin=junk)
    assert ran.status == 1
    assert "error[E" in ran.out


def test_parts_of_a_file_are_checked_one_by_one_and_keep_their_positions(tileir) -> None:
    text = f"{RIGHT}// -----\n{WRONG}// -----\n{RIGHT}"
    ran = tileir("check", "--split-input-file", "-", stdin=text.encode())
    assert ran.status == 1
    assert ran.out.count("<stdin>: ok") == 2
    assert "<stdin>:8:" in ran.out
    assert "errors in 3 programs" in ran.out


def test_the_level_decides(tileir) -> None:
    text = RIGHT.replace("{\n  }", "{\n    %t0 = make_token : token\n    %t1 = gdc_wait_tko token = %t0 -> token\n  }")
    assert tileir("check", "-", stdin=text.encode()).status == 0
    assert tileir("check", "--level", "13.3", "-", stdin=text.encode()).status == 1


HINTED = "entry @k() optimization_hints=<sm_90 = {latency = 2}> {\n}\n"


@pytest.mark.parametrize(("options", "said"), [((), "ok, 1 entry"), (("--warn-hints",), "warning[W0832]")])
def test_hints_without_effect_are_warned_of_when_asked_for(tileir, tmp_path: Path, options, said: str) -> None:
    (tmp_path / "hinted.mlir").write_text(HINTED)
    ran = tileir("check", *options, "hinted.mlir")
    assert ran.status == 0 and said in ran.out
    assert ("W0832" in ran.out) == bool(options)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no such device")
@pytest.mark.parametrize("verb", ["check", "opt", "dis"])
def test_a_file_without_an_end_is_refused_by_its_beginning(tileir, verb: str) -> None:
    for device in ("/dev/zero", "/dev/urandom"):
        ran = tileir(verb, device)
        assert ran.status == 1
        said = ran.out + ran.err
        # By chance random bytes begin as bytecode does, one time in 256.
        begins_alike = device == "/dev/urandom" and "expected the magic number 7f 54" in said
        assert f"{device}: expected text in UTF-8 or Tile IR bytecode, got byte 0x" in said or begins_alike


@pytest.mark.parametrize("verb", ["check", "opt", "dis"])
def test_a_file_that_is_too_large_is_refused(tileir, tmp_path: Path, verb: str, monkeypatch) -> None:
    monkeypatch.setattr("tileir.runtime.loading.MAX_BYTES", 1 << 20)
    (tmp_path / "large.mlir").write_bytes(b" " * (1 << 21))
    ran = tileir(verb, "large.mlir")
    assert ran.status == 1
    assert "expected at most 1048576 bytes, got more" in ran.out + ran.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_program_may_come_through_a_pipe(tileir, tmp_path: Path, right: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=((tmp_path / right).read_bytes(),))
    writer.start()
    assert tileir("check", "pipe").status == 0
    writer.join()


@pytest.mark.parametrize("verb", ["check", "opt", "dis", "run"])
def test_a_folder_is_refused(tileir, tmp_path: Path, verb: str) -> None:
    (tmp_path / "folder").mkdir()
    more = ("--grid", "1") if verb == "run" else ()
    ran = tileir(verb, "folder", *more)
    assert ran.status == 2
    assert "cannot read 'folder': is a directory" in ran.err


def test_a_name_that_no_file_can_have_is_refused(tileir) -> None:
    ran = tileir("check", "a\0b")
    assert ran.status == 2
    assert "cannot read" in ran.err


def test_sarif_has_every_fault_at_its_place(tileir, wrong: str, right: str) -> None:
    ran = tileir("check", "--format", "sarif", right, wrong)
    assert ran.status == 1
    log = json.loads(ran.out)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    faults = json.loads(tileir("check", "--json", wrong).out)["programs"][0]["diagnostics"]
    assert [result["ruleId"] for result in run["results"]] == [fault["code"] for fault in faults]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == faults[0]["file"]
    assert place["region"] == {"startLine": faults[0]["line"], "startColumn": faults[0]["column"]}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {fault["code"] for fault in faults}
    assert json.loads(tileir("check", "--format", "sarif", right).out)["runs"][0]["results"] == []
