"""The state of one function while it is imported: its converted values, and the block under construction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from tileir.ir import types as t
from tileir.ir.attributes import DivBy
from tileir.ir.core import Block, Op, Value
from tileir.ir.diagnostics import Diagnostic, did_you_mean
from tileir.ir.loc import Location, Source, SourceLoc
from tileir.ir.rules import KeyedRules
from tileir.ops.misc import Assume
from tileir.triton.importer.building import TileBuilder
from tileir.triton.importer.faults import LATER, SYNTAX, UNKNOWN_OPERATION, ImportFault, mismatch, refused
from tileir.triton.importer.ordering import Merged, Order, loop_order
from tileir.triton.importer.syntax import (
    Dense,
    MlirAttribute,
    MlirDescriptor,
    MlirFunction,
    MlirOperation,
    MlirScalar,
    MlirType,
    MlirWord,
    Use,
)
from tileir.triton.importer.types import flat_types, tile_type


@dataclass(frozen=True)
class TensorDescriptor:
    """A tensor in memory whose blocks are loaded and stored; out of bounds reads as zero, or NaN.

    A block pointer also has the `offsets` of its block, and may have a stride of 1 in any dimension.
    """

    type: MlirDescriptor
    base: Value
    shape: tuple[Value, ...]
    strides: tuple[Value, ...]
    offsets: tuple[Value, ...] = ()
    nan: bool = False

    @property
    def padding(self) -> t.PaddingValue:
        return t.PaddingValue.NAN if self.nan else t.PaddingValue.ZERO

    def parts(self) -> list[Value]:
        return [self.base, *self.shape, *self.strides, *self.offsets]


Imported = Value | TensorDescriptor
Results = Imported | Sequence[Imported] | None
Rule = Callable[["Importing", MlirOperation], Results]
"""Imports an operation and returns its results."""
ImportRules = KeyedRules[str, Rule]
"""The rules of a chapter, by the names of operations in TTIR."""


class Unavailable(Exception):
    """A value is not there because of a fault that has been noted."""


@dataclass
class Importing:
    """The import of one entry, with the functions that it calls."""

    source: Source
    rules: dict[str, Rule]
    functions: dict[str, MlirFunction]
    build: TileBuilder
    faults: list[Diagnostic]
    order: Order = field(default_factory=Order)
    scopes: list[dict[str, Imported | None]] = field(default_factory=lambda: [{}])
    """Values by name, of the regions that are being imported; None for one that a fault has kept from being made."""
    lifted: tuple[int, ...] = ()
    """The shape in which scalars are imported: that of the tensors whose elements a region is given."""
    calling: tuple[str, ...] = ()
    """Names of the functions that are being imported, the outermost first."""

    # ------------------------------------------------------------ operations

    def operation(self, op: MlirOperation) -> None:
        """Import an operation; a fault is noted, and its results are not there."""
        self.build.loc = op.loc
        try:
            self.bind(op, self._rule(op)(self, op))
        except ImportFault as fault:
            self.note(fault, op)
        except t.InvalidType as error:
            self.note(mismatch(error.message), op)
        except TypeError as error:  # a value of another type than the rule takes it to be
            self.note(mismatch(str(error)), op)
        except Unavailable:
            self.scopes[-1].update(dict.fromkeys(op.results))

    def _rule(self, op: MlirOperation) -> Rule:
        rule = self.rules.get(op.kind)
        if rule is not None:
            return rule
        if op.name.startswith(LATER):
            raise refused(
                f"'{op.name}' says how the threads of a GPU share the work", "write the kernel in Triton, not Gluon"
            )
        hint = did_you_mean(op.name, self.rules)
        raise ImportFault(UNKNOWN_OPERATION, f"expected an operation of TTIR, got '{op.name}'", hint=hint)

    def note(self, fault: ImportFault, op: MlirOperation) -> None:
        """Keep a fault of an operation, whose results are not there."""
        diagnostic = fault.diagnostic(op.loc)
        named = "" if f"'{op.name}'" in fault.message else f"'{op.name}': "
        self.faults.append(replace(diagnostic, message=named + fault.message, op=op.name))
        self.scopes[-1].update(dict.fromkeys(op.results))

    def bind(self, op: MlirOperation, results: Results) -> None:
        """Let the results of an operation be these."""
        found: Sequence[Imported] = (
            () if results is None else (results,) if isinstance(results, Value | TensorDescriptor) else results
        )
        if len(found) != len(op.results) and op.results:
            raise mismatch(f"expected {len(found)} results, got {len(op.results)} names")
        self.scopes[-1].update(zip(op.results, (self._promised(op, one) for one in found)))

    def _promised(self, op: MlirOperation, result: Imported) -> Imported:
        """Return a scalar with the promise of ``tl.multiple_of``. Promises about tensors are dropped: they are meant
        for the width of accesses, and kernels give them where rows wrap around at the edge of a matrix, too."""
        if "tt.divisibility" not in op.attributes or not isinstance(result, Value) or result.tile.shape:
            return result
        return promised(self.build, result, op.attributes)

    # ------------------------------------------------------------ values

    def imported(self, use: Use) -> Imported:
        """Return the converted form of a value."""
        for scope in reversed(self.scopes):
            if use.name in scope:
                found = scope[use.name]
                if found is None:
                    raise Unavailable
                return found
        loc = SourceLoc(self.source, use.offset, use.offset + len(use.name))
        known = [name for scope in self.scopes for name in scope]
        raise ImportFault(
            SYNTAX, f"expected a value that is defined, got {use.name}", loc, did_you_mean(use.name, known)
        )

    def value(self, use: Use) -> Value:
        """Return the tile that a value became."""
        found = self.imported(use)
        if not isinstance(found, Value):
            raise mismatch(f"expected a number, a pointer or a tensor of them, got a descriptor, {use.name}")
        return found

    def operands(self, op: MlirOperation, *counts: int) -> list[Value]:
        """Return the operands, which are tiles; of one of these counts, if any are given."""
        if counts and len(op.operands) not in counts:
            raise mismatch(f"expected {' or '.join(map(str, counts))} operands, got {len(op.operands)}")
        return [self.value(use) for use in op.operands]

    def with_optional(self, op: MlirOperation, required: int, optional: int) -> tuple[list[Value], list[Value | None]]:
        """Return so many operands, and those that may follow them, None for each that does not."""
        found = self.operands(op, *range(required, required + optional + 1))
        return found[:required], [*found[required:], *[None] * (required + optional - len(found))]

    def parts(self, use: Use) -> list[Value]:
        """Return the tiles that carry a value."""
        return parts_of(self.imported(use))

    def rebuilt(self, type: MlirType, parts: Sequence[Value], like: Imported | None = None) -> Imported:
        """Return a value of this type from the tiles that carry it; `like` is what it was before."""
        if not isinstance(type, MlirDescriptor):
            return parts[0]
        return self.descriptor(type, parts, nan=isinstance(like, TensorDescriptor) and like.nan)

    def descriptor(self, type: MlirDescriptor, parts: Sequence[Value], nan: bool = False) -> TensorDescriptor:
        """Return a descriptor of an address, extents and strides, and for a block pointer its offsets."""
        rank = len(type.shape)
        shape, strides, offsets = (tuple(parts[1 + at * rank : 1 + at * rank + rank]) for at in range(3))
        return TensorDescriptor(type, parts[0], shape, strides, offsets, nan)

    def grouped(
        self, types: Sequence[MlirType], parts: Sequence[Value], like: Sequence[Imported] = ()
    ) -> list[Imported]:
        """Return values of these types from the tiles that carry them all."""
        found, given = [], iter(parts)
        for index, type in enumerate(types):
            own = list(islice(given, len(flat_types(type))))
            if not own:
                raise mismatch(f"expected {len(types)} values, got fewer")
            found.append(self.rebuilt(type, own, like[index] if like else None))
        return found

    @contextmanager
    def scope(self, names: Sequence[str] = (), values: Sequence[Imported] = ()) -> Iterator[None]:
        """Enter a region in which these names stand for these values."""
        outer = len(self.scopes)
        self.scopes.append(dict(zip(names, values)))
        try:
            yield
        finally:
            del self.scopes[outer:]

    @contextmanager
    def call(self, name: str, names: Sequence[str], values: Sequence[Imported]) -> Iterator[None]:
        """Enter the body of a function, which sees nothing but its arguments."""
        outer, calling = self.scopes, self.calling
        self.scopes, self.calling = [dict(zip(names, values))], (*calling, name)
        try:
            yield
        finally:
            self.scopes, self.calling = outer, calling

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Add operations to this block meanwhile."""
        outer, self.build.block = self.build.block, block
        try:
            yield block
        finally:
            self.build.block = outer

    # ------------------------------------------------------------ types and attributes

    def tile(self, type: MlirType) -> t.TileType:
        return tile_type(type, self.lifted)

    def result_type(self, op: MlirOperation, index: int = 0) -> t.TileType:
        """Return the type of a result, as it is written: behind the arrow or, where there is none, the last one."""
        types = op.result_types or op.types[-1:]
        if not types and op.words and isinstance(op.words[0][0], bool):
            return self.tile(MlirScalar("i1"))
        if index >= len(types):
            raise mismatch("expected a type")
        return self.tile(types[index])

    def element(self, op: MlirOperation) -> t.ElementType:
        """Return the number type of the result."""
        found = self.result_type(op).element
        if not isinstance(found, t.ElementType):
            raise mismatch("expected a result of numbers, got pointers")
        return found

    # ------------------------------------------------------------ memory

    def access(self, cls: type[Op], *types: t.Type, writes: bool, **fields: Any) -> tuple[Value, ...]:
        """Append an access to memory in the order of the program; returns its results but the token."""
        token = self.order.before(self.build, writes)
        *results, done = self.build.insert(cls, [*types, t.TOKEN], token=token, **fields)
        self.order = self.order.after(done, writes)
        return tuple(results)


