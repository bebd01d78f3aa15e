"""`tileir fuzz` finds an engine that is wrong, dies or hangs, makes the program small, and shows it again."""

from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tileir
from tileir.cli import main
from tileir.farm.job import Attempt, Ending
from tileir.fuzz import engines
from tileir.fuzz.builder import ASKED, WEIGHED, ProgramBuilder
from tileir.fuzz.engines import EngineFinding, Reference
from tileir.fuzz.jobs import ProgramGrammar, program_of
from tileir.fuzz.reducing import findings_in, signature
from tileir.host import child
from tileir.ops import OPS, integer

pytestmark = pytest.mark.skipif(not child.POSSIBLE, reason="this system cannot copy a process")
ROOT = Path(__file__).parents[2]
FAST = ("--workers", "1", "--source", "valid")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def replaced(monkeypatch: pytest.MonkeyPatch, harm: Callable[[], object]) -> None:
    """Let the engine `cpu` do harm to programs with an exclusive or; its processes are copies of this one."""

    def engine(reference: Reference) -> str | None:
        found = any(isinstance(op, integer.XOrI) for op in reference.module.walk())
        return harm() if found else None  # type: ignore[return-value]

    monkeypatch.setitem(engines.OURS, "cpu", engine)


def fuzz(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["fuzz", *words])
    seen = capsys.readouterr()
    return status, seen.out, seen.err


def test_a_seed_means_one_program() -> None:
    texts = [tileir.to_text(program_of(seed, ProgramGrammar(14))) for seed in range(12)]
    assert (
        texts == [tileir.to_text(program_of(seed, ProgramGrammar(14))) for seed in range(12)] and len(set(texts)) == 12
    )


def test_kinds_come_as_often_as_their_weights_say() -> None:
    only = tuple((kind, 0) for kind in WEIGHED if kind not in ("atomic", "multiply"))
    counts = {"atomic_rmw_tko": 0, "mmai": 0}
    for seed in range(6):
        for op in program_of(seed, ProgramGrammar(40, (*only, ("atomic", 4)), swarm=1)).walk():
            counts[op.spec.name] = counts.get(op.spec.name, 0) + 1
    assert counts["atomic_rmw_tko"] > 2 * counts["mmai"] > 0 and "loop" not in counts and "load_ptr_tko" not in counts


def test_weights_and_swarms_are_part_of_a_job_and_of_its_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGKILL))
    words = (*FAST, "--engines", "cpu", "--weight", "binary=60", "--weight", "loop=0", "--swarm", "1", "--no-reduce")
    status, out, _ = fuzz(capsys, "--count", "6", "--tries", "1", *words)
    command = next(line.strip() for line in out.splitlines() if line.startswith("  tileir fuzz "))
    assert status == 1 and command.endswith("--weight binary=60 --weight loop=0 --swarm 1")
    assert fuzz(capsys, *shlex.split(command)[2:], "--workers", "1", "--tries", "1", "--no-reduce")[0] == 1


NOT_GENERATED = {
    "results are not fixed to the bit": (
        "atan2", "cos", "cosh", "exp", "exp2", "experimental$asin", "log", "log2", "pow", "rsqrt", "sin", "sinh", "tan",
        "tanh", "mmaf", "mmaf_scaled", "fpowi",
    ),
    "needs care for operands without a result": ("divi", "remi", "assume", "assert", "experimental$extern_elementwise"),
    "depends on addresses": ("ptr_to_int", "int_to_ptr", "ptr_to_ptr"),
    "is about several tile blocks, devices or launches": (
        "atomic_cas_tko", "gdc_launch_dependents_tko", "gdc_wait_tko", "get_num_tile_blocks", "get_tile_block_id",
        "memory_fence_alias_tko", "multimem_load_reduce_view_tko", "multimem_reduce_view_tko",
        "multimem_store_view_tko",
    ),
    "needs more than one function or memory beside the arrays": (
        "alloca", "experimental$call", "experimental$func", "preview$call", "get_global", "global",
    ),
    "takes no token, so what it reads beside stores to the array is not fixed": ("experimental$gather_load",),
}  # fmt: skip
"""The operations that no valid program of a seed has, by the reason. Those of faulty programs are others."""


