"""Lower one entry to a TTIR function.

The parameters are those of the entry, then one for each `Hidden` that the code turned out to need: a pointer, or a
descriptor.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tileir.gpu.arch import Arch
from tileir.gpu.executable import BlockMemory, Hidden
from tileir.gpu.expressions import Expression
from tileir.gpu.ttir.ir.code import TtirAttribute, TtirFunction
from tileir.gpu.ttir.ir.text import function_text
from tileir.gpu.ttir.lib.scalars import MAX_HINT
from tileir.gpu.ttir.lowering import ParameterFacts, TtirLowering
from tileir.gpu.ttir.rules import RULES
from tileir.ir.core import Op
from tileir.ops.calls import Func
from tileir.ops.module import Entry

PREFIX, MAX_NAME = "tileir_", 100
"""Beginning of the names of functions, and how much of the program's name follows."""


@dataclass(frozen=True)
class LoweredEntry:
    """A lowered entry: its TTIR, the parameters beyond those of the entry, the operations with a part for the host, and
    the extents that must be below 2^31."""

    function: TtirFunction
    text: str
    hidden: tuple[Hidden, ...]
    sites: tuple[Op, ...]
    narrow: tuple[Expression, ...]


def lower_entry(
    entry: Entry,
    functions: Sequence[Func],
    arch: Arch,
    facts: Sequence[ParameterFacts] = (),
    by_address: bool = False,
) -> LoweredEntry:
    """Return the TTIR of `entry`, whose module has the device functions `functions`.

    `facts` says what is known of the parameters, in order; nothing is known of those beyond.
    Tensors that launches can compute are expected to fit a descriptor unless `by_address` says otherwise. Raises
    UnsupportedError.
    """
    lowering = TtirLowering.of(entry, functions, arch, RULES)
    lowering.by_address = by_address
    body = lowering.body
    for value, fact in zip(body.arguments, facts):
        lowering.known.promise(value, fact.divisor)
    lowering.lower(entry)
    hidden = tuple(
        BlockMemory(lowering.block_memory) if isinstance(kind, BlockMemory) else kind for kind in lowering.hidden
    )
    attributes: dict[int, dict[str, TtirAttribute]] = {
        position: {"tt.divisibility": min(divisor, MAX_HINT)}
        for position, value in enumerate(body.arguments)
        if not value.type.is_descriptor and (divisor := lowering.known.divisor(value)) > 1
    }
    function = TtirFunction(_machine_name(entry.sym_name), body, attributes)
    narrow = tuple(dict.fromkeys(lowering.narrow))
    return LoweredEntry(function, function_text(function), hidden, tuple(lowering.sites), narrow)


def _machine_name(name: str) -> str:
    """Return a name of ours that PTX allows and no library has, in which users of profilers find theirs."""
    return PREFIX + re.sub(r"\W", "_", name[:MAX_NAME], flags=re.ASCII)
