"""The walk behind every pass: a program is rebuilt, operation by operation, in program order.

    class Renamed(Rebuilding):
        def emit(self, op):                  # `op` is new; its operands and regions are rebuilt already
            return super().emit(op) if op is needed else something_else

A pass redefines `visit`, which sees operations of the old program, or `emit`, which sees those of the new one. Each
rewrite is declared as a `Row`, and its uses are recorded in a log.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tileir.analysis.effects import token_operands, token_results
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.loc import UNKNOWN, CallSiteLoc, FusedLoc, Location
from tileir.ir.types import TOKEN
from tileir.ops.module import Entry
from tileir.ops.pointers import MakeToken


class Exactness(enum.Enum):
    """The results that a rewrite keeps."""

    EXACT = "exact"
    """Same bits for all inputs."""
    PROMISED = "exact under promises"
    """Same bits for inputs on which the program has defined behaviour: no race, no promise broken, nothing that traps.
    """
    ROUNDING = "changes rounding"
    """Other bits; only where it is asked for by name."""
    ORDER = "order"
    """Same bits for programs without races; other edges between memory operations."""


class Aspect(enum.Flag):
    """An aspect of programs: what a rewrite changes, and what a pass looks at."""

    NONE = 0
    CODE = enum.auto()
    """Operations, and their operands."""
    PLACE = enum.auto()
    """The block that an operation stands in."""
    USES = enum.auto()
    """Values that are used, and how often."""
    ALL = CODE | PLACE | USES


@dataclass(frozen=True)
class Row:
    """One rewrite: `pattern` becomes `becomes` if `when` holds (empty: always), by the pass `pass_name`; `why` says
    in a sentence why that is right. A pass that looks at none of what it `changes` has no new work by it.
    """

    name: str
    pass_name: str
    pattern: str
    becomes: str
    kind: Exactness
    why: str
    when: str = ""
    changes: Aspect = field(default=Aspect.ALL, repr=False)


@dataclass(frozen=True)
class Change:
    """One application of a row: the operation it was applied to, and the values that stand for its results."""

    row: Row
    before: Op
    after: tuple[Value, ...]


@dataclass
class ChangeLog:
    """The changes of some passes, in order; of rows that are `exact` alone, if that is asked for."""

    exact: bool = False
    changes: list[Change] = field(default_factory=list)
    aspects: Aspect = Aspect.NONE
    """The aspects they have changed."""

    def allows(self, row: Row) -> bool:
        """Return whether a row may be applied."""
        return not self.exact or row.kind is Exactness.EXACT

    def note(self, row: Row, before: Op, after: Sequence[Value] = ()) -> None:
        assert self.allows(row), f"{row.name} is not exact"
        self.changes.append(Change(row, before, tuple(after)))
        self.aspects |= row.changes


# ---------------------------------------------------------------- the walk


class _Kept(dict[Value, Value]):
    """Values that stand for others; one that is not mentioned stands for itself."""

    def __missing__(self, value: Value) -> Value:
        return value


class Rebuilding:
    """One walk over a program.

    Operations are added to `block`. A walk that `takes_over` uses the program up: unchanged operations are moved to new
    blocks rather than copied. Such a walk visits every operation at most once, and looks at the old program only before
    it begins or at parts not yet visited.
    """

    def __init__(self, log: ChangeLog) -> None:
        self.log = log
        self.block = Block()
        self.values: dict[Value, Value] = {}
        self.takes_over = False
        self.callers: tuple[Location, ...] = ()
        """Places of the calls that are being inlined, the outermost first."""

    def taking_over(self) -> Rebuilding:
        """Return this walk, which may use the program up."""
        self.takes_over, self.values = True, _Kept()
        return self

    def module(self, module: Module) -> Module:
        """Return the rebuilt program."""
        return Module(self.copy(module.op), module.source)

    # ------------------------------------------------------------ what passes redefine

    def visit(self, op: Op) -> None:
        """Rebuild an operation of the program as it was."""
        made = self.emit(self.copy(op))
        if (made[0] if made else ()) is not op.defines and made != op.results:
            self.bind(op.results, made)

    def emit(self, op: Op) -> Sequence[Value]:
        """Add a new operation; gives what stands for its results."""
        block = self.block
        op.parent = block
        block.ops.append(op)
        defines = op.defines
        return defines if isinstance(defines, tuple) else (defines,)

    # ------------------------------------------------------------ copies

    def copy(self, op: Op) -> Op:
        """Return an operation like `op`, or `op` itself, of rebuilt operands and regions; it stands nowhere yet."""
        if self.takes_over and self.values and not self.values.keys().isdisjoint(op.operands):
            op.operands = tuple([self.values.get(value, value) for value in op.operands])
        regions: list[Block | None] = []
        for block in op.regions:  # here, as each call between a region and the next inside it makes the walk deeper
            regions.append(None if block is None else self.region(block))
        if self.takes_over:
            return self._taken(op, regions)
        values = self.values
        made = type(op)(
            [values[value] for value in op.operands],
            op.result_types,
            op.attributes.copy(),
            tuple(regions),
            segments=op.segments,
        )
        if self.callers:
            made.loc = self.place(op.loc)
        else:
            made.origin, made.number = op.origin, op.number
        if op.discardable:
            made.discardable = dict(op.discardable)
        return made

    def _taken(self, op: Op, regions: Sequence[Block | None]) -> Op:
        """Return `op` itself, whose operands are rebuilt, with rebuilt regions."""
        if regions:
            op.regions = tuple(regions)
            for block in regions:
                if block is not None:
                    block.parent = op
        return op

    def region(self, block: Block) -> Block:
        """Return the rebuilt block of a region."""
        made = self.empty_like(block)
        if made.args is not block.args:
            self.bind(block.args, made.args)
        self.into(made, block.ops)
        return made

    def empty_like(self, block: Block) -> Block:
        """Return a block with the arguments of `block`, or arguments like them."""
        made = Block(() if self.takes_over else [argument.type for argument in block.args])
        if self.takes_over:
            made.args = block.args
            for argument in block.args:
                argument.owner = made
        made.arg_locs, made.arg_names = block.arg_locs, block.arg_names
        return made

    def into(self, block: Block, ops: Iterable[Op]) -> None:
        """Rebuild operations at the end of `block`."""
        around, self.block = self.block, block
        self.rebuild(ops)
        self.block = around

    def rebuild(self, ops: Iterable[Op]) -> None:
        """Rebuild operations here; what stands behind one that has become an exit is never reached."""
        made = self.block.ops
        for op in ops:
            if made and made[-1].spec.terminator:
                break
            self.visit(op)

    def inline(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        """Rebuild what is in `block` here, without its terminator; gives the values that this hands on.

        There are none if an operation in it has become an exit.
        """
        self.bind(block.args, arguments)
        self.rebuild(block.ops[:-1])
        return [] if self.block.terminator is not None else self.given(block.ops[-1].operands)

    def pass_token(self, op: Op) -> Sequence[Value]:
        """Let what waits for an access that is left out wait for what it waits for; gives that."""
        given = self.given(token_operands(op)) or self.emit(MakeToken.build([TOKEN], self.place(op.loc)))
        self.bind(token_results(op), given)
        return given

    # ------------------------------------------------------------ values and places

    def bind(self, old: Sequence[Value], new: Sequence[Value]) -> None:
        self.values.update(zip(old, new))

    def given(self, values: Iterable[Value]) -> list[Value]:
        """Return the values that stand for some of the program as it was."""
        return [self.values[value] for value in values]

    def place(self, loc: Location) -> Location:
        for caller in reversed(self.callers):
            loc = CallSiteLoc(loc, caller)
        return loc


class _Copying(Rebuilding):
    """A walk that leaves out all entries but one, if that is given."""

    def __init__(self, entry: Op | None) -> None:
        super().__init__(ChangeLog())
        self.entry = entry

    def visit(self, op: Op) -> None:
        if self.entry is None or not isinstance(op, Entry) or op is self.entry:
            super().visit(op)


def copied(module: Module, entry: Op | None = None) -> Module:
    """Return a program like `module`, of operations of its own; without the entries beside `entry`, if that is
    given."""
    return _Copying(entry).module(module)


def fused(*locations: Location) -> Location:
    """Return one location for an operation that stands for several, with all their lines."""
    members: dict[Location, None] = {}
    for loc in locations:
        for member in loc.members if isinstance(loc, FusedLoc) and loc.metadata is None else (loc,):
            if member is not UNKNOWN:
                members[member] = None
    if len(members) < 2:
        return next(iter(members), UNKNOWN)
    return FusedLoc(tuple(members))
