"""The rewrites of launches: a kernel, and a program, as targets compile them by default.

Only exact rewrites are made, and folding uses the interpreter's rules. The passes are imported only when something is
rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tileir.ir.core import Op
from tileir.runtime.module import Kernel, Module


def exact_kernel(kernel: Kernel, native: bool = False) -> Kernel:
    """Return the kernel of a verified module after rewrites that are exact, for `native` code or any, in a module of
    its own with what it needs."""
    return kernel.memo(("exact", native), lambda: _rewritten(kernel.module, kernel, native=native)[kernel.name])


def specialised(kernel: Kernel, arguments: Mapping[int, int]) -> Kernel:
    """Return the exactly rewritten kernel for launches with these integer `arguments`, by position; extents and strides
    of views that follow are static."""
    key = "exact", *arguments.items()
    return kernel.memo(key, lambda: _rewritten(kernel.module, kernel, arguments)[kernel.name])


def exact_module(module: Module) -> Module:
    """Return a verified module after rewrites that are exact."""
    return module.memo("exact", lambda: _rewritten(module, None))


def _rewritten(
    module: Module, kernel: Kernel | None, arguments: Mapping[int, int] | None = None, native: bool = False
) -> Module:
    """Return a rewritten module, or the part that one kernel needs, for `arguments` that are known; unchanged if its
    regions are nested too deeply."""
    from tileir.passes.rebuilding import copied
    from tileir.passes.running import EXACT, NATIVE, Context, run

    try:
        mine = copied(module, None if kernel is None else kernel.entry)
        passes = list(NATIVE if native else EXACT)
        if kernel is not None and arguments:
            from tileir.passes.pipeline import PASSES
            from tileir.passes.specialising import parameter_name

            named = {parameter_name(kernel.entry.body, position): value for position, value in arguments.items()}
            mine = run(mine, [PASSES["specialise"]], Context(evaluated, named), ours=True)
            passes.append(PASSES["infer"])
        return Module.of(run(mine, passes, Context(evaluated, exact=True), ours=True))
    except RecursionError:
        return module


def evaluated(op: Op, operands: Sequence[np.ndarray]) -> Sequence[np.ndarray] | None:
    """Return the interpreter's results of an operation; its rules are loaded when the first constant is folded."""
    from tileir.interp.evaluation import evaluated as by_interpreter

    return by_interpreter(op, operands)
