"""Tiles of integers and pointers whose elements grow evenly: the first one and the step along each dimension.

    %rows = addi %first, %iota : tile<128x1xi32>              first, steps (1, 0)
    %at = offset %base, %index : tile<128x64xptr<f16>>        offset(base, first * stride), steps (stride, 1)

Unlike the expressions of `analysis.affine`, the parts are scalars that can be computed where the tile is used. The
first element is computed as the program does it, so that it may wrap around; that no element does so relative to the
first is proved, or promised by the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tileir.analysis import ranges
from tileir.analysis.affine import Affines
from tileir.analysis.forms import Affine, Needs
from tileir.analysis.region import source_dims
from tileir.analysis.structure import carried_arguments, encloses, home_of
from tileir.analysis.symbols import Lane
from tileir.ir.attributes import Overflow, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.rules import Rules
from tileir.ir.types import TileType
from tileir.ops.control import For
from tileir.ops.conversion import ExtI
from tileir.ops.core import Constant, Iota, Offset
from tileir.ops.integer import AddI, MulI, SubI
from tileir.ops.misc import Assume
from tileir.ops.shapes import Broadcast, Permute, Reshape
from tileir.passes.control import has_plain_body
from tileir.passes.facts import signed_splat_of
from tileir.passes.scalars import (
    WIDEST,
    KnownScalar,
    ScalarFormula,
    added,
    affine,
    bits_of,
    extended,
    given,
    known_number,
    moved,
    multiplied,
    number,
    size_of,
    subtracted,
    values_in,
)

PROMISED = (Overflow.NO_SIGNED_WRAP, Overflow.NO_WRAP)
_ZERO = KnownScalar(0, WIDEST)
DEEPEST = 64
"""Operations that are looked at one behind the other."""
MOST_OPERATIONS = 32
"""Operations of one scalar, each as often as it would be computed."""


@dataclass(frozen=True)
class TableRows:
    """Indices of rows of a table, ``value[index of dim] * width``: a tile of integers, read as signed, with more than
    one element along one dimension only."""

    value: Value
    dim: int
    width: ScalarFormula


@dataclass(frozen=True)
class Linear:
    """The element at an index is `base` plus the sum of the indices times `steps`, with nothing wrapping around: of
    integers in the signed reading, of pointers in elements. Steps are integers of any width, read as signed.

    `rows` are added to that where they are looked for (`passes.gathering`).
    """

    base: ScalarFormula
    steps: tuple[ScalarFormula, ...]
    rows: TableRows | None = None

    @property
    def is_uniform(self) -> bool:
        return self.rows is None and all(known_number(step) == 0 for step in self.steps)

    @property
    def is_small(self) -> bool:
        """True if no scalar takes many operations."""
        width = () if self.rows is None else (self.rows.width,)
        return max(map(size_of, (self.base, *self.steps, *width))) <= MOST_OPERATIONS

    def at(self, dims: Sequence[int | None]) -> Linear:
        """Return the tile whose dimension k is `dims[k]` of this one; None: a dimension along which nothing changes.

        The dimension of the rows must be among them.
        """
        rows = None if self.rows is None else replace(self.rows, dim=dims.index(self.rows.dim))
        return Linear(self.base, tuple(_ZERO if dim is None else self.steps[dim] for dim in dims), rows)

    def plus(self, other: Linear, base: ScalarFormula) -> Linear | None:
        """Return the sum of two tiles, of which only one may have rows, that begins at `base`."""
        steps = _all([plus(*pair) for pair in zip(self.steps, other.steps)])
        if steps is None or (self.rows is not None and other.rows is not None):
            return None
        return Linear(base, steps, self.rows or other.rows)


class LinearTiles:
    """The tiles of one entry."""

    def __init__(self, known: Affines) -> None:
        self.known = known
        self._found: dict[Value, Linear | None] = {}
        self._depth = 0

    def of(self, value: Value) -> Linear | None:
        """Return the linear form of a tile of integers or pointers; None if none is proved."""
        if value not in self._found and self._depth < DEEPEST:
            self._found[value] = None  # A value that a loop makes of itself has none.
            self._depth += 1
            self._found[value] = self._of(value)
            self._depth -= 1
        return self._found.get(value)

    def _of(self, value: Value) -> Linear | None:
        tile, op = value.tile, value.op
        found = None
        rule = None if op is None or tile.rank == 0 else rules.get(type(op))
        if op is not None and rule is not None:
            found = rule(op, self)
        elif isinstance(value.owner, Block) and tile.count > 1:
            found = self._carried(value, value.owner)
        if found is not None and not found.is_small:
            found = None
        if found is None and tile.count == 1:
            return Linear(given(value), (_ZERO,) * tile.rank)
        return found

    # ------------------------------------------------------------ proofs

    def holds(self, needs: Needs) -> bool:
        """Return whether conditions are proved, or promised by the program."""
        return all(need.promised or need.holds(self.known.promised_range) for need in needs)

    def exact(self, value: Value, overflow: Overflow, found: Linear) -> Linear | None:
        """Return the linear form of the integers `value`, if none of them wraps around where the first does not."""
        if found.is_uniform or overflow in PROMISED:
            return found
        if self._is_aligned(value, found) or self._is_in_range(self.known.of(value), value.tile, found):
            return found
        return None

    def _is_aligned(self, value: Value, found: Linear) -> bool:
        """Return whether the first element is a multiple of a power of two that is larger than the distance to all
        others."""
        steps = [known_number(step) for step in found.steps]
        if any(step is None or step < 0 for step in steps):
            return False
        farthest = sum((step or 0) * (extent - 1) for step, extent in zip(steps, value.tile.shape))
        base = affine(found.base, self.known)
        limit = 1 << (base.bits - 1)
        divisor = base.form.range_if(self.known.promised_range).divisor
        return self.holds(base.needs) and farthest < min(divisor, limit)

    def _is_in_range(self, whole: Affine, tile: TileType, found: Linear) -> bool:
        """Return whether the elements equal their expression, which has the same steps."""
        exact = whole.form.range_if(self.known.promised_range)
        if not self.holds(whole.needs) or not exact.within(ranges.signed(whole.bits)):
            return False
        return all(
            self._is_step(whole, Lane(dim, extent), step)
            for dim, (extent, step) in enumerate(zip(tile.shape, found.steps))
            if extent > 1
        )

    def _is_step(self, whole: Affine, lane: Lane, step: ScalarFormula) -> bool:
        expected = affine(step, self.known).signed
        return self.holds(expected.needs) and whole.form.step(lane) == expected.form

    def is_at_least(self, value: Value, low: int) -> bool:
        """Return whether all elements, read as signed, are `low` or more."""
        return self.known.range(value).low >= low

    # ------------------------------------------------------------ values that a loop carries

    def _carried(self, value: Value, block: Block) -> Linear | None:
        """Return the form of tiles that each turn of a `for` moves by a number that is the same in all turns."""
        loop = block.parent
        if not isinstance(loop, For) or not has_plain_body(loop) or value not in carried_arguments(loop):
            return None
        at = list(carried_arguments(loop)).index(value)
        start, change = self.of(loop.initial[at]), _change(block.ops[-1].operands[at], value)
        distance = None if change is None else self.of(change[1])
        if start is None or change is None or distance is None or not distance.is_uniform:
            return None
        op, advance = change[0], distance.base
        if any(encloses(block, home_of(value)) for value in values_in(advance)):
            return None
        total = _times_turn(loop, advance, WIDEST if isinstance(op, Offset) else bits_of(advance))
        if total is None:
            return None
        if isinstance(op, Offset):
            return Linear(moved(start.base, total), start.steps)
        return Linear(added(start.base, total), start.steps) if op.overflow in PROMISED else None


def _change(next: Value, value: Value) -> tuple[AddI | Offset, Value] | None:
    """Return the operation that makes the next of a carried value, and what it adds to it."""
    op = next.op
    if isinstance(op, Offset) and op.ptr is value:
        return op, op.offset
    if isinstance(op, AddI) and value in (op.lhs, op.rhs):
        return op, op.rhs if op.lhs is value else op.lhs
    return None


def _times_turn(loop: For, advance: ScalarFormula, bits: int) -> ScalarFormula | None:
    """Return the sum of the steps of earlier turns, modulo 2^bits; None unless the loop counts from 0."""
    step, counter = signed_splat_of(loop.step), given(loop.body.args[0])
    if signed_splat_of(loop.lower) != 0 or step is None or step <= 0 or bits_of(counter) > bits:
        return None
    each = known_number(advance)
    if step > 1 and (each is None or each % step):
        return None
    advance = advance if each is None or step == 1 else number(each // step, bits_of(advance))
    if loop.unsigned and bits_of(counter) < bits:
        return None
    return multiplied(extended(counter, bits), extended(advance, bits))


# ---------------------------------------------------------------- steps


def plus(a: ScalarFormula, b: ScalarFormula) -> ScalarFormula | None:
    """Return the exact sum of two steps."""
    if known_number(a) == 0 or known_number(b) == 0:
        return b if known_number(a) == 0 else a
    if isinstance(a, KnownScalar) and isinstance(b, KnownScalar):
        return _small(a.number + b.number)
    return added(extended(a, WIDEST), extended(b, WIDEST)) if max(bits_of(a), bits_of(b)) < WIDEST else None


def times(step: ScalarFormula, factor: ScalarFormula) -> ScalarFormula | None:
    """Return the exact product of a step and a number."""
    if known_number(step) == 0:
        return _ZERO
    if isinstance(step, KnownScalar) and isinstance(factor, KnownScalar):
        return _small(step.number * factor.number)
    if known_number(step) == 1 or known_number(factor) == 1:
        return factor if known_number(step) == 1 else step
    if isinstance(step, KnownScalar) and abs(step.number) >= 1 << 31:
        return None
    narrow = max(0 if isinstance(one, KnownScalar) else bits_of(one) for one in (step, factor)) <= WIDEST // 2
    return multiplied(extended(step, WIDEST), extended(factor, WIDEST)) if narrow else None


def _small(step: int) -> KnownScalar | None:
    return KnownScalar(step, WIDEST) if abs(step) < 1 << 62 else None


def _all(steps: Sequence[ScalarFormula | None]) -> tuple[ScalarFormula, ...] | None:
    found = tuple(step for step in steps if step is not None)
    return found if len(found) == len(steps) else None


# ---------------------------------------------------------------- one rule for each operation

Rule = Callable[[Op, LinearTiles], Linear | None]
rules: Rules[Rule] = Rules()


@rules(Constant)
def _constant(op: Constant, tiles: LinearTiles) -> Linear | None:
    found = signed_splat_of(op.result)
    if found is None:
        return None
    tile = op.result.tile
    return Linear(KnownScalar(found, tile.number.bits), (_ZERO,) * tile.rank)


@rules(Iota)
def _iota(op: Iota, tiles: LinearTiles) -> Linear | None:
    tile = op.result.tile
    (extent,), bits = tile.shape, tile.number.bits
    step = KnownScalar(1, WIDEST) if extent > 1 else _ZERO
    return Linear(number(0, bits), (step,)) if extent <= 1 << (bits - 1) else None


@rules(Broadcast, Permute, Reshape)
def _moved(op: Broadcast | Permute | Reshape, tiles: LinearTiles) -> Linear | None:
    source, dims = tiles.of(op.source), source_dims(op)
    if source is None or (dims is None and not source.is_uniform):
        return None
    dims = (None,) * op.result.tile.rank if dims is None else dims
    return source.at(dims) if source.rows is None or source.rows.dim in dims else None


@rules(Assume)
def _assumed(op: Assume, tiles: LinearTiles) -> Linear | None:
    return tiles.of(op.value) if isinstance(op.value.type, TileType) else None


@rules(AddI)
def _sum(op: AddI, tiles: LinearTiles) -> Linear | None:
    a, b = tiles.of(op.lhs), tiles.of(op.rhs)
    found = None if a is None or b is None else a.plus(b, added(a.base, b.base, op.overflow))
    return None if found is None else tiles.exact(op.result, op.overflow, found)


@rules(SubI)
def _difference(op: SubI, tiles: LinearTiles) -> Linear | None:
    a, b = tiles.of(op.lhs), tiles.of(op.rhs)
    if a is None or b is None or not all(isinstance(step, KnownScalar) for step in b.steps):
        return None
    negated = tuple(KnownScalar(-step.number, step.bits) for step in b.steps if isinstance(step, KnownScalar))
    found = a.plus(replace(b, steps=negated), subtracted(a.base, b.base, op.overflow))
    return None if found is None else tiles.exact(op.result, op.overflow, found)


@rules(MulI)
def _product(op: MulI, tiles: LinearTiles) -> Linear | None:
    a, b = tiles.of(op.lhs), tiles.of(op.rhs)
    if a is None or b is None or not (a.is_uniform or b.is_uniform):
        return None
    if a.is_uniform:
        a, b = b, a
    steps, rows = _all([times(step, b.base) for step in a.steps]), a.rows
    if rows is not None:
        width = times(rows.width, b.base)
        rows = None if width is None else replace(rows, width=width)
    if steps is None or (rows is None) != (a.rows is None):
        return None
    return tiles.exact(op.result, op.overflow, Linear(multiplied(a.base, b.base, op.overflow), steps, rows))


@rules(ExtI)
def _extended(op: ExtI, tiles: LinearTiles) -> Linear | None:
    source = tiles.of(op.source)
    if source is None or (op.signedness is Signedness.UNSIGNED and not tiles.is_at_least(op.source, 0)):
        return None
    return replace(source, base=extended(source.base, op.to.tile.number.bits))


@rules(Offset)
def _offset(op: Offset, tiles: LinearTiles) -> Linear | None:
    pointers, distances = tiles.of(op.ptr), tiles.of(op.offset)
    if pointers is None or distances is None:
        return None
    return pointers.plus(distances, moved(pointers.base, distances.base))
