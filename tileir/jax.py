"""Kernels as functions of JAX: with shapes, gradients and batches, for `jax.jit`.

Knows: how a kernel of Tile IR or of cuTile Python becomes a callback of the host. Needs jax.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from tileir.cutile.launch import kernel_runner
from tileir.runtime.grid import GridLike

if TYPE_CHECKING:
    from cuda.tile import kernel as TileKernel
    from typing_extensions import Unpack

    from tileir.runtime.module import Kernel
    from tileir.runtime.options import Check, LaunchOptions

Arrays = Any
"""One array of JAX, or a tuple of them."""


def custom_op(
    kernel: Kernel | TileKernel,
    outputs: Callable[..., Any],
    launch: Callable[..., tuple[GridLike, Sequence[object]]],
    *,
    backward: Callable[..., object] | None = None,
    target: str = "cpu",
    check: Check = True,
    **options: Unpack[LaunchOptions],
) -> Callable[..., Arrays]:
    """Make a function of JAX of a kernel.

    Parameters
    ----------
    kernel : Kernel or cuda.tile.kernel
        What runs.
    outputs : callable
        Returns shape and element type of the output from the inputs, as a `jax.ShapeDtypeStruct` or an array; of
        several outputs as a tuple.
    launch : callable
        Returns the grid and the kernel's arguments from the inputs, followed by the outputs. They are NumPy arrays: the
        inputs where JAX has them, not to be written; the outputs are zeros.
    backward : callable, optional
        Returns the gradients of the inputs, None for those without one, from the inputs, followed by the outputs and
        the gradients of the outputs. May use functions made of other kernels.
    target : str, default "cpu"
        Where launches run: a target that uses memory of this machine.
    check : bool or "strict"
        As in `Kernel.launch`.
    **options : object
        Options of the target, as in `Kernel.launch`.

    Returns
    -------
    callable
        The function. Under `jax.vmap` the kernel runs for each element of the batch.

    Raises
    ------
    TypeError
        For a kernel that is none.
    """
    run = kernel_runner(kernel, check, options)

    def call(*inputs: jax.Array) -> Arrays:
        shapes = jax.tree.map(lambda one: jax.ShapeDtypeStruct(one.shape, one.dtype), outputs(*inputs))

        def host(*given: jax.Array) -> object:
            results = jax.tree.map(lambda one: np.zeros(one.shape, one.dtype), shapes)
            grid, arguments = launch(*map(np.asarray, given), *jax.tree.leaves(results))
            run(target, grid, arguments)
            return results

        return jax.pure_callback(host, shapes, *inputs, vmap_method="sequential")

    return call if backward is None else _with_gradients(call, backward)


def _with_gradients(call: Callable[..., Arrays], backward: Callable[..., object]) -> Callable[..., Arrays]:
    """Let the gradients of a function be those that `backward` returns."""

    def forward(*inputs: jax.Array) -> tuple[Arrays, tuple[jax.Array, ...]]:
        found = call(*inputs)
        return found, (*inputs, *jax.tree.leaves(found))

    def gradients(count: int, kept: tuple[jax.Array, ...], given: Arrays) -> tuple[object, ...]:
        found = backward(*kept, *jax.tree.leaves(given))
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != count:
            raise TypeError(f"backward: expected a gradient, or None, for each of {count} inputs, got {len(found)}")
        return found

    def function(*inputs: jax.Array) -> Arrays:
        made = jax.custom_vjp(call)
        made.defvjp(forward, lambda kept, given: gradients(len(inputs), kept, given))
        return made(*inputs)

    return function
