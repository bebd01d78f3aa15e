"""Proofs that two straight-line programs are equal for all inputs, by an SMT solver, the package z3-solver.

    addi %x, %x        x + x, an expression over 32 bits
    iota               the symbol lane0
    addf %a, %b        an unknown function `addf` of the bits of its operands, the same in both programs
    load_ptr_tko %p    an unknown number for each lane, the same for the n-th access of each program

An element of a tile is one expression of its place, `lane0`, `lane1`, and so on. The programs are equal if they do the
same in the same order: for every access, print and assertion the solver shows that the operands have equal bits for all
arguments, tile blocks, lanes and loaded values. The second program must also not have undefined integer arithmetic
where the first has none. Everything else is not proved, such as loops, regions and calls.

Imports the solver: import this module where `smt.INSTALLED` is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

import numpy as np
import z3

from tileir.analysis.effects import access_of
from tileir.analysis.ranges import MAX_GRID
from tileir.ir import types as t
from tileir.ir.attributes import Overflow, Predicate, Rounding, Signedness
from tileir.ir.core import Op, Value
from tileir.ir.storage import bits_dtype
from tileir.ir.traits import ELEMENTWISE, NO_MEMORY_EFFECT, PURE
from tileir.ops import calls, conversion, core, division, integer, misc, shapes
from tileir.ops.control import Return
from tileir.ops.module import Entry
from tileir.sanitize.proofs.terms import solved

MOST_OPS, MOST_STEPS, MOST_ELEMENTS = 400, 64, 64
"""Operations of a program, accesses of it, and elements of a constant tile that is no splat."""


class Unproved(Exception):
    """A program beyond what is proved."""


@dataclass(frozen=True)
class TileElement:
    """The element of a tile at `lane0`, `lane1` and so on; `loads` are the steps that it is computed from."""

    element: z3.BitVecRef
    shape: tuple[int, ...]
    loads: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Opaque:
    """A token or view: equal if it came from the same step, or was made in the same way."""

    origin: int
    result: int
    loads: frozenset[int] = frozenset()


Symbolic = TileElement | Opaque
Signature = tuple[object, ...]


@dataclass(frozen=True)
class ProgramStep:
    """An operation with its operands. With an effect it is the `number`-th one of its program."""

    signature: Signature
    operands: tuple[Symbolic, ...]
    number: int
    strong: bool = False


@dataclass(frozen=True)
class LaneFact:
    """A condition on each element of a tile of some shape."""

    shape: tuple[int, ...]
    condition: z3.BoolRef


def proved_equal(first: Entry, second: Entry) -> bool:
    """Return whether the second program does what the first does, on all inputs."""
    try:
        one = _SymbolicProgram(first)
        two = _SymbolicProgram(second, one)
        return len(one.steps) == len(two.steps) and all(two.follows(one))
    except Unproved:
        return False


# ---------------------------------------------------------------- a program


class _SymbolicProgram:
    """A program as expressions. `before` is the one that it is compared with: equal parts get equal numbers."""

    def __init__(self, entry: Entry, before: _SymbolicProgram | None = None) -> None:
        self.steps: list[ProgramStep] = []
        self.made: list[ProgramStep] = [] if before is None else list(before.made)
        self.assumed: list[LaneFact] = [] if before is None else before.assumed
        self.undefined: list[LaneFact] = []
        self._trusts = before is None
        self._known: dict[Value, Symbolic] = {}
        self._values: dict[str, z3.BitVecRef] = {}
        assert entry.body is not None, "an entry has a body"
        if len(entry.body.ops) > MOST_OPS:
            raise Unproved
        for index, argument in enumerate(entry.body.args):
            self._known[argument] = TileElement(z3.BitVec(f"argument{index}", _width(argument)), ())
        for op in entry.body.ops:
            self._run(op)

    def _run(self, op: Op) -> None:
        if isinstance(op, Return):
            return
        if op.regions or len(self.steps) > MOST_STEPS or isinstance(op, core.GetGlobal | calls.Call):
            raise Unproved
        operands = tuple(self._known[value] for value in op.operands)
        if isinstance(op, misc.Assume):
            found = self._assumption(op, operands)
        elif isinstance(op, core.GetTileBlockId | core.GetNumTileBlocks):
            found = self._coordinates(op)
        elif type(op) in _NUMBERS or (ELEMENTWISE in op.traits and PURE in op.traits):
            found = [self._elementwise(op, _tiles(operands))]
        elif type(op) in _PLACES:
            found = [_PLACES[type(op)](op, *operands)]
        else:
            found = self._step(op, operands)
        self._known.update(zip(op.results, found))

    def _coordinates(self, op: Op) -> list[Symbolic]:
        found: list[Symbolic] = []
        for axis in "xyz":
            block, extent = z3.BitVec(f"block_{axis}", 32), z3.BitVec(f"extent_{axis}", 32)
            limit = z3.And(z3.ULT(block, extent), z3.ULE(extent, MAX_GRID))
            self.assumed.append(LaneFact((), limit))
            found.append(TileElement(block if isinstance(op, core.GetTileBlockId) else extent, ()))
        return found

    def _assumption(self, op: Op, operands: tuple[Symbolic, ...]) -> list[Symbolic]:
        """Let an assumption pass that the first program makes as well."""
        step = ProgramStep(_signature(op), operands, len(self.made))
        if self._trusts:
            self.made.append(step)
        elif self._earlier(step) is None:
            raise Unproved
        return [operands[0]]

    def _elementwise(self, op: Op, operands: Sequence[TileElement]) -> TileElement:
        shape = op.results[0].tile.shape
        loads = _loads(operands)
        terms = [operand.element for operand in operands]
        for condition, promised in _undefined(op, terms):
            self.undefined.append(LaneFact(shape, condition))
            if promised and self._trusts:
                self.assumed.append(self.undefined[-1])
        rule = _NUMBERS.get(type(op))
        number = None if rule is None else rule(op, *terms)
        if number is None:
            sorts = [z3.BitVecSort(_width(value)) for value in (*op.operands, op.results[0])]
            elements = [value.tile.element for value in (*op.operands, op.results[0])]
            number = z3.Function(repr((op.spec.name, *_attributes(op), elements)), *sorts)(*terms)
        return TileElement(z3.simplify(number), shape, loads)

    def _step(self, op: Op, operands: tuple[Symbolic, ...]) -> list[Symbolic]:
        """Return unknown numbers for the results: those that the same operation on the same operands has had, or for
        an effect, the one in the same place."""
        pure = PURE in op.traits or NO_MEMORY_EFFECT in op.traits
        access = None if pure else access_of(op)
        strong = access is not None and access.is_strong
        step = ProgramStep(_signature(op), operands, len(self.made) if pure else len(self.steps), strong)
        if pure:
            number = self._earlier(step)
            if number is None:
                self.made.append(step)
                number = step.number
        else:
            self.steps.append(step)
            number = -1 - step.number
        loads = _loads(operands) | (frozenset() if pure else {step.number})
        return [_unknown(value, number, loads) for value in op.results]

    def _earlier(self, step: ProgramStep) -> int | None:
        """Return the number of an operation that was made of the same operands."""
        found = (one for one in self.made if one.signature == step.signature and self._agree(one, step))
        return next((one.number for one in found), None)

    def _agree(self, one: ProgramStep, other: ProgramStep) -> bool:
        return all(self._same(a, b) for a, b in zip(one.operands, other.operands, strict=True))

    def _same(self, one: Symbolic, other: Symbolic) -> bool:
        """Return whether two values are certainly equal."""
        if isinstance(one, Opaque) or isinstance(other, Opaque):
            return (
                isinstance(one, Opaque)
                and isinstance(other, Opaque)
                and one.origin == other.origin
                and (one.result == other.result)
            )
        if one.shape != other.shape or one.element.size() != other.element.size():
            return False
        return one.element.eq(other.element) or self._holds(one.shape, one.element == other.element)

    def _holds(self, shape: tuple[int, ...], condition: z3.BoolRef) -> bool:
        """Return whether a condition holds for all elements of a shape wherever the first program is defined."""
        inside = [z3.ULT(lane, extent) for lane, extent in zip(_lanes(len(shape)), shape)]
        facts = [fact.condition for fact in self.assumed if fact.shape in ((), shape)]
        return solved([*inside, *facts, z3.Not(condition)]) is False

    # ------------------------------------------------------------ two programs

    def follows(self, first: _SymbolicProgram) -> Iterator[bool]:
        """Yield whether each step, and each definedness, follows from the first program's."""
        for one, other in zip(first.steps, self.steps, strict=True):
            yield one.signature == other.signature and self._agree(one, other)
            if one.strong:
                yield _loads(one.operands) <= _loads(other.operands)
        known = [fact.condition for fact in first.undefined if fact.shape == ()]
        for fact in self.undefined:
            same = [one.condition for one in first.undefined if one.shape == fact.shape]
            yield self._holds(fact.shape, z3.Implies(z3.And(*known, *same), fact.condition))


