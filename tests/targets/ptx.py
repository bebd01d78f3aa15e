"""Runs a kernel as PTX on the PTX machine, as a launch on a GPU would.

`tests.targets.ttir` has the memory of the device, and `tests.ptx_machine` runs the statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import tileir
from tests import ptx_machine
from tests.differential import Outcome
from tests.targets import ttir
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import Artifacts, CompileOptions, compile_ttir
from tileir.gpu.mailbox import Mail
from tileir.gpu.ttir.analysis.hints import options_for
from tileir.runtime.arguments import Argument

ARCH = "sm_80"


@cache
def _compiled(text: str, options: CompileOptions) -> Artifacts:
    return compile_ttir(text, arch_named(ARCH), options, ["ptx"])


def outcome(kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[object], arch: str = ARCH) -> Outcome:
    """Run on the arrays as they are, and put back what was in them. Raises UnsupportedError and MachineFault."""
    return ttir.outcome_of(run, kernel, grid, args, arch)


def run(kernel: tileir.Kernel, grid: tuple[int, ...], arguments: Sequence[Argument], arch: str = ARCH) -> Mail:
    """Run on the memory of the arguments; gives what the blocks left for the host."""
    launch = ttir.prepared(kernel, grid, arguments, arch)
    made = _compiled(launch.program.text, options_for(kernel.entry, arch_named(arch)))
    facts = made.metadata
    assert not facts["global_scratch_size"]
    code = ptx_machine.Kernel(made.texts["ptx"], facts["name"], 32 * facts["num_warps"], facts["shared"])
    ptx_machine.run(code, grid, [ttir.number(value) for value in launch.values], launch.allocations)
    return launch.mail()
