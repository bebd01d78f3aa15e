"""Functions on words: LLVM code that reads memory by address, and gives up where something is not as required.

Knows: how such code is written down. Does not know: what is read (`cpu.emit.direct_launch`).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from llvmlite import ir

from tileir.cpu.emit.direct_record import TABLE
from tileir.cpu.emit.elements import I8, I64, PTR
from tileir.cpu.emit.safepoints import FunctionAddress
from tileir.cpu.emit.ways_out import RARE


class WordFunction:
    """A function of words under construction, which gives 0 where it gives up. `table` is the table of CPython's
    functions.
    """

    def __init__(self, module: ir.Module, name: str, count: int, internal: bool = True) -> None:
        self.function = ir.Function(module, ir.FunctionType(I64, [I64] * count), name)
        if internal:
            self.function.linkage = "internal"
        self.arguments = self.function.args
        self.build = builder = ir.IRBuilder(self.function.append_basic_block("start"))
        self._cells = builder.block
        builder.position_at_end(self.function.append_basic_block("body"))
        self.given_up = self.function.append_basic_block("given_up")
        self.table: ir.Value = I64(0)

    def finished(self, result: ir.Value) -> ir.Function:
        """The function, which gives `result` at its end."""
        self.build.ret(result)
        self.build.position_at_end(self.given_up)
        self.build.ret(I64(0))
        return self.closed()

    def closed(self) -> ir.Function:
        """The function, all of whose ways have an end."""
        with self.build.goto_block(self._cells):
            self.build.branch(self.function.basic_blocks[1])
        return self.function

    # ------------------------------------------------------------ memory

    def cell(self, size: int = 8) -> ir.Value:
        """The address of so many bytes of the function's own."""
        with self.build.goto_block(self._cells):
            memory = self.build.alloca(I8, I64(size))
            memory.align = 8
            return self.build.ptrtoint(memory, I64)

    def at(self, base: ir.Value, offset: int | ir.Value = 0) -> ir.Value:
        moved = self.build.add(base, I64(offset) if isinstance(offset, int) else offset)
        return self.build.inttoptr(moved, PTR)

    def read(self, base: ir.Value, offset: int | ir.Value = 0, type: ir.Type = I64) -> ir.Value:
        return self.build.load(self.at(base, offset), typ=type)

    def write(self, base: ir.Value, offset: int | ir.Value, value: ir.Value) -> None:
        self.build.store(value, self.at(base, offset))

    def known(self, name: str) -> ir.Value:
        """A word of the table."""
        return self.read(self.table, TABLE[name])

    # ------------------------------------------------------------ control

    def call(self, name: str, *arguments: ir.Value, result: ir.Type = I64) -> ir.Value:
        """Call a function of the table."""
        return self.call_at(self.known(name), *arguments, result=result)

    def call_at(self, address: ir.Value, *arguments: ir.Value, result: ir.Type = I64) -> ir.Value:
        type = ir.FunctionType(result, [argument.type for argument in arguments])
        return self.build.call(FunctionAddress(self.build, address, type), list(arguments))

    def require(self, condition: ir.Value) -> None:
        """Give up unless it holds."""
        block = self.function.append_basic_block("required")
        self.build.cbranch(condition, block, self.given_up).set_weights(RARE[::-1])
        self.build.position_at_end(block)

    def require_equal(self, one: ir.Value, other: ir.Value | int) -> None:
        self.require(self.equal(one, other))

    def require_all(self, function: ir.Function, *arguments: ir.Value) -> None:
        """Give up if another function does."""
        self.require(self.differ(self.build.call(function, list(arguments)), 0))

    def equal(self, one: ir.Value, other: ir.Value | int) -> ir.Value:
        return self.build.icmp_unsigned("==", one, one.type(other) if isinstance(other, int) else other)

    def differ(self, one: ir.Value, other: ir.Value | int) -> ir.Value:
        return self.build.icmp_unsigned("!=", one, one.type(other) if isinstance(other, int) else other)

    @contextmanager
    def each(self, count: ir.Value) -> Generator[ir.Value]:
        """Do what follows with the numbers from 0 on below `count`."""
        cell = self.cell()
        self.write(cell, 0, I64(0))
        head, body, done = (self.function.append_basic_block(name) for name in ("head", "each", "done"))
        self.build.branch(head)
        self.build.position_at_end(head)
        number = self.read(cell)
        self.build.cbranch(self.build.icmp_signed("<", number, count), body, done)
        self.build.position_at_end(body)
        yield number
        self.write(cell, 0, self.build.add(number, I64(1)))
        self.build.branch(head)
        self.build.position_at_end(done)

    def choose(self, value: ir.Value, ways: Mapping[int, ir.Block]) -> None:
        """Go on where `value` leads, or give up."""
        chosen = self.build.switch(value, self.given_up)
        for number, block in ways.items():
            chosen.add_case(I64(number), block)
