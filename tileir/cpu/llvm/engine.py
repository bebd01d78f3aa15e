"""LLVM: the host it compiles for, the passes that a module gets, and machine code in memory.

Half of a compile, and more, is LLVM's. Work that a module does not need is left out:

* Its standard passes find vectors, which our loops are made for already. A module gets five passes in a tenth of the
  time. They do without the combining of instructions, most of which code generation does once more. Only code that may
  be set aside, coroutines, gets the standard ones, which take it apart: less of them makes that code a fifth slower.
* Code generation begins with a search for cheaper induction variables (loop strength reduction), which took a third
  of its time or more. Our own loops are as fast without it, within the scatter but for a few.
* When registers are chosen, instructions are put in another order once more, a fourteenth of code generation.
  Processors that reorder instructions themselves gain nothing by it.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import pickle
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypeVar
from weakref import finalize

import llvmlite
import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from tileir.cpu.llvm.object_files import undefined_symbols
from tileir.host.background import in_background
from tileir.host.child import end_with_parent, ending
from tileir.ir.diagnostics import UnsupportedError

T = TypeVar("T")
_PACKAGE = Path(__file__).parents[2]
CODE_MAKERS = ("analysis", "cpu", "host", "ir", "numerics", "ops")
"""The parts of the package that machine code depends on: code in the cache is not used after a change in one."""
REWRITERS = ("interp", "passes")
"""The parts that a program depends on which is rewritten before it becomes code."""

MATRIX_UNIT = ("avx512f", "avx512bf16", "avx512vnni", "amx-tile", "amx-bf16", "amx-int8")
"""Features of a processor whose matrix unit is used, for what the vectors beside it can do as well."""


@dataclass(frozen=True)
class Host:
    """The processor that code is made for: LLVM's name of it and its features, and how wide its vectors are."""

    triple: str
    cpu: str
    features: str
    vector_bits: int
    has_bf16_dot: bool
    has_int8_dot: bool
    has_matrix_unit: bool
    has_f16_conversion: bool
    has_fma: bool
    """True if one instruction multiplies and adds with one rounding; elsewhere each element needs a call."""

    @property
    def is_arm(self) -> bool:
        """True on AArch64."""
        return self.triple.startswith(("aarch64", "arm64"))

    @property
    def is_x86(self) -> bool:
        """True on x86-64."""
        return self.triple.startswith("x86_64")

    @property
    def has_masks(self) -> bool:
        """True if vectors can be loaded and stored under a mask, and gathered (AVX-512)."""
        return self.vector_bits == 512

    @property
    def has_scaling(self) -> bool:
        """True if one instruction multiplies floats by powers of 2 (AVX-512); elsewhere each takes a call."""
        return self.vector_bits == 512


@cache
def host() -> Host:
    """Return the machine that this process runs on."""
    return _away(_host)


def _host() -> Host:
    found = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    bits = 512 if found.get("avx512f") else 256 if found.get("avx2") else 128
    return Host(
        triple=triple,
        cpu=llvm.get_host_cpu_name(),
        features=found.flatten(),
        vector_bits=bits,
        has_bf16_dot=bool(found.get("avx512bf16") or found.get("bf16")),
        has_int8_dot=bool(found.get("avx512vnni") or (found.get("dotprod") and found.get("i8mm"))),
        has_matrix_unit=all(map(found.get, MATRIX_UNIT)) and _may_use_matrix_unit(),
        has_f16_conversion=bool(found.get("f16c", not triple.startswith("x86_64"))),
        has_fma=bool(found.get("fma", not triple.startswith("x86_64"))),
    )


@cache
def _initialized() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def toolchain(rewrites: bool = False) -> str:
    """Return everything that machine code depends on besides the program: this package, including what `rewrites` if
    requested, LLVM, the processor."""
    llvm_version = ".".join(map(str, llvm.llvm_version_info))
    sources = _sources((*CODE_MAKERS, *REWRITERS) if rewrites else CODE_MAKERS)
    return f"tileir {sources}, llvmlite {llvmlite.__version__}, LLVM {llvm_version}, {host()}"


