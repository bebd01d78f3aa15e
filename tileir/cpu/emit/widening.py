"""Loops whose iterations are independent, run on vectors: a lane is an iteration.

Knows: which instructions have a form for vectors, which values of a loop are the same in all lanes or grow evenly from
one to the next, and how many lanes pay. Does not know: operations, tiles, what a loop is for.

LLVM's vectoriser could do the same, and does where this does not (`Verdict.LEFT`). It has to find out first what is
known here, that iterations are independent, and the passes it needs around it take most of the time of optimising.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from llvmlite import ir
from llvmlite.ir import instructions as op

from tileir.cpu.emit.elements import I1, I32, I64, PTR
from tileir.cpu.emit.vectors import broadcast
from tileir.cpu.llvm.engine import Host

MOST_COPIES = 4
"""Of a short body, whose vectors are worked on side by side."""
SHORT = 20
"""Instructions of a body that is worth several copies; the same number as LLVM's."""
LEAST_LANES = 4
MASKED_BITS = 512
"""Of vectors of which single lanes can be loaded and stored."""

_ARITHMETIC = {"add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "fadd", "fsub", "fmul", "fdiv", "fneg"}
_WITH_EFFECTS = {"load", "store", "load atomic", "store atomic", "cmpxchg", "atomicrmw", "fence", "alloca"}
_CASTS = {"trunc", "zext", "sext", "fptrunc", "fpext", "sitofp", "uitofp", "fptosi", "fptoui", "bitcast"}
_EVEN_CASTS = {"trunc", "ptrtoint", "inttoptr"}
"""Of values that grow evenly from lane to lane: the results do, too."""
_CALLS = (
    *("fma", "fabs", "sqrt", "floor", "ceil", "trunc", "rint", "roundeven", "copysign", "ldexp", "minnum", "maxnum"),
    *("minimum", "maximum", "smin", "smax", "umin", "umax", "abs", "ctpop", "ctlz", "cttz", "fshl", "fshr"),
    *("bitreverse", "bswap", "sadd.sat", "uadd.sat", "ssub.sat", "usub.sat", "fptosi.sat", "fptoui.sat"),
    *("minimumnum", "maximumnum"),
)
_CALL = re.compile(rf"llvm\.({'|'.join(map(re.escape, _CALLS))})((?:\.(?:i\d+|f\d+|bf16))+)")


class Verdict(Enum):
    """What has become of a loop."""

    WIDENED = "runs on vectors now"
    PLAIN = "left as it is, for good: too few iterations, or on vectors already"
    LEFT = "left to LLVM's vectoriser"


@dataclass
class Loop:
    """A loop of one block that a branch at the end of `before` leads to: its `body` begins with `position` and ends
    with the counting. At least one iteration; `after` is empty as yet."""

    before: ir.Block
    body: ir.Block
    after: ir.Block
    position: op.PhiInstr
    begin: ir.Value
    end: ir.Value

    @property
    def work(self) -> list[op.Instruction]:
        """The instructions without the counting."""
        return list(self.body.instructions[1:-3])

    @cached_property
    def count(self) -> int | None:
        """The iterations, if they are known."""
        if isinstance(self.begin, ir.Constant) and isinstance(self.end, ir.Constant):
            return int(self.end.constant) - int(self.begin.constant)
        return None


class _Unfit(Exception):
    """An instruction without a form for vectors."""


# ---------------------------------------------------------------- how values change from lane to lane


class _Growth:
    """How much each value of a loop grows from an iteration to the next: None if unevenly."""

    def __init__(self, loop: Loop) -> None:
        self.steps: dict[int, int | None] = {id(loop.position): 1}
        self.fixed: set[int] = set()
        """The instructions whose values are the same in all iterations, wherever these are computed."""
        self._stored = {id(each.operands[1]) for each in loop.work if isinstance(each, op.StoreInstr)}
        for each in loop.work:
            self.steps[id(each)] = self._step(each)
            if self.steps[id(each)] == 0 and self._is_fixed(each):
                self.fixed.add(id(each))

    def of(self, value: ir.Value) -> int | None:
        """What comes from outside of the loop does not grow."""
        return self.steps.get(id(value), 0)

    def is_inside(self, value: ir.Value) -> bool:
        """Whether it is computed in the loop."""
        return id(value) in self.steps

    def _is_fixed(self, instruction: op.Instruction) -> bool:
        if isinstance(instruction, op.LoadInstr) and not self._is_cell(instruction):
            return False
        return all(not self.is_inside(value) or id(value) in self.fixed for value in instruction.operands)

    def _is_cell(self, load: op.LoadInstr) -> bool:
        """Whether it reads a stack cell, which nothing in the loop writes."""
        (address,) = load.operands
        return isinstance(address, op.AllocaInstr) and id(address) not in self._stored

    def _step(self, instruction: op.Instruction) -> int | None:
        steps = [self.of(value) for value in instruction.operands]
        if isinstance(instruction, op.StoreInstr):
            self._require(self._is_row(instruction, instruction.operands[0].type))
            return None
        if isinstance(instruction, op.LoadInstr):
            if steps == [0]:
                self._require(self._is_cell(instruction) or _is_independent(instruction))
                return 0
            self._require(self._is_row(instruction, instruction.type))
            return None
        if isinstance(instruction, op.GEPInstr):
            return self._address(instruction, steps)
        even = self._even(instruction, steps)
        if even is None:
            self._require(_has_wide_form(instruction))
            for value in instruction.operands:
                self._require(not isinstance(value.type, ir.PointerType) or isinstance(value, ir.Function))
        return even

    def _even(self, instruction: op.Instruction, steps: Sequence[int | None]) -> int | None:
        name = instruction.opname
        if not any(step != 0 for step in steps):
            self._require(_is_pure(instruction))
            return 0
        if None in steps:
            return None
        if name in ("add", "sub"):
            return steps[0] + steps[1] if name == "add" else steps[0] - steps[1]
        if name in _EVEN_CASTS:
            return steps[0]
        for value, other in ((0, 1), (1, 0)):
            if name == "mul" and isinstance(instruction.operands[other], ir.Constant):
                return steps[value] * int(instruction.operands[other].constant)
        if name == "shl" and isinstance(instruction.operands[1], ir.Constant):
            return steps[0] << int(instruction.operands[1].constant)
        return None

    def _address(self, instruction: op.GEPInstr, steps: Sequence[int | None]) -> int:
        self._require(len(steps) == 2 and None not in steps and instruction.operands[1].type == I64)
        return steps[0] + steps[1] * _byte_size(instruction.source_etype)

    def _is_row(self, access: op.Instruction, element: ir.Type) -> bool:
        """Whether lanes lie side by side in memory."""
        return _is_independent(access) and self.of(access.operands[-1]) == _byte_size(element)

    def _require(self, condition: bool) -> None:
        if not condition:
            raise _Unfit


def _byte_size(element: ir.Type) -> int:
    if isinstance(element, ir.IntType) and element.width % 8 == 0:
        return int(element.width) // 8
    return {ir.FloatType: 4, ir.DoubleType: 8, ir.HalfType: 2}.get(type(element), 0)


def _is_independent(access: op.Instruction) -> bool:
    return "llvm.access.group" in access.metadata


def _has_wide_form(instruction: op.Instruction) -> bool:
    if isinstance(instruction, op.CallInstr):
        return _CALL.fullmatch(instruction.callee.name) is not None
    if isinstance(instruction, (op.CompareInstr, op.SelectInstr)):
        return True
    return instruction.opname in (_CASTS if isinstance(instruction, op.CastInstr) else _ARITHMETIC)


def _is_pure(instruction: op.Instruction) -> bool:
    """Whether it does nothing but compute: as each iteration runs it, it may as well run before the loop."""
    if isinstance(instruction, op.CallInstr):
        return _has_wide_form(instruction)
    return not isinstance(instruction, (op.PhiInstr, op.Terminator)) and instruction.opname not in _WITH_EFFECTS


# ---------------------------------------------------------------- how much at a time


@dataclass(frozen=True)
class _Width:
    """The lanes of a vector, and the vectors worked on side by side."""

    lanes: int
    copies: int

    @property
    def total(self) -> int:
        return self.lanes * self.copies


def _width(loop: Loop, growth: _Growth, vector_bits: int) -> _Width | None:
    """None if a loop has too few iterations."""
    uneven = [each for each in loop.work if growth.of(each) is None]
    loads = [each for each in uneven if isinstance(each, op.LoadInstr)]
    stores = [each for each in uneven if isinstance(each, op.StoreInstr)]
    if not stores:
        raise _Unfit
    elements = [*(each.type for each in loads), *(each.operands[0].type for each in stores)]
    lanes = vector_bits // 8 // max(map(_byte_size, elements))
    if loop.count is not None:
        lanes = min(lanes, 1 << (loop.count.bit_length() - 1))
    if lanes < LEAST_LANES:
        return None
    return _Width(lanes, _copies(loop, lanes, len(uneven), len(loads), len(stores)))


def _copies(loop: Loop, lanes: int, instructions: int, loads: int, stores: int) -> int:
    """As many as keep the units busy that load and store, in a short body; none that would run alone."""
    if instructions + 2 >= SHORT:
        return 1
    fitting = 1 << (SHORT // (instructions + 2)).bit_length() - 1
    most = min(MOST_COPIES, max(fitting, MOST_COPIES // max(1, loads), MOST_COPIES // stores))
    if loop.count is None:
        return most
    whole = loop.count // lanes
    return max(copies for copies in range(1, min(most, whole) + 1) if whole % copies == 0)


# ---------------------------------------------------------------- code


def widen(builder: ir.IRBuilder, loop: Loop, target: Host) -> Verdict:
    """Have a loop run on vectors where that can be; its own code is left for the rest, if there is one."""
    if _has_vectors(loop) or _has_calls(loop):
        return Verdict.PLAIN
    try:
        growth = _Growth(loop)
        width = _width(loop, growth, target.vector_bits)
    except _Unfit:
        return Verdict.LEFT
    if width is None:
        return Verdict.PLAIN
    _Code(builder, loop, growth, width).emit(has_masks=target.vector_bits == MASKED_BITS)
    return Verdict.WIDENED


def _has_vectors(loop: Loop) -> bool:
    return any(isinstance(value.type, ir.VectorType) for each in loop.work for value in (each, *each.operands))


def _has_calls(loop: Loop) -> bool:
    """Whether it calls functions that give nothing: for what they do, which has no form for vectors."""
    return any(isinstance(each, op.CallInstr) and isinstance(each.type, ir.VoidType) for each in loop.work)


class _Code:
    """A loop's code for vectors: what is the same in all iterations at the end of the block before, whole vectors in a
    loop of their own, then the rest."""

    def __init__(self, builder: ir.IRBuilder, loop: Loop, growth: _Growth, width: _Width) -> None:
        self.loop, self.growth, self.width = loop, growth, width
        self._place = builder.debug_metadata
        self._fixed: dict[int, ir.Value] = {}
        self._splats: dict[int, ir.Value] = {}
        loop.before.instructions.pop()
        loop.before.terminator = None
        self._head = self.builder(loop.before)

    def builder(self, block: ir.Block) -> ir.IRBuilder:
        """One that stands at the end of a block."""
        made = ir.IRBuilder(block)
        made.debug_metadata = self._place
        return made

    def emit(self, has_masks: bool) -> None:
        """Make the loops, and lead from the block before to them and from them to the block after."""
        loop, head, total = self.loop, self._head, self.width.total
        left = loop.body.function.append_basic_block("left")
        leave = self.builder(left)
        if loop.count is not None:
            whole = loop.count // total * total
            end = I64(int(loop.begin.constant) + whole)
            head.branch(self._vectors(end, left))
            if whole == loop.count:
                self._forget_body()
                leave.branch(loop.after)
            else:
                leave.branch(self._rest(has_masks, (end, left)))
        else:
            count = head.sub(loop.end, loop.begin)
            end = head.add(loop.begin, head.and_(count, I64(-total)))
            vectors = self._vectors(end, left)
            rest = self._rest(has_masks, (loop.begin, loop.before), (end, left))
            head.cbranch(head.icmp_unsigned("<", count, I64(total)), rest, vectors)
            leave.cbranch(leave.icmp_unsigned("<", end, loop.end), rest, loop.after)

    def _forget_body(self) -> None:
        self.loop.body.function.blocks.remove(self.loop.body)

    def _vectors(self, end: ir.Value, left: ir.Block) -> ir.Block:
        """A loop of whole vectors up to `end`."""
        block = self.loop.body.function.append_basic_block("wide")
        builder = self.builder(block)
        position = builder.phi(I64)
        position.add_incoming(self.loop.begin, self.loop.before)
        _Body(self, builder, position, self.width.copies).emit()
        self._repeat(builder, position, self.width.total, end, left)
        return block

    def _rest(self, has_masks: bool, *starts: tuple[ir.Value, ir.Block]) -> ir.Block:
        """A loop of what whole vectors leave, which may be entered with positions from several blocks: by vectors of
        which some lanes count if the processor has such, or else by single iterations."""
        loop = self.loop
        if not has_masks:
            loop.position.incomings[:1] = starts
            return loop.body
        self._forget_body()
        block = loop.body.function.append_basic_block("rest")
        builder = self.builder(block)
        position = builder.phi(I64)
        position.incomings += starts
        lanes = self.width.lanes
        missing = broadcast(builder, builder.trunc(builder.sub(loop.end, position), I32), lanes)
        mask = builder.icmp_unsigned("<", _constants(I32, range(lanes)), missing)
        _Body(self, builder, position, 1, mask).emit()
        self._repeat(builder, position, lanes, loop.end, loop.after)
        return block

    def _repeat(self, builder: ir.IRBuilder, position: ir.Value, step: int, end: ir.Value, after: ir.Block) -> None:
        following = builder.add(position, I64(step), flags=("nuw", "nsw"))
        position.add_incoming(following, builder.block)
        builder.cbranch(builder.icmp_unsigned("<", following, end), builder.block, after)

    def fixed(self, value: ir.Value) -> ir.Value:
        """A value that is the same in all iterations, computed before them."""
        if id(value) not in self.growth.fixed:
            return value
        found = self._fixed.get(id(value))
        if found is None:
            operands = [self.fixed(operand) for operand in value.operands]
            found = self._fixed[id(value)] = copied(self._head, value, operands)
        return found

    def splat(self, value: ir.Value) -> ir.Value:
        """Such a value in all lanes."""
        found = self._splats.get(id(value))
        if found is None:
            lanes = self.width.lanes
            if isinstance(value, ir.Constant):
                found = _Splat(value, lanes)
            else:
                found = broadcast(self._head, self.fixed(value), lanes)
            self._splats[id(value)] = found
        return found

    def function(self, call: op.CallInstr, arguments: Sequence[ir.Value]) -> ir.Function:
        """The form for vectors of a function."""
        found = _CALL.fullmatch(call.callee.name)
        assert found is not None
        types = found[2].replace(".", f".v{self.width.lanes}")
        result = ir.VectorType(call.type, self.width.lanes)
        return self._declared(f"llvm.{found[1]}{types}", result, [argument.type for argument in arguments])

    def masked(self, verb: str, vector: ir.VectorType) -> ir.Function:
        """The function that loads or stores the lanes that count."""
        name = f"llvm.masked.{verb}.v{vector.count}{vector.element.intrinsic_name}.p0"
        mask = ir.VectorType(I1, vector.count)
        if verb == "load":
            return self._declared(name, vector, [PTR, I32, mask, vector])
        return self._declared(name, ir.VoidType(), [vector, PTR, I32, mask])

    def _declared(self, name: str, result: ir.Type, arguments: Sequence[ir.Type]) -> ir.Function:
        module = self.loop.body.function.module
        if name not in module.globals:
            ir.Function(module, ir.FunctionType(result, arguments), name)
        return module.globals[name]


class _Splat(ir.Constant):
    """A constant vector whose lanes are all the same constant."""

    def __init__(self, element: ir.Constant, lanes: int) -> None:
        super().__init__(ir.VectorType(element.type, lanes), None)
        self._element = element

    def _get_reference(self) -> str:
        return f"splat ({self._element.type} {self._element.get_reference()})"


class _Body:
    """The instructions of a loop for some vectors side by side, the first lane of which is at `position`. `mask`: the
    lanes that count, all if there is none."""

    def __init__(
        self, code: _Code, builder: ir.IRBuilder, position: ir.Value, copies: int, mask: ir.Value | None = None
    ) -> None:
        self._code, self._builder, self._mask, self._copies = code, builder, mask, copies
        self._even: dict[int, ir.Value] = {id(code.loop.position): position}
        self._lanes: dict[tuple[int, int], ir.Value] = {}

    def emit(self) -> None:
        """Make the code."""
        growth = self._code.growth
        for each in self._code.loop.work:
            if growth.of(each) is None:
                for copy in range(self._copies):
                    self._lanes[id(each), copy] = self._widened(each, copy)
            elif id(each) not in growth.fixed:
                self._even[id(each)] = copied(self._builder, each, list(map(self._first, each.operands)))

    def _first(self, value: ir.Value) -> ir.Value:
        """A value that grows evenly, as it is in the first lane."""
        return self._even.get(id(value)) or self._code.fixed(value)

    def _vector(self, value: ir.Value, copy: int) -> ir.Value:
        """The lanes of a value in one of the vectors."""
        found = self._lanes.get((id(value), copy))
        if found is None:
            step = self._code.growth.of(value)
            assert step is not None, "made where it was computed"
            if id(value) not in self._even:
                return self._code.splat(value)
            lanes = self._code.width.lanes
            found = broadcast(self._builder, self._even[id(value)], lanes)
            if step:
                steps = range(step * copy * lanes, step * (copy + 1) * lanes, step)
                found = self._builder.add(found, _constants(value.type, steps))
            self._lanes[id(value), copy] = found
        return found

    def _widened(self, each: op.Instruction, copy: int) -> ir.Value:
        if isinstance(each, op.LoadInstr):
            return self._load(each, self._address(each, each.type, copy))
        if isinstance(each, op.StoreInstr):
            value = self._vector(each.operands[0], copy)
            return self._store(each, value, self._address(each, each.operands[0].type, copy))
        if isinstance(each, op.CallInstr):
            # A flag beside the numbers stays one bit.
            given = [value if value.type == I1 else self._vector(value, copy) for value in each.args]
            return copied(self._builder, each, [self._code.function(each, given), *given])
        return copied(self._builder, each, [self._vector(value, copy) for value in each.operands])

    def _address(self, access: op.Instruction, element: ir.Type, copy: int) -> ir.Value:
        first = self._first(access.operands[-1])
        return self._builder.gep(first, [I64(copy * self._code.width.lanes)], source_etype=element) if copy else first

    def _load(self, each: op.LoadInstr, address: ir.Value) -> ir.Value:
        vector = ir.VectorType(each.type, self._code.width.lanes)
        if self._mask is None:
            return self._builder.load(address, typ=vector, align=each.align)
        arguments = [address, I32(each.align), self._mask, ir.Constant(vector, None)]
        return self._builder.call(self._code.masked("load", vector), arguments)

    def _store(self, each: op.StoreInstr, value: ir.Value, address: ir.Value) -> ir.Value:
        if self._mask is None:
            return self._builder.store(value, address, align=each.align)
        arguments = [value, address, I32(each.align), self._mask]
        return self._builder.call(self._code.masked("store", value.type), arguments)


def copied(builder: ir.IRBuilder, instruction: op.Instruction, operands: Sequence[ir.Value]) -> ir.Value:
    """An instruction with other operands, which may be vectors where its own are not."""
    outer, builder.debug_metadata = builder.debug_metadata, instruction.metadata.get("dbg", builder.debug_metadata)
    made = _like(builder, instruction, operands)
    builder.debug_metadata = outer
    return made


def _like(builder: ir.IRBuilder, each: op.Instruction, operands: Sequence[ir.Value]) -> ir.Value:
    if isinstance(each, op.CallInstr):
        function, *arguments = operands
        return builder.call(function, arguments, fastmath=each.fastmath)
    if isinstance(each, op.LoadInstr):
        return builder.load(operands[0], typ=each.type, align=each.align)
    if isinstance(each, op.GEPInstr):
        return builder.gep(operands[0], operands[1:], each.inbounds, source_etype=each.source_etype)
    if isinstance(each, op.SelectInstr):
        return builder.select(*operands, flags=each.flags)
    if isinstance(each, op.CompareInstr):
        made = type(each)(builder.block, each.op, *operands, flags=each.flags)
    elif isinstance(each, op.CastInstr):
        made = op.CastInstr(builder.block, each.opname, operands[0], _shaped(each.type, operands[0].type))
    else:
        made = op.Instruction(builder.block, operands[0].type, each.opname, operands, flags=each.flags)
    builder._insert(made)
    return made


def _shaped(element: ir.Type, like: ir.Type) -> ir.Type:
    return ir.VectorType(element, like.count) if isinstance(like, ir.VectorType) else element


def _constants(element: ir.Type, numbers: Iterable[int]) -> ir.Constant:
    """A vector of numbers, which wrap around."""
    wrapped = [number & ((1 << element.width) - 1) for number in numbers]
    return ir.Constant(ir.VectorType(element, len(wrapped)), wrapped)
