"""The TTIR machine: executes TTIR on the memory of this process, so that GPU code is shown to be right without a GPU.

TTIR is Triton's tile dialect, which `tileir.gpu.ttir` makes of Tile IR. The machine runs what was made, with NumPy, as
the documents of MLIR, of Triton and of PTX say: `run` takes a function, a grid, its arguments and the memory that they
may use. It does not know Tile IR, nor how the code was made, so that it and the compiler check each other.

It is stricter than a GPU wherever a GPU leaves something to chance:

- What MLIR, LLVM or PTX leave undefined is poison, lane by lane: it may be computed and dropped, but a branch, an
  address, a stored value or a division that depends on it is a `MachineFault` (`values`).
- An access outside the memory that was lent, or at an address that is not a multiple of its size, is a fault
  (`memory`); if asked to, also two accesses of a block to the same memory without a barrier between them (`races`).
- What is promised only to be near is a step off the true value (`functions`, `ptx_instructions`), products are rounded
  once, and a reduction combines elements that are far apart, so that no test passes by the luck of one order (`folds`).
- Instructions and forms of PTX that do not exist, and combinations that Triton's compiler has no code for, are faults.

One file knows one kind of instruction: elements on their own (`elementwise`, `functions`), shapes (`shapes`), loads and
stores (`access`), atomics (`atomics`), reductions (`folds`), products (`products`), descriptors (`descriptors`), inline
PTX (`ptx`, `ptx_instructions`, `ptx_memory`). `machine` puts them together: blocks of the grid that take turns, and
control flow. A rule is given the block that it is run in as `frame.Frame` says.
"""

from tests.ttir_machine.machine import run
from tests.ttir_machine.memory import Allocation, allocation
from tests.ttir_machine.values import MachineFault

__all__ = ["Allocation", "MachineFault", "allocation", "run"]
