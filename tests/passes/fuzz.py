"""Random programs before and after optimisation, many of them, and all golden programs on the CPU.

    python -m tests.passes.fuzz --count 5000 --first 0 --jobs 2

Every program must give the same bits at every level on the interpreter, every tenth also on the CPU, be valid, settle,
and come back from bytecode as it was. A program that fails is named by its seed, a golden one by its name.
"""

from __future__ import annotations

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor

import tileir
from tests.differential import outcome
from tests.golden.arguments import arguments, runs
from tests.passes.test_optimised_programs import HIGHEST, assert_same_bits, check_random_program
from tileir.host import extern

NATIVE = 10
"""One program of so many runs natively too."""
STATEMENTS = 24


def failure(seed: int) -> tuple[int, str] | None:
    """Return the failure of the program of a seed."""
    level = 1 + seed % HIGHEST
    targets = ("interp", "cpu") if seed % NATIVE == 0 else ("interp",)
    try:
        check_random_program(seed, targets, level, STATEMENTS)
    except Exception as error:
        return seed, f"-O{level}: {type(error).__name__}: {str(error)[:300]}"
    return None


def golden_failure(number: int) -> tuple[str, str] | None:
    """Return the failure of a run of a golden program, at any level, natively."""
    name, text, entry, run = runs()[number]
    extern._externs.setdefault("hypot", math.hypot)
    kernel = tileir.parse(text)[entry]
    args = arguments(kernel, run)
    first = outcome(kernel, (1,), args, "cpu")
    for level in range(1, HIGHEST + 1):
        try:
            assert_same_bits(first, outcome(tileir.optimize(kernel.module, level)[entry], (1,), args, "cpu"))
        except Exception as error:
            return f"{name}, @{entry}", f"-O{level}: {type(error).__name__}: {str(error)[:300]}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="optimise random programs and compare what they do")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.count)
    with ProcessPoolExecutor(options.jobs) as pool:
        failures = [found for found in pool.map(failure, seeds, chunksize=16) if found is not None]
        golden = [found for found in pool.map(golden_failure, range(len(runs()))) if found is not None]
    for seed, what in failures:
        print(f"seed {seed}: {what}")
    for name, what in golden:
        print(f"{name}: {what}")
    print(f"{options.count} random programs, {len(failures)} failures")
    print(f"{len(runs())} runs of golden programs, {len(golden)} failures")
    return 1 if failures or golden else 0


if __name__ == "__main__":
    sys.exit(main())
