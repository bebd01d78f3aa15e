"""Kernels compiled with instruments, and those whose code debuggers and `perf` know.

Instruments are those of `cpu.lowering.functions`; what they tell is read by `tools.profile`.
"""

from __future__ import annotations

import os
from functools import cache

from tileir.cache import shared_cache
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.llvm.metadata import CodePlace
from tileir.cpu.llvm.object_files import NoLines
from tileir.cpu.lowering.functions import Instruments
from tileir.cpu.run.profiling import write_names
from tileir.cpu.run.program import InstrumentedProgram, NativeProgram, instrumented
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.loc import FileLoc, SourceLoc, file_position
from tileir.runtime.module import Kernel
from tileir.runtime.native_source import source_of


def instrumented_program(
    kernel: Kernel, instruments: Instruments, checks: CheckLevel = CheckLevel.ON
) -> InstrumentedProgram:
    """The kernel as it is, compiled with instruments; it is not kept in the cache."""
    return instrumented(source_of(kernel, checks, rewrites=False), shared_cache(), instruments)


def described_program(kernel: Kernel, checks: CheckLevel = CheckLevel.ON) -> NativeProgram:
    """The compiled kernel, whose lines debuggers and `perf` know. Raises UnsupportedError where they cannot.

    LLVM's loader tells GDB of the code by itself.
    """
    source = kernel.module.source
    file = _path(source.name) if source is not None else f"{kernel.name}.tileirbc"
    program = instrumented_program(kernel, Instruments(_place_of, file), checks)
    try:
        write_names(kernel.name, program.map, program.base)
    except NoLines as error:
        raise UnsupportedError(f"debug_info: {error}", "cpu") from None
    return program


def _place_of(op: Op) -> CodePlace | None:
    """The place of an operation in its file: the Python file, for what was made of one."""
    place = file_position(op.loc)
    if isinstance(place, SourceLoc):
        return CodePlace(_path(place.source.name), *place.source.position(place.offset))
    return CodePlace(_path(place.file), place.line, place.column) if isinstance(place, FileLoc) else None


@cache
def _path(name: str) -> str:
    """The name of a file, such that a debugger finds it from anywhere."""
    return os.path.abspath(name) if os.path.exists(name) else name
