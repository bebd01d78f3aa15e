"""Golden programs as code for another processor than this one: ``python -m tests.cpu.other_processor LEVEL STEP``.

Runs every STEP-th run of a golden program whose values are compared with the interpreter's; prints how many. What LEVEL
may be is in `bench/processors.py`; the processor, or its emulator, must run such code.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def main() -> int:
    level, step = sys.argv[1], int(sys.argv[2])
    path = Path(__file__).parents[2] / "bench" / "processors.py"
    spec = importlib.util.spec_from_file_location("processors", path)
    processors = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(processors)
    processors.as_if(level)
    from tests.cpu import test_golden as golden
    from tileir.cpu.llvm.engine import host

    chosen = golden.RUNS[::step]
    for _, text, name, run in chosen:
        golden.test_every_value_of_a_golden_program_is_that_of_the_interpreter(text, name, run)
    print(host().cpu, host().vector_bits, len(chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
