"""Bodies of functions: blocks that branch to each other become regions inside each other.

    ^bb0: cond_br %c, ^bb1, ^bb2                 if %c {
    ^bb1: return                          =>       return
    ^bb2: ...                                    }
                                                 ...

Triton branches forwards only: out of an `if` in which there is a `return`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tileir.ir.core import Block, Value
from tileir.ops.control import If, Yield
from tileir.ops.integer import XOrI
from tileir.triton.importer.faults import mismatch, refused
from tileir.triton.importer.importing import Imported, Importing
from tileir.triton.importer.ordering import Order
from tileir.triton.importer.syntax import MlirBlock, MlirOperation, Region, Successor

RETURNS = frozenset({"tt.return", "tt.map_elementwise.return"})
"""The operations that end a body."""
MAX_OPERATIONS = 100_000
"""More are not made of one function, whose blocks may be imported more than once."""
Leave = Callable[[Sequence[Imported]], object]
"""Ends the function with these results."""


def import_body(importing: Importing, region: Region, leave: Leave) -> None:
    """Import the blocks of a function whose arguments are in scope; `leave` is called where it returns."""
    flow = _Flow(importing, {block.label: block for block in region}, leave)
    flow.require_forwards(region[0])
    flow.path(region[0], None)


def run(importing: Importing, block: MlirBlock) -> MlirOperation:
    """Import the operations of a block up to its terminator, which is returned."""
    if not block.operations:
        raise mismatch("expected a block that ends in a terminator")
    for operation in block.operations[:-1]:
        importing.operation(operation)
    importing.build.loc = block.operations[-1].loc
    return block.operations[-1]


@dataclass
class _Flow:
    """The import of one function's blocks."""

    importing: Importing
    blocks: dict[str, MlirBlock]
    leave: Leave

    def __post_init__(self) -> None:
        self.made = 0
        self.reaches: dict[str, frozenset[str]] = {}
        """Labels of the blocks that each one leads to, with itself, in the order of the region."""

    def require_forwards(self, first: MlirBlock) -> None:
        """Find what each block leads to. Raises `ImportFault` for blocks that lead back to themselves."""
        open_blocks: dict[str, None] = {}
        pending = [first.label]
        while pending:
            label = pending[-1]
            following = [one.label for one in self._successors(label)]
            waiting = [other for other in following if other not in self.reaches]
            if waiting and label in open_blocks and any(other in open_blocks for other in waiting):
                hint = "write the loop as `for` or `while`"
                raise refused("expected branches that lead forwards, got blocks that are a loop", hint)
            open_blocks[label] = None
            if waiting:
                pending += waiting
                continue
            pending.pop()
            open_blocks.pop(label)
            self.reaches[label] = frozenset({label}).union(*(self.reaches[other] for other in following))

    def _successors(self, label: str) -> list[Successor]:
        block = self.blocks.get(label)
        if block is None:
            raise mismatch(f"expected a block of the function, got {label}")
        return block.operations[-1].successors if block.operations else []

    def path(self, block: MlirBlock, stop: MlirBlock | None) -> list[Value] | None:
        """Import a block and those that follow it, up to `stop`: gives its arguments, or None if the function has been
        left before."""
        while True:
            self._count(block)
            last = run(self.importing, block)
            if last.name in RETURNS:
                self.leave([self.importing.imported(use) for use in last.operands])
                return None
            if last.name == "cf.br" and len(last.successors) == 1:
                (following,) = last.successors
            elif last.name == "cf.cond_br" and len(last.successors) == 2 and len(last.operands) == 1:
                following_or_parts = self._branch(last, stop)
                if not isinstance(following_or_parts, Successor):
                    return following_or_parts
                following = following_or_parts
            else:
                raise mismatch(f"expected a function's block to end in a branch or 'tt.return', got '{last.name}'")
            parts = self._parts(following)
            block = self.blocks[following.label]
            if block is stop:
                return parts
            self._enter(block, parts)

    def _count(self, block: MlirBlock) -> None:
        self.made += len(block.operations)
        if self.made > MAX_OPERATIONS:
            raise refused(f"its branches lead to more than {MAX_OPERATIONS} operations", "return in fewer places")

    def _parts(self, successor: Successor) -> list[Value]:
        return [part for use in successor.operands for part in self.importing.parts(use)]

    def _enter(self, block: MlirBlock, parts: Sequence[Value]) -> None:
        types = [argument.type for argument in block.arguments]
        names = [argument.name for argument in block.arguments]
        self.importing.scopes[-1].update(zip(names, self.importing.grouped(types, parts)))

    def _branch(self, last: MlirOperation, stop: MlirBlock | None) -> Successor | list[Value] | None:
        """Import what a branch leads to up to where its ways meet; gives where it goes on, or what `path` does."""
        condition = self.importing.value(last.operands[0])
        yes, no = last.successors
        join = self._join(yes, no)
        if join is None:
            return self._leaving(condition, yes, no, stop)
        parts = branch(self.importing, condition, [lambda: self._way(yes, join), lambda: self._way(no, join)])
        if join is stop or parts is None:
            return parts
        self._enter(join, parts)
        return self.path(join, stop)

    def _way(self, successor: Successor, stop: MlirBlock | None) -> list[Value] | None:
        """Return the way from a successor up to `stop`."""
        parts, block = self._parts(successor), self.blocks[successor.label]
        if block is stop:
            return parts
        self._enter(block, parts)
        return self.path(block, stop)

    def _join(self, yes: Successor, no: Successor) -> MlirBlock | None:
        """Return the first block that both ways lead to; those that only return do not count."""
        common = self.reaches[yes.label] & self.reaches[no.label]
        meeting = [self.blocks[label] for label in self.blocks if label in common]
        return next((block for block in meeting if len(block.operations) > 1 or block.operations[0].successors), None)

    def _leaving(self, condition: Value, yes: Successor, no: Successor, stop: MlirBlock | None) -> Successor:
        """Import the way that leaves the function, under its condition; gives the other."""
        if len(self.reaches[yes.label]) > len(self.reaches[no.label]) or (
            stop and stop.label in self.reaches[yes.label]
        ):
            truth = self.importing.build.integer(condition.tile, 1)
            condition = self.importing.build.same(XOrI, condition, truth)
            yes, no = no, yes
        branch(self.importing, condition, [lambda: self._way(yes, None)])
        return no


