"""Tokens: what may touch the same memory happens in the order of the program, which is Triton's promise.

    %v, %1 = load p                    loads wait for the last write
    %2 = join_tokens %0, %1
    %3 = store q, %w token=%2          a write waits for the write before it and for all reads since

No address is looked at here: pointers of different parameters may lead to the same memory, and the pass `relax` takes
away the edges between accesses that are proved apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tileir.ir.core import Value
from tileir.ir.types import TOKEN
from tileir.ops.pointers import JoinTokens, MakeToken
from tileir.triton.importer.building import TileBuilder
from tileir.triton.importer.syntax import MlirFunction, MlirOperation


@dataclass(frozen=True)
class Order:
    """The events that an access must wait for: the last write, and the reads since."""

    written: Value | None = None
    read: tuple[Value, ...] = ()

    def before(self, build: TileBuilder, writes: bool) -> Value | None:
        """Return the token that the next access waits for; None if there is nothing to wait for."""
        if not writes or not self.read:
            return self.written
        return joined(build, self.read)

    def after(self, token: Value, writes: bool) -> Order:
        """Return the order once an access with this token has been made."""
        return Order(token) if writes else Order(self.written, (*self.read, token))

    @staticmethod
    def merged(before: Order, ends: Sequence[Order]) -> Merged:
        """Return the parts of the order behind alternative regions; `ends` are the orders at their ends."""
        writes = any(end.written is not before.written for end in ends)
        reads = any(end.read != before.read for end in ends)
        return Merged(before, writes, reads)

    def everything(self, build: TileBuilder) -> Value:
        """Return a token that waits for all accesses so far."""
        found = self.before(build, writes=True)
        return build.op(MakeToken, TOKEN) if found is None else found


@dataclass(frozen=True)
class Merged:
    """The tokens that regions hand on: none, or one that stands for what was accessed in them and before."""

    before: Order
    writes: bool
    reads: bool

    @property
    def count(self) -> int:
        return int(self.writes or self.reads)

    def tokens(self, build: TileBuilder, order: Order) -> list[Value]:
        """Return the tokens that stand for an order, at the end of a region or in front of a loop."""
        if self.writes:
            return [order.everything(build)]
        if self.reads:
            return [joined(build, order.read) if order.read else build.op(MakeToken, TOKEN)]
        return []

    def after(self, results: Sequence[Value]) -> Order:
        """Return the order that the last of these values stand for, if there are tokens."""
        if self.writes:
            return Order(results[-1])
        return Order(self.before.written, (results[-1],)) if self.reads else self.before


def joined(build: TileBuilder, tokens: tuple[Value, ...]) -> Value:
    """Return a token that waits for all of these; there is at least one."""
    return tokens[0] if len(tokens) == 1 else build.op(JoinTokens, TOKEN, tokens=tokens)


# ------------------------------------------------------------ what a region will do

READS = frozenset({"tt.load", "tt.descriptor_load", "tt.descriptor_gather"})
WRITES = frozenset(
    {
        "tt.store", "tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_load", "tt.atomic_store", "tt.atomic_poll", "tt.print",
        "tt.descriptor_store", "tt.descriptor_reduce", "tt.descriptor_scatter", "tt.grid_dependency_wait",
        "tt.grid_dependency_launch_dependents",
    }
)  # fmt: skip
"""Operations that come in the order of the program as writes do; atomic loads too, behind which others see more."""


def loop_order(before: Order, loop: MlirOperation, functions: Mapping[str, MlirFunction]) -> Merged:
    """Return the tokens that a loop carries."""
    names = {operation.kind for operation in _reachable(loop, functions)}
    return Merged(before, bool(names & WRITES), bool(names & READS))


def _reachable(root: MlirOperation, functions: Mapping[str, MlirFunction]) -> Iterator[MlirOperation]:
    """Yield the operations in `root` and in the functions that it calls."""
    pending, seen = [root], {""}
    while pending:
        for operation in pending.pop().walk():
            yield operation
            callee = operation.attributes.get("callee") if operation.name == "tt.call" else None
            if isinstance(callee, str) and callee in functions and callee not in seen:
                seen.add(callee)
                pending.append(functions[callee])
