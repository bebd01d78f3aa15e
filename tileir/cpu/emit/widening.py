"""Loops whose iterations are independent, run on vectors: a lane is an iteration.

LLVM's vectoriser could do the same, but it must first prove that iterations are independent, which is known here, and
the passes it needs around it take most of the time of optimising.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llvmlite import ir
from llvmlite.ir import instructions as op

from tileir.cpu.emit.algebra import call_intrinsic, call_named
from tileir.cpu.emit.elements import I1, I8, I32, I64, PTR, Splat, shaped
from tileir.cpu.emit.vectorizability import (
    Bits,
    BlockLoop,
    Collected,
    Growth,
    GuardedLoad,
    Unfit,
    WideFunction,
    Width,
    byte_size,
    constant_part,
    intrinsic,
    width,
)
from tileir.cpu.emit.vectors import (
    CACHE_LINE,
    broadcast,
    gather_masked,
    lanes_below,
    load_masked,
    prefetch,
    scatter_masked,
    store_masked,
)
from tileir.cpu.llvm.engine import Host

_FLAGGED = {"abs", "ctlz", "cttz"}
"""Functions whose second argument is no number: it says what to make of one."""


def widen(builder: ir.IRBuilder, loop: BlockLoop, target: Host) -> None:
    """Make a loop run on vectors if it can; its own code stays for the rest, if there is one."""
    try:
        growth = Growth(loop, gathers=target.has_masks)
        found = width(loop, growth, target.vector_bits)
    except Unfit:
        return
    if found is not None:
        _Code(builder, loop, growth, found).emit(target.has_masks)


class _Code:
    """A loop's code for vectors: what is the same in all iterations at the end of the block before, whole vectors in a
    loop of their own, then the rest."""

    def __init__(self, builder: ir.IRBuilder, loop: BlockLoop, growth: Growth, width: Width) -> None:
        self.loop, self.growth, self.width = loop, growth, width
        self._place = builder.debug_metadata
        self._fixed: dict[int, ir.Value] = {}
        """Values that are the same in all iterations, computed before them."""
        self._splats: dict[int, ir.Value] = {}
        loop.before.instructions.pop()
        loop.before.terminator = None
        self._head = self.builder(loop.before)
        for each in loop.work:
            if id(each) in growth.fixed:
                self._fixed[id(each)] = copied(self._head, each, list(map(self.fixed, each.operands)))
        self.collected = {place: self._vector_cell(each) for place, each in growth.collected.items()}
        """For each stack cell that collects, a cell of vectors."""

    def builder(self, block: ir.Block) -> ir.IRBuilder:
        """Return a builder at the end of a block."""
        made = ir.IRBuilder(block)
        made.debug_metadata = self._place
        return made

    def emit(self, has_masks: bool) -> None:
        """Make the loops, and lead from the block before to them and from them to the block after."""
        loop, head, total = self.loop, self._head, self.width.total
        for store in self.growth.settled:
            copied(head, store, [self.fixed(store.operands[0]), store.operands[1]])
        known = None if self.growth.ends else loop.count
        if loop.is_compact and has_masks and (known is None or known % total):
            head.branch(self._rest(has_masks, (loop.begin, loop.before)))
        elif known is not None:
            left, leave = self._left()
            whole = known // total * total
            end = I64(int(loop.begin.constant) + whole)
            head.branch(self._vectors(end, left))
            if whole == known:
                self._forget_body()
                leave.branch(loop.after)
            else:
                leave.branch(self._rest(has_masks, (end, left)))
        else:
            left, leave = self._left()
            count = head.sub(loop.end, loop.begin)
            for at, end in self._last_ends():
                count = self._inside(count, at, end)
            whole = head.and_(count, I64(-total))
            end = head.add(loop.begin, whole)
            vectors = self._vectors(end, left)
            rest = self._rest(has_masks, (loop.begin, loop.before), (end, left))
            head.cbranch(head.icmp_unsigned("==", whole, I64(0)), rest, vectors)
            leave.cbranch(leave.icmp_unsigned("<", end, loop.end), rest, loop.after)
        for place, each in self.growth.collected.items():
            self._collect(each, self.collected[place])

    def _left(self) -> tuple[ir.Block, ir.IRBuilder]:
        """Return a block for what comes behind the whole vectors, and its builder."""
        left = self.loop.body.function.append_basic_block("left")
        return left, self.builder(left)

    def _last_ends(self) -> Iterable[tuple[ir.Value, ir.Value]]:
        """Return where loads of neighbours read, and their ends; of loads a constant distance apart, the last one."""
        found: dict[tuple[int, int], tuple[int, ir.Value, ir.Value]] = {}
        for guard in self.growth.ends.values():
            at, end = guard.inside.operands
            base, ahead = constant_part(at)
            key = id(base), id(end)
            if key not in found or ahead > found[key][0]:
                found[key] = ahead, at, end
        return [(at, end) for _, at, end in found.values()]

    def _inside(self, count: ir.Value, at: ir.Value, end: ir.Value) -> ir.Value:
        """Return how many of the first `count` iterations read at `at` before `end`."""
        head = self._head
        first, limit = self._at_begin(at), self.fixed(end)
        left = head.select(head.icmp_unsigned("<", first, limit), head.sub(limit, first), I64(0))
        return head.select(head.icmp_unsigned("<", left, count), left, count)

    def _at_begin(self, value: ir.Value) -> ir.Value:
        """Return what grows evenly as it is in the first iteration, before the loop."""
        if value is self.loop.position:
            return self.loop.begin
        if id(value) not in self.growth.steps or id(value) in self._fixed:
            return self.fixed(value)
        return copied(self._head, value, list(map(self._at_begin, value.operands)))

    # ------------------------------------------------------------ stack cells

    def _vector_cell(self, each: Collected) -> ir.Value:
        """Return a cell in which each lane collects, from what the cell of the loop holds before."""
        vector = ir.VectorType(each.cell.allocated_type, self.width.lanes)
        with self._head.goto_entry_block():
            cell = self._head.alloca(vector)
        self._head.store(broadcast(self._head, self._head.load(each.cell), vector.count), cell)
        return cell

    def _collect(self, each: Collected, cell: ir.Value) -> None:
        """Combine the values collected by the lanes and by the loop's own iterations."""
        builder = self.builder(self.loop.after)
        vector = builder.load(cell)
        lanes = call_intrinsic(builder, f"llvm.vector.reduce.{each.verb}", vector.type.element, [vector])
        change = each.change
        function = [change.callee] if isinstance(change, op.CallInstr) else []
        builder.store(copied(builder, change, [*function, builder.load(each.cell), lanes]), each.cell)

    # ------------------------------------------------------------ loops

    def _forget_body(self) -> None:
        self.loop.body.function.blocks.remove(self.loop.body)

    def _vectors(self, end: ir.Value, left: ir.Block) -> ir.Block:
        """Emit a loop of whole vectors up to `end`."""
        block = self.loop.body.function.append_basic_block("wide")
        builder = self.builder(block)
        position = builder.phi(I64)
        position.add_incoming(self.loop.begin, self.loop.before)
        _Body(self, builder, position, self.width.copies).emit()
        self._repeat(builder, position, self.width.total, end, left)
        return block

    def _rest(self, has_masks: bool, *starts: tuple[ir.Value, ir.Block]) -> ir.Block:
        """Emit a loop of what whole vectors leave, which may be entered with positions from several blocks: by vectors
        of which some lanes count if the processor has such, or else by single iterations."""
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
        is_whole = loop.count is not None and loop.count % lanes == 0
        mask = None if is_whole else lanes_below(builder, builder.sub(loop.end, position), lanes)
        _Body(self, builder, position, 1, mask, guards=True).emit()
        self._repeat(builder, position, lanes, loop.end, loop.after)
        return block

    def _repeat(self, builder: ir.IRBuilder, position: ir.Value, step: int, end: ir.Value, after: ir.Block) -> None:
        following = builder.add(position, I64(step), flags=("nuw", "nsw"))
        position.add_incoming(following, builder.block)
        builder.cbranch(builder.icmp_unsigned("<", following, end), builder.block, after)

    # ------------------------------------------------------------ values

    def fixed(self, value: ir.Value) -> ir.Value:
        """Return a value that is the same in all iterations, computed before them."""
        return self._fixed.get(id(value), value)

    def splat(self, value: ir.Value) -> ir.Value:
        """Return such a value in all lanes."""
        found = self._splats.get(id(value))
        if found is None:
            lanes = self.width.lanes
            if isinstance(value, ir.Constant):
                found = Splat(value, lanes)
            else:
                found = broadcast(self._head, self.fixed(value), lanes)
            self._splats[id(value)] = found
        return found


