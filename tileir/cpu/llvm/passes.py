"""What LLVM does to a module on its way to machine code.

Knows: which passes a module gets, and which of code generation it is spared. Does not know: processors
(`cpu.llvm.engine`), nor how loops are made for vectors (`cpu.emit.widening`).

Half of a compile, and more, is LLVM's. What a module does not need is left out:

* Its standard passes find vectors, which our own loops are made for already. A module without other loops gets five
  passes in a tenth of the time. They do without the combining of instructions, most of which code generation does
  once more.
* Code generation begins with a search for cheaper induction variables (loop strength reduction), which took a third
  of its time or more. Our own loops are as fast without it, within the scatter but for a few.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

NEEDING_ALL = ("llvm.loop.parallel_accesses", "@llvm.coro.", '@"llvm.coro.')
"""What a module contains that needs all of LLVM's passes: loops left to its vectoriser, and code that may be set
aside."""
_INDUCTION = "-disable-lsr"


def needs_all(ir_text: str) -> bool:
    """Whether a module needs all of LLVM's passes."""
    return any(map(ir_text.__contains__, NEEDING_ALL))


def pass_builder(machine: llvm.TargetMachine) -> llvm.PassBuilder:
    """What makes the standard passes at level 1, with loops vectorised."""
    tuning = llvm.PipelineTuningOptions(speed_level=1)
    tuning.loop_vectorization = True
    tuning.loop_interleaving = True
    # Tiles are loops, not lines of scalars: straight-line code has nothing to be found.
    tuning.slp_vectorization = False
    # The vectoriser interleaves already; to unroll further doubles the code and its compile time, and gains nothing.
    tuning.loop_unrolling = False
    return llvm.create_pass_builder(machine, tuning)


def optimise(module: llvm.ModuleRef, builder: llvm.PassBuilder, with_all: bool) -> None:
    """Run the standard passes over a module, or the few that it needs."""
    manager = builder.getModulePassManager() if with_all else _few_passes()
    manager.run(module, builder)
    # llvmlite's own way to free it leads to a method that does nothing (ObjectRef stands before NewPassManager).
    NewPassManager._dispose(manager)
    manager.detach()


def _few_passes() -> llvm.ModulePassManager:
    manager = llvm.create_new_module_pass_manager()
    manager.add_always_inliner_pass()
    manager.add_sroa_pass()
    manager.add_simplify_cfg_pass()
    manager.add_sccp_pass()
    manager.add_dead_code_elimination_pass()
    return manager


@contextmanager
def code_generation(with_all: bool) -> Iterator[None]:
    """While LLVM generates code of a module that got the standard passes, or the few.

    The switch is one for the process: whatever else uses llvmlite meanwhile, on another thread, gets code without that
    search too, which is as right.
    """
    if with_all:
        yield
        return
    llvm.set_option("", _INDUCTION)
    try:
        yield
    finally:
        llvm.set_option("", f"{_INDUCTION}=0")