@pytest.mark.thorough
def test_valid_programs_have_every_operation_but_those_that_are_named() -> None:
    made = {op.spec.name for seed in range(120) for op in program_of(seed, ProgramGrammar(40)).walk()}
    asked = ProgramGrammar(60, tuple((kind, 3) for kind in ASKED), swarm=1)
    made |= {op.spec.name for seed in range(12) for op in program_of(seed, asked).walk()}
    named = [name for names in NOT_GENERATED.values() for name in names]
    missing = set(OPS) - made
    assert missing == set(named) and len(named) == len(missing)


def test_every_kind_of_statement_is_made_and_a_swarm_lacks_some() -> None:
    assert all(hasattr(ProgramBuilder, name) for name in WEIGHED)
    used = [{op.spec.name for op in program_of(seed, ProgramGrammar(14)).walk()} for seed in range(60)]
    assert {"mmai", "atomic_rmw_tko", "scan", "loop", "for", "if", "load_view_tko"} <= set().union(*used)


def test_kinds_that_must_be_asked_for_leave_the_programs_of_seeds_alone() -> None:
    without = tuple((kind, 0) for kind in ASKED)
    for seed in range(12):
        usual, named = (tileir.to_text(program_of(seed, ProgramGrammar(14, weights))) for weights in ((), without))
        assert (usual == named) is True
    asked = {"fma", "remf", "bitcast", "join_tokens", "make_gather_scatter_view", "print_tko"}
    assert asked.isdisjoint(op.spec.name for seed in range(12) for op in program_of(seed, ProgramGrammar(14)).walk())


def test_our_engines_agree_on_programs_of_kinds_that_must_be_asked_for() -> None:
    grammar = ProgramGrammar(14, tuple((kind, 3) for kind in ASKED if kind != "large"))
    chosen = ("text", "bytecode", "interp-O2", "cpu", "cpu-O2")
    assert [found for seed in range(4) for found in engines.findings_of(program_of(seed, grammar), chosen)] == []


def test_our_engines_agree_on_programs_whose_vectors_live_while_they_wait(capsys: pytest.CaptureFixture[str]) -> None:
    weights = ("--weight", "wait=3", "--weight", "wide=4", "--weight", "gather=2")
    words = (*FAST, "--engines", "cpu", *weights, "--first", "16", "--count", "3", "--no-reduce")
    assert fuzz(capsys, *words) == (0, "3 programs, 0 findings\n", "")


def test_our_engines_agree_on_tiles_that_are_gone_through_in_strips(capsys: pytest.CaptureFixture[str]) -> None:
    words = (*FAST, "--engines", "cpu", "--weight", "large=20", "--first", "9", "--count", "2", "--no-reduce")
    assert fuzz(capsys, *words) == (0, "2 programs, 0 findings\n", "")


def test_our_engines_agree_on_some_programs(capsys: pytest.CaptureFixture[str]) -> None:
    ours = ",".join(engines.OURS)
    assert fuzz(capsys, "--count", "3", "--engines", ours, "--workers", "1") == (0, "6 programs, 0 findings\n", "")
    assert not Path("fuzz-findings").exists()


@pytest.mark.thorough
def test_a_difference_is_put_into_a_bucket_reduced_and_shown_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced(monkeypatch, lambda: "array 3 of int32: 5 became 7 at 12")
    status, out, _ = fuzz(capsys, *FAST, "--count", "5", "--statements", "4", "--engines", "cpu,text")
    (bucket,) = Path("fuzz-findings").iterdir()
    report = json.loads((bucket / "report.json").read_text())
    assert status == 1 and "5 programs, 1 finding\n" in out and report["engine"] == "cpu"
    small = tileir.load(bucket / "reduced.mlir")
    assert any(isinstance(op, integer.XOrI) for op in small.op.walk()) and report["operations"] <= 8
    words = shlex.split(report["command"])
    assert words[:2] == ["tileir", "fuzz"] and fuzz(capsys, *words[2:], "--no-reduce", "--workers", "1")[0] == 1
    monkeypatch.chdir(bucket)
    assert fuzz(capsys, *shlex.split(report["reduced"])[2:], "--workers", "1")[0] == 1


