"""From a launch to what is proved of it.

Knows: how bound arguments become what a proof knows of a launch, and that proofs are kept.
Does not know: how anything is proved (`sanitize.proofs`). Imports what proves only when something is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tileir.runtime.arguments import Argument
    from tileir.runtime.grid import Grid
    from tileir.runtime.module import Kernel
    from tileir.sanitize.proofs.kernel import KernelProof
    from tileir.sanitize.proofs.launch import KnownArray, KnownLaunch


def kernel_proof(kernel: Kernel, grid: Grid | None, arguments: Sequence[Argument] | None) -> KernelProof:
    """What is found without a run; kept for other launches that it is the same for."""
    from tileir.sanitize.proofs.kernel import proved
    from tileir.sanitize.proofs.pairs import known_accesses

    launch = _known(kernel, grid, arguments)
    accesses = kernel.prepared("known accesses", lambda: known_accesses(kernel.entry))
    key = ("proof", launch.key, grid is None)
    return kernel.prepared(key, lambda: proved(kernel.entry, accesses, launch, grid is not None))


def _known(kernel: Kernel, grid: Grid | None, arguments: Sequence[Argument] | None) -> KnownLaunch:
    from tileir.analysis.specialisation import ANY_GRID
    from tileir.sanitize.proofs.launch import KnownLaunch

    names = [parameter.name for parameter in kernel.parameters]
    if arguments is None:
        return KnownLaunch(names, (None,) * len(names), grid or ANY_GRID)
    found = {index: array for index, argument in enumerate(arguments) if (array := _array(argument)) is not None}
    return KnownLaunch(names, tuple(map(_integer, arguments)), grid or ANY_GRID, found, given=True)


def _integer(argument: Argument) -> int | None:
    value = getattr(argument, "value", None)
    return int(value) if isinstance(value, np.integer | np.bool_) else None


def _array(argument: Argument) -> KnownArray | None:
    from tileir.host.allocation import Allocation
    from tileir.host.coverage import Runs
    from tileir.runtime.arguments import ArrayArgument, PointerArgument
    from tileir.runtime.memory import allocation_of
    from tileir.sanitize.proofs.launch import KnownArray

    if isinstance(argument, ArrayArgument):
        return KnownArray(argument.array.address, allocation_of(argument.name, argument.array))
    if isinstance(argument, PointerArgument) and argument.pointer.size is not None:
        pointer = argument.pointer
        return KnownArray(pointer.address, Allocation(argument.name, pointer.address, (Runs(0, pointer.size or 0),)))
    return None
