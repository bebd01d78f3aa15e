"""The rewrites of launches: a kernel, and a program, as targets compile them by default.

Only exact rewrites are made, and folding uses the interpreter's rules. The passes are imported only when something is
rewritten.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.ir.core import Op
from tileir.runtime.module import Kernel, Module


def exact_kernel(kernel: Kernel) -> Kernel:
    """Return the kernel of a verified module after rewrites that are exact, in a module of its own with what it
    needs."""
    return kernel.memo("exact", lambda: _rewritten(kernel.module, kernel)[kernel.name])


def exact_module(module: Module) -> Module:
    """Return a verified module after rewrites that are exact."""
    return module.memo("exact", lambda: _rewritten(module, None))


def _rewritten(module: Module, kernel: Kernel | None) -> Module:
    """Return a rewritten module, or the part that one kernel needs; unchanged if its regions are nested too deeply."""
    from tileir.passes.rebuilding import copied
    from tileir.passes.running import EXACT, Context, run

    try:
        mine = copied(module, None if kernel is None else kernel.entry)
        return Module.of(run(mine, EXACT, Context(evaluated, exact=True), ours=True))
    except RecursionError:
        return module


def evaluated(op: Op, operands: Sequence[np.ndarray]) -> Sequence[np.ndarray] | None:
    """Return the interpreter's results of an operation; its rules are loaded when the first constant is folded."""
    from tileir.interp.evaluation import evaluated as by_interpreter

    return by_interpreter(op, operands)
