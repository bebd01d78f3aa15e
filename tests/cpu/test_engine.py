"""Machine code is loaded only if all that it calls is there, and made again if what makes it has changed."""

from __future__ import annotations

import ctypes
import gc
import re
from pathlib import Path
from queue import SimpleQueue
from typing import ClassVar

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite import ir

import tileir
from tileir.cpu.llvm import engine
from tileir.cpu.llvm.engine import CODE_MAKERS, REWRITERS, host, object_code
from tileir.cpu.llvm.object_files import UnknownObject, undefined_symbols
from tileir.cpu.llvm.printing import NativeFunction
from tileir.ir.diagnostics import UnsupportedError

CALLS = """
target triple = "{triple}"
declare void @{callee}()
define void @caller() {{
  call void @{callee}()
  ret void
}}
"""


def test_a_function_that_the_process_lacks_is_named() -> None:
    with pytest.raises(UnsupportedError, match="no_such_function"):
        object_code(CALLS.format(triple=host().triple, callee="no_such_function"), host())


def test_a_function_of_the_process_is_found() -> None:
    assert object_code(CALLS.format(triple=host().triple, callee="abort"), host())


SYSTEMS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "arm64-apple-macosx",
    "x86_64-pc-windows-msvc",
    "aarch64-pc-windows-msvc",
)

SYMBOLS = """
@data = external global double
@own = global double 1.0
declare void @short()
declare double @a_name_of_many_characters(double)
define internal void @inner() noinline { ret void }
define double @caller(double %x) {
  call void @short()
  call void @inner()
  %y = load double, ptr @data
  store double %y, ptr @own
  %z = call double @a_name_of_many_characters(double %y)
  ret double %z
}
"""


@pytest.mark.parametrize("triple", SYSTEMS)
def test_what_an_object_file_of_any_system_needs_is_read(triple: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(reloc="pic")
    module = llvm.parse_assembly(f'target triple = "{triple}"\n{SYMBOLS}')
    needed = {*undefined_symbols(machine.emit_object(module))}
    assert needed == {"short", "data", "a_name_of_many_characters"}


def test_an_object_file_of_another_format_is_refused() -> None:
    with pytest.raises(UnknownObject, match="got one that begins with 0061736d"):
        undefined_symbols(b"\0asm" + bytes(100))


def test_code_in_the_cache_depends_on_all_that_makes_code() -> None:
    package = Path(tileir.__file__).parent
    makers = {*CODE_MAKERS, *REWRITERS}
    sources = [path.read_text() for part in makers for path in (package / part).rglob("*.py")]
    imported = {part for source in sources for part in re.findall(r"^from tileir\.(\w+)", source, re.MULTILINE)}
    assert "cpu" in imported
    assert imported <= {*makers, "cache"}


@pytest.mark.parametrize("part", REWRITERS)
def test_a_change_of_what_rewrites_is_one_for_rewritten_code_only(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*CODE_MAKERS, *REWRITERS):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "inner" / "rules.py").write_text(name)
    plain, rewriting = _digests(tmp_path, monkeypatch)
    (tmp_path / part / "inner" / "rules.py").write_text(part[::-1])
    assert _digests(tmp_path, monkeypatch)[0] == plain
    assert _digests(tmp_path, monkeypatch)[1] != rewriting


@pytest.mark.parametrize("part", CODE_MAKERS)
def test_a_change_of_what_makes_code_is_one_for_all_code(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / part).mkdir()
    (tmp_path / part / "rules.py").write_text("before")
    before = _digests(tmp_path, monkeypatch)
    (tmp_path / part / "rules.py").write_text("behind")
    assert all(old != new for old, new in zip(before, _digests(tmp_path, monkeypatch)))