def _signature(op: Op) -> Signature:
    types = (*(value.type for value in op.operands), *op.result_types)
    return op.spec.name, *_attributes(op), *map(repr, types), tuple(op.segments)


def _attributes(op: Op) -> list[tuple[str, str]]:
    return sorted((name, repr(value)) for name, value in op.attributes.items())


def _loads(operands: Sequence[Symbolic]) -> frozenset[int]:
    return frozenset().union(*(operand.loads for operand in operands))


def _tiles(operands: Sequence[Symbolic]) -> list[TileElement]:
    return [operand for operand in operands if isinstance(operand, TileElement)]


def _unknown(value: Value, number: int, loads: frozenset[int]) -> Symbolic:
    """Return a result that is known only by the operation that made it."""
    if not isinstance(value.type, t.TileType):
        return Opaque(number, value.index, loads)
    lanes = _lanes(len(value.type.shape))
    name = f"result {value.index} of {number}"
    if not lanes:
        return TileElement(z3.BitVec(name, _width(value)), (), loads)
    sorts = [z3.BitVecSort(32)] * len(lanes)
    return TileElement(z3.Function(name, *sorts, z3.BitVecSort(_width(value)))(*lanes), value.type.shape, loads)


def _lanes(rank: int) -> list[z3.BitVecRef]:
    return [z3.BitVec(f"lane{dim}", 32) for dim in range(rank)]


