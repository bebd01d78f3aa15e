"""``tileir compile --target cpu``: native code of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tileir.cli import show
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.llvm.engine import Host, assembly, host, object_code, optimized_text
from tileir.cpu.lowering.functions import LoweredKernel
from tileir.cpu.run import explain
from tileir.cpu.run.program import lowered
from tileir.ir.diagnostics import place_text
from tileir.runtime import module

EMITS: dict[str, Callable[[str, Host], str | bytes]] = {"llvm": optimized_text, "asm": assembly, "obj": object_code}


def compiled(kernel: module.Kernel, form: str | None, explained: bool) -> str | bytes | None:
    """The code of a kernel in a form; what became of it is printed first if `explained`."""
    found = lowered(kernel.entry, tuple(kernel.module.globals.addresses), CheckLevel.ON)
    text = str(found.module)
    if explained:
        _explain(kernel.name, found, assembly(text, host()))
    return None if form is None else EMITS[form](text, host())


def _explain(name: str, kernel: LoweredKernel, assembly: str) -> None:
    show.line(f"@{name}, for {host().cpu}")
    print(f"arena: {kernel.arena_size} bytes for each running tile block")
    print(f"vectors: {_vectors(assembly)}")
    rows: list[list[str]] = [list(row) for row in _loads(kernel)]
    if rows:
        show.print_table(show.table({"load": "left", "place": "left", "tile": "left", "became": "left"}, rows))
    traps: list[list[str]] = [[op.spec.name, place_text(op.loc), message] for op, message in explain.traps(kernel)]
    if traps:
        show.print_table(show.table({"can trap": "left", "place": "left", "because": "left"}, traps))


def _vectors(assembly: str) -> str:
    found = explain.vector_instructions(assembly)
    return ", ".join(f"{count} instructions of {bits} bits" for bits, count in found.items()) or "none"


def _loads(kernel: LoweredKernel) -> Iterator[tuple[str, str, str, str]]:
    for load in explain.loads(kernel):
        yield load.op.spec.name, place_text(load.op.loc), repr(load.type), load.became