# ------------------------------------------------------------ two ways

Way = Callable[[], "list[Value] | None"]
"""Makes the operations of a region; gives the values that it ends with, or None if the function has been left."""


def branch(importing: Importing, condition: Value, ways: Sequence[Way]) -> list[Value] | None:
    """Return an `if`; gives its results, None if no way arrives behind it."""
    before = importing.order
    made = [_region(importing, way, before) for way in ways]
    arriving = [(block, parts, order) for block, parts, order in made if parts is not None]
    merged = Order.merged(before, [order for _, _, order in arriving] + [before] * (2 - len(ways)))
    results: list[Value] = []
    for block, parts, order in arriving:
        with importing.inside(block):
            results = [*parts, *merged.tokens(importing.build, order)]
            importing.build.insert(Yield, operands=results)
    types = [result.type for result in results]
    regions = [block for block, _, _ in made]
    if len(regions) == 1 and types:
        raise mismatch("expected an else region for the results")
    if len(regions) == 2 and not types and len(regions[1].ops) == 1 and arriving and arriving[-1][0] is regions[1]:
        regions.pop()  # it only yields nothing
    fields = dict(zip(("then", "otherwise"), regions))
    found = list(importing.build.insert(If, types, condition=condition, **fields))
    importing.order = merged.after(found)
    if not arriving and len(ways) == 2:
        return None
    return found[: len(found) - merged.count]


def _region(importing: Importing, way: Way, order: Order) -> tuple[Block, list[Value] | None, Order]:
    """Return a region, the values that it ends with, and the order behind it."""
    importing.order = order
    with importing.inside(Block()) as block, importing.scope():
        parts = way()
    return block, parts, importing.order
