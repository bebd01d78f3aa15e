"""Launches under the sanitizer, and proofs about launches without a run: `tileir.sanitize`, `tileir.prove`.

The interpreter and the proofs are imported when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from tileir.analysis.narrowing import ANY_GRID
from tileir.host.allocation import Allocation, Runs
from tileir.runtime.arguments import Argument, ArrayArgument, PointerArgument, ScalarArgument
from tileir.runtime.grid import Grid, GridLike, checked_grid
from tileir.runtime.memory import allocation_of, give_memory
from tileir.runtime.module import Kernel, Target, ToolTarget, bind, required_kernel, target_named
from tileir.runtime.options import LaunchOptions, positive, require_known
from tileir.sanitize.findings import chosen_kinds

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tileir.host.printing import Output
    from tileir.interp.api import Options
    from tileir.ir.core import Op
    from tileir.sanitize.memory import Layout
    from tileir.sanitize.proofs.kernel import KernelProof
    from tileir.sanitize.proofs.launch import KnownArray, KnownLaunch
    from tileir.sanitize.proofs.pairs import KnownAccess
    from tileir.sanitize.proofs.verdict import ProofReport
    from tileir.sanitize.report import SanitizerReport

Unwritten = Callable[[Allocation], "np.ndarray | None"]
"""Masks the bytes of memory that nobody has written yet; None if there are none."""


class SanitizedOptions(TypedDict, total=False):
    """Options of the interpreter that leave the order of tile blocks to the sanitizer."""

    max_iterations: int | None
    output: Output
    timeout: float | None


class SanitizerOptions(TypedDict, total=False):
    """See `sanitize`."""

    checks: str | Sequence[str]
    schedules: int
    seed: int


def sanitize(
    kernel: Kernel,
    grid: GridLike,
    *args: object,
    checks: str | Sequence[str] = "all",
    schedules: int = 1,
    seed: int = 0,
    uninitialized: Sequence[str] = (),
    copy: bool = False,
    **options: Unpack[SanitizedOptions],
) -> SanitizerReport:
    """Run a kernel as on target ``interp``, and report its faults.

    A large launch whose accesses are proved to go right runs as on target ``cpu`` with strict checks, which is many
    times faster; what it leaves in arrays may be rounded otherwise where the specification leaves that open.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    grid : int or sequence of int
        Number of tile blocks along each axis.
    *args : object
        Arguments as for a launch. Arrays are changed as by a launch.
    checks : str or sequence of str
        ``"all"``, or kinds of findings (`sanitize.findings.KINDS`).
    schedules : int
        Where accesses synchronise, the launch is run a second time, with the last tile blocks first; numbers above 1
        add as many orders less one at random, in which strong loads of single elements may also give values that have
        been overwritten, as the memory model allows.
    seed : int
        Seed of these orders.
    uninitialized : sequence of str
        Parameters whose arrays hold nothing yet.
    copy : bool
        Whether the arrays stay as they are.
    **options : object
        Options of the interpreter.

    Returns
    -------
    SanitizerReport
        What was found; ``report.ok`` if nothing is an error.

    Raises
    ------
    TypeError, ValueError
        Before anything runs.
    DiagnosticError
        If the program is not valid.
    UnsupportedError
        If the interpreter cannot run it.
    """
    target = target_named("interp")
    required_kernel(kernel).module.require_valid()
    extents = checked_grid(grid, kernel.name)
    arguments = bind(kernel, args, target)
    return sanitize_bound(kernel, extents, arguments, checks, schedules, seed, uninitialized, copy, {**options})


def sanitize_bound(
    kernel: Kernel,
    grid: Grid,
    arguments: Sequence[Argument],
    checks: str | Sequence[str] = "all",
    schedules: int = 1,
    seed: int = 0,
    uninitialized: Sequence[str] = (),
    copy: bool = False,
    options: LaunchOptions | None = None,
    unwritten: Unwritten | None = None,
) -> SanitizerReport:
    """Run `sanitize` for a checked grid and bound arguments."""
    from tileir.runtime.claims import layout_notes, plain_views
    from tileir.runtime.interpreter import rank_zero_tile, settings_of
    from tileir.sanitize.memory import WatchedMemory
    from tileir.sanitize.native import cover, proved_launch, ran_clean
    from tileir.sanitize.run import SanitizedLaunch, clean, sanitized

    positive("schedules", schedules)
    kinds = chosen_kinds(checks if isinstance(checks, str) else list(checks))
    settings = _settings(settings_of(True, options or {}))
    arrays = {argument.name: argument for argument in arguments if isinstance(argument, ArrayArgument)}
    unknown = [name for name in uninitialized if name not in arrays]
    if unknown:
        raise ValueError(
            f"uninitialized: expected names of {', '.join(arrays) or 'no array'}, got {', '.join(unknown)}"
        )
    storage = kernel.module.globals
    memory = WatchedMemory((), storage.addresses)
    give_memory(memory, arguments, storage)
    layouts = {argument.name: _layout(argument) for argument in _all_arrays(list(arrays.values()))}
    memory.lent = {name: layouts[name] for name, argument in arrays.items() if _lends_more(argument, layouts[name])}
    values = [rank_zero_tile(argument) for argument in arguments]
    known = known_launch(kernel, grid, arguments)
    quiet = quiet_of(kernel, known)
    names = [parameter.name for parameter in kernel.parameters]
    fresh = [] if unwritten is None else memory.unwritten(unwritten)
    launch = SanitizedLaunch(kernel.module, kernel.entry, grid, values, memory, layouts, settings, names, quiet, fresh)
    before = [one.copy() for one in memory.writable_bytes()] if copy else []
    try:
        views = kernel.memo("plain views", lambda: plain_views(kernel.entry))
        proved = None
        if schedules == 1 and not (uninitialized or memory.lent) and (options or {}).keys() <= {"output"}:
            unwritten_memory = [allocation for allocation, _ in fresh]
            proved = proved_launch(kernel.entry, _accesses(kernel), quiet, known, unwritten_memory)
        if proved is not None and ran_clean(kernel, launch, arguments, proved):
            cover(launch, proved)
            report = clean(launch, kinds)
        else:
            report = sanitized(launch, kinds, schedules, seed, uninitialized)
        return replace(
            report,
            notes=(*dict.fromkeys(layout_notes(views, arguments)), *map(_left, sorted(memory.left)), *report.notes),
            prove=lambda: (proof_of(kernel, known, True).report(kernel.name, report.sources, {grid: report}, grid),),
        )
    finally:
        for one, content in zip(memory.writable_bytes(), before):
            one[...] = content


def sanitizing_target(
    report: Callable[[SanitizerReport], None], settings: SanitizerOptions, unwritten: Unwritten | None = None
) -> Target:
    """Return target ``interp`` under the sanitizer: every run hands its report to `report`."""
    require_known(settings, SanitizerOptions, "interp under the sanitizer")

    def run(kernel: Kernel, grid: Grid, arguments: Sequence[Argument], options: LaunchOptions) -> None:
        report(sanitize_bound(kernel, grid, arguments, options=options, unwritten=unwritten, **settings))

    return ToolTarget(run, target_named("interp"))


def _settings(settings: Options) -> Options:
    if settings.mode != "default" or settings.seed is not None:
        raise TypeError("sanitize: 'mode' is its own; orders of tile blocks are chosen by schedules= and seed=")
    return settings


def _all_arrays(arguments: list[ArrayArgument]) -> list[ArrayArgument]:
    return [one for argument in arguments for one in (argument, *argument.reaches)]


def _layout(argument: ArrayArgument) -> Layout:
    from tileir.sanitize.memory import Layout

    array = argument.array
    return Layout(array.address, array.shape, array.strides, array.itemsize)


def _lends_more(argument: ArrayArgument, layout: Layout) -> bool:
    """Return whether a kernel may use memory around the elements of an array: the storage of a tensor."""
    span = sum((extent - 1) * step for extent, step in zip(layout.shape, layout.strides)) + layout.itemsize
    begin, end, *_ = argument.bounds or (layout.address, 0)
    return min(layout.strides, default=0) >= 0 and (begin < layout.address or end > layout.address + span)


def _left(name: str) -> str:
    return f"accesses through '{name}' leave the elements of its tensor for others of the same storage"


# ---------------------------------------------------------------- proofs


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
        Whether faults, and with a grid what is left open, are decided by runs under the sanitizer on copies of the
        arrays. Without a grid a fault is tried on the smallest one that was found to have it.
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
    required_kernel(kernel).module.require_valid()
    extents = None if grid is None else checked_grid(grid, kernel.name)
    arguments = bind(kernel, args, target_named("interp")) if args or not kernel.parameters else None
    proof = kernel_proof(kernel, extents, arguments)
    ran = {}
    if run and arguments is not None:
        for on in proof.asked_runs(extents):
            ran[on] = sanitize_bound(kernel, on, arguments, copy=True, options={**options})
    source = kernel.module.source
    return proof.report(kernel.name, () if source is None else (source,), ran, extents)


def kernel_proof(kernel: Kernel, grid: Grid | None, arguments: Sequence[Argument] | None) -> KernelProof:
    """Return the proof made without a run; it is kept for other launches that it also holds for."""
    return proof_of(kernel, known_launch(kernel, grid, arguments), grid is not None)


def proof_of(kernel: Kernel, launch: KnownLaunch, launched: bool) -> KernelProof:
    """Return the proof, as `kernel_proof` does; `launched`: for a known grid."""
    from tileir.sanitize.proofs.kernel import proved

    key = ("proof", launch.key, launched)
    return kernel.memo(key, lambda: proved(kernel.entry, _accesses(kernel), launch, launched, kernel.memo))


def quiet_of(kernel: Kernel, launch: KnownLaunch) -> frozenset[Op]:
    """Return the operations of a launch whose accesses are in no conflict; kept as a proof is."""
    from tileir.sanitize.proofs.quiet import quiet_ops

    return kernel.memo(("quiet", launch.key), lambda: quiet_ops(_accesses(kernel), launch))


def _accesses(kernel: Kernel) -> list[KnownAccess]:
    from tileir.sanitize.proofs.pairs import known_accesses

    return kernel.memo("known accesses", lambda: known_accesses(kernel.entry))


def known_launch(kernel: Kernel, grid: Grid | None, arguments: Sequence[Argument] | None) -> KnownLaunch:
    """Return the facts about launches that a proof may use; all launches if the grid or the arguments are None."""
    from tileir.sanitize.proofs.launch import KnownLaunch
    from tileir.sanitize.proofs.synchronisation import flags_before

    names = [parameter.name for parameter in kernel.parameters]
    if arguments is None:
        return KnownLaunch(names, (None,) * len(names), grid or ANY_GRID)
    found = {index: array for index, argument in enumerate(arguments) if (array := _array(argument)) is not None}
    readable = {index: array for index, array in found.items() if isinstance(arguments[index], ArrayArgument)}
    flags = flags_before(_accesses(kernel), readable)
    return KnownLaunch(names, tuple(map(_integer, arguments)), grid or ANY_GRID, found, flags, given=True)


def _integer(argument: Argument) -> int | None:
    value = argument.value if isinstance(argument, ScalarArgument) else None
    return int(value) if isinstance(value, np.integer | np.bool_) else None


def _array(argument: Argument) -> KnownArray | None:
    from tileir.sanitize.proofs.launch import KnownArray

    if isinstance(argument, ArrayArgument):
        return KnownArray(argument.array.address, allocation_of(argument))
    if isinstance(argument, PointerArgument) and argument.pointer.size is not None:
        pointer = argument.pointer
        return KnownArray(pointer.address, Allocation(argument.name, pointer.address, (Runs(0, pointer.size or 0),)))
    return None
