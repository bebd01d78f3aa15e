"""Kernels of cuTile as Tile IR.

The library is asked for the bytecode of a kernel in a chosen version. This needs no driver, no GPU and no `tileiras`.
"""

from __future__ import annotations

import inspect
import io
from functools import cache
from typing import TYPE_CHECKING

from tileir.bytecode.versions import SUPPORTED
from tileir.host.stages import stage
from tileir.ir.core import Module
from tileir.ir.versions import version_text
from tileir.ops.misc import Assume
from tileir.ops.views import MakeTensorView
from tileir.runtime.loading import from_bytecode
from tileir.runtime.module import Kernel

if TYPE_CHECKING:
    from cuda.tile import kernel as TileKernel
    from cuda.tile.compilation import KernelSignature


def exported(kernel: TileKernel, signature: KernelSignature) -> Kernel:
    """Return the entry for `signature`. Raises the library's own errors for a kernel that it cannot compile."""
    from cuda.tile.compilation import export_kernel

    file = io.BytesIO()
    with stage("front end"):
        export_kernel(
            kernel,
            [signature],
            file,
            gpu_code=_architecture(),
            output_format="tileir_bytecode",
            bytecode_version=newest_version(),
        )
    with stage("reading"):
        module = from_bytecode(file.getvalue(), python_file(kernel))
        drop_promises_of_single_strides(module)
    assert signature.symbol is not None
    return module[signature.symbol]


def python_file(kernel: TileKernel) -> str:
    file: str = kernel._annotated_function.pyfunc.__code__.co_filename
    return file


@cache
def _architecture() -> str | None:
    """Return None, for bytecode for no GPU in particular, where the library supports it (since 1.6)."""
    from cuda.tile.compilation import export_kernel

    required = inspect.signature(export_kernel).parameters["gpu_code"].default is inspect.Parameter.empty
    return "sm_100" if required else None


@cache
def newest_version() -> str:
    """Return the newest version of the bytecode that the library writes and tileir reads."""
    from cuda.tile._compile import parse_bytecode_version

    for version in reversed(SUPPORTED):
        try:
            parse_bytecode_version(version_text(version))
        except ValueError:
            continue
        return version_text(version)
    raise ImportError("the installed cuda-tile writes no version of the bytecode that tileir reads")


def drop_promises_of_single_strides(module: Module) -> None:
    """Let views take the strides of such axes as they are. The module is changed: it must be nobody else's yet."""
    passed: set[Assume] = set()
    for op in module.walk():
        if isinstance(op, MakeTensorView):
            passed |= _passed_by(op)
    used = {operand for op in module.walk() for operand in op.operands}
    for promise in passed:
        if promise.result not in used and promise.parent is not None:
            promise.parent.ops.remove(promise)


def _passed_by(view: MakeTensorView) -> set[Assume]:
    """Return the assumptions that the strides of a view no longer go through."""
    type = view.result.type
    axes = [axis for axis, stride in enumerate(type.strides) if stride is None]
    passed: set[Assume] = set()
    for place, axis in enumerate(axes, len(view.operands) - len(axes)):
        promise = view.operands[place].op
        if type.shape[axis] == 1 and isinstance(promise, Assume):
            view.set_operand(place, promise.value)
            passed.add(promise)
    return passed
