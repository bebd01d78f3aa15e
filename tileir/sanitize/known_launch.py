"""From a launch to what is proved of it.

Knows: how bound arguments become what a proof knows of a launch, and that proofs are kept.
Does not know: how anything is proved (`sanitize.proofs`). Imports what proves only when something is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tileir.ir.core import Op
    from tileir.runtime.arguments import Argument
    from tileir.runtime.grid import Grid
    from tileir.runtime.module import Kernel
    from tileir.sanitize.proofs.kernel import KernelProof
    from tileir.sanitize.proofs.launch import KnownArray, KnownLaunch
    from tileir.sanitize.proofs.pairs import KnownAccess


def kernel_proof(kernel: Kernel, grid: Grid | None, arguments: Sequence[Argument] | None) -> KernelProof:
    """What is found without a run; kept for other launches that it is the same for."""
    return proof_of(kernel, known_launch(kernel, grid, arguments), grid is not None)


def proof_of(kernel: Kernel, launch: KnownLaunch, launched: bool) -> KernelProof:
    """As `kernel_proof`; `launched`: about a grid that is known."""
    from tileir.sanitize.proofs.kernel import proved

    key = ("proof", launch.key, launched)
    return kernel.prepared(key, lambda: proved(kernel.entry, _accesses(kernel), launch, launched, kernel.prepared))


def quiet_of(kernel: Kernel, launch: KnownLaunch) -> frozenset[Op]:
    """The operations of a launch whose accesses are in no conflict; kept as a proof is."""
    from tileir.sanitize.proofs.quiet import quiet_ops

    return kernel.prepared(("quiet", launch.key), lambda: quiet_ops(_accesses(kernel), launch))


def _accesses(kernel: Kernel) -> list[KnownAccess]:
    from tileir.sanitize.proofs.pairs import known_accesses

    return kernel.prepared("known accesses", lambda: known_accesses(kernel.entry))


def known_launch(kernel: Kernel, grid: Grid | None, arguments: Sequence[Argument] | None) -> KnownLaunch:
    """What a proof knows of launches: of all on a grid or with arguments that are None."""
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
