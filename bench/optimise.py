"""Programs with and without the optimiser, in one run: operations, native code, machine code of GPUs.

    python bench/optimise.py [--cpu] [name ...]

Every kernel is run as it is, as launches rewrite it, and after ``tileir opt -O2``, in turn on the same arrays; all must
leave the same bits. Compiling for a launch takes the rewriting with it. A line gives the time of the passes for a
program of 20,000 operations. Machine code is compared where the compilers are installed, Triton's for sm_90 and the
vendor's for sm_90 and sm_100; with ``--cpu`` it is left out.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import tileir  # noqa: E402
from tests.gpu.machine_code import MachineCode, machine_code  # noqa: E402
from tileir.cache import Cache  # noqa: E402
from tileir.cpu.emit.record import CheckLevel  # noqa: E402
from tileir.cpu.run.program import compiled as natively  # noqa: E402
from tileir.gpu import vendor  # noqa: E402
from tileir.gpu.arch import arch_named  # noqa: E402
from tileir.gpu.program import aligned_facts  # noqa: E402
from tileir.gpu.program import compiled as by_triton  # noqa: E402
from tileir.ir.diagnostics import UnsupportedError  # noqa: E402
from tileir.runtime.gpu_routes import source_of, vendor_cubin  # noqa: E402
from tileir.runtime.native import source_of as native_source  # noqa: E402

KERNELS = ROOT / "bench" / "kernels"
EXAMPLES = ROOT / "examples"
RUNS = 9
ENOUGH = 0.05
"""Seconds that the launches of one run take together."""
LEVELS = (0, 2)
LARGE = 20_000
"""Operations of the program that shows how the time of the passes grows."""
FIRST = """\
| kernel | operations, -O2 | -O2, us per operation | run: rewritten | run: -O2 | compile: rewritten | compile: -O2 |
|---|---|---|---|---|---|---|
"""
"""Times are those of the kernel as it is by those of what the column says: more is better."""
SECOND = """
| kernel | route | main loop | instructions | stack, bytes | 128-bit accesses |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Case:
    """A kernel and one launch of it."""

    name: str
    path: Path
    kernel: str
    grid: tuple[int, ...]
    arguments: Callable[[], list[object]]


