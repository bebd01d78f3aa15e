"""Runs a kernel as machine code of AMD's on the hsaco machine, as a launch on a GPU would.

`tests.targets.ttir` has the memory of the device, and `tests.hsaco_machine` runs the instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import tileir
from tests import hsaco_machine
from tests.differential import Outcome
from tests.targets import ttir
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import Artifacts, CompileOptions, compile_ttir
from tileir.gpu.executable import kernels_of
from tileir.gpu.mailbox import Mail
from tileir.gpu.ttir.analysis.hints import options_for
from tileir.runtime.arguments import Argument


@cache
def _compiled(text: str, arch: str, options: CompileOptions) -> Artifacts:
    return compile_ttir(text, arch_named(arch), options, ["hsaco"])


def outcome(kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[object], arch: str) -> Outcome:
    """Run on the arrays as they are, and put back what was in them. Raises UnsupportedError and MachineFault."""
    return ttir.outcome_of(run, kernel, grid, args, arch)


def run(
    kernel: tileir.Kernel,
    grid: tuple[int, ...],
    arguments: Sequence[Argument],
    arch: str,
    options: CompileOptions | None = None,
) -> Mail:
    """Run on the memory of the arguments; gives what the blocks left for the host. Other options than those that the
    kernel suggests may be given."""
    launch = ttir.prepared(kernel, grid, arguments, arch)
    made = _compiled(launch.program.text, arch, options or options_for(kernel.entry, arch_named(arch)))
    assert made.binary is not None
    (info,) = kernels_of(made.binary).values()
    assert not made.metadata["global_scratch_size"]
    values = [ttir.number(value) for value in launch.values]
    threads = arch_named(arch).warp * made.metadata["num_warps"]
    code = hsaco_machine.Kernel(made.binary, info.name, arch, threads, made.metadata["shared"])
    hsaco_machine.run(code, grid, values, launch.allocations)
    return launch.mail()