# ---------------------------------------------------------------- loops


@dataclass(frozen=True)
class LoopBody:
    """The body of a loop that is imported: it carries tokens behind the values that begin as `initial`."""

    importing: Importing
    order: Merged
    block: Block
    initial: list[Value]

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Add operations to the body meanwhile."""
        self.importing.order = self.order.after(self.block.args)
        with self.importing.inside(self.block):
            yield

    def end(self, cls: type[Op], values: Sequence[Value]) -> None:
        """Append the operation that leaves the body or goes on with these values, and with the tokens."""
        build = self.importing.build
        build.insert(cls, operands=[*values, *self.order.tokens(build, self.importing.order)])

    def made(self, cls: type[Op], loc: Location, types: Sequence[t.Type], **fields: Any) -> tuple[Value, ...]:
        """Append the loop, with results of these types; return them."""
        importing, tokens = self.importing, [t.TOKEN] * self.order.count
        importing.build.loc = loc
        found = importing.build.insert(cls, [*types, *tokens], initValues=self.initial, body=self.block, **fields)
        importing.order = self.order.after(found)
        return found[: len(types)]


def loop_body(
    importing: Importing, root: MlirOperation, carried: Sequence[Value], counters: Sequence[t.Type] = ()
) -> LoopBody:
    """Return the body of a loop that does all that `root` does; what it counts by comes before what it carries."""
    order = loop_order(importing.order, root, importing.functions)
    initial = [*carried, *order.tokens(importing.build, importing.order)]
    return LoopBody(importing, order, Block([*counters, *(value.type for value in initial)]), initial)


def promised(build: TileBuilder, value: Value, attributes: Mapping[str, MlirAttribute]) -> Value:
    """Return a scalar with the promise of ``tt.divisibility``: of pointers in bytes."""
    found = attributes.get("tt.divisibility")
    number = found.elements[0] if isinstance(found, Dense) and found.elements else found
    if not isinstance(number, int) or number & -number <= 1:
        return value
    return build.op(Assume, value.type, predicate=DivBy(number & -number), value=value)


def parts_of(lowered: Imported) -> list[Value]:
    """Return the tiles that carry a value."""
    return [lowered] if isinstance(lowered, Value) else lowered.parts()


def parts_of_all(many: Sequence[Imported]) -> list[Value]:
    """Return the tiles that carry values."""
    return [part for one in many for part in parts_of(one)]


def integer(op: MlirOperation, name: str, default: int | None = None) -> int:
    """Return an attribute that is an integer."""
    found = op.attributes.get(name, default)
    if isinstance(found, bool) or not isinstance(found, int):
        raise mismatch(f"expected an integer as attribute '{name}'")
    return found


def integers(op: MlirOperation, name: str) -> tuple[int, ...]:
    """Return an attribute that is a list of integers."""
    found = op.attributes.get(name, ())
    if not isinstance(found, tuple) or not all(isinstance(item, int) for item in found):
        raise mismatch(f"expected integers as attribute '{name}'")
    return tuple(int(item) for item in found if isinstance(item, int))


def keyword(op: MlirOperation, attribute: str, words: Collection[str], first: int = 0, index: int | None = None) -> str:
    """Return one of these words: the one at `index` of those in front of the types, or an attribute, which may be a
    number, from `first` on in the order of the words. The empty string if there is neither."""
    written = [word for word, _ in op.words if isinstance(word, MlirWord | bool)]
    found = written[index] if index is not None and index < len(written) else op.attributes.get(attribute)
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, int):
        return list(words)[found - first] if first <= found < first + len(words) else ""
    return found.text if isinstance(found, MlirWord) else str(found) if isinstance(found, MlirScalar) else ""


def one_of(op: MlirOperation, attribute: str, words: Collection[str], first: int = 0, index: int | None = None) -> str:
    """Return the `keyword` of an operation, which must be one of these words."""
    word = keyword(op, attribute, words, first, index)
    if word not in words:
        raise mismatch(f"expected one of {', '.join(words)}")
    return word