def _sources(parts: Iterable[str]) -> str:
    """Return a digest of the code that makes code, and of what it builds on."""
    return hashlib.sha256("".join(map(_part_digest, parts)).encode()).hexdigest()


@cache
def _part_digest(part: str) -> str:
    """Return a digest of a part of the package. Code that is rewritten first and code that is not have most parts in
    common, which are read once."""
    digest = hashlib.sha256()
    for path in sorted(str(path) for path in (_PACKAGE / part).rglob("*.py")):
        with open(path, "rb", buffering=0) as file:
            digest.update(file.read())
    return digest.hexdigest()


def target_machine(host: Host) -> llvm.TargetMachine:
    _initialized()
    features = host.features
    if host.vector_bits == 512:
        features += ",-prefer-256-bit"
    target = llvm.Target.from_triple(host.triple)
    return target.create_target_machine(cpu=host.cpu, features=features, opt=2, reloc="pic", codemodel="default")


@cache
def data_layout(host: Host) -> str:
    """Return the data layout of the host, as LLVM spells it."""
    return _away(lambda: str(target_machine(host).target_data))


def optimized(ir_text: str, host: Host) -> llvm.ModuleRef:
    """Return the module of `ir_text` after the passes that it needs."""
    module = llvm.parse_assembly(ir_text)
    module.verify()
    _optimise(module, _pass_builder(host), is_coroutine(ir_text))
    return module


@cache
def _machine(host: Host) -> llvm.TargetMachine:
    """Return a target machine for all modules: reading the list of processor features takes milliseconds."""
    return target_machine(host)


def object_code(ir_text: str, host: Host) -> bytes:
    """Return position-independent machine code of a module.

    Raises UnsupportedError if it calls a function that this process does not have: the loader would take 0 for it.
    """
    code = (_from_child(ir_text, host) if is_large(ir_text) else None) or _away(lambda: _emitted(ir_text, host))
    missing = _away(lambda: [name for name in undefined_symbols(code) if not _is_in_process(name)])
    if missing:
        raise UnsupportedError(f"the compiled kernel needs {', '.join(missing)}, which this process lacks", "cpu")
    return code


def _emitted(ir_text: str, host: Host) -> bytes:
    if not host.has_f16_conversion:
        ir_text += CONVERSIONS
    return _generated(ir_text, host, _machine(host).emit_object)


def _generated(ir_text: str, host: Host, emit: Callable[[llvm.ModuleRef], T]) -> T:
    """Return the result of `emit` on the optimised module."""
    module = optimized(ir_text, host)
    with _with_fewer_passes():
        return emit(module)


def _is_in_process(name: str) -> bool:
    """Return whether LLVM's loader would find a function of that name in the process."""
    llvm.load_library_permanently("")  # the process itself, which LLVM does not search otherwise
    return llvm.address_of_symbol(name) is not None


def optimized_text(ir_text: str, host: Host) -> str:
    """Return the module after optimisation, in LLVM's language."""
    return _away(lambda: str(optimized(ir_text, host)))


def assembly(ir_text: str, host: Host) -> str:
    """Return the machine code of a module as assembly text."""
    return _away(lambda: _generated(ir_text, host, _machine(host).emit_assembly))


class Loaded:
    """Machine code mapped into this process, with the addresses of some functions in it. Keep it alive while the code
    may run."""

    def __init__(self, code: bytes, host: Host, names: Iterable[str]) -> None:
        engine, self.addresses = _away(lambda: _loaded(code, host, names))
        # Nothing that Python may collect holds the engine: its own finalizer would take it apart there and then.
        finalize(self, _dropped().put, engine).atexit = False


