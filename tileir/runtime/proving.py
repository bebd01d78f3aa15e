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

    Without arguments the verdicts are about any; with them, and without a `grid`, about any grid. With both, what is
    left open or goes wrong is decided by a run under the sanitizer on copies of the arrays, unless `run` is False.
    `options` are those of the interpreter for that run. Raises TypeError or ValueError for arguments that the kernel
    does not take, `DiagnosticError` for an invalid program, `UnsupportedError`.
    """
    from tileir.runtime.grid import checked_grid
    from tileir.runtime.known_launch import kernel_proof
    from tileir.runtime.launch import bind
    from tileir.runtime.targets import target_named

    kernel.module.require_valid()
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
    from tileir.runtime.sanitizing import sanitize_bound

    return sanitize_bound(kernel, grid, arguments, copy=True, options={**options})


def _sources(kernel: Kernel) -> tuple:
    return () if kernel.module.source is None else (kernel.module.source,)
