"""Triton's compiler in a process of its own: what it refuses, and what it aborts on, leaves this process as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tileir.gpu import compiler, worker
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import CompileOptions, Service, compile_ttir
from tileir.ir.diagnostics import UnsupportedError

HOPPER = arch_named("sm_90")
EMPTY = """\
module {
"tt.func"() <{function_type = () -> (), sym_name = "k", sym_visibility = "public", arg_attrs = []}> ({
^bb0():
  "tt.return"() : () -> ()
}) : () -> ()
}
"""
ABORTS = """\
import os, sys
sys.stdin.buffer.read(8)
print("a line before", file=sys.stderr)
print("LLVM ERROR: something that nobody thought of", file=sys.stderr, flush=True)
os.abort()
"""


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """The service that `compile_ttir` asks, for one test."""
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    made = Service()
    monkeypatch.setattr(compiler, "_service", lambda: made)
    yield made
    made.close()


def cubin() -> bytes:
    found = compile_ttir(EMPTY, HOPPER, CompileOptions(), ["cubin"]).binary
    assert found is not None
    return found


def test_stages_are_what_was_asked_for(service: Service) -> None:
    made = compile_ttir(EMPTY, HOPPER, CompileOptions(num_warps=2), ["ttgir", "ptx"])
    assert made.binary is None
    assert set(made.texts) == {"ttgir", "ptx"}
    assert made.metadata["name"] == "k"
    assert ".reqntid 64" in made.texts["ptx"]


def test_what_is_no_ttir_is_refused_with_the_place(service: Service) -> None:
    wrong = EMPTY.replace('"tt.return"() : () -> ()', '"tt.nothing"() : () -> () loc("mine":3:4)')
    with pytest.raises(UnsupportedError, match=r'refused the kernel: .*loc\("mine":3:4\): error: .*tt\.nothing'):
        compile_ttir(wrong, HOPPER, CompileOptions(), ["cubin"])
    assert cubin()


def test_an_abort_ends_the_compilers_process_only(
    service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "aborts.py"
    program.write_text(ABORTS)
    with monkeypatch.context() as patch:
        patch.setattr(worker, "__file__", str(program))
        with pytest.raises(UnsupportedError, match="ended without an answer: LLVM ERROR: something that nobody"):
            cubin()
    assert cubin()


def test_a_process_that_has_gone_is_replaced(service: Service) -> None:
    first = cubin()
    assert service._process is not None
    service._process.kill()
    service._process.wait()
    assert cubin() == first


def test_an_interrupted_request_is_not_answered_to_the_next_one(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = cubin()
    with monkeypatch.context() as patch:

        def interrupted(stream: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(worker, "read_message", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compile_ttir(EMPTY.replace('"k"', '"other"'), HOPPER, CompileOptions(), ["ptx"])
    assert cubin() == first