def test_other_faults_under_the_same_message_get_folders_of_their_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines.OURS, "cpu", lambda reference: "something is wrong")
    bodies = iter(("", "%a = iota : tile<8xi32>", "%b = make_token : token", "", "", ""))
    tried: list[str] = []

    def small(program: str, finding: EngineFinding, limits: object) -> str:
        tried.append(next(bodies))
        return f"entry @k() {{ {tried[-1]} }}"

    monkeypatch.setattr("tileir.cli.fuzz.reduced_program", small)
    status, out, _ = fuzz(capsys, *FAST, "--count", "8", "--engines", "cpu", "--statements", "1")
    folders = sorted(path.name for path in Path("fuzz-findings").iterdir())
    assert status == 1 and "8 programs, 1 finding\n" in out and len(tried) == 6
    assert [name.removeprefix(folders[0]) for name in folders] == ["", "-2", "-3"]
    assert "iota" in Path("fuzz-findings", folders[1], "reduced.mlir").read_text()


@pytest.mark.parametrize(
    ("harm", "kind", "text"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "crashed", "SIGKILL"),
        (lambda: time.sleep(100), "hung", "no end after 2 s"),
        (lambda: [][0], "error", "IndexError: list index out of range"),
    ],
)
def test_an_engine_that_dies_is_named(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    harm: Callable[[], object],
    kind: str,
    text: str,
) -> None:
    replaced(monkeypatch, harm)
    Path("p.mlir").write_text(
        "entry @k(%x: tile<ptr<i32>>) {\n  %a = constant <i32: 5> : tile<i32>\n  %b = xori %a, %a : tile<i32>\n}\n"
    )
    words = ("--program", "p.mlir", "--engines", "text,cpu", "--timeout", "2", "--tries", "1", "--workers", "1")
    status, out, _ = fuzz(capsys, *words)
    assert status == 1 and out.startswith(f"cpu-{kind}-") and text in out


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        ("raise SystemExit(0)", None),
        ("print('no register', file=sys.stderr); raise SystemExit(5)", ("refused", "status 5: no register")),
        ("os.kill(os.getpid(), 11)", ("crash", "ended by signal 11: ")),
        ("time.sleep(100)", ("hang", "no end after 1 s")),
    ],
)
def test_an_assembler_that_fails_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, finding: tuple[str, str] | None
) -> None:
    script = tmp_path / "assembler"
    listing = "print('13.1 13.3') if '--list-versions' in sys.argv else None"
    script.write_text(f"#!{sys.executable}\nimport os, sys, time\n{listing}\nif len(sys.argv) > 2: {body}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(engines, "require_program", lambda: script)
    monkeypatch.setattr(engines, "SECONDS", 1.0)
    monkeypatch.setattr(engines, "newest_version", engines.newest_version.__wrapped__)
    assert engines.newest_version() == "13.3"
    assert engines.assembler_finding(tileir.parse("entry @k() { }"), 3) == finding


def test_alike_findings_have_one_signature() -> None:
    one, other = (EngineFinding("cpu", "difference", text) for text in ("%a: 5 became -7.5e3", "%b1: nan became 0x1f"))
    assert signature(one) == signature(other) != signature(EngineFinding("cpu-O2", "difference", one.text))


def test_a_lost_worker_is_no_finding() -> None:
    assert findings_in(Attempt(Ending.LOST, "the worker was lost")) == []
    (found,) = findings_in(Attempt(Ending.CRASHED, "SIGSEGV", log="engine interp\nengine cpu\nxyz"))
    assert found == EngineFinding("cpu", "crashed", "SIGSEGV")


def test_what_was_tried_is_not_tried_again(capsys: pytest.CaptureFixture[str]) -> None:
    words = (*FAST, "--engines", "text", "--store", "s.db", "--count")
    assert fuzz(capsys, *words, "3")[1] == "3 programs, 0 findings\n"
    assert fuzz(capsys, *words, "5")[1] == "2 programs, 0 findings\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engines", "gpu"), "no engine 'gpu'; there are text, bytecode"),
        (("--seconds", "0"), "--seconds: expected a positive number, got 0.0"),
        (("--first", "-1"), "--first: expected a seed of at most 63 bits that is not negative, got -1"),
        (("--count", "0"), "--statements, --count: expected a positive number"),
        (("--program", "no.mlir"), "cannot read 'no.mlir'"),
    ],
)
def test_wrong_usage_says_what_is_expected(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    status, out, err = fuzz(capsys, *words)
    assert (status, out) == (2, "") and err.startswith(f"tileir fuzz: error: {message}")


PLUGGED = """
from tileir.ops import integer

def engine(reference):
    (kernel,) = reference.module.kernels.values()
    if any(isinstance(op, integer.XOrI) for op in reference.module.walk()):
        return f"{len(reference.trial.arrays)} arrays and an exclusive or in {kernel.name}"

def broken(reference):
    raise KeyError("x")

number = 5
"""


def test_an_engine_is_plugged_in_by_its_import_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plugged_engines.py").write_text(PLUGGED)
    monkeypatch.syspath_prepend(tmp_path)
    Path("p.mlir").write_text(
        "entry @k(%x: tile<ptr<i32>>) {\n  %a = constant <i32: 5> : tile<i32>\n  %b = xori %a, %a : tile<i32>\n}\n"
    )
    words = ("--program", "p.mlir", "--workers", "1", "--engines")
    status, out, _ = fuzz(capsys, *words, "cpu,plugged_engines:engine,plugged_engines:broken")
    assert status == 1 and "1 arrays and an exclusive or in k" in out and "KeyError: 'x'" in out
    report = json.loads(next(Path("fuzz-findings").glob("plugged_engines-engine-*/report.json")).read_text())
    assert report["command"] == "tileir fuzz --program program.mlir --engines plugged_engines:engine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module:engine", "No module named 'no_such_module'"),
        ("tests.fuzz.machines:ttir", "there are ttir_sm_80, ttir_sm_90"),
        ("json:nothing", "module 'json' has no attribute 'nothing'"),
        ("json:__name__", "expected a function of a reference, got str"),
        (":x", "Empty module name"),
    ],
)
def test_a_path_to_no_engine_is_refused(capsys: pytest.CaptureFixture[str], name: str, message: str) -> None:
    status, out, err = fuzz(capsys, "--count", "1", "--engines", name)
    assert (status, out) == (2, "") and err.startswith(f"tileir fuzz: error: no engine '{name}': {message}")


