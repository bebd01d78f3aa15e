"""Turning one entry into an LLVM function.

Knows: the shape of that function, the values of the program while it is built, and which rule serves which operation.
Does not know: what an operation means (the chapters), nor how code is compiled or called (`cpu.engine`, `cpu.launch`).

    i32 kernel(ptr arguments, ptr grid, i32 x, i32 y, i32 z, ptr arena)

`arguments` holds 8-byte slots: one per parameter, then one per global of the module with its address, then the address
of the function that prints, then that of the function that pauses (`cpu.pauses`). `grid` holds three i32 extents. The
result is 0, the number of the trap site that stopped the block, or `ABANDONED`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from llvmlite import ir

from tileir.cpu.driver import add_driver
from tileir.cpu.elements import I8, I32, I64, PTR, Num, memory_type
from tileir.cpu.emitter import Emitter, TrapSite
from tileir.cpu.fusion import Fusion
from tileir.cpu.slots import Slot
from tileir.cpu.tiles import Lowered, Scalar, Tile, Window, fill, from_memory, materialized, new_buffer
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ir.diagnostics import UnsupportedError
from tileir.ops.module import Entry

Lower = Callable[["Lowering", Op], None]
"""A rule: emits the code of an operation and binds its results."""


@dataclass
class Kernel:
    """A lowered entry: the LLVM module, the function's name, what a thread needs, and where it can trap."""

    module: ir.Module
    name: str
    arena_size: int
    traps: list[TrapSite]
    prints: list[Op]
    pauses: bool
    values: dict[Value, Lowered]
    """The form that each value had when everything was lowered."""


@dataclass
class Target:
    """Where a `break` or `continue` goes: the block, and the slots that take its operands."""

    block: ir.Block
    slots: list[Slot]


@dataclass
class LoopTargets:
    """The innermost loop around: where its `break` and `continue` go."""

    leave: Target | None
    again: Target


@dataclass
class Lowering:
    """The state of one entry's lowering."""

    emit: Emitter
    fusion: Fusion
    rules: dict[type[Op], Lower]
    block_id: list[ir.Value]
    grid: list[ir.Value]
    arguments: ir.Value
    global_slots: dict[str, int]
    print_slot: int
    values: dict[Value, Lowered] = field(default_factory=dict)
    pauses: bool = False
    """Whether a loop calls the function that pauses."""
    prints: list[Op] = field(default_factory=list)
    """The operations that the host carries out; it is called with a number into this list (`cpu.hosts`)."""
    pending: list[Value] = field(default_factory=list)
    """Results of loads that stand for memory still to be read (`Window.shared`), in program order."""
    loops: list[LoopTargets] = field(default_factory=list)
    yields: list[Target] = field(default_factory=list)
    """Where the `yield` of the innermost `if` goes."""
    returns: list[Target] = field(default_factory=list)
    """Where the `return` of the device function goes whose code is emitted; empty in the entry itself."""

    @property
    def pause_slot(self) -> int:
        return self.print_slot + 1

    @property
    def builder(self) -> ir.IRBuilder:
        return self.emit.builder

    def slot(self, number: int) -> ir.Value:
        """The 8 bytes of an argument slot, as an i64."""
        place = self.builder.gep(self.arguments, [I64(8 * number)], source_etype=I8)
        return self.builder.load(place, typ=I64)

    def tile(self, value: Value) -> Tile:
        found = self.values[value]
        assert isinstance(found, Tile)
        return found

    def bind(self, value: Value, lowered: Lowered) -> None:
        """Give `value` its form; a tile that does not fuse into its consumer is computed now."""
        if isinstance(lowered, Tile) and not self.fusion.fused(value):
            lowered = materialized(self.emit, lowered)
        self.values[value] = lowered

    def bind_load(self, value: Value, window: Window) -> None:
        """Bind a loaded tile that is read from memory where it is used; `settle` sees that this is not too late."""
        self.values[value] = window
        self.pending.append(value)

    def bind_number(self, value: Value, number: ir.Value) -> None:
        """Bind a scalar tile to a register."""
        assert isinstance(value.type, t.TileType)
        self.values[value] = Scalar(value.type, Num(value.type.element, wide=number))

    def settle(self, op: Op) -> list[Value]:
        """Before `op` changes memory or enters a region: read what loads have left to be read after it.

        Returns the loads that `op` itself reads from memory while it runs.
        """
        waiting, self.pending = self.pending, []
        for value in waiting:
            if self.fusion.needed_after(value, op):
                self.read_now(value)
        return [value for value in waiting if op in self.fusion.readers(value)]

    def settle_all(self, op: Op) -> None:
        """`settle`, and read what `op` itself reads before it writes anything."""
        for value in self.settle(op):
            self.read_now(value)

    def read_now(self, value: Value) -> None:
        """Copy a loaded tile out of memory; whoever holds its window finds the copy there."""
        window = self.values[value]
        if isinstance(window, Window) and window.shared:
            copy = new_buffer(self.emit, window.type)
            fill(self.emit, copy, window)
            window.become(copy)

    def run(self, block: Block) -> None:
        for op in block.ops:
            self.lower(op)

    def lower(self, op: Op) -> None:
        rule = self.rules.get(type(op))
        if rule is None:
            raise UnsupportedError(f"'{op.spec.name}' has no native code", "cpu", op.loc)
        rule(self, op)


def lower_entry(
    entry: Entry, global_names: Sequence[str], rules: dict[type[Op], Lower], triple: str, layout: str
) -> Kernel:
    """The LLVM function of `entry`; `global_names` are the globals of its module, in the order of their slots.

    Raises UnsupportedError for an operation without native code.
    """
    name = f"tileir.{entry.sym_name}"
    module = ir.Module(name)
    module.triple, module.data_layout = triple, layout
    kernel_type = ir.FunctionType(I32, [PTR, PTR, I32, I32, I32, PTR])
    function = ir.Function(module, kernel_type, name)
    arguments, grid, x, y, z, arena = function.args
    arena.add_attribute("noalias")
    start, exit = function.append_basic_block("start"), function.append_basic_block("exit")
    builder = ir.IRBuilder(start)
    status = builder.alloca(I32)
    builder.store(I32(0), status)
    emit = Emitter(module, function, builder, arena, exit, status)
    extents = [builder.load(builder.gep(grid, [I64(axis)], source_etype=I32), typ=I32) for axis in range(3)]
    body = entry.body
    first = len(body.args)
    global_slots = {name: first + position for position, name in enumerate(global_names)}
    print_slot = first + len(global_names)
    lowering = Lowering(emit, Fusion(body), rules, [x, y, z], extents, arguments, global_slots, print_slot)
    _bind_arguments(lowering, body, arguments)
    lowering.run(body)
    builder.position_at_end(exit)
    builder.ret(builder.load(status, typ=I32))
    add_driver(module, function)
    return Kernel(module, name, emit.arena_size, emit.traps, lowering.prints, lowering.pauses, lowering.values)


def _bind_arguments(lowering: Lowering, body: Block, arguments: ir.Value) -> None:
    builder = lowering.builder
    for position, argument in enumerate(body.args):
        assert isinstance(argument.type, t.TileType)
        slot = builder.gep(arguments, [I64(8 * position)], source_etype=I8)
        loaded = builder.load(slot, typ=memory_type(argument.type.element))
        number = from_memory(builder, argument.type.element, loaded)
        if isinstance(argument.type.element, t.PointerType):
            number = Num(argument.type.element, wide=I64(0), base=builder.inttoptr(loaded, PTR))
        lowering.values[argument] = Scalar(argument.type, number)
