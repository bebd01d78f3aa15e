"""A compiled entry with instruments: lines, counters, times of tile blocks.

Knows: how it is compiled, and where its instructions are. Does not know: what is done with what the instruments tell
(`tools.profile`).
"""

from __future__ import annotations

from functools import cached_property

from tileir.cache import Cache
from tileir.cpu.emit.record import KERNEL_NAME
from tileir.cpu.llvm.engine import host, object_code
from tileir.cpu.llvm.object_files import CodeMap, code_map
from tileir.cpu.lowering.entry import Instruments
from tileir.cpu.run.program import Facts, NativeProgram, NativeSource, facts_of, lowered, operations
from tileir.host.background import in_background
from tileir.ir.bulk import without_collection


class InstrumentedProgram(NativeProgram):
    """Native code that says more of itself; `driver`, `resume` and `destroy` may be replaced by what calls them."""

    def __init__(self, source: NativeSource, facts: Facts, code: bytes, cache: Cache) -> None:
        super().__init__(source, facts, code, cache)
        self._code = code

    @cached_property
    def map(self) -> CodeMap:
        """The functions and lines of the code. Raises `NoLines`."""
        return code_map(self._code, KERNEL_NAME)

    @cached_property
    def base(self) -> int:
        """The address of the first byte that `map` describes."""
        kernel = next(one for one in self.map.functions if one.name == KERNEL_NAME)
        return self._loaded.addresses[KERNEL_NAME] - kernel.begin


def instrumented(source: NativeSource, cache: Cache, instruments: Instruments) -> InstrumentedProgram:
    """The program of an entry, as `program.compiled` makes it, with instruments. Nothing is kept: instruments have
    addresses of this process.
    """
    with without_collection():
        items = source.items()
        kernel = lowered(items[0], source.global_names, source.checks, instruments)
        facts, text = facts_of(kernel, operations(items)), str(kernel.module)
    code = in_background(lambda: object_code(text, host()))
    return InstrumentedProgram(source, facts, code, cache)