@pytest.mark.parametrize(("name", "packages"), [("ttir_sm_90", ("triton",)), ("hsaco_gfx942", ("triton", "tinygrad"))])
def test_machines_of_the_tests_run_as_engines(tmp_path: Path, name: str, packages: tuple[str, ...]) -> None:
    """In a process that ran no other tests: what their threads hold would be held for ever in a copy of it."""
    for package in packages:
        pytest.importorskip(package, reason=f"needs {package}")
    wanted = ("--count", "1", "--statements", "6", "--engines", f"tests.fuzz.machines:{name}")
    words = (sys.executable, "-m", "tileir", "fuzz", *FAST, *wanted, "--no-reduce", "--findings", str(tmp_path))
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (0, "1 program, 0 findings\n"), done.stderr


def test_a_machine_that_leaves_something_else_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton", reason="needs triton")
    from tests.targets import ttir

    real = ttir.outcome

    def wrong(*args: object, **kwargs: object) -> object:
        found = real(*args, **kwargs)  # type: ignore[arg-type]
        found.arrays[0].reshape(-1)[3] ^= 1
        return found

    monkeypatch.setattr(ttir, "outcome", wrong)
    (found,) = engines.findings_of(program_of(0, ProgramGrammar(4)), ["tests.fuzz.machines:ttir_sm_90"])
    assert found.kind == "difference" and found.text.startswith("array 0 of int32: ") and "1 differ" in found.text
