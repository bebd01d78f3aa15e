"""The server of the page: panes and their lines, limits, and who is answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import tileir
from tests.fuzz.serving import ADDRESS, ENDLESS, HONEST, LIMITS, Attacker, answers, attacked, served
from tileir.tools.serve import work
from tileir.tools.serve.limits import ServeLimits
from tileir.tools.serve.panes import PANES, page
from tileir.tools.serve.server import PageServer
from tileir.tools.serve.work import Busy, PageWorkers
from tileir.tools.serve.worker import answered

EXAMPLES = Path(tileir.__file__).parent / "examples"
SOFTMAX = (EXAMPLES / "softmax.mlir").read_text()
WORDS = "x=f32[4,1000]:randn y=f32[4,1000]:zeros rows=4 columns=1000"
EXP = 1 + SOFTMAX.split("%powers =")[0].count("\n")
GPU = pytest.mark.skipif(find_spec("triton") is None, reason="GPU panes need Triton")
FOLDED = """\
cuda_tile.module @m {
  entry @k(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %two = addi %one, %one : tile<i32>
    %t = store_ptr_tko weak %x, %two : tile<ptr<i32>>, tile<i32> -> token
  }
}
"""


def asked(pane: str, text: str = SOFTMAX, **fields: object) -> dict[str, Any]:
    return answered({"pane": pane, "text": text, **fields}, ServeLimits())


def rows(answer: dict[str, Any]) -> list[tuple[str, int]]:
    """Every line with that of the program."""
    assert "error" not in answer, answer
    found = []
    for part in answer["parts"]:
        texts = part["text"].split("\n")
        assert len(texts) == len(part["lines"])
        assert part["marks"] in ("", part["marks"][: len(texts)])
        found += zip(texts, part["lines"])
    return found


# ---------------------------------------------------------------- panes


@pytest.mark.parametrize(
    ("pane", "word"),
    [
        ("Tile IR", "= exp "),
        ("bytecode", "opcode: exp"),
        ("LLVM IR", "llvm.fma"),
        ("assembly", "fm"),
        pytest.param("TTIR", "__nv_expf", marks=GPU),
        pytest.param("TTGIR", "__nv_expf", marks=GPU),
        pytest.param("PTX", "ex2.approx", marks=GPU),
        pytest.param("SASS", "MUFU.EX2", marks=GPU),
    ],
)
def test_the_lines_of_a_pane_are_those_of_the_program(pane: str, word: str) -> None:
    found = rows(asked(pane))
    count = SOFTMAX.count("\n") + 1
    assert all(0 <= line <= count for _, line in found)
    assert [text for text, line in found if line == EXP and word in text], f"line {EXP} has no {word}"
    wrong = [text for text, line in found if word in text and line not in (0, EXP)]
    assert pane in ("LLVM IR", "assembly") or not wrong


TTIR = """tt.func public @fill(%x: !tt.ptr<f32>, %n: i32) {
  %lanes = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %ns = tt.splat %n : i32 -> tensor<16xi32>
  %inside = arith.cmpi slt, %lanes, %ns : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %at = tt.addptr %xs, %lanes : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %ones = arith.constant dense<1.0> : tensor<16xf32>
  tt.store %at, %ones, %inside : tensor<16x!tt.ptr<f32>>
  tt.return
}
"""


def test_a_program_may_be_ttir() -> None:
    store = next(row for row in rows(asked("Tile IR", TTIR)) if "store_ptr_tko" in row[0])
    assert store[1] == 8
    answer = asked("run", TTIR, grid="1", arguments="x=f32[10]:zeros n=10")
    assert [part["title"] for part in answer["parts"]] == ["x"] and "1." in answer["parts"][0]["text"]


def test_every_pane_is_tested() -> None:
    assert set(PANES) == {"Tile IR", "bytecode", "passes", "LLVM IR", "assembly", "TTIR", "TTGIR", "PTX", "SASS"}


def test_passes_show_what_they_change() -> None:
    answer = asked("passes", FOLDED, level=2)
    parts = {part["title"].split(":")[0]: part for part in answer["parts"]}
    part = parts["canonicalise"]
    marked = list(zip(part["marks"], part["text"].split("\n"), part["lines"]))
    assert [(mark, line) for mark, text, line in marked if "addi" in text] == [("-", 4)]
    assert any(mark == "+" and "constant <i32: 2>" in text for mark, text, _ in marked)
    chosen = asked("passes", FOLDED, level=0, passes="dce")
    assert chosen["parts"][0]["text"] == "nothing changes"
    assert "expected some of" in asked("passes", FOLDED, passes="nothing")["error"]


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_a_run_shows_its_arrays(target: str) -> None:
    answer = asked("run", FOLDED, grid="1", arguments="x=i32[2]:zeros", target=target)
    assert answer["parts"] == [{"title": "x", "text": "i32[2]\n[2 0]", "lines": [0, 0], "marks": ""}]


def test_a_trap_has_its_line() -> None:
    text = (
        'cuda_tile.module @m {\nentry @k() {\n%no = constant <i1: false> : tile<i1>\nassert %no, "no" : tile<i1>\n}\n}'
    )
    (found,) = asked("run", text)["diagnostics"]
    assert (found["line"], found["code"]) == (4, "trap")
    assert found["message"].startswith("assertion failed: no")


def test_what_is_printed_is_shown() -> None:
    body = '%n = constant <i32: 7> : tile<i32> %t = print_tko "n %d\\n", %n : tile<i32> -> token'
    text = f"cuda_tile.module @m {{ entry @k() {{ {body} }} }}"
    assert asked("run", text, grid="2")["parts"][0] == {
        "title": "printed",
        "text": "n 7\nn 7",
        "lines": [0, 0],
        "marks": "",
    }


def test_findings_of_the_sanitizer_have_their_lines() -> None:
    answer = asked("sanitize", FOLDED, grid="2", arguments="x=i32[1]:zeros")
    assert answer["parts"][0]["lines"] == [5]
    assert [(one["line"], one["code"]) for one in answer["diagnostics"]] == [(5, "race")]
    assert asked("sanitize", FOLDED, grid="1", arguments="x=i32[1]:zeros")["parts"][0]["text"] == "nothing found"


def test_a_faulty_program_has_diagnostics_and_no_parts() -> None:
    answer = asked("LLVM IR", SOFTMAX.replace("exp %shifted", "exq %shifted"))
    assert answer["parts"] == []
    assert any(one["line"] == EXP and one["hint"] for one in answer["diagnostics"])


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (None, "expected an object"),
        ({"text": 1}, "text: expected text"),
        ({"text": "", "level": "2"}, "level: expected a number"),
        ({"text": "", "pane": "nothing"}, "pane: expected one of"),
        ({"text": HONEST, "pane": "run", "grid": "a"}, "no argument for 'x'"),
        ({"text": HONEST, "pane": "run", "grid": "a", "arguments": "x=f32[1]"}, "grid: expected 1 to 3 positive"),
        ({"text": HONEST, "pane": "run", "arguments": "x=@/etc/passwd"}, "pages read no files"),
        ({"text": HONEST, "pane": "run", "arguments": "x=f32[99999999]"}, "67108864 at most"),
        ({"text": HONEST, "pane": "run", "arguments": "x=f32[1]", "target": "cuda"}, "target: expected cpu or interp"),
        ({"text": HONEST, "pane": "PTX", "arch": "sm_1"}, "sm_1"),
        ({"text": "cuda_tile.module @m { }", "pane": "assembly"}, "without kernels"),
    ],
)
def test_bad_requests_are_told_why(request_: object, words: str) -> None:
    if "PTX" in str(request_) and find_spec("triton") is None:
        words = "not available"
    assert words in answered(request_, ServeLimits())["error"]


# ---------------------------------------------------------------- the process


def test_a_process_that_works_opens_no_files() -> None:
    code = "from tileir.tools.serve.worker import refuse_files\nrefuse_files()\nopen('/etc/passwd')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "PermissionError: pages read no files" in ran.stderr


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    made = served()
    yield made
    made.shutdown()
    made.server_close()


def reply(attacker: Attacker, **fields: object) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(attacker.send(attacker.ask(**fields)).partition(b"\r\n\r\n")[2])
    return answer


def test_work_without_an_end_is_ended(server: PageServer) -> None:
    """By the interpreter: native code may have counted the turns of an empty loop to their limit by then."""
    attacker = Attacker(server)
    answer = reply(attacker, pane="run", text=ENDLESS, target="interp")
    assert [one["code"] for one in answer["diagnostics"]] == ["trap"]
    assert "more than 0.5 s" in answer["diagnostics"][0]["message"]


def test_more_time_than_there_is_ends_the_process() -> None:

    workers = PageWorkers(ServeLimits(seconds=0.01))
    try:
        assert "more time than the 0.01 seconds" in workers.answer(b"{}")["error"]
    finally:
        workers.close()


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system holds no process to its memory")
def test_more_memory_than_there_is_is_said() -> None:

    text = HONEST.replace("%n = constant <i32: 1> : tile<i32>", "%n = constant <f64: 1.0> : tile<16777216xf64>")
    workers = PageWorkers(ServeLimits(memory=900 << 20, seconds=30))
    try:
        request = {"text": text, "pane": "run", "target": "interp", "arguments": "x=f32[15000000]:randn"}
        answer = workers.answer(json.dumps(request).encode())
        assert "error" in answer or answer["parts"]
    finally:
        workers.close()


def test_the_address_is_needed_and_the_page_is_its_own(server: PageServer) -> None:
    answers(server)
    attacker = Attacker(server)
    assert server.url.startswith(f"http://{ADDRESS}:") and len(server.token) >= 32
    assert attacker.send(f"GET / HTTP/1.1\r\nHost: {attacker.host}\r\n\r\n".encode()).startswith(b"HTTP/1.0 404")
    other = attacker.send(f"GET {attacker.path} HTTP/1.1\r\nHost: evil.example\r\n\r\n".encode())
    assert other.startswith(b"HTTP/1.0 421")
    crossed = attacker.send(attacker.post(b"{}", Origin="http://evil.example"))
    assert crossed.startswith(b"HTTP/1.0 403") and b"Access-Control" not in crossed
    assert b"Content-Security-Policy" in crossed


def test_hostile_requests_leave_the_server_answering(server: PageServer) -> None:
    before = set(threads())
    kinds = attacked(server, 120, 0.05, seed=7)
    assert sum(kinds.values()) == 120 and len(kinds) >= 8, kinds
    answers(server)
    deadline = time.monotonic() + 30
    while server._open or len(set(threads()) - before) > 8:
        assert time.monotonic() < deadline, "connections or threads stay"
        time.sleep(0.1)


def threads() -> list[str]:
    return os.listdir("/proc/self/task") if os.path.isdir("/proc/self/task") else []


def test_too_many_requests_at_a_time_are_refused() -> None:

    workers = PageWorkers(ServeLimits(working=0, waiting=0))
    with pytest.raises(Busy):
        workers.answer(b"{}")
    workers.close()


# ---------------------------------------------------------------- the command


def test_a_process_that_starts_as_the_server_ends_finds_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """It did not where the folder went first: a traceback behind Ctrl-C."""
    begun, closed, real = threading.Event(), threading.Event(), subprocess.Popen

    def slow(*args: Any, **named: Any) -> subprocess.Popen[bytes]:
        begun.set()
        closed.wait(0.3)
        return real(*args, **named)

    monkeypatch.setattr(work.subprocess, "Popen", slow)
    workers = PageWorkers(ServeLimits())
    faults: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", faults.append)
    preparing = threading.Thread(target=workers.prepare)
    preparing.start()
    assert begun.wait(30)
    workers.close()
    closed.set()
    preparing.join(30)
    assert not faults
    with pytest.raises(Busy):
        workers.answer(b"")


def test_the_command_serves_a_file_until_it_is_interrupted(tmp_path: Path) -> None:
    import signal
    import urllib.request

    program = tmp_path / "p.mlir"
    program.write_text(HONEST.replace("@m", "@from_a_file"))
    command = [sys.executable, "-m", "tileir", "serve", str(program)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with urllib.request.urlopen(url, timeout=30) as shown:
            assert b"@from_a_file" in shown.read()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0 and "Traceback" not in errors, errors
    finally:
        process.kill()


def test_a_port_that_is_taken_is_told(server: PageServer, capsys: pytest.CaptureFixture[str]) -> None:
    from tileir.cli import main

    assert main(["serve", "--port", str(server.server_port)]) == 2
    assert "cannot serve at" in capsys.readouterr().err
    assert main(["serve", "--port", "70000"]) == 2


def test_panes_keep_the_names_of_the_program() -> None:
    assert [text for text, _ in rows(asked("Tile IR")) if text.strip().startswith("%powers = exp %shifted")]
    assert "%columns: tile<i32>" in asked("Tile IR")["parts"][0]["text"]


def test_arguments_that_work_come_with_each_kernel() -> None:
    words = asked("check")["kernels"][0]["arguments"]
    found = asked("run", arguments=words, target="interp")
    assert "error" not in found and [one["name"] for one in found["pictures"]] == ["x", "y"]
    assert asked("view", arguments=words)["document"].count("@softmax")


def test_words_of_a_line_and_codes_of_faults_are_explained() -> None:
    assert asked("explain", line=EXP)["parts"][0]["title"] == "exp"
    faulty = asked("explain", SOFTMAX.replace("= exp ", "= exq "))
    assert faulty["parts"][0]["title"] == faulty["diagnostics"][0]["code"]


def test_a_program_is_formatted_as_in_an_editor() -> None:
    assert asked("format", SOFTMAX.replace("    %powers =", "%powers  ="))["parts"][0]["text"] == SOFTMAX
    assert asked("format", "cuda_tile.module @m {")["parts"] == []


def test_the_package_is_read_where_only_an_import_hook_knows_its_folder(tmp_path: Path) -> None:
    """An editable installation may have one."""
    folder = Path(tileir.__file__).parent
    code = f"""
