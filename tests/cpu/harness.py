"""Runs single element-wise operations natively on NumPy arrays, many compiled in one module."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from llvmlite import ir

from tileir.cpu import conversion, division, floating, integer
from tileir.cpu.elements import I8, I32, I64, PTR
from tileir.cpu.emitter import Emitter
from tileir.cpu.engine import Loaded, host, object_code, optimized, target_machine
from tileir.cpu.fusion import Fusion
from tileir.cpu.lowering import Lowering
from tileir.cpu.tiles import Window, fill, row_major
from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Predicate, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.rules import joined
from tileir.ir.storage import dtype_of

RULES = joined(conversion.rules, division.rules, floating.rules, integer.rules)
REQUIRED = {
    "comparison_predicate": Predicate.LESS_THAN,
    "comparison_ordering": Ordering.ORDERED,
    "signedness": Signedness.SIGNED,
}


class Fused(Fusion):
    """Leaves every value to be computed in the loop that stores it."""

    def fused(self, value: Value) -> bool:
        return True


def operation(cls: type[Op], operands: Sequence[t.Type], result: t.Type, **attributes: object) -> Op:
    """An operation on the arguments of a block of its own; required attributes have a default."""
    block = Block(list(operands))
    required = {attr.name: REQUIRED[attr.name] for attr in cls.spec.attrs if attr.required}
    named = dict(zip((operand.name for operand in cls.spec.operands), block.args))
    return block.append(cls.build([result], **named, **{**required, **attributes}))


@dataclass
class Batch:
    """Operations compiled together: `add` them, then `run` each on arrays of their operand types."""

    module: ir.Module = field(default_factory=lambda: ir.Module("batch"))
    count: int = 0
    _loaded: Loaded | None = None

    def add(self, op: Op) -> int:
        """The number to run it by."""
        self.module.triple = host().triple
        name = f"op{self.count}"
        lower(self.module, name, op)
        self.count += 1
        return self.count - 1

    def text(self) -> str:
        return str(self.module)

    def run(self, number: int, op: Op, operands: Sequence[np.ndarray]) -> tuple[int, np.ndarray]:
        """The number of the trap that stopped it, or 0, and the result."""
        if self._loaded is None:
            self._loaded = Loaded(object_code(self.text(), host()), host())
        function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(self._loaded.address(f"op{number}"))
        result = np.zeros(op.results[0].type.shape, dtype_of(op.results[0].type.element))
        arrays = [np.ascontiguousarray(operand) for operand in operands]
        slots = np.array([array.ctypes.data for array in (*arrays, result)], np.uint64)
        status = function(slots.ctypes.data)
        if op.results[0].type.element is t.I4:
            result = (result ^ np.int8(8)) - np.int8(8)
        return status, result

    def assembly(self) -> str:
        machine = target_machine(host())
        return machine.emit_assembly(optimized(self.text(), machine))


def lower(module: ir.Module, name: str, op: Op) -> None:
    """A function from the addresses of the operands' arrays and the result's to 0 or the number of a trap."""
    function = ir.Function(module, ir.FunctionType(I32, [PTR]), name)
    start, leave = function.append_basic_block("start"), function.append_basic_block("exit")
    builder = ir.IRBuilder(start)
    status = builder.alloca(I32)
    builder.store(I32(0), status)
    emit = Emitter(module, function, builder, PTR(None), leave, status)
    block = op.parent
    assert block is not None
    lowering = Lowering(emit, Fused(block), RULES, [], [], function.args[0], {}, 0)
    values = (*block.args, op.results[0])
    windows = [window(builder, function.args[0], place, value) for place, value in enumerate(values)]
    lowering.values.update(zip(block.args, windows))
    lowering.lower(op)
    fill(emit, windows[-1], lowering.tile(op.results[0]))
    builder.branch(leave)
    builder.position_at_end(leave)
    builder.ret(builder.load(status, typ=I32))


def window(builder: ir.IRBuilder, slots: ir.Value, place: int, value: Value) -> Window:
    address = builder.load(builder.gep(slots, [I64(8 * place)], source_etype=I8), typ=PTR)
    assert isinstance(value.type, t.TileType)
    return Window(value.type, address, row_major(value.type.shape))
