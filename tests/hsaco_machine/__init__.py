"""The hsaco machine: executes machine code of AMD's GPUs on the memory of this process.

It runs what Triton's compiler made, instruction by instruction on all lanes of a wave, with NumPy. Instructions are
decoded by tinygrad's tables, which AMD's documents were made into by a program; what they do is AMD's own pseudo-code
from those tables (`pseudo`), but for what it does not cover: branches and waiting (`scalar`), memory (`access`), what
moves between lanes (`vector`, `lanes`) and products of matrices (`matrix`).

It is stricter than a GPU where a GPU leaves something to chance:

- An access outside the memory that was lent, or at an address that is not a multiple of its size, is a fault.
- A register that a load fills must not be used before the counter of such loads was waited for.
- Registers, and memory that a block shares, hold noise at first.
- A barrier must be passed by each wave that has not ended; waves run one after the other between barriers.
"""

from tests.hsaco_machine.machine import Kernel, run

__all__ = ["Kernel", "run"]
