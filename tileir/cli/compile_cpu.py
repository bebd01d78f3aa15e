"""``tileir compile --target cpu``: native code of a kernel, and what the compiler did."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from tileir.cli import show
from tileir.cpu.emit.record import CheckLevel, TrapKind, TrapSite
from tileir.cpu.llvm.engine import Host, assembly, host, object_code, optimized_text
from tileir.cpu.lowering.functions import LoweredKernel
from tileir.cpu.plan import plan_of
from tileir.cpu.plan_text import text_of
from tileir.cpu.run.program import lowered
from tileir.ir.diagnostics import place_text
from tileir.runtime import module

EMITS: dict[str, Callable[[str, Host], str | bytes]] = {"llvm": optimized_text, "asm": assembly, "obj": object_code}
PLAN = "plan"
_REGISTERS = {512: "zmm", 256: "ymm", 128: "xmm"}


def compiled(kernel: module.Kernel, form: str | None, explained: bool) -> str | bytes | None:
    """Return the code of a kernel in a form, or its plan; if `explained`, first print how it was compiled."""
    plan = text_of(plan_of(kernel.entry, CheckLevel.ON, host()), kernel.name)
    if form == PLAN and not explained:
        return plan
    found = lowered(kernel.entry, tuple(kernel.module.globals.addresses), CheckLevel.ON)
    text = str(found.module)
    if explained:
        _explain(plan, found, assembly(text, host()))
    return plan if form == PLAN else None if form is None else EMITS[form](text, host())


def _explain(plan: str, kernel: LoweredKernel, assembly: str) -> None:
    print(plan)
    print(f"arena: {kernel.arena_size} bytes for each running tile block")
    print(f"vectors: {_vectors(assembly)}")
    sites = dict.fromkeys((site.op, _in_general(site)) for site in kernel.traps)
    traps: list[list[str]] = [[op.spec.name, place_text(op.loc), message] for op, message in sites]
    if traps:
        show.print_table(show.table({"can trap": "left", "place": "left", "because": "left"}, traps))


def _vectors(assembly: str) -> str:
    found = vector_instructions(assembly)
    return ", ".join(f"{count} instructions of {bits} bits" for bits, count in found.items()) or "none"


def _in_general(site: TrapSite) -> str:
    """Return the message of a site before there are numbers to put into it."""
    if site.kind is TrapKind.ACCESS:
        return "an access to memory that the launch has not given"
    return re.sub(r"\{\d*\}", "…", site.message)


def vector_instructions(assembly: str) -> dict[int, int]:
    """Return the number of instructions on vectors of each width, in bits (x86; empty elsewhere)."""
    widths: Counter[int] = Counter()
    for line in assembly.splitlines():
        width = next((bits for bits, name in _REGISTERS.items() if re.search(rf"%{name}\d", line)), None)
        if width is not None and line.lstrip().startswith("v") and not re.search(r"s[sd]\b", line.split()[0]):
            widths[width] += 1
    return dict(sorted(widths.items(), reverse=True))
