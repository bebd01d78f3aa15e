"""Tests whether a loop can run on vectors: how its values change per iteration, and how many lanes pay off."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from llvmlite import ir
from llvmlite.ir import instructions as op

from tileir.cpu.emit.elements import I64

MOST_COPIES = 4
"""Number of vectors of a short body that are processed side by side."""
SHORT = 20
"""Instructions of a body that is not worth several copies; the same number as LLVM's."""
FEWEST = 4
"""Iterations that are worth a vector."""

LEAST_GATHERED = 4
"""Bytes of the least elements that a processor gathers under a mask; of others LLVM makes a branch for each lane."""

_ARITHMETIC = {"add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "fadd", "fsub", "fmul", "fdiv", "fneg"}
_CASTS = {"trunc", "zext", "sext", "fptrunc", "fpext", "sitofp", "uitofp", "fptosi", "fptoui", "bitcast"}
_EVEN_CASTS = {"trunc", "ptrtoint", "inttoptr"}
"""Casts of evenly growing values that give evenly growing values."""
_WITH_EFFECTS = {"load", "store", "load atomic", "store atomic", "cmpxchg", "atomicrmw", "fence", "alloca"}
_CALLS = """fma fabs sqrt floor ceil trunc rint roundeven copysign ldexp minnum maxnum minimum maximum
smin smax umin umax abs fshl fshr ctpop ctlz cttz bitreverse bswap sadd.sat uadd.sat ssub.sat usub.sat
fptosi.sat fptoui.sat"""
_CALL = re.compile(rf"llvm\.({'|'.join(map(re.escape, _CALLS.split()))})((?:\.(?:i\d+|f\d+))+)")
_COLLECTING = {"or", "and", "smin", "smax", "umin", "umax"}
"""Operations that may be done in any order, and more than once."""


@dataclass(frozen=True)
class GuardedLoad:
    """A load under a condition: it reads an element at `place` if `inside` holds, and a cell that holds `outside` if
    not. Where `inside` is an unsigned comparison of a position with an end, the first lanes are inside."""

    place: op.Instruction
    inside: ir.Value
    outside: ir.Constant


@dataclass
class BlockLoop:
    """A loop of one block that a branch at the end of `before` leads to: its `body` begins with `position` and ends
    with the counting. At least one iteration; `after` is empty as yet."""

    before: ir.Block
    body: ir.Block
    after: ir.Block
    position: op.PhiInstr
    begin: ir.Value
    end: ir.Value
    is_compact: bool
    """True if it is to have one body only (`Emitter.compactly`)."""
    independent: Set[int]
    """The accesses that no other iteration depends on, by their identities."""
    guarded: Mapping[op.Instruction, GuardedLoad]
    """The loads of elements that may be outside of what may be read."""
    streamed: Set[op.Instruction]
    """The stores whose vectors bypass the cache: they are aligned from `begin` on."""
    ahead: Mapping[op.Instruction, tuple[ir.Value, ...]]
    """The distances in bytes to memory that is prefetched with accesses."""

    @cached_property
    def work(self) -> list[op.Instruction]:
        """The instructions without the counting."""
        return list(self.body.instructions[1:-3])

    @cached_property
    def count(self) -> int | None:
        """The iterations, if they are known."""
        if isinstance(self.begin, ir.Constant) and isinstance(self.end, ir.Constant):
            return int(self.end.constant) - int(self.begin.constant)
        return None


class WideFunction(ir.Function):
    """A function that only computes numbers, and that can be made for vectors."""

    def __init__(
        self, module: ir.Module, type: ir.FunctionType, name: str, make: Callable[[WideFunction, int], ir.Function]
    ) -> None:
        super().__init__(module, type, name)
        self._make = make

    def wide(self, lanes: int) -> ir.Function:
        """Return the function of vectors of so many lanes."""
        found = self.module.globals.get(f"{self.name}.{lanes}")
        return self._make(self, lanes) if found is None else found


class Unfit(Exception):
    """An instruction without a form for vectors."""


@dataclass(frozen=True)
class Collected:
    """A stack cell that an iteration reads, changes and writes, in any order with the others."""

    cell: op.AllocaInstr
    change: op.Instruction

    @property
    def verb(self) -> str:
        """Return the name of the update: ``or``, ``umax``, ..."""
        return intrinsic(self.change)[0] if isinstance(self.change, op.CallInstr) else str(self.change.opname)


@dataclass(frozen=True)
class Bits:
    """A number made of bits of a position. Each of `parts` is a mask of some of these and how far they are moved to the
    right; no two come to lie in the same place, or on a bit of `constant`."""

    parts: tuple[tuple[int, int], ...]
    constant: int = 0

    def of(self, position: int) -> int:
        """Return the bits of a position, without the constant."""
        return sum(_moved(position & mask, right) for mask, right in self.parts)

    def among(self, chosen: int) -> Bits:
        """Return what comes of the chosen bits of the position, with the constant."""
        return Bits(tuple((mask & chosen, right) for mask, right in self.parts if mask & chosen), self.constant)

    def after(self, name: str, other: Bits) -> Bits | None:
        """Return the result of an operation on this number and another one; None if it is none of such bits."""
        number = other.constant
        if name in ("add", "or"):
            apart = not (self.of(-1) | self.constant) & (other.of(-1) | number)
            found: dict[int, int] = {}
            for mask, right in (*self.parts, *other.parts):
                found[right] = found.get(right, 0) | mask
            parts = tuple((mask, right) for right, mask in found.items())
            return Bits(parts, self.constant + number) if apart else None
        if other.parts or (name == "mul" and number.bit_count() != 1):
            return None
        if name == "and":
            kept = ((mask & _moved(number, -right), right) for mask, right in self.parts)
            return Bits(tuple(part for part in kept if part[0]), self.constant & number)
        distance = {"lshr": number, "shl": -number, "mul": 1 - number.bit_length()}.get(name)
        if distance is None:
            return None
        moved = ((mask & _moved(-1, -max(0, right + distance)), right + distance) for mask, right in self.parts)
        return Bits(tuple(part for part in moved if part[0]), _moved(self.constant, distance))


def _moved(number: int, right: int) -> int:
    return number >> right if right >= 0 else number << -right


class Growth:
    """The amount by which each value of a loop grows per iteration. Raises Unfit if the loop needs something that
    vectors cannot do; `gathers`: vectors can be loaded from and stored to scattered places."""

    def __init__(self, loop: BlockLoop, gathers: bool) -> None:
        self.steps: dict[int, int | None] = {id(loop.position): 1}
        """Growth per iteration; None if uneven."""
        self.fixed: set[int] = set()
        """The instructions whose values are the same in all iterations, wherever these are computed."""
        self.collected: dict[int, Collected] = {}
        self.settled: list[op.StoreInstr] = []
        """Stores of what is the same in all iterations to stack cells."""
        self._loop, self._gathers = loop, gathers
        values = (value for each in loop.work for value in (each, *each.operands))
        _require(not any(isinstance(value.type, ir.VectorType) for value in values))
        self.guards = {id(each): found for each in loop.work if (found := loop.guarded.get(each)) is not None}
        """The guards of loads in the loop whose lanes differ."""
        self.ends: dict[int, GuardedLoad] = {}
        """Those of loads of neighbours, of which the first ones are inside."""
        self.chosen = {id(load.operands[0]) for load in loop.work if id(load) in self.guards}
        """The addresses of those loads, for which vectors have masks."""
        self._stored = {id(each.operands[1]) for each in loop.work if isinstance(each, op.StoreInstr)}
        self._find_collected()
        self.bits: dict[int, Bits] = {}
        """The values that are bits of the position."""
        self.placed: dict[int, Bits] = {}
        """The addresses of elements whose numbers are bits of the position, behind what is the same for all."""
        if loop.count is not None and loop.count.bit_count() == 1 and int(loop.begin.constant) == 0:
            self.bits[id(loop.position)] = Bits(((loop.count - 1, 0),))
        for each in loop.work:
            self._find_bits(each)
            self.steps[id(each)] = step = self._step(each)
            if step == 0 and self._is_fixed(each):
                self.fixed.add(id(each))

    def of(self, value: ir.Value) -> int | None:
        """Return the growth of a value: 0 if it comes from outside of the loop."""
        return self.steps.get(id(value), 0)

    def is_late(self, value: ir.Value) -> bool:
        """Return whether lanes of a value are made where they are needed, of bits of the position."""
        return self.of(value) is None and (id(value) in self.bits or id(value) in self.placed)

    def accesses(self, kind: type[op.Instruction]) -> list[op.Instruction]:
        """Return the loads or stores of different elements."""
        uneven = [each for each in self._loop.work if isinstance(each, kind) and self.of(each) is None]
        return [each for each in uneven if id(each.operands[-1]) not in self.collected]

    # ------------------------------------------------------------ stack cells

    def _find_collected(self) -> None:
        """Find the cells that collect: one load, whose only use is the change, whose only use is the one store."""
        work = self._loop.work
        for store in work:
            if not isinstance(store, op.StoreInstr) or not isinstance(store.operands[1], op.AllocaInstr):
                continue
            change, cell = store.operands
            using = [each for each in work if any(value is cell for value in each.operands)]
            loads = [each for each in using if isinstance(each, op.LoadInstr)]
            if not loads:
                _require(using == [store])
                continue
            _require(len(using) == 2 and _only_use(work, loads[0], change) and _only_use(work, change, store))
            _require(_has_wide_form(change))
            found = self.collected[id(cell)] = Collected(cell, change)
            _require(found.verb in _COLLECTING)

    def _is_kept(self, load: op.LoadInstr) -> bool:
        """Return whether a load reads a stack cell that nothing in the loop writes."""
        (address,) = load.operands
        return isinstance(address, op.AllocaInstr) and id(address) not in self._stored

    # ------------------------------------------------------------ bits of the position

    def _find_bits(self, each: op.Instruction) -> None:
        if isinstance(each, op.GEPInstr) and len(each.operands) == 2:
            base, index = each.operands
            if id(index) in self.bits and self.of(base) == 0:
                self.placed[id(each)] = self.bits[id(index)]
            return
        known = [self.bits.get(id(value)) or _of_constant(value) for value in each.operands]
        found = known[0] if known else None
        if found is None or not any(id(value) in self.bits for value in each.operands):
            return
        if each.opname == "trunc":
            found = found if (found.of(-1) | found.constant) >> each.type.width == 0 else None
        else:
            found = found.after(each.opname, known[1]) if len(known) == 2 and known[1] is not None else None
        if found is not None:
            self.bits[id(each)] = found

    # ------------------------------------------------------------ steps

    def _is_fixed(self, each: op.Instruction) -> bool:
        if isinstance(each, op.LoadInstr) and not self._is_kept(each):
            return False
        return all(id(value) not in self.steps or id(value) in self.fixed for value in each.operands)

    def _step(self, each: op.Instruction) -> int | None:
        if id(each) in self.chosen and any(self.of(value) != 0 for value in each.operands):
            return None
        if isinstance(each, op.StoreInstr):
            return self._stored_step(each)
        if isinstance(each, op.LoadInstr):
            return self._loaded_step(each)
        steps = [self.of(value) for value in each.operands]
        if isinstance(each, op.GEPInstr):
            return self._address_step(each, steps)
        step = _even_step(each, steps)
        if step is None:
            _require(_has_wide_form(each))
            for value in each.operands:
                _require(not isinstance(value.type, ir.PointerType) or isinstance(value, ir.Function))
        return step

    def _stored_step(self, store: op.StoreInstr) -> int | None:
        value, address = store.operands
        if id(address) in self.collected:
            return None
        if isinstance(address, op.AllocaInstr):
            _require(id(value) not in self.steps or id(value) in self.fixed)
            self.settled.append(store)
            return 0
        step = self.of(address)
        _require(id(store) in self._loop.independent)
        # Stores a constant distance apart are no faster as vectors.
        _require(step == byte_size(value.type) or (step is None and self._gathers))
        return None

    def _loaded_step(self, load: op.LoadInstr) -> int | None:
        (address,) = load.operands
        if id(address) in self.collected:
            return None
        step = self.of(address)
        _require(id(load) in self._loop.independent or self._is_kept(load))
        if id(load) in self.guards:
            if step == 0:
                del self.guards[id(load)]
                return 0
            if self._has_end(load, self.guards[id(load)]):
                self.ends[id(load)] = self.guards[id(load)]
            is_near = self.of(self.guards[id(load)].place) == byte_size(load.type)
            _require(self._gathers and (is_near or byte_size(load.type) >= LEAST_GATHERED))
            return None
        _require(step in (0, byte_size(load.type)) or self._gathers)
        return 0 if step == 0 else None

    def _has_end(self, load: op.LoadInstr, guard: GuardedLoad) -> bool:
        inside = guard.inside
        if self.of(guard.place) != byte_size(load.type) or not isinstance(inside, op.ICMPInstr) or inside.op != "ult":
            return False
        at, end = inside.operands
        return at.type == I64 and self.of(at) == 1 and (id(end) not in self.steps or id(end) in self.fixed)

    def _address_step(self, address: op.GEPInstr, steps: Sequence[int | None]) -> int | None:
        _require(len(steps) == 2 and address.operands[1].type == I64)
        base, index = steps
        if base is None or index is None:
            _require(self._gathers and base is not None)
            return None
        return base + index * byte_size(address.source_etype)


def _require(condition: bool) -> None:
    if not condition:
        raise Unfit


def _only_use(work: Sequence[op.Instruction], value: op.Instruction, user: ir.Value) -> bool:
    uses = [each for each in work for operand in each.operands if operand is value]
    return len(uses) == 1 and uses[0] is user


def _even_step(each: op.Instruction, steps: Sequence[int | None]) -> int | None:
    name, known = each.opname, [step for step in steps if step is not None]
    if not any(step != 0 for step in steps):
        _require(_is_pure(each))
        return 0
    if len(known) < len(steps):
        return None
    if name in ("add", "sub"):
        return known[0] + known[1] if name == "add" else known[0] - known[1]
    if name in _EVEN_CASTS:
        return known[0]
    number = _number(each.operands[-1])
    if name in ("mul", "shl") and number is not None:
        return known[0] * number if name == "mul" else known[0] << number
    return None


def _number(value: ir.Value) -> int | None:
    """Return the value of an integer constant."""
    is_known = isinstance(value, ir.Constant) and isinstance(value.constant, int)
    return int(value.constant) if is_known else None


def _of_constant(value: ir.Value) -> Bits | None:
    number = _number(value)
    return None if number is None or number < 0 else Bits((), number)


def constant_part(value: ir.Value) -> tuple[ir.Value, int]:
    """Split a sum into what is added to a constant, and that constant: 0 if there is none."""
    number = _number(value.operands[1]) if isinstance(value, op.Instruction) and value.opname == "add" else None
    return (value, 0) if number is None else (value.operands[0], number)


def _has_wide_form(each: op.Instruction) -> bool:
    if isinstance(each, op.CallInstr):
        return isinstance(each.callee, WideFunction) or _CALL.fullmatch(each.callee.name) is not None
    if isinstance(each, (op.CompareInstr, op.SelectInstr)):
        return True
    if each.opname in ("udiv", "urem"):
        return (_number(each.operands[1]) or 0).bit_count() == 1
    return each.opname in (_CASTS if isinstance(each, op.CastInstr) else _ARITHMETIC)


def _is_pure(each: op.Instruction) -> bool:
    """Return whether an instruction only computes, so that it may be moved in front of the loop."""
    if isinstance(each, op.CallInstr):
        return _has_wide_form(each)
    return not isinstance(each, (op.PhiInstr, op.Terminator)) and each.opname not in _WITH_EFFECTS


def intrinsic(call: op.CallInstr) -> tuple[str, str]:
    """Return the name of a function that `Growth` has let pass, and its types, each after a full stop."""
    found = _CALL.fullmatch(call.callee.name)
    assert found is not None, "it has a form for vectors"
    return found[1], found[2]


def byte_size(element: ir.Type) -> int:
    """Return the size of an element in memory, as the emitter lays it out; 0 if it does not."""
    if isinstance(element, ir.IntType):
        return int(element.width) // 8
    return {ir.FloatType: 4, ir.DoubleType: 8}.get(type(element), 0)


# ---------------------------------------------------------------- how much at a time


@dataclass(frozen=True)
class Width:
    """The lanes of a vector, and the vectors worked on side by side."""

    lanes: int
    copies: int

    @property
    def total(self) -> int:
        """The iterations worked on at a time."""
        return self.lanes * self.copies


def width(loop: BlockLoop, growth: Growth, vector_bits: int) -> Width | None:
    """Return the width for a loop; None if it has too few iterations. Raises Unfit if its element width is unknown."""
    loads, stores = growth.accesses(op.LoadInstr), growth.accesses(op.StoreInstr)
    sizes = [byte_size(each.type) for each in loads] + [byte_size(each.operands[0].type) for each in stores]
    _require(min(sizes, default=0) > 0)
    lanes = vector_bits // 8 // max(sizes)
    if loop.count is not None:
        if loop.count < FEWEST:
            return None
        lanes = min(lanes, 1 << (loop.count.bit_length() - 1))
    instructions = sum(growth.of(each) is None and not growth.is_late(each) for each in loop.work)
    # Vectors side by side would collect in one cell in turn.
    return Width(lanes, 1 if growth.collected else _copies(loop, lanes, instructions, len(loads), len(stores)))


def _copies(loop: BlockLoop, lanes: int, instructions: int, loads: int, stores: int) -> int:
    """Return the number of copies that keeps the load and store units busy in a short body, with none left over."""
    if instructions + 2 >= SHORT:
        return 1
    fitting = 1 << (SHORT // (instructions + 2)).bit_length() - 1
    most = min(MOST_COPIES, max(fitting, MOST_COPIES // max(1, loads), MOST_COPIES // max(1, stores)))
    if loop.count is None:
        return most
    whole = loop.count // lanes
    return max(copies for copies in range(1, min(most, whole) + 1) if whole % copies == 0)
