"""The symbols of footprints as integers of an SMT solver.

Imports the solver, which may not be installed: this module is imported when it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from tileir.analysis.disjoint import Block
from tileir.analysis.expressions import Expression, Symbol
from tileir.analysis.footprint import Coordinate, Footprint
from tileir.analysis.ranges import MAX_GRID
from tileir.analysis.symbols import BlockId, Either, Function, GridExtent, Kind, NoWrap, ScalarParameter, Turn
from tileir.sanitize.proofs.launch import KnownLaunch

STEPS = 400_000
"""Steps that one question may take, in the solver's own count: the same on every machine."""
MOST_BITS = 24
"""Bits of the operands of a bitwise function that is spelled out."""


def solved(conditions: Iterable[z3.BoolRef]) -> z3.ModelRef | bool | None:
    """Return a solution, False if there is none, None if the step limit was reached."""
    solver = z3.Solver()
    # Its own handler of interrupts would swallow them, and leave calls of the system that they no longer end.
    solver.set("ctrl_c", False)
    solver.set("rlimit", STEPS)
    solver.add(*conditions)
    found = solver.check()
    if found == z3.unsat:
        return False
    return solver.model() if found == z3.sat else None


class Question:
    """The launches in question: parameters and the extents of the grid, which all tile blocks share."""

    def __init__(self, launch: KnownLaunch, trust: bool) -> None:
        self.trust = trust
        self.facts: list[z3.BoolRef] = []
        self._shared: dict[Symbol, z3.ArithRef] = {}
        self._grid = launch.grid
        self._count = 0

    def instance(self, footprint: Footprint) -> Instance:
        """Return an access of some tile block."""
        return Instance(self, footprint)

    def fresh(self, symbol: Symbol) -> z3.ArithRef:
        """Return a new integer in the bounds of a symbol."""
        self._count += 1
        term = z3.Int(f"n{self._count}")
        self.facts += [term >= symbol.range.low, term <= symbol.range.high]
        return term

    def shared(self, symbol: Symbol) -> z3.ArithRef:
        if symbol not in self._shared:
            self._shared[symbol] = self.fresh(symbol)
        return self._shared[symbol]

    def extent(self, axis: int) -> z3.ArithRef:
        """Return the extent of the grid along an axis."""
        known = self._grid[axis]
        return self.shared(GridExtent(axis)) if known is None else z3.IntVal(known)

    # ------------------------------------------------------------ questions

    def is_sure(self, one: Instance) -> bool:
        """Return whether the footprint gives the address of every touched element: nothing wraps around."""
        needs = one.fits(one.footprint.needs)
        return z3.is_true(needs) or solved([*self.facts, *one.facts, z3.Not(needs)]) is False

    def meeting(self, one: Instance, other: Instance) -> tuple[()] | tuple[Block, Block] | None:
        """Return two different tile blocks that touch one byte; () if there are none, None if the solver gives up."""
        ids = list(zip(one.block, other.block))
        conditions = [*one.facts, *other.facts, z3.Or([a != b for a, b in ids])]
        conditions += [one.first <= other.last, other.first <= one.last]
        model = solved([*self.facts, *conditions])
        if isinstance(model, bool):
            return ()
        if model is None:
            return None
        return self._block(model, one), self._block(model, other)

    def never_outside(self, one: Instance, low: int, high: int) -> bool:
        """Return whether no touched byte lies outside [`low`, `high`)."""
        return solved([*self.facts, *one.facts, z3.Or(one.first < low, one.last >= high)]) is False

    def _block(self, model: z3.ModelRef, one: Instance) -> Block:
        x, y, z = (model.eval(id, model_completion=True).as_long() for id in one.block)
        return x, y, z