import importlib.util, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "tileir":
            return importlib.util.spec_from_file_location(name, {str(folder / "__init__.py")!r})
sys.path[:] = [one for one in sys.path if one not in ("", {str(folder.parent)!r})]
sys.meta_path.insert(0, Finder())
from tileir.tools.serve.worker import answered, refuse_files
from tileir.tools.serve.limits import ServeLimits
refuse_files()
text = open({str(folder / "examples/softmax.mlir")!r}).read()
print(answered({{"pane": "passes", "text": text}}, ServeLimits()).get("error", "fine"))
"""
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ran.stdout == "fine\n", ran.stderr


def test_the_real_end_of_a_process_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = {"sys.exit(3)": "status 3", "import os; os.kill(os.getpid(), 11)": "SIGSEGV"}
    for end, words in ends.items():
        monkeypatch.setattr(work, "_START", "import sys; sys.path[:] = {path!r}; sys.stdin.read(); " + end)
        workers = PageWorkers(LIMITS)
        try:
            assert words in workers.answer(b"{}")["error"]
        finally:
            workers.close()


def test_nothing_in_a_program_ends_a_script_of_the_page() -> None:
    text = "// </script><script>alert(1)</script> <!-- PROGRAM --> \u2028"
    made = page(text)
    assert made.count("</script>") == 3
    assert "alert(1)<" not in made and LIMITS.request
