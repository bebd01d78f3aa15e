"""Launching a kernel: check everything, then hand over to the target.

Knows: the order of the checks. Does not know: any of them in detail, nor how a target runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.shown import shown
from tileir.runtime.arguments import Argument, Binder
from tileir.runtime.grid import GridLike, checked_grid
from tileir.runtime.module import Kernel, Module
from tileir.runtime.naming import in_order
from tileir.runtime.targets import DEFAULT, Target, TargetName, target_named

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
    """Check the program, the grid and the arguments, in this order, and run."""
    key = (target, check) if type(check) is bool and not options else None
    ready = kernel.ready.get(key)
    if ready is not None:
        binders, run = ready
        run(checked_grid(grid, kernel.name), _bound(kernel, binders, args))
        return
    chosen = target_named(target)
    kernel.module.require_valid()
    extents = checked_grid(grid, kernel.name)
    binders = _binders(kernel, chosen)
    arguments = _bound(kernel, binders, args)
    run = chosen.prepare(kernel, check, options)
    if key is not None:
        kernel.ready[key] = binders, run
    run(extents, arguments)


def bind(kernel: Kernel, args: Sequence[object], target: Target) -> list[Argument]:
    """The arguments of a launch for `target`. Raises TypeError or ValueError naming kernel and parameter."""
    return _bound(kernel, _binders(kernel, target), args)


def _binders(kernel: Kernel, target: Target) -> Sequence[tuple[int, Binder]]:
    """Return binders and the positions of what they bind: numbers first, as code of their own may move arrays."""

    def make() -> list[tuple[int, Binder]]:
        binders = [(parameter.index, target.binder(parameter)) for parameter in kernel.parameters]
        types = [t.checked_cast(parameter.type, t.TileType) for parameter in kernel.parameters]
        return sorted(binders, key=lambda binder: isinstance(types[binder[0]].element, t.PointerType))

    return kernel.prepared(("binders", target.name), make)


def _bound(kernel: Kernel, binders: Sequence[tuple[int, Binder]], args: Sequence[object]) -> list[Argument]:
    if len(args) != len(binders):
        raise TypeError(f"kernel @{shown(kernel.name)}: expected {_signature(kernel)}, got {len(args)}")
    bound: list[Any] = [None] * len(args)
    for position, bind_one in binders:
        bound[position] = bind_one(args[position])
    return bound


def _signature(kernel: Kernel) -> str:
    count = len(kernel.parameters)
    names = ", ".join(f"{shown(parameter.name)}: {parameter.type!r}" for parameter in kernel.parameters)
    return f"{count} argument{'' if count == 1 else 's'} ({names})" if count else "no arguments"
