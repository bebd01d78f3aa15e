"""The PTX machine: executes the PTX of a kernel on the memory of this process.

It runs what Triton's compiler made for sm_80, statement by statement on the lanes of a warp, with NumPy. Arithmetic and
accesses to memory are those of the TTIR machine's inline PTX (`ttir_machine.ptx_instructions`, `ptx_memory`); here are
the text (`program`), integer arithmetic that rules do not write (`integers`), warps (`warp`), memory and moves between
lanes (`moving`), and products of matrices (`matrix`). The source is the PTX ISA manual, version 8.8.

It is stricter than a GPU where a GPU leaves something to chance:

- An access outside the memory that was lent, or at an address that is not a multiple of its size, is a fault.
- Registers, and the memory that a block shares, hold noise at first; a register that no lane has set must not be read.
- An asynchronous copy is made when its group is waited for, and not before.
- Warps run one after the other between barriers, the last one first after every other barrier, so that most missing
  barriers show. Lanes that meet at a statement continue together.

An instruction that it does not know is a fault. Those of later architectures are among them: `wgmma` and clusters of
sm_90, `tcgen05` of sm_100, copies by the tensor memory accelerator.
"""

from tests.ptx_machine.machine import Kernel, run

__all__ = ["Kernel", "run"]