class _Body:
    """The instructions of a loop for several vectors side by side; the first lane is at `position`. `mask` selects the
    active lanes, all if there is none. `guards`: some lanes may be outside of what may be read."""

    def __init__(
        self,
        code: _Code,
        builder: ir.IRBuilder,
        position: ir.Value,
        copies: int,
        mask: ir.Value | None = None,
        guards: bool = False,
    ) -> None:
        self._guards = guards
        self._code, self._builder, self._mask, self._copies = code, builder, mask, copies
        self._lanes_each = code.width.lanes
        self._even: dict[int, ir.Value] = {id(code.loop.position): position}
        self._lanes: dict[tuple[int, int], ir.Value] = {}

    def emit(self) -> None:
        """Make the code."""
        growth, place = self._code.growth, self._builder.debug_metadata
        for each in self._code.loop.work:
            self._builder.debug_metadata = each.metadata.get("dbg", place)
            if (id(each) in growth.chosen and growth.of(each) is None) or growth.is_late(each):
                continue
            if growth.of(each) is None:
                for copy in range(self._copies):
                    self._lanes[id(each), copy] = self._widened(each, copy)
            elif id(each) not in growth.fixed:
                self._even[id(each)] = copied(self._builder, each, list(map(self._first, each.operands)))
        self._builder.debug_metadata = place

    def _first(self, value: ir.Value) -> ir.Value:
        """Return a value that grows evenly, as it is in the first lane."""
        return self._even.get(id(value)) or self._code.fixed(value)

    def _vector(self, value: ir.Value, copy: int) -> ir.Value:
        """Return the lanes of a value in one of the vectors."""
        found = self._lanes.get((id(value), copy))
        if found is None and self._code.growth.is_late(value):
            found = self._lanes[id(value), copy] = self._of_bits(value, copy)
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

    def _of_bits(self, value: op.Instruction, copy: int) -> ir.Value:
        """Return the lanes of what is made of bits of the position, or an address so made."""
        if id(value) in self._code.growth.placed:
            return self._places(value, self._first(value.operands[0]), self._vector(value.operands[1], copy))
        bits, lanes = self._code.growth.bits[id(value)], self._lanes_each
        steps = _constants(value.type, map(bits.of, range(lanes)))
        first = self._number(bits.among(-lanes), copy)
        if value.type != I64:
            first = self._builder.trunc(first, value.type)
        return self._builder.add(broadcast(self._builder, first, lanes), steps)

    def _number(self, bits: Bits, copy: int) -> ir.Value:
        """Return the number made of bits of the position of the first lane of a copy."""
        builder, total = self._builder, I64(bits.constant)
        position = self._first(self._code.loop.position)
        if copy and bits.parts:
            position = builder.add(position, I64(copy * self._lanes_each))
        for mask, right in bits.parts:
            part = builder.and_(position, I64(mask))
            part = builder.lshr(part, I64(right)) if right >= 0 else builder.shl(part, I64(-right))
            total = builder.add(total, part)
        return total

    def _widened(self, each: op.Instruction, copy: int) -> ir.Value:
        if isinstance(each, op.LoadInstr):
            return self._load(each, copy)
        if isinstance(each, op.StoreInstr):
            return self._store(each, self._vector(each.operands[0], copy), copy)
        if isinstance(each, op.GEPInstr):
            return self._places(each, self._first(each.operands[0]), self._vector(each.operands[1], copy))
        if isinstance(each, op.CallInstr):
            return self._call(each, copy)
        return copied(self._builder, each, [self._vector(value, copy) for value in each.operands])

    def _call(self, each: op.CallInstr, copy: int) -> ir.Value:
        if isinstance(each.callee, WideFunction):
            given = [self._vector(value, copy) for value in each.args]
            return self._builder.call(each.callee.wide(self._lanes_each), given)
        name, types = intrinsic(each)
        flagged = len(each.args) - (name in _FLAGGED)
        given = [self._vector(value, copy) for value in each.args[:flagged]] + each.args[flagged:]
        wide = f"llvm.{name}{types.replace('.', f'.v{self._lanes_each}')}"
        return call_named(self._builder, wide, ir.VectorType(each.type, self._lanes_each), given)

    # ------------------------------------------------------------ memory

    def _address(self, place: ir.Value, element: ir.Type, copy: int) -> ir.Value:
        """Return the address of a copy whose lanes lie side by side."""
        first = self._first(place)
        return self._builder.gep(first, [I64(copy * self._lanes_each)], source_etype=element) if copy else first

    def _prefetch(self, each: op.Instruction, place: ir.Value, element: ir.Type, copy: int) -> None:
        """Prefetch what lies ahead of a copy of an access to neighbours, a line of the cache at a time."""
        builder, size = self._builder, byte_size(element) * self._lanes_each
        if self._mask is not None or self._guards or copy * size % CACHE_LINE:
            return
        for distance in map(self._code.fixed, self._code.loop.ahead.get(each, ())):
            for line in range(0, size, CACHE_LINE):
                further = builder.add(distance, I64(line)) if line else distance
                prefetch(builder, builder.gep(place, [further], source_etype=I8))

    def _places(self, like: op.GEPInstr | None, base: ir.Value, index: ir.Value) -> ir.Value:
        """Return an address for each lane."""
        inbounds, element = (like.inbounds, like.source_etype) if like is not None else (False, I8)
        made = op.GEPInstr(self._builder.block, base, [index], inbounds, "", source_etype=element)
        made.type = ir.VectorType(PTR, self._lanes_each)
        self._builder._insert(made)
        return made

    def _load(self, each: op.LoadInstr, copy: int) -> ir.Value:
        (address,) = each.operands
        if id(address) in self._code.collected:
            return self._builder.load(self._code.collected[id(address)])
        vector = ir.VectorType(each.type, self._lanes_each)
        growth = self._code.growth
        if id(each) in growth.ends:
            return self._load_guarded(each, growth.ends[id(each)], vector, copy)
        if id(each) in growth.guards:
            return self._load_chosen(each, growth.guards[id(each)], vector, copy)
        step = growth.of(address)
        near = self._near(address, copy) if growth.is_late(address) else None
        if near is not None and self._mask is None:
            return self._load_near(each, *near)
        if step != byte_size(each.type):
            return self._gathered(each, vector, step, copy)
        place = self._address(address, each.type, copy)
        self._prefetch(each, place, each.type, copy)
        if self._mask is None:
            return self._builder.load(place, typ=vector, align=each.align)
        return load_masked(self._builder, place, self._mask, vector, each.align)

    def _near(self, address: op.GEPInstr, copy: int) -> tuple[ir.Value, list[int]] | None:
        """Return where the elements of all lanes lie close together, and each lane's number behind it; None if they do
        not."""
        bits, lanes = self._code.growth.placed[id(address)], self._lanes_each
        above, inside = bits.among(-lanes), bits.constant & (lanes - 1)
        numbers = [bits.of(lane) | inside for lane in range(lanes)]
        reach = 1 << max(numbers).bit_length()
        first = Bits(above.parts, bits.constant - inside)
        if reach > 2 * lanes or (first.of(-1) | first.constant) & (reach - 1):
            return None
        base, _ = address.operands
        place = self._builder.gep(self._first(base), [self._number(first, copy)], source_etype=address.source_etype)
        return place, numbers

    def _load_near(self, each: op.LoadInstr, place: ir.Value, numbers: list[int]) -> ir.Value:
        """Load what lies together at a place, no more than the last element, and put it into the lanes."""
        builder, last = self._builder, max(numbers)
        if last == 0:
            return broadcast(builder, builder.load(place, typ=each.type, align=each.align), len(numbers))
        vector = ir.VectorType(each.type, 1 << last.bit_length())
        if last + 1 == vector.count:
            found = builder.load(place, typ=vector, align=each.align)
        else:
            found = load_masked(builder, place, lanes_below(builder, I64(last + 1), vector.count), vector, each.align)
        if numbers == list(range(vector.count)):
            return found
        return builder.shuffle_vector(found, found, ir.Constant(ir.VectorType(I32, len(numbers)), numbers))

    def _load_guarded(self, each: op.LoadInstr, guard: GuardedLoad, vector: ir.VectorType, copy: int) -> ir.Value:
        """Load neighbours of which some may be outside."""
        builder, place = self._builder, self._address(guard.place, each.type, copy)
        self._prefetch(each, place, each.type, copy)
        if not self._guards:
            return builder.load(place, typ=vector, align=each.align)
        at, end = map(self._first, guard.inside.operands)
        left = builder.select(builder.icmp_unsigned("<", at, end), builder.sub(end, at), I64(0))
        mask = lanes_below(builder, left, vector.count)
        return load_masked(builder, place, mask, vector, each.align, guard.outside)

    def _load_chosen(self, each: op.LoadInstr, guard: GuardedLoad, vector: ir.VectorType, copy: int) -> ir.Value:
        """Load elements of which any may be outside."""
        builder, step, mask = self._builder, self._code.growth.of(guard.place), self._vector(guard.inside, copy)
        if self._mask is not None:
            mask = builder.and_(mask, self._mask)
        if step == byte_size(each.type):
            place = self._address(guard.place, each.type, copy)
            return load_masked(builder, place, mask, vector, each.align, guard.outside)
        places, _ = self._anywhere(guard.place, step, copy)
        return gather_masked(builder, places, mask, vector, each.align, guard.outside)

    def _gathered(self, each: op.LoadInstr, vector: ir.VectorType, step: int | None, copy: int) -> ir.Value:
        """Load elements from anywhere."""
        places, mask = self._anywhere(each.operands[0], step, copy)
        return gather_masked(self._builder, places, mask, vector, each.align)

    def _anywhere(self, address: ir.Value, step: int | None, copy: int) -> tuple[ir.Value, ir.Value]:
        """Return the addresses of the lanes, and which of them count."""
        lanes = self._lanes_each
        if step is None:
            places = self._vector(address, copy)
        else:
            steps = [step * lane for lane in range(copy * lanes, (copy + 1) * lanes)]
            places = self._places(None, self._first(address), _constants(I64, steps))
        return places, Splat(I1(1), lanes) if self._mask is None else self._mask

    def _store(self, each: op.StoreInstr, value: ir.Value, copy: int) -> ir.Value:
        cell = self._code.collected.get(id(each.operands[1]))
        if cell is not None:
            if self._mask is not None:
                value = self._builder.select(self._mask, value, self._builder.load(cell))
            return self._builder.store(value, cell)
        element = each.operands[0].type
        near = self._near(each.operands[1], copy) if self._code.growth.is_late(each.operands[1]) else None
        if near is not None and near[1] == list(range(self._lanes_each)) and self._mask is None:
            return self._builder.store(value, near[0], align=each.align)
        if self._code.growth.of(each.operands[1]) is None:
            places, mask = self._anywhere(each.operands[1], None, copy)
            return scatter_masked(self._builder, value, places, mask, each.align)
        place = self._address(each.operands[1], element, copy)
        self._prefetch(each, place, element, copy)
        if self._mask is None:
            if each not in self._code.loop.streamed:
                return self._builder.store(value, place, align=each.align)
            stored = self._builder.store(value, place, align=self._lanes_each * byte_size(element))
            stored.set_metadata("nontemporal", self._builder.module.add_metadata([I32(1)]))
            return stored
        return store_masked(self._builder, value, place, self._mask, each.align)


