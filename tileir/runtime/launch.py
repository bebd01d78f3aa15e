"""Launching a kernel: check everything, then hand over to the target.

Knows: the order of the checks. Does not know: any of them in detail, nor how a target runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tileir.ir import core
from tileir.ir.shown import shown
from tileir.runtime.arguments import Argument, Binder
from tileir.runtime.grid import GridLike, checked_grid
from tileir.runtime.module import Kernel, Module
from tileir.runtime.naming import in_order
from tileir.runtime.targets import DEFAULT, QuickLaunch, QuickTarget, Target, TargetName, target_named

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tileir.runtime.options import Check, LaunchOptions


def launch(
    module: core.Module,
    name: str,
    grid: GridLike,
    args: Sequence[object] | Mapping[str, object] = (),
    target: TargetName | str = DEFAULT,
    check: Check = True,
    **options: Unpack[LaunchOptions],
) -> None:
    """Run a kernel of a program; see `Kernel.launch`.

    Parameters
    ----------
    module : Module
        The program.
    name : str
        The kernel.
    grid : int or sequence of int
        Number of tile blocks along each axis.
    args : sequence or mapping
        The arguments, in the order of the parameters or by their names.
    target : str
        Where to run.
    check : bool or "strict"
        How much of what a kernel must not do is looked for.
    **options : object
        Options of the target.

    Raises
    ------
    KeyError
        If there is no such kernel; otherwise as `Kernel.launch`.
    """
    kernel = Module.of(module)[name]
    if isinstance(args, Mapping):
        args = in_order(name, [parameter.name for parameter in kernel.parameters], (), args)
    kernel.launch(grid, *args, target=target, check=check, **options)


def launch_kernel(
    kernel: Kernel, grid: GridLike, args: Sequence[object], target: str, check: Check, options: LaunchOptions
) -> None:
    """Check the program, the grid and the arguments, in this order, and run.

    Once that has been done, a target may have a shorter way for launches with usual arguments.
    """
    quick = kernel.quick.get((target, check)) if type(check) is bool else None
    if quick is not None and quick(grid, *args, **options) is None:
        return
    chosen = target_named(target)
    kernel.module.require_valid()
    extents = checked_grid(grid, kernel.name)
    arguments = bind(kernel, args, chosen)
    run = chosen.prepare(kernel, check, options)
    if type(check) is bool and (target, check) not in kernel.quick:
        kernel.quick[target, check] = _quick(kernel, chosen, check) if isinstance(chosen, QuickTarget) else None
    run(extents, arguments)


def _quick(kernel: Kernel, target: QuickTarget, check: bool) -> QuickLaunch:
    """Such launches, of which the first, the second of the kernel, makes the way for those that follow."""

    def launch(grid: GridLike, *args: object, **options: object) -> object:
        direct = target.direct(kernel, check, {})
        kernel.quick[target.name, check] = found = None if direct is None else direct.quick()
        if direct is not None and check and target.name == DEFAULT and type(kernel) is Kernel:
            kernel.launch_through(direct.method(target.name))
        return NotImplemented if found is None else found(grid, *args, **options)

    return launch


def bind(kernel: Kernel, args: Sequence[object], target: Target) -> list[Argument]:
    """The arguments of a launch for `target`. Raises TypeError or ValueError naming kernel and parameter."""
    binders = kernel.prepared(("binders", target.name), lambda: _binders(kernel, target))
    if len(args) != len(binders):
        raise TypeError(f"kernel @{shown(kernel.name)}: expected {_signature(kernel)}, got {len(args)}")
    return [bind_one(value) for bind_one, value in zip(binders, args)]


def _binders(kernel: Kernel, target: Target) -> tuple[Binder, ...]:
    return tuple(target.binder(parameter) for parameter in kernel.parameters)


def _signature(kernel: Kernel) -> str:
    count = len(kernel.parameters)
    names = ", ".join(f"{shown(parameter.name)}: {parameter.type!r}" for parameter in kernel.parameters)
    return f"{count} argument{'' if count == 1 else 's'} ({names})" if count else "no arguments"