def _loaded(code: bytes, host: Host, names: Iterable[str]) -> tuple[llvm.ExecutionEngine, dict[str, int]]:
    """Link compiled code. This avoids reading the processor features, which takes most of the time, and compiling the
    module that an engine requires, which takes most of the rest.
    """
    _initialized()
    machine = llvm.Target.from_triple(host.triple).create_target_machine(reloc="pic", codemodel="default")
    nothing = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(nothing, machine)
    engine.remove_module(nothing)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine, {name: int(engine.get_function_address(name)) for name in names}


# ---------------------------------------------------------------- calls of LLVM


@cache
def _dropped() -> SimpleQueue[llvm.ExecutionEngine]:
    """Return engines that nobody needs any more."""
    return SimpleQueue()


def _away(function: Callable[[], T]) -> T:
    """Return the result of `function`, which calls LLVM.

    Never on the thread that handles signals, nor are engines taken apart there: an interrupt in the middle would leave
    llvmlite's lock taken for ever, or have something freed twice.
    """

    def call() -> T:
        with suppress(Empty):
            while True:
                _dropped().get_nowait().close()
        return function()

    return in_background(call)


# ---------------------------------------------------------------- large modules


LARGE = 1 << 13
"""Lines of a module beyond which LLVM may take longer than an interrupt can wait. A thread cannot be ended; a process
can."""
_START = "import sys; sys.path[:] = {path!r}; from tileir.cpu.llvm.engine import serve; serve()"


def is_large(ir_text: str) -> bool:
    """Return whether `object_code` compiles a module in a child process, which an interrupt ends."""
    return ir_text.count("\n") > LARGE


def _from_child(ir_text: str, host: Host) -> bytes | None:
    """Return the machine code that a child process makes; None if this process can have no such child.

    Raises UnsupportedError if LLVM dies of the module.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    command = [sys.executable, "-c", _START.format(path=sys.path)]
    pipe, none = subprocess.PIPE, subprocess.DEVNULL
    try:
        # Ctrl-C at a terminal goes to this process alone: a handler may choose to go on.
        child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=none, start_new_session=True)
    except OSError:
        return None
    assert child.stdin is not None and child.stdout is not None
    try:
        with child.stdout, suppress(BrokenPipeError), child.stdin:
            child.stdin.write(pickle.dumps((os.getpid(), ir_text, host)))
            child.stdin.close()
            code = child.stdout.read()
    except BaseException:
        child.kill()
        raise
    finally:
        status = child.wait()
    if status < 0:
        raise UnsupportedError(f"LLVM does not compile the kernel: {ending(status)}", "cpu")
    return code if status == 0 else None


def serve() -> None:
    """Compile the module on standard input, as the child of the process that it names."""
    parent, ir_text, host = pickle.load(sys.stdin.buffer)
    end_with_parent(parent)
    sys.stdout.buffer.write(_emitted(ir_text, host))


# ---------------------------------------------------------------- passes


_LEFT_OUT = {"-disable-lsr": ("", "=0"), "-post-RA-scheduler": ("=0", "=1")}
"""LLVM's switches that leave work out, with what switches it off and on again."""


def is_coroutine(ir_text: str) -> bool:
    """Return whether a module contains coroutines, so that its code may be set aside."""
    return "@llvm.coro." in ir_text or '@"llvm.coro.' in ir_text


@cache
def _pass_builder(host: Host) -> llvm.PassBuilder:
    """Return what makes the standard passes at level 1.

    One serves all modules: llvmlite does not free all that goes with each.
    """
    tuning = llvm.PipelineTuningOptions(speed_level=1)
    tuning.loop_vectorization = tuning.loop_interleaving = tuning.slp_vectorization = tuning.loop_unrolling = False
    return llvm.create_pass_builder(_machine(host), tuning)


def _optimise(module: llvm.ModuleRef, builder: llvm.PassBuilder, with_all: bool) -> None:
    """Run the standard passes over a module, or the few that it needs."""
    manager = builder.getModulePassManager() if with_all else _few_passes()
    manager.run(module, builder)
    # llvmlite's own way to free it leads to a method that does nothing (ObjectRef stands before NewPassManager).
    NewPassManager._dispose(manager)
    manager.detach()