def _width(value: Value) -> int:
    element = value.tile.element
    if isinstance(element, t.PointerType):
        return 64
    return element.bits if element.is_int else 8 * bits_dtype(element).itemsize


# ---------------------------------------------------------------- numbers


def _signed(op: Op) -> bool:
    return op.attributes["signedness"] is Signedness.SIGNED


def _divided(op: division.DivI, a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
    if not _signed(op):
        up = z3.If(z3.URem(a, b) != 0, z3.BitVecVal(1, a.size()), 0)
        return z3.UDiv(a, b) + up if op.rounding is Rounding.POSITIVE_INF else z3.UDiv(a, b)
    rest, one = z3.SRem(a, b), z3.BitVecVal(1, a.size())
    apart = (rest < 0) != (b < 0)
    if op.rounding is Rounding.ZERO:
        return a / b
    if op.rounding is Rounding.NEGATIVE_INF:
        return z3.If(z3.And(rest != 0, apart), a / b - one, a / b)
    return z3.If(z3.And(rest != 0, z3.Not(apart)), a / b + one, a / b)


def _compared(op: integer.CmpI, a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
    signed = _signed(op)
    less, at_most = (a < b, a <= b) if signed else (z3.ULT(a, b), z3.ULE(a, b))
    holds = {
        Predicate.EQUAL: a == b,
        Predicate.NOT_EQUAL: a != b,
        Predicate.LESS_THAN: less,
        Predicate.LESS_THAN_OR_EQUAL: at_most,
        Predicate.GREATER_THAN: z3.Not(at_most),
        Predicate.GREATER_THAN_OR_EQUAL: z3.Not(less),
    }[op.comparison_predicate]
    return z3.If(holds, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def _larger(op: Op, a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
    return z3.If(b <= a if _signed(op) else z3.ULE(b, a), a, b)


def _smaller(op: Op, a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
    return z3.If(a <= b if _signed(op) else z3.ULE(a, b), a, b)


def _high(op: Op, a: z3.BitVecRef, b: z3.BitVecRef) -> z3.BitVecRef:
    width = a.size()
    return z3.Extract(2 * width - 1, width, z3.ZeroExt(width, a) * z3.ZeroExt(width, b))


def _moved(op: core.Offset, pointer: z3.BitVecRef, offset: z3.BitVecRef) -> z3.BitVecRef | None:
    bits = op.ptr.tile.pointer.pointee.memory_bits
    return pointer + _resized(offset, 64, True) * (bits // 8) if bits >= 8 else None


def _resized(number: z3.BitVecRef, width: int, signed: bool) -> z3.BitVecRef:
    extra = width - number.size()
    if extra <= 0:
        return z3.Extract(width - 1, 0, number)
    return z3.SignExt(extra, number) if signed else z3.ZeroExt(extra, number)


def _same_bits(op: Op, a: z3.BitVecRef) -> z3.BitVecRef | None:
    return a if a.size() == _width(op.results[0]) else None


_NUMBERS: dict[type[Op], Callable[..., z3.BitVecRef | None]] = {
    integer.AddI: lambda op, a, b: a + b,
    integer.SubI: lambda op, a, b: a - b,
    integer.MulI: lambda op, a, b: a * b,
    integer.MulhiI: _high,
    integer.NegI: lambda op, a: -a,
    integer.AbsI: lambda op, a: z3.If(a < 0, -a, a),
    integer.MaxI: _larger,
    integer.MinI: _smaller,
    integer.AndI: lambda op, a, b: a & b,
    integer.OrI: lambda op, a, b: a | b,
    integer.XOrI: lambda op, a, b: a ^ b,
    integer.ShlI: lambda op, a, b: a << b,
    integer.ShrI: lambda op, a, b: a >> b if _signed(op) else z3.LShR(a, b),
    integer.CmpI: _compared,
    division.DivI: _divided,
    division.RemI: lambda op, a, b: z3.SRem(a, b) if _signed(op) else z3.URem(a, b),
    conversion.ExtI: lambda op, a: _resized(a, _width(op.to), _signed(op)),
    conversion.TruncI: lambda op, a: _resized(a, _width(op.to), False),
    conversion.Bitcast: _same_bits,
    conversion.IntToPtr: _same_bits,
    conversion.PtrToInt: _same_bits,
    conversion.PtrToPtr: _same_bits,
    core.Offset: _moved,
    core.Select: lambda op, condition, a, b: z3.If(condition == 1, a, b),
}
"""The operations on integers and bits, element by element; None where it is an unknown function."""


def _undefined(op: Op, terms: Sequence[z3.BitVecRef]) -> Iterator[tuple[z3.BoolRef, bool]]:
    """Yield the conditions under which an operation is defined, and whether one that does not hold makes the whole
    program undefined; if not, only what other implementations do is not known (spec: undefined#catalogue)."""
    if isinstance(op, division.DivI | division.RemI):
        a, b = terms
        yield b != 0, True
        if _signed(op) and isinstance(op, division.DivI):
            yield z3.Or(a != 1 << (a.size() - 1), b != -1), True
    if isinstance(op, integer.ShlI | integer.ShrI) and terms[1].size() > 1:
        yield z3.ULT(terms[1], terms[1].size()), False
    overflow = op.attributes.get("overflow", Overflow.NONE)
    for signed, flag in ((True, Overflow.NO_SIGNED_WRAP), (False, Overflow.NO_UNSIGNED_WRAP)):
        if overflow in (flag, Overflow.NO_WRAP):
            yield _fits(op, terms, signed), True


def _fits(op: Op, terms: Sequence[z3.BitVecRef], signed: bool) -> z3.BoolRef:
    """Return the condition that the exact result is the one that is kept."""
    a, width = terms[0], terms[0].size()
    if isinstance(op, integer.NegI):
        return a != 1 << (width - 1)
    if isinstance(op, conversion.TruncI):
        return _resized(_resized(a, _width(op.to), False), width, signed) == a
    if isinstance(op, integer.ShlI):
        back = a << terms[1]
        return (back >> terms[1] if signed else z3.LShR(back, terms[1])) == a
    # Twice the width holds the exact result of each.
    wide = [_resized(term, 2 * width + 1, signed) for term in terms]
    exact = _NUMBERS[type(op)](op, *wide)
    assert exact is not None, "sums, differences and products are numbers"
    return _resized(_resized(exact, width, False), 2 * width + 1, signed) == exact


# ---------------------------------------------------------------- places


def _constant(op: core.Constant) -> TileElement:
    shape, width = op.result.tile.shape, _width(op.result)
    bits = np.frombuffer(op.value.data, bits_dtype(op.value.element))
    values = [z3.BitVecVal(int(value), width) for value in bits]
    if op.value.is_splat:
        return TileElement(values[0], shape)
    if len(values) > MOST_ELEMENTS:
        raise Unproved
    at = _row_major(shape)
    chosen = reduce(lambda rest, entry: z3.If(at == entry[0], entry[1], rest), enumerate(values[1:], 1), values[0])
    return TileElement(chosen, shape)


def _iota(op: core.Iota) -> TileElement:
    return TileElement(_resized(_lanes(1)[0], _width(op.result), False), op.result.tile.shape)


def _broadcast(op: shapes.Broadcast, source: TileElement) -> TileElement:
    places = [z3.BitVecVal(0, 32) if extent == 1 else lane for lane, extent in _dims(source)]
    return _placed(op, source, places)


def _permuted(op: shapes.Permute, source: TileElement) -> TileElement:
    places = _lanes(len(source.shape))
    for to, dim in enumerate(op.permutation):
        places[dim] = _lanes(to + 1)[to]
    return _placed(op, source, places)


def _reshaped(op: shapes.Reshape, source: TileElement) -> TileElement:
    shape = op.result.tile.shape
    kept = [lane for lane, extent in zip(_lanes(len(shape)), shape) if extent != 1]
    if [extent for extent in shape if extent != 1] == [extent for extent in source.shape if extent != 1]:
        left = iter(kept)
        return _placed(op, source, [z3.BitVecVal(0, 32) if extent == 1 else next(left) for extent in source.shape])
    at = _row_major(shape)
    steps = [prod(source.shape[dim + 1 :]) for dim in range(len(source.shape))]
    places = [z3.URem(z3.UDiv(at, step), extent) for step, extent in zip(steps, source.shape)]
    return _placed(op, source, places)


def _placed(op: Op, source: TileElement, places: Sequence[z3.BitVecRef]) -> TileElement:
    """Return the result that has at each place the element of the source at `places`."""
    element = z3.substitute(source.element, *zip(_lanes(len(source.shape)), places))
    return TileElement(z3.simplify(element), op.results[0].tile.shape, source.loads)


def _row_major(shape: Sequence[int]) -> z3.BitVecRef:
    steps = [prod(shape[dim + 1 :]) for dim in range(len(shape))]
    products = [lane * step for lane, step in zip(_lanes(len(shape)), steps)]
    return sum(products[1:], products[0]) if products else z3.BitVecVal(0, 32)


def _dims(tile: TileElement) -> Iterator[tuple[z3.BitVecRef, int]]:
    return zip(_lanes(len(tile.shape)), tile.shape)


_PLACES: dict[type[Op], Callable[..., TileElement]] = {
    core.Constant: _constant,
    core.Iota: _iota,
    shapes.Broadcast: _broadcast,
    shapes.Permute: _permuted,
    shapes.Reshape: _reshaped,
}
"""The operations that say where elements are."""
