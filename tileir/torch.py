"""Kernels as operations of torch: with shapes, gradients and batches, for `torch.compile` and `torch.export`.

Knows: how a kernel of Tile IR or of cuTile Python becomes a `torch.library` operation. Needs torch, and for kernels of
cuTile Python the package cuda-tile.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.library import CustomOpDef, infer_schema
from torch.library import custom_op as library_op

from tileir.cutile.launch import kernel_runner
from tileir.runtime.grid import GridLike
from tileir.runtime.module import Kernel

if TYPE_CHECKING:
    from cuda.tile import kernel as TileKernel
    from typing_extensions import Unpack

    from tileir.runtime.options import Check, LaunchOptions

Outputs = Tensor | tuple[Tensor, ...] | None
_TARGETS = {"cpu": "cpu", "cuda": "hip" if torch.version.hip else "cuda"}
"""The target for arrays on each kind of device."""
_NAME = re.compile("[^:]+::[^:]+")


def custom_op(
    kernel: Kernel | TileKernel,
    outputs: Callable[..., Outputs],
    launch: Callable[..., tuple[GridLike, Sequence[object]]],
    *,
    name: str | None = None,
    mutates: Sequence[str] = (),
    backward: Callable[..., object] | None = None,
    target: str | None = None,
    check: Check = True,
    **options: Unpack[LaunchOptions],
) -> CustomOpDef:
    """Make an operation of torch of a kernel.

    Parameters
    ----------
    kernel : Kernel or cuda.tile.kernel
        What runs.
    outputs : callable
        Makes the empty outputs from the inputs. Its signature is the operation's: annotated as `torch.library` asks;
        what is not annotated is a tensor. It also serves as the fake implementation, and must not look at elements.
    launch : callable
        Returns the grid and the kernel's arguments from the inputs, followed by the outputs. Its tensors are
        contiguous, except those that are changed in place.
    name : str, optional
        The name in torch; ``"tileir::"`` and the kernel's name by default.
    mutates : sequence of str
        The inputs that the kernel writes.
    backward : callable, optional
        Returns the gradients of the inputs, None for those without one, from the inputs, followed by the outputs and
        the gradients of the outputs. May use operations made of other kernels.
    target : str, optional
        Where launches run; by default ``"cpu"`` for tensors of this machine and ``"cuda"`` or ``"hip"`` for a GPU's.
    check : bool or "strict"
        As in `Kernel.launch`.
    **options : object
        Options of the target, as in `Kernel.launch`.

    Returns
    -------
    torch.library.CustomOpDef
        The operation, which is called with the inputs.

    Raises
    ------
    TypeError
        For a kernel that is none, or a signature that torch does not take.
    ValueError
        For a name without a namespace.
    """
    if name is not None and not _NAME.fullmatch(name):
        raise ValueError(f"name: expected a namespace and a name, such as 'mine::softmax', got '{name}'")
    signature, mutated = _signature(outputs), list(mutates)
    schema = _schema(signature, mutated)
    run = kernel_runner(kernel, check, options)
    names = list(signature.parameters)

    def made(*inputs: object) -> Outputs:
        found = outputs(*inputs)
        if found is None and signature.return_annotation is None:
            return None
        if isinstance(found, tuple):
            return tuple(map(_contiguous, found))
        return _contiguous(found)

    def launched(*inputs: object) -> Outputs:
        results = made(*inputs)
        given = [value if name in mutated else _plain(value) for name, value in zip(names, inputs)]
        grid, arguments = _launch_of(launch(*given, *_flat(results)))
        place = target or _target_of([*given, *arguments])
        run(place, grid, [one.detach() if isinstance(one, Tensor) else one for one in arguments])
        return results

    op = library_op(name or f"tileir::{_identifier(kernel)}", mutates_args=mutated, schema=schema)(launched)
    op.register_fake(made)
    op.register_vmap(
        lambda info, dims, *inputs: _batched(op if info.batch_size else made, info.batch_size, dims, inputs)
    )
    if backward is not None:
        _register_backward(op, backward, len(names))
    return op


def _signature(outputs: Callable[..., Outputs]) -> inspect.Signature:
    """Return the signature of the operation: tensors where nothing is said."""
    found = inspect.signature(outputs, eval_str=True)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if wrong := [one.name for one in found.parameters.values() if one.kind not in kinds]:
        raise TypeError(f"outputs: expected positional parameters only, got '{wrong[0]}'")
    parameters = [
        one.replace(annotation=Tensor) if one.annotation is one.empty else one for one in found.parameters.values()
    ]
    returned = Tensor if found.return_annotation is found.empty else found.return_annotation
    return found.replace(parameters=parameters, return_annotation=returned)


def _schema(signature: inspect.Signature, mutated: Sequence[str]) -> str:
    def prototype() -> None: ...

    prototype.__signature__ = signature  # type: ignore[attr-defined]
    if unknown := [name for name in mutated if name not in signature.parameters]:
        raise TypeError(f"mutates: expected names of inputs, got '{unknown[0]}'")
    try:
        return infer_schema(prototype, mutates_args=mutated)
    except ValueError as error:
        raise TypeError(f"outputs: {error}") from None


def _contiguous(output: object) -> Tensor:
    if not isinstance(output, Tensor):
        raise TypeError(f"outputs: expected to return a tensor or a tuple of tensors, got {type(output).__name__}")
    return output.contiguous()


def _identifier(kernel: Kernel | TileKernel) -> str:
    name = kernel.name if isinstance(kernel, Kernel) else getattr(kernel, "__name__", "kernel")
    return re.sub(r"\W", "_", name)


def _plain(value: object) -> object:
    return value.contiguous() if isinstance(value, Tensor) else value


def _flat(outputs: Outputs) -> tuple[Tensor, ...]:
    return outputs if isinstance(outputs, tuple) else () if outputs is None else (outputs,)


def _launch_of(found: object) -> tuple[GridLike, Sequence[object]]:
    if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[1], Sequence):
        kinds = [type(one).__name__ for one in found] if isinstance(found, tuple) else []
        got = f"({', '.join(kinds)})" if kinds else type(found).__name__
        raise TypeError(f"launch: expected to return (grid, arguments), got {got}")
    return found


def _target_of(values: Sequence[object]) -> str:
    kinds = {value.device.type for value in values if isinstance(value, Tensor)}
    if len(kinds) != 1 or not kinds <= _TARGETS.keys():
        raise TypeError(f"expected tensors on the CPU or on a GPU, got tensors on {', '.join(sorted(kinds)) or 'none'}")
    return _TARGETS[kinds.pop()]


def _batched(
    op: Callable[..., Outputs], size: int, dims: Sequence[int | None], inputs: Sequence[object]
) -> tuple[Outputs, int | tuple[int, ...] | None]:
    """Call the operation for each element of a batch, and stack the outputs.

    For a batch without elements `op` only makes the outputs of one, which give the shapes.
    """

    def element(value: object, dim: int | None, at: int) -> object:
        if not isinstance(value, Tensor) or dim is None:
            return value
        return value.select(dim, at) if size else value.new_empty(value.movedim(dim, 0).shape[1:])

    found = [op(*[element(value, dim, at) for value, dim in zip(inputs, dims)]) for at in range(size or 1)]
    if found[0] is None:
        return None, None
    stacked = tuple(torch.stack(parts)[:size] for parts in zip(*map(_flat, found)))
    if isinstance(found[0], Tensor):
        return stacked[0], 0
    return stacked, (0,) * len(stacked)


def _register_backward(op: CustomOpDef, backward: Callable[..., object], count: int) -> None:
    """Let the gradients of an operation with `count` inputs be those that `backward` returns."""

    def setup_context(ctx: torch.autograd.function.FunctionCtx, inputs: tuple[object, ...], output: Outputs) -> None:
        values = [*inputs, *_flat(output)]
        ctx.save_for_backward(*[value for value in values if isinstance(value, Tensor)])
        ctx.values = [None if isinstance(value, Tensor) else (value,) for value in values]  # type: ignore[attr-defined]

    def gradients(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor) -> object:
        tensors = iter(ctx.saved_tensors)  # type: ignore[attr-defined]
        values = [next(tensors) if kept is None else kept[0] for kept in ctx.values]  # type: ignore[attr-defined]
        found = backward(*values, *grads)
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != count:
            raise TypeError(f"backward: expected a gradient, or None, for each of {count} inputs, got {len(found)}")
        return found

    op.register_autograd(gradients, setup_context=setup_context)
