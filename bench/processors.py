"""The same programs compiled for lesser processors than this one and run here, with their slowdown.

    python bench/processors.py
    python bench/processors.py --arm 'Neoverse V1' bench/kernels/gemm_i8.mlir

The levels are those of x86-64, and AArch64 processors by name.

Each level runs in a process of its own; they take turns, sample by sample, in time of the processor. Results are
checked first.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).parent
RUNS = 7
POINTS = (
    ("gemm", "512 x 512 x 512"),
    ("gemm_bf16", "256 x 256 x 256"),
    ("gemm_i8", "256 x 256 x 256"),
    ("add", "2^18"),
    ("softmax", "256 x 4096"),
    ("layer_norm", "256 x 4096"),
    ("attention_f32_64", "4 x 256"),
)
LEVELS = {
    "SSE2": ("x86-64", 128, False),
    "AVX2": ("x86-64-v3", 256, True),
    "AVX-512": ("x86-64-v4", 512, True),
    "this processor": None,
}
"""By LLVM's names, with the width of their vectors and whether they convert f16, and multiply and add in one."""
ARM = {"AArch64": ("generic", False), "Neoverse V1": ("neoverse-v1", True)}
"""By LLVM's names, with whether they have dot products of bytes and of bf16."""


def as_if(level: str) -> None:
    """Have code made for a level in this process, in which none has been made before."""
    from tileir.cpu.llvm import engine

    if level in ARM:
        cpu, has_dots = ARM[level]
        host = engine.Host("aarch64-unknown-linux-gnu", cpu, "", 128, has_dots, has_dots, False, True, True)
    elif (found := LEVELS[level]) is not None:
        cpu, bits, is_later = found
        triple = engine.llvm.get_process_triple()
        host = engine.Host(triple, cpu, "", bits, False, False, False, is_later, is_later)
    else:
        return
    engine._host = lambda: host


def arm_assembly(name: str, program: Path) -> str:
    """The code of a program's first kernel for an AArch64 processor, in a process that makes no other code."""
    import tileir
    from tileir.cpu.emit.record import CheckLevel
    from tileir.cpu.llvm import engine
    from tileir.cpu.run.program import lowered

    as_if(name)
    engine.llvm.initialize_all_targets()
    engine.llvm.initialize_all_asmprinters()
    (kernel,) = tileir.load(program).kernels.values()
    return engine.assembly(str(lowered(kernel.entry, (), CheckLevel.OFF).module), engine.host())


class Level:
    """A process that measures code for one level."""

    def __init__(self, level: str, cache: Path) -> None:
        environment = {**os.environ, "TILEIR_CACHE_DIR": str(cache), "TILEIR_NUM_THREADS": "1"}
        command = [sys.executable, str(HERE / "processors.py"), "--as-if", level]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, sweep: str, size: str) -> float:
        """One sample. Raises RuntimeError if the process ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(sweep, size, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{sweep} {size}: the process ended with status {self._process.wait(60)}")
        return float(line)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def row(levels: list[Level], sweep: str, size: str) -> str:
    """Medians, and how many times as long as this processor's own code each takes."""
    from statistics import median

    samples = [[level.seconds(sweep, size) for level in levels] for _ in range(RUNS)]
    times = [median(column) for column in zip(*samples)]
    shown = " | ".join(f"{one * 1e6:.4g} us ({one / times[-1]:.2f})" for one in times)
    return f"| {sweep} | {size} | {shown} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--as-if", choices=LEVELS, help=argparse.SUPPRESS)
    parser.add_argument("--arm", choices=ARM, help="print the assembly of a program instead")
    parser.add_argument("program", nargs="?", type=Path, help="for --arm")
    words = parser.parse_args()
    if words.arm:
        print(arm_assembly(words.arm, words.program))
        return 0
    if words.as_if:
        from sweep import serve

        as_if(words.as_if)
        serve(time.process_time)
        return 0
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        levels = [Level(level, place / level) for level in LEVELS]
        for level in levels:
            stack.callback(level.close)
        print(f"| sweep | size | {' | '.join(LEVELS)} |", f"|---|---|{'---:|' * len(LEVELS)}", sep="\n")
        for sweep, size in POINTS:
            print(row(levels, sweep, size), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