def _digests(package: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Those of a new process, of code that is made of programs as they are and of rewritten ones."""
    monkeypatch.setattr(engine, "_PACKAGE", package)
    engine._part_digest.cache_clear()
    found = [engine._sources(parts) for parts in (CODE_MAKERS, (*CODE_MAKERS, *REWRITERS))]
    engine._part_digest.cache_clear()
    return found


def test_compiled_and_dropped_kernels_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """LLVM's passes were never freed: some 80 KB for each kernel that was compiled."""
    array = np.zeros(1, np.float32)
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path))

    def launch(number: int) -> None:
        text = f"""entry @k(%p: tile<ptr<f32>>) {{
          %c = constant <f32: {number}.0> : tile<f32>
          %t = store_ptr_tko weak %p, %c : tile<ptr<f32>>, tile<f32> -> token
          return
        }}"""
        tileir.parse(text)["k"].launch(1, array, target="cpu")

    def grown(first: int, count: int) -> int:
        before = taken_from_malloc()
        for number in range(first, first + count):
            launch(number)
        gc.collect()
        launch(first + count)  # frees the code of what was collected
        return taken_from_malloc() - before

    grown(0, 10)
    assert grown(10, 30) < 30 * 16_384


def test_the_collector_takes_no_code_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ran LLVM's own finalizer on whatever thread it was on, while another thread did the same for good reason."""
    dropped: SimpleQueue[llvm.ExecutionEngine] = SimpleQueue()
    monkeypatch.setattr(engine, "_dropped", lambda: dropped)
    code = object_code(CALLS.format(triple=host().triple, callee="abort"), host())
    kept: list[object] = [engine.Loaded(code, host(), ("caller",))]
    kept.append(kept)
    del kept
    gc.collect()
    left = dropped.get_nowait()
    assert not left.closed
    dropped.put(left)
    object_code(CALLS.format(triple=host().triple, callee="abort"), host())
    assert left.closed


def taken_from_malloc() -> int:
    """Bytes in use that LLVM and Python have from the C library."""
    mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo is None:
        pytest.skip("the C library does not say how much memory is in use")
    mallinfo.restype = MallInfo
    return int(mallinfo().in_use)


class MallInfo(ctypes.Structure):
    """The result of `mallinfo2` of the GNU C library."""

    _fields_: ClassVar = [
        (name, ctypes.c_size_t) for name in ("a", "b", "c", "d", "e", "f", "g", "in_use", "free", "top")
    ]


def every_usual_instruction(kind: type[ir.Function]) -> str:
    """A module with a function of that kind, in LLVM's language."""
    module, i64, vector = ir.Module("m"), ir.IntType(64), ir.VectorType(ir.FloatType(), 4)
    function = kind(module, ir.FunctionType(i64, [ir.PointerType(), i64, vector]), "f")
    place, number, floats = function.args
    start, body, end = (function.append_basic_block(name) for name in ("start", "body", "with space"))
    builder = ir.IRBuilder(start)
    cell = builder.alloca(i64)
    builder.store(builder.add(number, i64(1), flags=("nuw", "nsw")), cell, align=8)
    builder.branch(body)
    builder.position_at_end(body)
    turn = builder.phi(i64)
    turn.add_incoming(i64(0), start)
    at = builder.gep(
        builder.gep(place, [turn], inbounds=True, source_etype=vector), [i64(3)], source_etype=ir.IntType(8)
    )
    found = builder.fadd(builder.load(at, typ=vector, align=4), floats, flags=("fast",))
    found = builder.select(builder.fcmp_ordered("<", found, floats, flags=("nnan",)), found, builder.fneg(floats))
    single = builder.extract_element(found, ir.IntType(32)(2))
    found = builder.insert_element(found, single, ir.IntType(32)(0))
    order = ir.Constant(ir.VectorType(ir.IntType(32), 4), [3, 2, 1, 0])
    builder.store(builder.shuffle_vector(found, floats, order), at)
    builder.call(ir.Function(module, ir.FunctionType(ir.VoidType(), [i64]), "g"), [builder.fptosi(single, i64)])
    following = builder.add(turn, i64(1))
    turn.add_incoming(following, body)
    builder.cbranch(builder.icmp_signed("<", following, builder.load(cell)), body, end).set_weights([1, 9])
    ir.IRBuilder(end).ret(following)
    return str(module)


def test_functions_that_are_written_out_faster_say_what_llvmlites_say():
    ours, theirs = (str(llvm.parse_assembly(every_usual_instruction(kind))) for kind in (NativeFunction, ir.Function))
    assert ours == theirs and "!prof" in ours
