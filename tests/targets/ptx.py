"""Runs a kernel as PTX on the PTX machine, as a launch on a GPU would.

`tests.targets.ttir` has the memory of the device, and `tests.ptx_machine` runs the statements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import tileir
from tests import ptx_machine
from tests.differential import Outcome
from tests.targets import ttir
from tests.ttir_machine.descriptors import Descriptor
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import Artifacts, CompileOptions, compile_ttir
from tileir.gpu.descriptors import CopyLayout, TensorMap
from tileir.gpu.mailbox import Mail
from tileir.gpu.ttir.analysis.hints import options_for
from tileir.runtime.arguments import Argument

ARCH = "sm_80"


@cache
def _compiled(text: str, options: CompileOptions, arch: str) -> Artifacts:
    return compile_ttir(text, arch_named(arch), options, ["ptx"])


def outcome(
    kernel: tileir.Kernel,
    grid: tuple[int, ...],
    args: Sequence[object],
    arch: str = ARCH,
    change: Callable[[str], str] = str,
) -> Outcome:
    """Run on the arrays as they are, and put back what was in them; `change` rewrites the TTIR. Raises
    UnsupportedError and MachineFault."""
    return ttir.outcome_of(partial(run, change=change), kernel, grid, args, arch)


def run(
    kernel: tileir.Kernel,
    grid: tuple[int, ...],
    arguments: Sequence[Argument],
    arch: str = ARCH,
    change: Callable[[str], str] = str,
) -> Mail:
    """Run on the memory of the arguments; gives what the blocks left for the host."""
    launch = ttir.prepared(kernel, grid, arguments, arch)
    made = _compiled(change(launch.program.text), options_for(kernel.entry, arch_named(arch)), arch)
    facts = made.metadata
    assert not facts["global_scratch_size"]
    code = ptx_machine.Kernel(made.texts["ptx"], facts["name"], 32 * facts["num_warps"], facts["shared"])
    layouts = map(CopyLayout.of, facts["tensordesc_meta"] or ())
    values = [
        _described(value, next(layouts)) if isinstance(value, Descriptor) else ttir.number(value)
        for value in launch.values
    ]
    ptx_machine.run(code, grid, values, launch.allocations)
    return launch.mail()


def _described(tensor: Descriptor, layout: CopyLayout) -> TensorMap:
    """What the driver encodes for a launch."""
    *strides, size = tensor.strides
    extents, outer, box = (tuple(reversed(numbers)) for numbers in (tensor.shape, strides, layout.box))
    how = layout.swizzle, tensor.pads_with_nan, size
    return TensorMap(layout.element, tensor.address, extents, outer, box, *how)
