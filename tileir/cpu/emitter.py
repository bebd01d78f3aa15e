"""The LLVM function under construction: loops over tile shapes, arena buffers, traps.

Knows: how to emit a counted loop nest whose iterations are independent, how arena space is laid out, how code stops a
launch. Does not know: operations (`cpu.*` chapters) nor tile values (`cpu.tiles`).

The arena is one buffer per thread whose size is known when the kernel is compiled: buffers are given out at constant
offsets and handed back when the region they were made in is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from llvmlite import ir

from tileir.cpu.elements import I8, I32, I64, Num
from tileir.cpu.metadata import Distinct, access_group, parallel_loop
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.diagnostics import place_text

ARENA_ALIGNMENT = 64

Index = tuple[ir.Value, ...]
Extent = Any
"""A number of iterations: an ``int``, or an i64 register (llvmlite is untyped)."""


@dataclass
class TrapSite:
    """A place in the code that can stop the launch: its number is what the function returns.

    `evidence` is where in the arena the trap leaves the tile that it reports about, and the tile's type.
    """

    op: Op
    message: str
    evidence: tuple[int, t.TileType] | None = None


@dataclass
class Emitter:
    """`builder` stands where code goes next; `block` names the arguments of the running tile block."""

    module: ir.Module
    function: ir.Function
    builder: ir.IRBuilder
    arena: ir.Value
    exit: ir.Block
    status: ir.Value
    arena_used: int = 0
    arena_size: int = 0
    traps: list[TrapSite] = field(default_factory=list)
    memo: dict[object, tuple[object, Num]] = field(default_factory=dict)
    """Elements computed at an index, valid where the builder stands; each entry keeps what its key names alive."""
    _group: Distinct | None = None
    """The accesses of the innermost loop nest."""

    # ------------------------------------------------------------ arena

    def buffer(self, size: int) -> ir.Value:
        """Arena space of `size` bytes, aligned for vectors, until the region around is left."""
        offset = self.arena_used
        self.arena_used += -(-size // ARENA_ALIGNMENT) * ARENA_ALIGNMENT
        self.arena_size = max(self.arena_size, self.arena_used)
        return self.builder.gep(self.arena, [I64(offset)], source_etype=I8)

    @contextmanager
    def region(self) -> Iterator[None]:
        """Buffers made inside are handed back at the end; remembered elements do not leave it."""
        used, memo = self.arena_used, self.memo
        self.memo = {}
        yield
        self.arena_used, self.memo = used, memo

    def stack(self, type: ir.Type) -> ir.Value:
        """A stack cell, made once per call of the function wherever the builder stands."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(type)

    # ------------------------------------------------------------ loops

    def loop_nest(self, shape: Sequence[Extent], body: Callable[[Index], None]) -> None:
        """Run `body` for every index of `shape`, last dimension fastest, in any order: iterations are independent.

        An extent is a number or an i64 register; every one is at least 1.
        """
        with self.region(), self._parallel():
            self._nest(list(shape), (), body)

    def _nest(self, rest: list[Extent], index: Index, body: Callable[[Index], None]) -> None:
        if not rest:
            body(index)
        elif rest[0] == 1:
            self._nest(rest[1:], (*index, I64(0)), body)
        else:
            end = I64(rest[0]) if isinstance(rest[0], int) else rest[0]
            with self.counted(I64(0), end, parallel=True) as position:
                self._nest(rest[1:], (*index, position), body)

    @contextmanager
    def _parallel(self) -> Iterator[None]:
        outer, self._group = self._group, access_group(self.module)
        yield
        self._group = outer

    @contextmanager
    def counted(self, begin: ir.Value, end: ir.Value, step: int = 1, parallel: bool = False) -> Iterator[ir.Value]:
        """A loop from `begin` while below `end`, which is known to run at least once.

        `parallel`: the accesses in it that are marked `independent` carry nothing between its iterations.
        """
        builder = self.builder
        before = builder.block
        body = builder.append_basic_block("body")
        after = builder.append_basic_block("after")
        builder.branch(body)
        builder.position_at_end(body)
        position = builder.phi(I64)
        position.add_incoming(begin, before)
        outer, self.memo = self.memo, self._inner_memo()
        yield position
        self.memo = outer
        following = builder.add(position, I64(step), flags=("nuw", "nsw"))
        position.add_incoming(following, builder.block)
        jump = builder.cbranch(builder.icmp_unsigned("<", following, end), body, after)
        if parallel and self._group is not None:
            jump.set_metadata("llvm.loop", parallel_loop(self.module, self._group))
        builder.position_at_end(after)

    def _inner_memo(self) -> dict[object, tuple[object, Num]]:
        """What is remembered, for code that does not always run: copies, as a form that it adds is known only there."""
        return {key: (kept, replace(number)) for key, (kept, number) in self.memo.items()}

    def independent(self, access: ir.Instruction) -> ir.Instruction:
        """Mark a load or store as one that no other iteration of the loop nest around depends on."""
        if self._group is not None:
            access.set_metadata("llvm.access.group", self._group)
        return access

    @contextmanager
    def when(self, condition: ir.Value) -> Iterator[None]:
        """Code that runs only if `condition` holds; elements computed inside are not remembered outside."""
        outer, self.memo = self.memo, self._inner_memo()
        with self.builder.if_then(condition):
            yield
        self.memo = outer

    # ------------------------------------------------------------ traps

    def trap_if(
        self, condition: ir.Value, op: Op, message: str, evidence: tuple[int, t.TileType] | None = None
    ) -> None:
        """Stop the tile block and the launch when `condition` holds."""
        self.traps.append(TrapSite(op, message, evidence))
        self.leave_if(condition, len(self.traps))

    def leave_if(self, condition: ir.Value, status: int) -> None:
        """Return `status` when `condition` holds."""
        builder = self.builder
        stop = builder.append_basic_block("trap")
        go_on = builder.append_basic_block("checked")
        builder.cbranch(condition, stop, go_on).set_weights([1, 1 << 20])
        builder.position_at_end(stop)
        builder.store(I32(status), self.status)
        builder.branch(self.exit)
        builder.position_at_end(go_on)

    def place(self, op: Op) -> str:
        return place_text(op.loc)


def either(builder: ir.IRBuilder, type: ir.Type, *choices: tuple[ir.Value, ir.Block]) -> ir.Value:
    """The value that belongs to the block control came from; no choice where all are the same constant."""
    values = [value for value, _ in choices]
    if all(isinstance(value, ir.Constant) and value.constant == values[0].constant for value in values):
        return values[0]
    chosen = builder.phi(type)
    for value, block in choices:
        chosen.add_incoming(value, block)
    return chosen