def normal(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def _gemm() -> list[object]:
    size = 512
    extents = (size,) * 6
    halves = [normal(size, size, dtype=np.float16) for _ in range(2)]
    return [*halves, np.zeros((size, size), np.float32), *extents]


def _rows() -> list[object]:
    random = np.random.default_rng(0)
    tables = [random.permutation(2048).astype(np.int32) for _ in range(2)]
    return [normal(2048, 256), *tables, normal(2048), np.zeros((2048, 256), np.float32)]


def _numbers() -> list[object]:
    return [np.random.default_rng(0).integers(0, 256, 1 << 18).astype(np.int32), np.zeros(256, np.int32), 1 << 18]


def _layer_norm() -> list[object]:
    vectors = [normal(4096), normal(4096), np.zeros((256, 4096), np.float32)]
    return [normal(256, 4096), *vectors, 256, 4096, 1e-5]


def _of_example(name: str) -> Case:
    from tileir.examples.checks import EXAMPLES as KNOWN

    found = next(one for one in KNOWN if one.name == name)
    arguments = found.arguments(found.sizes, np.random.default_rng(1))
    return Case(name, Path(found.path), found.kernel, found.grid(found.sizes), lambda: list(arguments.values()))


def cases() -> list[Case]:
    return [
        Case("GEMM by pointers", EXAMPLES / "gemm_kloop.mlir", "gemm_kloop_kernel", (4, 4), _gemm),
        Case("softmax by pointers", KERNELS / "softmax_pointers.mlir", "softmax", (128,),
             lambda: [normal(1024, 1000), np.zeros((1024, 1000), np.float32), 1024, 1000]),
        Case("gather and scatter of rows", KERNELS / "moe_rows_pointers.mlir", "rows", (128,), _rows),
        Case("histogram", KERNELS / "histogram.mlir", "count", (256,), _numbers),
        Case("a x + y by pointers", ROOT / "docs" / "kernel_to_optimise.mlir", "axpy", (256,),
             lambda: [1.5, normal(1 << 18), normal(1 << 18), 1 << 18, True]),
        Case("softmax of a front end", KERNELS / "softmax_front_end.mlir", "softmax_front_end", (256,),
             lambda: [normal(256, 4096), np.zeros((256, 4096), np.float32), 256, 4096]),
        Case("layer norm by pointers", KERNELS / "layer_norm_pointers.mlir", "layer_norm", (256,), _layer_norm),
        Case("saxpy by pointers", KERNELS / "saxpy_pointers.mlir", "saxpy", (64,),
             lambda: [normal(1 << 18), normal(1 << 18), 1.5, 1 << 18]),
        *map(_of_example, ("saxpy", "layer_norm", "attention", "softmax", "embedding")),
    ]  # fmt: skip


# ---------------------------------------------------------------- one kernel


def operations(module: tileir.Module) -> int:
    return sum(1 for _ in module.walk())


def optimiser_time(module: tileir.Module) -> float:
    """Microseconds of the passes of -O2 for each operation: the least of some runs, in time of the processor."""
    tileir.verify(module).raise_if_errors()
    best = min(_seconds(lambda: tileir.optimize(module, LEVELS[1])) for _ in range(RUNS))
    return best / operations(module) * 1e6


def _seconds(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin


@dataclass(frozen=True)
class Form:
    """A kernel as it is launched: with the rewrites of launches, or without."""

    kernel: tileir.Kernel
    rewrites: bool

    def launch(self, grid: tuple[int, ...], arguments: list[object]) -> None:
        self.kernel.launch(grid, *arguments, threads=1, optimize=self.rewrites)

    def compile(self) -> None:
        """Make code of a kernel that nothing has been done for."""
        fresh = tileir.Kernel(self.kernel.module, self.kernel.entry)
        natively(native_source(fresh, CheckLevel.ON, self.rewrites), Cache(None))


def native_times(case: Case, forms: list[Form]) -> tuple[list[float], list[float]]:
    """Seconds of a launch on one thread, and of compiling, for each form; all must leave the same bits."""
    arguments = case.arguments()
    before = [value.copy() for value in arguments if isinstance(value, np.ndarray)]
    results, times, compiles = [], [[] for _ in forms], [[] for _ in forms]

    def restore() -> None:
        arrays = (value for value in arguments if isinstance(value, np.ndarray))
        for array, content in zip(arrays, before):
            array[...] = content

    for form in forms:
        restore()
        form.launch(case.grid, arguments)
        results.append([value.tobytes() for value in arguments if isinstance(value, np.ndarray)])
    assert all(result == results[0] for result in results), f"{case.name}: the forms differ"
    restore()
    repeats = 1 + int(ENOUGH / _seconds(partial(forms[0].launch, case.grid, arguments)))

    def launches(form: Form) -> None:
        for _ in range(repeats):
            form.launch(case.grid, arguments)

    for turn in range(RUNS):
        for at, form in list(enumerate(forms))[:: 1 if turn % 2 else -1]:
            restore()
            times[at].append(_seconds(partial(launches, form)))
            compiles[at].append(_seconds(form.compile))
    return [min(found) for found in times], [statistics.median(found) for found in compiles]


def large_program_line() -> str:
    """The time of the passes of -O2 for a program of very many operations, and for a kernel of it alone."""
    text = (KERNELS / "softmax_pointers.mlir").read_text()
    begin, end = text.index("  entry @softmax("), text.rindex("}")
    copies = LARGE // operations(tileir.parse(text))
    entries = (text[begin:end].replace("@softmax(", f"@softmax_{at}(") for at in range(copies))
    large = tileir.parse(text[:begin] + "".join(entries) + text[end:])
    took = f"{optimiser_time(large):.0f} us per operation; one of them alone {optimiser_time(tileir.parse(text)):.0f}"
    return f"\n{copies} kernels of {operations(large)} operations together: -O2 takes {took}."


def machine_codes(kernel: tileir.Kernel) -> dict[str, MachineCode | None]:
    """By route and target; None where a compiler is missing or refuses the kernel."""
    makers = {
        "triton sm_90": lambda: _triton(kernel),
        "tileiras sm_90": lambda: vendor_cubin(kernel.module, arch_named("sm_90")),
        "tileiras sm_100": lambda: vendor_cubin(kernel.module, arch_named("sm_100")),
    }
    found: dict[str, MachineCode | None] = {}
    for name, make in makers.items():
        try:
            if name.startswith("tileiras"):
                vendor.require_program()
            found[name] = machine_code(make())
        except (ImportError, UnsupportedError):
            found[name] = None
    return found


def _triton(kernel: tileir.Kernel) -> bytes:
    made = by_triton(source_of(kernel), arch_named("sm_90"), aligned_facts(kernel.entry), ["cubin"])
    cubin: bytes = made.artifacts.binary
    return cubin


def _main_loop(code: MachineCode) -> int:
    """Instructions of the longest innermost loop; of all where there is none."""
    return max((len(loop.names) for loop in code.loops), default=len(code.names))


def _size(code: MachineCode) -> int:
    return len(code.names)


def _stack(code: MachineCode) -> int:
    return code.stack


def _widths(code: MachineCode) -> str:
    """Return how many accesses to global memory are of 128 bits."""
    names = [name for name in code.names if name.startswith(("LDG", "STG"))]
    return f"{sum('.128' in name for name in names)}/{len(names)}"


# ---------------------------------------------------------------- the table


def measured(case: Case, with_machine_code: bool) -> list[str]:
    """A line of the first table, and one for each route of the second."""
    plain = tileir.load(case.path)
    modules = [tileir.optimize(plain, level) for level in LEVELS]
    sizes = [operations(module) for module in modules]
    kernels = [module[case.kernel] for module in modules]
    forms = [Form(kernels[0], False), Form(kernels[0], True), Form(kernels[1], False)]
    times = [f"{all_of[0] / one:.2f}x" for all_of in native_times(case, forms) for one in all_of[1:]]
    first = f"| {case.name} | {sizes[0]} -> {sizes[1]} | {optimiser_time(plain):.0f} | {' | '.join(times)} |"
    if not with_machine_code:
        return [first]
    return [first, *machine_code_lines(case.name, *(module[case.kernel] for module in modules))]


def machine_code_lines(name: str, before: tileir.Kernel, after: tileir.Kernel) -> list[str]:
    """A line of the second table for each route."""
    codes = [machine_codes(kernel) for kernel in (before, after)]
    lines = []
    for route, first in codes[0].items():
        second = codes[1][route]
        if first is None or second is None:
            lines.append(f"| {name} | {route} | - | - | - | - |")
            continue
        facts: tuple[Callable[[MachineCode], object], ...] = (_main_loop, _size, _stack, _widths)
        cells = [f"{of(first)} -> {of(second)}" for of in facts]
        lines.append(f"| {name} | {route} | {' | '.join(cells)} |")
    return lines


def main() -> int:
    names = [word for word in sys.argv[1:] if word != "--cpu"]
    found = []
    for case in (case for case in cases() if not names or case.name in names):
        found.append(measured(case, "--cpu" not in sys.argv))
        print("\n".join(found[-1]), file=sys.stderr, flush=True)
    print(FIRST + "\n".join(lines[0] for lines in found))
    if not names:
        print(large_program_line())
    codes = [line for lines in found for line in lines[1:]]
    if codes:
        print(SECOND + "\n".join(codes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
