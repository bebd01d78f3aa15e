"""The page of the optimiser: its passes and rows, and one kernel's way through them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tileir.passes.pattern import PatternRow
from tileir.passes.pipeline import LEVELS, PASSES, passes_of
from tileir.passes.rebuilding import Row
from tileir.passes.running import EXACT

FOLDER = Path(__file__).parent
KERNEL = "docs/kernel_to_optimise.mlir"

_INTRODUCTION = """\
# The optimiser

`tileir opt -O2 kernel.mlir`, or `tileir.optimize(module, level=2)`, makes a program with fewer operations that does the
same. It reads and writes text and bytecode, so it can stand before any consumer of Tile IR:

```text
tileir opt -O2 in.tileirbc -o out.tileirbc
```

Every rewrite is a *row*: a pattern, what it becomes, the condition, and a sentence that says why. This page is
generated from the rows (`make docs`). Folding is done by the interpreter's own rules, so that folding and running are
one arithmetic.

A row has a class, by the results that it keeps:

| class | the results it keeps |
|---|---|
| exact | the same bits for all inputs |
| exact under promises | the same bits where the program has defined behaviour: no race, no promise broken, no trap |
| order | the same bits for programs without races; other edges between memory operations |
| changes rounding | other bits; only in passes that no level runs |

The rows of single operations are decided by the tests on all values of small types (i1, all pairs of i8, f16 and bf16)
with every case of every attribute; each of the others by a program of its own (`tests/passes`). A row without such a
test fails a test. Where z3-solver is installed, the rows of integers are proved besides for all contents of i1, i8,
i16, i32 and i64 (`tests/passes/test_proved_rows.py`).

Locations survive: an operation that stands for several has all their lines (`fused[...]`), one from an inlined function
those of the call, so that a trap in an optimised program still names a line of the source.

A level repeats its passes until a round changes nothing:

"""
_LAUNCHES = """\
## In launches

Launches on `cpu` and GPUs, and `tileir compile`, rewrite a kernel before they make code of it: by
{passes}, and of these by rows of class *exact* alone. So a load that nobody uses stays, since it may be out of bounds,
as do promises, assertions, and loops, whose iterations are counted. Faults name the same operation, line, array and
element as without (`tests/passes/test_exact_rewrites.py`, and the faulty programs of `make fuzz`); an inner loop that
certainly runs once no longer counts for `max_iterations`. For `cpu`, `one-turn` follows.

`optimize=False`, or `--no-optimize`, makes code of the program as it is. Strict checks do so too, since they look for
what rewrites leave out, and so do `debug_info` and the profiler. The interpreter always runs the program as it is.
"""


def page() -> str:
    return "\n".join([_INTRODUCTION.rstrip("\n") + "\n", *_levels(), *_launches(), *_passes(), *_example()])


def _levels() -> Iterator[str]:
    yield "| level | passes |\n|---|---|"
    for level, names in enumerate(LEVELS):
        yield f"| `-O{level}` | {', '.join(f'`{name}`' for name in names) or 'none'} |"
    native = ", ".join(f"`{name}`" for name in passes_of(2, "cpu"))
    yield f'\nWith `--target cpu`, or `target="cpu"`, `-O2` is {native}.'
    rest = [name for name in PASSES if not any(name in names for names in LEVELS)]
    yield f"\nOnly by name (`--passes`): {', '.join(f'`{name}`' for name in rest)}.\n"


def _launches() -> Iterator[str]:
    yield _LAUNCHES.format(passes=", ".join(f"`{one.name}`" for one in EXACT))


def _passes() -> Iterator[str]:
    for one in PASSES.values():
        yield f"## {one.name}\n\n{one.text[0].upper()}{one.text[1:]}.\n"
        yield "| row | pattern | becomes | if | class | why |\n|---|---|---|---|---|---|"
        yield from map(_row, one.rows)
        yield ""


def _row(row: Row) -> str:
    """A line of the table; patterns are code, descriptions are not."""
    told = [row.pattern, row.becomes, row.when]
    if isinstance(row, PatternRow):
        told = [f"`{part}`" if part else "" for part in told]
    return (
        "| " + " | ".join(cell.replace("|", "\\|") for cell in (f"`{row.name}`", *told, row.kind.value, row.why)) + " |"
    )


def _example() -> Iterator[str]:
    source = (FOLDER.parent / KERNEL).read_text(encoding="utf-8").rstrip()
    optimised, table = _run("-O2", "--explain", KERNEL)
    _, counts = _run("-O2", "--stats", KERNEL)
    yield f"## One kernel's way\n\n`{KERNEL}`:\n\n```mlir\n{source}\n```\n"
    yield f"`tileir opt -O2 --explain {KERNEL}` says\n\n```text\n{_trimmed(table)}\n```\n"
    yield f"and writes ({counts.splitlines()[-1].strip()})\n\n```mlir\n{optimised.rstrip()}\n```\n"
    yield "`--print-ir-after-all` shows the program after every pass, in the form that viewers of MLIR's dumps read.\n"


def _run(*arguments: str) -> tuple[str, str]:
    command = [sys.executable, "-m", "tileir", "opt", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER.parent, check=True)
    return done.stdout, done.stderr


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
