"""cuTile's launches on the machines of the tests, and their kernels compiled.

    python -m tests.gpu.ttir_cutile machine 5      every fifth example of the library's documentation
    python -m tests.gpu.ttir_cutile compiler       the kernels of all of them, for every architecture

Memory is that of NumPy.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import tileir
from tests.targets import ttir
from tileir import cutile
from tileir.gpu.arch import Vendor, arch_named
from tileir.gpu.mailbox import Mail
from tileir.gpu.program import UNKNOWN, Compiled, aligned_facts, compiled
from tileir.runtime.arguments import Argument, Binder, Parameter, binder
from tileir.runtime.arrays import CPU
from tileir.runtime.gpu_routes import source_of
from tileir.runtime.grid import Grid
from tileir.runtime.interpreter import Interpreter
from tileir.runtime.module import Run

ARCHS = ("sm_80", "sm_90", "sm_100")


class Machine:
    """A machine of the tests as a target. `kernels` are all that were made ready; without an `arch` they run on the
    interpreter."""

    description = "a machine of the tests"
    devices = (CPU,)

    def __init__(self, arch: str | None) -> None:
        """Its name is like no other: cuTile keeps what was made ready for a name."""
        self.name = f"machine {uuid4()}"
        self.kernels: list[tileir.Kernel] = []
        self._arch = arch

    def binder(self, parameter: Parameter) -> Binder:
        return binder(parameter, self.devices, self.name)

    def prepare(self, kernel: tileir.Kernel, check: bool, options: dict[str, object]) -> Run:
        self.kernels.append(kernel)
        arch = self._arch
        if arch is None:
            return Interpreter().prepare(kernel, check, options)
        execute = _machine_for(arch)

        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            mail = execute(kernel, tuple(grid), arguments, arch)
            sys.stdout.write(ttir.printed(mail))
            if (trap := ttir.trap(mail, kernel)) is not None:
                raise trap

        return run


def _machine_for(arch: str) -> Callable[[tileir.Kernel, tuple[int, ...], Sequence[Argument], str], Mail]:
    """The hsaco machine for AMD's machine code, the TTIR machine for the rest."""
    if arch_named(arch).vendor is Vendor.AMD:
        from tests.targets import hsaco  # which needs tinygrad

        return hsaco.run
    return ttir.run


@contextmanager
def on_machine(arch: str | None) -> Iterator[Machine]:
    """Let cuTile launch on the machine."""
    target = Machine(arch)
    with cutile.on(target.name, instead=target):
        yield target


class _Recorder(Machine):
    """A target that runs nothing."""

    def prepare(self, kernel: tileir.Kernel, check: bool, options: dict[str, object]) -> Run:
        self.kernels.append(kernel)
        return lambda grid, arguments: None


def recorded(script: Path) -> list[tileir.Kernel]:
    """Return the kernels that a script launches until it finds that none of them did anything."""
    target = _Recorder(None)
    with cutile.on(target.name, instead=target), suppress(AssertionError):
        runpy.run_path(str(script), run_name="__main__")
    return list(dict.fromkeys(target.kernels))


def compile_kernel(kernel: tileir.Kernel, arch: str, aligned: bool) -> Compiled:
    """Raises UnsupportedError."""
    facts = aligned_facts(kernel.entry) if aligned else [UNKNOWN] * len(kernel.parameters)
    return compiled(source_of(kernel), arch_named(arch), facts, ["cubin"])


def main(stage: str, step: int = 1) -> int:
    from tests.cutile import library_documentation

    with on_machine("sm_90" if stage == "machine" else None) as target:
        wrong = library_documentation.differing(step)
    if stage == "compiler":
        for kernel in target.kernels:
            for arch in ARCHS:
                for aligned in (True, False):
                    compile_kernel(kernel, arch, aligned)
        print(f"{len(target.kernels)} kernels compiled for {', '.join(ARCHS)}")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1], *map(int, sys.argv[2:])) else 0)
