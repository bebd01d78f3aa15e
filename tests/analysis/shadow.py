"""Launches on the interpreter in which every integer and pointer is compared with the analysis.

    with compared_values() as tally:
        kernel.launch(...)          # fails if an element is not what its expression gives

Values that the analysis does not know are taken from the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

import numpy as np

import tileir
from tileir.analysis.affine import Affines
from tileir.analysis.expressions import Expression, Symbol
from tileir.analysis.forms import Affine, is_integer
from tileir.analysis.ranges import divided
from tileir.analysis.symbols import (
    BlockId,
    Either,
    Function,
    GridExtent,
    Kind,
    Lane,
    NoWrap,
    ScalarParameter,
    Storage,
    StorageKind,
    Turn,
    Unknown,
)
from tileir.interp import machine, scheduler
from tileir.interp.api import BlockState, LaunchState
from tileir.interp.memory import UNWATCHED, Memory, UnwrittenReads
from tileir.interp.prepare import Observer, Preparation
from tileir.interp.program import Frame, Region
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.core import Block, Op, Value
from tileir.ops.control import For, Loop
from tileir.runtime import interpreter
from tileir.runtime.arguments import Argument, ArrayArgument, PointerArgument
from tileir.runtime.grid import Grid
from tileir.runtime.memory import give_memory
from tileir.tools.lsp.neighbours import axes

FUNCTIONS: dict[Kind, Callable[[int, int], int]] = {
    Kind.FLOOR: lambda a, b: a // b,
    Kind.TRUNCATED: lambda a, b: divided(a, b, Rounding.ZERO) if b > 0 else -divided(a, -b, Rounding.ZERO),
    Kind.MODULO: lambda a, b: a % b,
    Kind.REMAINDER: lambda a, b: a - b * (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1),
    Kind.SMALLEST: min,
    Kind.LARGEST: max,
    Kind.AND: lambda a, b: a & b,
    Kind.OR: lambda a, b: a | b,
    Kind.XOR: lambda a, b: a ^ b,
}


class Unseen(Exception):
    """An expression that cannot be evaluated: how far a value has moved in a loop, or which of two it is."""


@dataclass
class Tally:
    compared: int = 0
    """Values that are an expression of something."""
    unknown: int = 0
    """Values that nothing is known of."""
    unseen: int = 0
    wrapped: int = 0
    """Elements whose expression does not hold, as arithmetic has wrapped around."""


class Shadow(Observer):
    """The values of a running tile block so far, and the turns of its loops."""

    def __init__(self, kernel: tileir.Kernel, arguments: Sequence[Argument], tally: Tally) -> None:
        self.known = Affines(kernel.entry.body)
        self.entry_ops = set(kernel.entry.walk())
        self.sources = {number: key for key, number in self.known._walk._numbers.items()}
        self.arguments = [_number(argument) for argument in arguments]
        self.tally = tally
        self.values: dict[Value, object] = {}
        self.turns: dict[Op, int] = {}
        self.slots: dict[Op, tuple[int, ...]] = {}
        self.state: BlockState | None = None

    # ------------------------------------------------------------ comparing

    def note(self, value: Value, found: object) -> None:
        """`value` is `found` now."""
        self.values[value] = found
        owner = value.owner if isinstance(value.owner, Op) else value.owner.parent
        if self.state is not None and is_integer(value.type) and owner in self.entry_ops:
            self._compare(value, found)

    def _compare(self, value: Value, found: object) -> None:
        known = self.known.of(value)
        if list(known.form.terms.values()) == [1] and isinstance(next(iter(known.form.terms))[0], Unknown):
            self.tally.unknown += 1
            return
        shape = value.tile.shape
        try:
            expected = self.evaluate(known.form, shape)
            right = self._hold(known, shape)
        except Unseen:
            self.tally.unseen += 1
            return
        numbers = integers(found, value.type)
        wrong = right & np.asarray((numbers - expected) % (1 << known.bits) != 0)
        assert not wrong.any(), f"{value.owner!r}: {known.form} is {expected[wrong][:4]}, but was {numbers[wrong][:4]}"
        self.tally.compared += 1
        self.tally.wrapped += int((~right).sum())
        if right.all():
            self._compare_axes(value, numbers)

    def _compare_axes(self, value: Value, numbers: np.ndarray) -> None:
        """Groups along each dimension, modulo the width of the elements."""
        modulus = 1 << self.known.of(value).bits
        pointer = isinstance(value.tile.element, t.PointerType)
        unit = value.tile.pointer.pointee.alignment if pointer else 1
        for dim, axis in enumerate(axes(self.known.of(value).form, value.tile, self.known.promised_range)):
            rise = np.diff(numbers, axis=dim)
            inside = np.arange(numbers.shape[dim] - 1)
            for group, step in ((axis.contiguity, unit), (axis.constancy, 0)):
                within = rise.take(inside[inside % group != group - 1], dim)
                assert not ((within - step) % modulus).any(), f"{value.owner!r}: {axis} of {numbers}"
            first = numbers.take(np.arange(0, numbers.shape[dim], max(axis.contiguity, axis.constancy)), dim)
            assert not (first % min(axis.divisibility, modulus)).any(), f"{value.owner!r}: {axis} of {numbers}"
        found = self.known.range(value)
        read = (numbers + modulus // 2) % modulus - modulus // 2
        assert np.all((read >= found.low) & (read <= found.high)), f"{value.owner!r}: {found} of {numbers}"

    def _hold(self, known: Affine, shape: tuple[int, ...]) -> np.ndarray:
        """For which elements all conditions hold."""
        right = np.ones(shape, np.bool_)
        for need in known.needs:
            right = right & self._holds(need, shape)
        return right

    def _holds(self, need: NoWrap, shape: tuple[int, ...]) -> np.ndarray:
        form = self.evaluate(need.form, shape)
        return np.asarray((form >= need.low) & (form <= need.high)).astype(np.bool_)

    # ------------------------------------------------------------ evaluating

    def evaluate(self, form: Expression, shape: tuple[int, ...]) -> np.ndarray:
        """For each element of a tile of `shape`, in Python's integers."""
        total = np.full(shape, form.constant, object)
        for product, factor in form.terms.items():
            part = np.full(shape, factor, object)
            for symbol in product:
                part = part * self.number(symbol, shape)
            total = total + part
        return np.broadcast_to(np.asarray(total, object), shape)

    def number(self, symbol: Symbol, shape: tuple[int, ...]) -> object:
        assert self.state is not None
        if isinstance(symbol, ScalarParameter | Storage):
            return self._given(symbol)
        if isinstance(symbol, BlockId):
            return self.state.id[symbol.axis]
        if isinstance(symbol, GridExtent):
            return self.state.grid[symbol.axis]
        if isinstance(symbol, Turn):
            (loop,) = self.sources[symbol.loop][-1:]
            return self.turns[loop]  # type: ignore[index]
        if isinstance(symbol, Lane):
            return (
                np.arange(symbol.extent)
                .astype(object)
                .reshape([-1 if dim == symbol.dim else 1 for dim in range(len(shape))])
            )
        if isinstance(symbol, Function):
            return self._function(symbol, shape)
        assert isinstance(symbol, Unknown | Either), symbol
        return self._unknown(symbol, shape)

    def _given(self, symbol: ScalarParameter | Storage) -> int:
        if isinstance(symbol, ScalarParameter):
            bits = symbol.bits
            return (self.arguments[symbol.index] + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        if symbol.kind is StorageKind.GLOBAL:
            assert self.state is not None
            return self.state.memory.address_of(symbol.name)
        if symbol.kind is StorageKind.PARAMETER:
            return self.arguments[symbol.number]
        return int(self.values[self.sources[symbol.number][-1]])  # type: ignore[index, call-overload]

    def _function(self, symbol: Function, shape: tuple[int, ...]) -> np.ndarray:
        if not all(self._holds(need, shape).all() for need in symbol.needs):
            raise Unseen
        a, b = (self.evaluate(argument, shape) for argument in symbol.arguments)
        if symbol.kind < Kind.SMALLEST and np.any(b == 0):
            raise Unseen
        found = np.asarray(np.frompyfunc(FUNCTIONS[symbol.kind], 2, 1)(a, b), object)
        limits = symbol.otherwise
        assert np.all((found >= limits.low) & (found <= limits.high)), f"{symbol}: {found} is not in {limits}"
        return found

    def _unknown(self, symbol: Unknown | Either, shape: tuple[int, ...]) -> np.ndarray:
        source = self.sources[symbol.number]
        if len(source) > 1 or isinstance(symbol, Either):
            raise Unseen
        (value,) = source
        index = tuple(self.evaluate(part, shape).astype(np.int64) for part in symbol.index)
        assert isinstance(value, Value)
        found = np.asarray(integers(self.values[value], value.type)[index], object)
        assert np.all((found >= symbol.range.low) & (found <= symbol.range.high)), f"{symbol} is {found}"
        return found

    # ------------------------------------------------------------ watching

    def pure(self, op: Op, function: Callable[..., object]) -> Callable[..., object]:
        def run(*values: object) -> object:
            result = function(*values)
            results = result if len(op.results) > 1 else (result,)
            if _is_whole(op):
                for value, found in zip(op.results, results):  # type: ignore[call-overload]
                    self.note(value, found)
            return result

        return run

    effect = pure

    def control(self, op: Op, preparation: Preparation, rule: Callable[..., object]) -> Callable[..., object]:
        control = rule(op, preparation)

        def run(frame: Frame, block: BlockState) -> Generator[None, None, object]:
            self.turns[op] = -1
            left = yield from control(frame, block)  # type: ignore[operator]
            if left is None:
                for value, slot in zip(op.results, self.slots[op]):
                    self.note(value, frame[slot])
            return left

        return run

    def region(self, op: Op, preparation: Preparation, rule: Callable[..., object]) -> Callable[..., object]:
        step = rule(op, preparation)

        def run(frame: Frame, block: BlockState) -> None:
            step(frame, block)  # type: ignore[operator]
            for value, slot in zip(op.results, self.slots[op]):
                self.note(value, frame[slot])

        return run

    def watched_region(self, region: Region, block: Block) -> Region:
        inner = region.run

        def run(frame: Frame, state: BlockState) -> Generator[None, None, object]:
            if isinstance(block.parent, For | Loop):
                self.turns[block.parent] += 1
            for value, slot in zip(block.args, region.arguments):
                self.note(value, frame[slot])
            return (yield from inner(frame, state))

        if not isinstance(block.parent, tuple(machine.TABLES.regions)):
            region.run = run  # type: ignore[assignment]
        return region

    @contextmanager
    def installed(self) -> Iterator[None]:
        region, results = Preparation.region, Preparation.results

        def watched_region(preparation: Preparation, block: Block) -> Region:
            return self.watched_region(region(preparation, block), block)

        def watched_results(preparation: Preparation, op: Op) -> tuple[int, ...]:
            self.slots[op] = results(preparation, op)
            return self.slots[op]

        def started(block: tuple[int, int, int], launch: LaunchState) -> BlockState:
            self.state = BlockState(block, launch)
            return self.state

        with (
            mock.patch.object(machine, "BlockState", started),
            mock.patch.object(Preparation, "region", watched_region),
            mock.patch.object(Preparation, "results", watched_results),
            mock.patch.object(scheduler, "FIRST_WINDOW", 1),
        ):
            yield


def _is_whole(op: Op) -> bool:
    """Return whether the operation works on the tiles of its types; in the body of a fold it gets many elements at
    once."""
    around = op.parent_op
    while around is not None:
        if isinstance(around, tuple(machine.TABLES.regions)):
            return False
        around = around.parent_op
    return True


def integers(found: object, type: t.Type) -> np.ndarray:
    """Elements as the signed reading, addresses as they are."""
    assert isinstance(type, t.TileType)
    numbers = np.asarray(found).astype(object)
    if isinstance(type.element, t.PointerType):
        return numbers
    return np.asarray(-numbers.astype(np.int64), object) if type.element is t.I1 else numbers


def _number(argument: Argument) -> int:
    if isinstance(argument, ArrayArgument):
        return argument.array.address
    if isinstance(argument, PointerArgument):
        return argument.pointer.address
    return int(argument.value) if isinstance(argument.value, np.integer | np.bool_) else 0


@contextmanager
def compared_values() -> Iterator[Tally]:
    """Inside, all values of every launch on the interpreter are compared."""
    tally = Tally()

    def prepare(target: object, kernel: tileir.Kernel, check: bool, options: dict[str, object]) -> Callable[..., None]:
        settings, storage = interpreter.settings_of(check, options), kernel.module.globals

        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            shadow = Shadow(kernel, arguments, tally)
            with shadow.installed():
                program = machine.prepare(kernel.module, kernel.entry, settings, shadow)
                memory = Memory((), storage.addresses, UnwrittenReads() if settings.strict else UNWATCHED)
                give_memory(memory, arguments, storage)
                tiles = [interpreter.rank_zero_tile(argument) for argument in arguments]
                machine.execute(program, grid, tiles, memory, settings)

        return run

    with mock.patch.object(interpreter.Interpreter, "prepare", prepare):
        yield tally
