"""LLVM: the host it compiles for, and machine code in memory.

Knows: target machine, how a symbol becomes an address. Does not know: passes (`cpu.llvm.passes`), Tile IR.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypeVar
from weakref import finalize

import llvmlite
import llvmlite.binding as llvm

from tileir.cpu.llvm.half import CONVERSIONS
from tileir.cpu.llvm.object_symbols import undefined_symbols
from tileir.cpu.llvm.passes import code_generation, needs_all, optimise, pass_builder
from tileir.host.background import in_background
from tileir.host.matrix_unit import may_use_matrix_unit
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
    """Whether an instruction multiplies and adds with one rounding: elsewhere that is a call for each element."""

    @property
    def is_arm(self) -> bool:
        """Whether it is an AArch64."""
        return self.triple.startswith(("aarch64", "arm64"))

    @property
    def has_masks(self) -> bool:
        """Whether single lanes of vectors are loaded and stored, and loaded from different places (AVX-512)."""
        return self.vector_bits == 512

    @property
    def has_scaling(self) -> bool:
        """Whether an instruction multiplies floats by powers of 2 (AVX-512): elsewhere that is a call for each."""
        return self.vector_bits == 512


@cache
def host() -> Host:
    """The machine that this process runs on."""
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
        has_matrix_unit=all(map(found.get, MATRIX_UNIT)) and may_use_matrix_unit(),
        has_f16_conversion=bool(found.get("f16c", not triple.startswith("x86_64"))),
        has_fma=bool(found.get("fma", not triple.startswith("x86_64"))),
    )


@cache
def _initialized() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def toolchain(rewrites: bool = False) -> str:
    """All that machine code depends on beside the program: this package, with what `rewrites` if something does, LLVM,
    the processor."""
    llvm_version = ".".join(map(str, llvm.llvm_version_info))
    sources = _sources((*CODE_MAKERS, *REWRITERS) if rewrites else CODE_MAKERS)
    return f"tileir {sources}, llvmlite {llvmlite.__version__}, LLVM {llvm_version}, {host()}"


def _sources(parts: Iterable[str]) -> str:
    """A digest of the code that makes code, and of what it builds on."""
    return hashlib.sha256("".join(map(_part_digest, parts)).encode()).hexdigest()


@cache
def _part_digest(part: str) -> str:
    """A digest of a part of the package. Code that is rewritten first and code that is not have most parts in common,
    which are read once."""
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
    return target.create_target_machine(cpu=host.cpu, features=features, opt=3, reloc="pic", codemodel="default")


@cache
def data_layout(host: Host) -> str:
    """The data layout of the host, as LLVM spells it."""
    return _away(lambda: str(target_machine(host).target_data))


def optimized(ir_text: str, host: Host) -> llvm.ModuleRef:
    """The module of `ir_text` after the passes that it needs."""
    module = llvm.parse_assembly(ir_text)
    module.verify()
    optimise(module, _pass_builder(host), needs_all(ir_text))
    return module


@cache
def _machine(host: Host) -> llvm.TargetMachine:
    """One for all modules: to read the list of a processor's features takes milliseconds."""
    return target_machine(host)


@cache
def _pass_builder(host: Host) -> llvm.PassBuilder:
    """One for all modules: llvmlite does not free all that goes with each."""
    return pass_builder(_machine(host))


def object_code(ir_text: str, host: Host) -> bytes:
    """Position-independent machine code of a module.

    Raises UnsupportedError if it calls a function that this process does not have: the loader would take 0 for it.
    """
    code, missing = _away(lambda: _emitted(ir_text, host))
    if missing:
        raise UnsupportedError(f"the compiled kernel needs {', '.join(missing)}, which this process lacks", "cpu")
    return code


def _emitted(ir_text: str, host: Host) -> tuple[bytes, list[str]]:
    """The machine code, and the functions that it needs and this process does not have."""
    if not host.has_f16_conversion:
        ir_text += CONVERSIONS
    code = _generated(ir_text, host, _machine(host).emit_object)
    return code, [name for name in undefined_symbols(code) if not _is_in_process(name)]


def _generated(ir_text: str, host: Host, emit: Callable[[llvm.ModuleRef], T]) -> T:
    """What `emit` makes of the optimised module."""
    module = optimized(ir_text, host)
    with code_generation(needs_all(ir_text)):
        return emit(module)


def _is_in_process(name: str) -> bool:
    """Whether the loader would find a function of that name: it asks LLVM, which asks the system, as this does."""
    llvm.load_library_permanently("")  # the process itself, which LLVM does not search otherwise
    return llvm.address_of_symbol(name) is not None


def optimized_text(ir_text: str, host: Host) -> str:
    """The module after optimisation, in LLVM's language."""
    return _away(lambda: str(optimized(ir_text, host)))


def assembly(ir_text: str, host: Host) -> str:
    """The machine code of a module as assembly text."""
    return _away(lambda: _generated(ir_text, host, _machine(host).emit_assembly))


class Loaded:
    """Machine code mapped into this process, with the addresses of some functions in it. Keep it alive while the code
    may run."""

    def __init__(self, code: bytes, host: Host, names: Iterable[str]) -> None:
        engine, self.addresses = _away(lambda: _loaded(code, host, names))
        # Nothing that Python may collect holds the engine: its own finalizer would take it apart there and then.
        finalize(self, _dropped().put, engine).atexit = False


def _loaded(code: bytes, host: Host, names: Iterable[str]) -> tuple[llvm.ExecutionEngine, dict[str, int]]:
    """To link what is compiled already takes no processor's features, and to read their list most of the time. Nor
    does it take the module without which there is no engine: it would be compiled too, which takes most of the rest.
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
    """Engines that nobody needs any more."""
    return SimpleQueue()


def _away(function: Callable[[], T]) -> T:
    """The result of `function`, which calls LLVM.

    Never on the thread that handles signals, nor are engines taken apart there: an interrupt in the middle would leave
    llvmlite's lock taken for ever, or have something freed twice.
    """

    def call() -> T:
        with suppress(Empty):
            while True:
                _dropped().get_nowait().close()
        return function()

    return in_background(call)