def _few_passes() -> llvm.ModulePassManager:
    manager = llvm.create_new_module_pass_manager()
    manager.add_always_inliner_pass()
    manager.add_sroa_pass()
    manager.add_simplify_cfg_pass()
    manager.add_sccp_pass()
    manager.add_dead_code_elimination_pass()
    return manager


@contextmanager
def _with_fewer_passes() -> Iterator[None]:
    """Generate code, inside the block, without LLVM's search for cheaper induction variables and without its second
    scheduling of instructions.

    The switches are one for the process: whatever else uses llvmlite meanwhile, on another thread, gets code without
    these too, which is as right.
    """
    for switch, (off, _) in _LEFT_OUT.items():
        llvm.set_option("", switch + off)
    try:
        yield
    finally:
        for switch, (_, on) in _LEFT_OUT.items():
            llvm.set_option("", switch + on)


# ---------------------------------------------------------------- conversions of f16, called where no instruction does


CONVERSIONS = """
define float @__extendhfsf2(half %number) {
  %short = bitcast half %number to i16
  %bits = zext i16 %short to i32
  %magnitude = and i32 %bits, 32767
  %placed = shl i32 %magnitude, 13
  %scaled = bitcast i32 %placed to float
  %finite = fmul float %scaled, 0x46F0000000000000
  %finite.bits = bitcast float %finite to i32
  %is.special = icmp uge i32 %magnitude, 31744
  %special = or i32 %placed, 2139095040
  %is.nan = icmp ugt i32 %magnitude, 31744
  %quiet = select i1 %is.nan, i32 4194304, i32 0
  %special.bits = or i32 %special, %quiet
  %unsigned = select i1 %is.special, i32 %special.bits, i32 %finite.bits
  %negative = and i32 %bits, 32768
  %sign = shl i32 %negative, 16
  %result = or i32 %unsigned, %sign
  %float = bitcast i32 %result to float
  ret float %float
}

define half @__truncsfhf2(float %number) {
  %bits = bitcast float %number to i32
  %magnitude = and i32 %bits, 2147483647
  %last = lshr i32 %magnitude, 13
  %odd = and i32 %last, 1
  %carry = add i32 %odd, 4095
  %rounded = add i32 %magnitude, %carry
  %shifted = lshr i32 %rounded, 13
  %normal = sub i32 %shifted, 114688
  %small = bitcast i32 %magnitude to float
  %anchored = fadd float %small, 0.5
  %anchored.bits = bitcast float %anchored to i32
  %subnormal = sub i32 %anchored.bits, 1056964608
  %is.small = icmp ult i32 %magnitude, 947912704
  %finite = select i1 %is.small, i32 %subnormal, i32 %normal
  %is.large = icmp uge i32 %magnitude, 1199566848
  %bounded = select i1 %is.large, i32 31744, i32 %finite
  %is.nan = icmp ugt i32 %magnitude, 2139095040
  %payload = and i32 %last, 1023
  %nan = or i32 %payload, 32256
  %unsigned = select i1 %is.nan, i32 %nan, i32 %bounded
  %high = lshr i32 %bits, 16
  %sign = and i32 %high, 32768
  %result = or i32 %unsigned, %sign
  %short = trunc i32 %result to i16
  %half = bitcast i16 %short to half
  ret half %half
}
"""


_ARCH_PRCTL = 158
"""The number of the system call on x86-64."""
_ARCH_REQ_XCOMP_PERM, _TILE_DATA = 0x1023, 18
"""The system call that requests a component of the processor's state, and the number of that component
(linux/arch/x86/include/uapi/asm/prctl.h)."""


@cache
def _may_use_matrix_unit() -> bool:
    """Ask Linux for the matrix unit (AMX), once in a process; its threads and forks share the answer.

    False where the system knows no such call.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    return int(ctypes.CDLL(None).syscall(_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _TILE_DATA)) == 0
