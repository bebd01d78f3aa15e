"""Proving what holds of a kernel for every run.

Knows: when a launch is run to confirm or to decide. Does not know: how anything is proved (`sanitize.proofs`).
Imports what proves only when something is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tileir.runtime.arguments import Argument
    from tileir.runtime.grid import Grid, GridLike
    from tileir.runtime.module import Kernel
    from tileir.runtime.options import SanitizedOptions
    from tileir.sanitize.proofs.kernel import KernelProof
    from tileir.sanitize.proofs.verdict import ProofReport
    from tileir.sanitize.report import SanitizerReport


def prove(
    kernel: Kernel, grid: GridLike | None = None, *args: object, run: bool = True, **options: Unpack[SanitizedOptions]
) -> ProofReport:
    """Prove that tile blocks do not race and that accesses stay in their arrays, or show where they do not.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    grid : int, sequence of int, or None
        Number of tile blocks along each axis; None is any grid.
    *args : object
        Arguments as for a launch; without them the verdicts are about any.
    run : bool
        Whether what is left open or goes wrong, with a grid and arguments, is decided by a run under the sanitizer on
        copies of the arrays.
    **options : object
        Options of the interpreter for that run.

    Returns
    -------
    ProofReport
        The verdicts.

    Raises
    ------
    TypeError, ValueError
        For arguments that the kernel does not take.
    DiagnosticError
        If the program is not valid.
    UnsupportedError
        If nothing can be said of it.
    """
    from tileir.runtime.grid import checked_grid
    from tileir.runtime.launch import bind
    from tileir.runtime.module import required_kernel
    from tileir.runtime.targets import target_named
    from tileir.sanitize.known_launch import kernel_proof

    required_kernel(kernel).module.require_valid()
    extents = None if grid is None else checked_grid(grid, kernel.name)
    arguments = bind(kernel, args, target_named("interp")) if args or not kernel.parameters else None
    proof = kernel_proof(kernel, extents, arguments)
    ran = None
    if run and arguments is not None and extents is not None and _is_asked(proof):
        ran = _run(kernel, extents, arguments, options)
    return proof.report(kernel.name, _sources(kernel), ran)


# ---------------------------------------------------------------- runs


def _is_asked(proof: KernelProof) -> bool:
    """Whether a run would tell more than the proof."""
    from tileir.sanitize.proofs.verdict import Answer

    return any(one.verdict.outcome is not Answer.ABSENT for one in (proof.races, proof.bounds))


def _run(kernel: Kernel, grid: Grid, arguments: Sequence[Argument], options: SanitizedOptions) -> SanitizerReport:
    from tileir.sanitize.launch import sanitize_bound

    return sanitize_bound(kernel, grid, arguments, copy=True, options={**options})


def _sources(kernel: Kernel) -> tuple:
    return () if kernel.module.source is None else (kernel.module.source,)