def copied(builder: ir.IRBuilder, instruction: op.Instruction, operands: Sequence[ir.Value]) -> ir.Value:
    """Return an instruction with other operands, which may be vectors where its own are not."""
    outer, builder.debug_metadata = builder.debug_metadata, instruction.metadata.get("dbg", builder.debug_metadata)
    made = _like(builder, instruction, operands)
    builder.debug_metadata = outer
    return made


def _like(builder: ir.IRBuilder, each: op.Instruction, operands: Sequence[ir.Value]) -> ir.Value:
    if isinstance(each, op.CallInstr):
        function, *arguments = operands
        return builder.call(function, arguments)
    if isinstance(each, op.LoadInstr):
        return builder.load(operands[0], typ=each.type, align=each.align)
    if isinstance(each, op.StoreInstr):
        return builder.store(*operands, align=each.align)
    if isinstance(each, op.GEPInstr):
        return builder.gep(operands[0], operands[1:], each.inbounds, source_etype=each.source_etype)
    if isinstance(each, op.SelectInstr):
        return builder.select(*operands, flags=each.flags)
    if isinstance(each, op.CompareInstr):
        made = type(each)(builder.block, each.op, *operands, flags=each.flags)
    elif isinstance(each, op.CastInstr):
        made = op.CastInstr(builder.block, each.opname, operands[0], shaped(each.type, operands[0].type))
    else:
        made = op.Instruction(builder.block, operands[0].type, each.opname, operands, flags=each.flags)
    builder._insert(made)
    return made


def _constants(element: ir.Type, numbers: Iterable[int]) -> ir.Constant:
    """Return a vector of numbers, which wrap around."""
    wrapped = [number & ((1 << element.width) - 1) for number in numbers]
    return ir.Constant(ir.VectorType(element, len(wrapped)), wrapped)