class Instance:
    """One access of one tile block, in one turn of each loop, of one element: its own integers.

    `first` and `last` are the bytes that the element touches, counted from the beginning of the memory.
    """

    def __init__(self, question: Question, footprint: Footprint) -> None:
        self.footprint = footprint
        self.facts: list[z3.BoolRef] = []
        self._question = question
        self._terms: dict[Symbol, z3.ArithRef] = {}
        x, y, z = (self.term(BlockId(axis)) for axis in range(3))
        self.block = (x, y, z)
        for turn in footprint.loops:
            self.term(turn)
        for guard in footprint.guards:
            if question.trust or not guard.promised:
                self.facts.append(z3.Implies(self.fits(guard.needs), self.sum(guard.form) >= 0))
        element = self.sum(footprint.form)
        self.first = element if footprint.size >= 8 else element / (8 // footprint.size)
        self.last = self.first + (footprint.bytes - 1)

    def sum(self, form: Expression) -> z3.ArithRef:
        products = [z3.IntVal(form.constant)]
        for symbols, factor in form.terms.items():
            product = z3.IntVal(factor)
            for symbol in symbols:
                product = product * self.term(symbol)
            products.append(product)
        return z3.Sum(products)

    def fits(self, needs: Iterable[NoWrap]) -> z3.BoolRef:
        """Return the constraint that conditions hold; promised ones count as holding."""
        kept = [need for need in needs if not (need.promised and self._question.trust)]
        return z3.And([z3.And(self.sum(need.form) >= need.low, self.sum(need.form) <= need.high) for need in kept])

    # ------------------------------------------------------------ symbols

    def term(self, symbol: Symbol) -> z3.ArithRef:
        if isinstance(symbol, ScalarParameter):
            return self._question.shared(symbol)
        if isinstance(symbol, GridExtent):
            return self._question.extent(symbol.axis)
        if symbol not in self._terms:
            term = self._terms[symbol] = self._question.fresh(symbol)
            self.facts += self._meaning(symbol, term)
        return self._terms[symbol]

    def _meaning(self, symbol: Symbol, term: z3.ArithRef) -> list[z3.BoolRef]:
        """Return the constraints on a symbol besides its bounds."""
        if isinstance(symbol, BlockId):
            return [term < self._question.extent(symbol.axis), term < MAX_GRID]
        if isinstance(symbol, Coordinate):
            return [term == self.sum(symbol.form)]
        if isinstance(symbol, Either):
            return [z3.Or([term == self.sum(choice) for choice in symbol.choices])]
        if isinstance(symbol, Turn) and symbol.count is not None:
            return [z3.Implies(self.fits(symbol.needs), term < self.sum(symbol.count))]
        return self._function(symbol, term) if isinstance(symbol, Function) else []

    def _function(self, symbol: Function, term: z3.ArithRef) -> list[z3.BoolRef]:
        a, b = (self.sum(argument) for argument in symbol.arguments)
        kind, needs = symbol.kind, self.fits(symbol.needs)
        if kind in (Kind.SMALLEST, Kind.LARGEST):
            first = a < b if kind is Kind.SMALLEST else a > b
            return [z3.Implies(needs, term == z3.If(first, a, b))]
        if kind in (Kind.AND, Kind.OR, Kind.XOR):
            return self._bitwise(symbol, term, a, b)
        quotient = a / b
        if kind in (Kind.TRUNCATED, Kind.REMAINDER):
            quotient = z3.If(a >= 0, quotient, -(-a / b))
        value = quotient if kind in (Kind.FLOOR, Kind.TRUNCATED) else a - b * quotient
        return [z3.Implies(z3.And(needs, b > 0), term == value)]

    def _bitwise(self, symbol: Function, term: z3.ArithRef, a: z3.ArithRef, b: z3.ArithRef) -> list[z3.BoolRef]:
        """Return constraints bit by bit, for small numbers that are not negative."""
        bounds = [argument.range for argument in symbol.arguments]
        bits = max(bound.high.bit_length() for bound in bounds)
        if symbol.needs or bits > MOST_BITS or any(bound.low < 0 for bound in bounds):
            return []
        left, right = (z3.BoolVector(f"{name}{term}", bits) for name in "ab")
        both = [_BITWISE[symbol.kind](x, y) for x, y in zip(left, right)]
        return [number == _of_bits(digits) for number, digits in ((a, left), (b, right), (term, both))]


_BITWISE = {Kind.AND: z3.And, Kind.OR: z3.Or, Kind.XOR: z3.Xor}


def _of_bits(bits: Iterable[z3.BoolRef]) -> z3.ArithRef:
    return z3.Sum([z3.If(bit, 1 << place, 0) for place, bit in enumerate(bits)])
