"""The PTX machine: executes the PTX of a kernel on the memory of this process.

It runs what Triton's compiler made for sm_80 to sm_120, statement by statement on the lanes of a warp, with NumPy.
Arithmetic and accesses to memory are those of the TTIR machine's inline PTX (`ttir_machine.ptx_instructions`,
`ptx_memory`); here are the text (`program`), arithmetic that rules do not write (`integers`), warps (`warp`), memory
and moves between lanes (`moving`), the copy engine and its barriers (`copy_engine`), and products of matrices: those of
a warp (`matrix`), of four warps (`warpgroup`), and of one thread in tensor memory (`tensor_memory`). The source is the
PTX ISA manual, version 8.8. Descriptors of tensors, whose form NVIDIA does not publish, are parameters that stand for
what the launcher has the driver encode.

It is stricter than a GPU where a GPU leaves something to chance:

- An access outside the memory that was lent, or at an address that is not a multiple of its size, is a fault.
- Registers, and the memory that a block shares, hold noise at first; a register that no lane has set must not be read.
- An asynchronous copy or product is made when its group or its barrier is waited for, and not before. Loads of tensor
  memory are the exception: Triton's compiler uses their registers before `tcgen05.wait::ld`.
- Warps run one after the other between barriers, the last one first after every other barrier, so that most missing
  barriers show. Lanes that meet at a statement continue together.

An instruction that it does not know is a fault. Among them are those of clusters, of multicast memory (`multimem`) and
of descriptors that blocks build (`tensormap`), block-scaled products of `tcgen05`, and copies from shared memory into
tensor memory (`tcgen05.cp`).
"""

from tests.ptx_machine.machine import Kernel, run

__all__ = ["Kernel", "run"]
