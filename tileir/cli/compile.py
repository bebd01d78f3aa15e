"""``tileir compile``: native code of a kernel, to look at or to keep.

Knows: the forms of the code, and how what the compiler did is put into words.
Does not know: how code is made (`cpu`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from tileir.cli import FINE, UsageError, files, show
from tileir.cli.launching import add_kernel, chosen_kernel
from tileir.cli.options import add_level, add_output
from tileir.cpu import explain
from tileir.cpu.engine import Host, assembly, host, object_code, optimized_text
from tileir.cpu.lowering import Kernel
from tileir.cpu.program import lowered
from tileir.ir.diagnostics import place_text

EMITS: dict[str, Callable[[str, Host], str | bytes]] = {"llvm": optimized_text, "asm": assembly, "obj": object_code}


def configure(parser: argparse.ArgumentParser) -> None:
    add_kernel(parser)
    parser.add_argument("--target", choices=("cpu",), default="cpu", help="what the code is for (default: cpu)")
    parser.add_argument("--emit", choices=tuple(EMITS), help="optimised LLVM, assembly (default) or an object file")
    parser.add_argument("--explain", action="store_true", help="say what the compiler made of the kernel")
    add_output(parser, "the code")
    add_level(parser)
    parser.epilog = """\
The code is for the processor of this machine.

examples:
  tileir compile --explain examples/saxpy.mlir
  tileir compile examples/saxpy.mlir -o saxpy.s
  tileir compile examples/reduction.mlir --kernel total --emit obj -o total.o
"""


def run(options: argparse.Namespace) -> int:
    if options.emit == "obj" and options.output is None:
        raise UsageError("an object file is not text: say where it goes with -o FILE")
    kernel = chosen_kernel(files.verified(options.file, options.level), options.kernel)
    found = lowered(kernel.entry, tuple(kernel.module.globals.addresses))
    text = str(found.module)
    if options.explain:
        _explain(kernel.name, found, assembly(text, host()))
    if options.emit is not None or not options.explain:
        files.write(options.output, EMITS[options.emit or "asm"](text, host()))
    return FINE


def _explain(name: str, kernel: Kernel, assembly: str) -> None:
    print(f"@{name}, for {host().cpu}")
    print(f"arena: {kernel.arena_size} bytes for each running tile block")
    print(f"vectors: {_vectors(assembly)}")
    rows: list[list[str | show.Text]] = [list(row) for row in _loads(kernel)]
    if rows:
        show.print_table(show.table({"load": "left", "place": "left", "tile": "left", "became": "left"}, rows))
    traps: list[list[str | show.Text]] = [
        [op.spec.name, place_text(op.loc), message] for op, message in explain.traps(kernel)
    ]
    if traps:
        show.print_table(show.table({"can trap": "left", "place": "left", "because": "left"}, traps))


def _vectors(assembly: str) -> str:
    found = explain.vector_instructions(assembly)
    return ", ".join(f"{count} instructions of {bits} bits" for bits, count in found.items()) or "none"


def _loads(kernel: Kernel) -> Iterator[tuple[str, str, str, str]]:
    for load in explain.loads(kernel):
        yield load.op.spec.name, place_text(load.op.loc), repr(load.type), load.became
