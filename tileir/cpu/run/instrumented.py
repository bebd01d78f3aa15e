"""A compiled entry with instruments: lines, counters, times of tile blocks.

Knows: how it is compiled, and where its instructions are. Does not know: what is done with what the instruments tell
(`tools.profile`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from tileir.cache import Cache
from tileir.cpu.emit.driver import NAME as DRIVER
from tileir.cpu.llvm.engine import host, object_code
from tileir.cpu.llvm.line_table import CodeMap, code_map
from tileir.cpu.lowering.entry import Instruments
from tileir.cpu.lowering.state import CheckLevel
from tileir.cpu.run.program import Facts, NativeProgram, facts_of, lowered, operations
from tileir.host.background import in_background
from tileir.ir.bulk import without_collection
from tileir.ir.core import Op
from tileir.ops.module import Entry


class InstrumentedProgram(NativeProgram):
    """Native code that says more of itself; `driver`, `resume` and `destroy` may be replaced by what calls them."""

    def __init__(self, entry: Entry, ops: Sequence[Op], facts: Facts, code: bytes, cache: Cache) -> None:
        super().__init__(entry, ops, facts, code, cache)
        self._code = code

    @cached_property
    def map(self) -> CodeMap:
        """The functions and lines of the code. Raises `line_table.NoLines`."""
        return code_map(self._code, DRIVER)

    @cached_property
    def base(self) -> int:
        """The address of the first byte that `map` describes."""
        driver = next(one for one in self.map.functions if one.name == DRIVER)
        return self._loaded.address(DRIVER) - driver.begin


def instrumented(
    entry: Entry,
    functions: Sequence[Op],
    global_names: Sequence[str],
    cache: Cache,
    checks: CheckLevel,
    instruments: Instruments,
) -> InstrumentedProgram:
    """The program of an entry, as `program.compiled` makes it, with instruments. Nothing is kept: instruments have
    addresses of this process.
    """
    ops = operations(entry, functions)
    with without_collection():
        kernel = lowered(entry, global_names, checks, instruments)
        facts, text = facts_of(kernel, ops), str(kernel.module)
    code = in_background(lambda: object_code(text, host()))
    return InstrumentedProgram(entry, ops, facts, code, cache)
