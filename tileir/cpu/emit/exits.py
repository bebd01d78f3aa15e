"""Exits from the LLVM function under construction: traps, safepoints, and tile blocks that are set aside.

A safepoint is a place where a tile block leaves off if its launch has ended: one load from the thread's own memory says
whether to call the host.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.elements import I8, I32, I64, PTR
from tileir.cpu.emit.record import (
    ATTENTION,
    HOST,
    LINE,
    SAFEPOINT,
)

ATTEND = "tileir.attend"
HOST_CALL = ir.FunctionType(I32, [I32])
"""``call(number of the operation, SAFEPOINT, SINGLE, or that of a warning)``; gives GO_ON or ABANDON."""


def field_of(builder: ir.IRBuilder, arena: ir.Value, offset: int) -> ir.Value:
    """Return the address of a field of the arena's first line, in front of what `arena` points to."""
    return builder.gep(arena, [I64(offset - LINE)], source_etype=I8)


def wanted(builder: ir.IRBuilder, arena: ir.Value) -> ir.Value:
    """Emit a test of whether the host wants to be called."""
    flag = builder.load_atomic(field_of(builder, arena, ATTENTION), "monotonic", 4, typ=I32)
    return builder.icmp_unsigned("!=", flag, I32(0))


def call_host(builder: ir.IRBuilder, arena: ir.Value, number: int) -> ir.Value:
    """Call the host; gives its answer."""
    address = builder.load(field_of(builder, arena, HOST), typ=I64)
    return builder.call(FunctionAddress(builder, address, HOST_CALL), [I32(number)])


def attend(module: ir.Module) -> ir.Function:
    """Return the function that calls the host for a safepoint: one for a module, so that a safepoint is little code."""
    if ATTEND in module.globals:
        found: ir.Function = module.globals[ATTEND]
        return found
    function = ir.Function(module, ir.FunctionType(I32, [PTR]), ATTEND)
    function.linkage = "internal"
    # What the host does concerns no memory of the kernel, so that loops keep in registers what they keep in registers.
    function.attributes.update(("noinline", "cold", "nounwind", "inaccessiblememonly"))
    builder = ir.IRBuilder(function.append_basic_block("start"))
    builder.ret(call_host(builder, function.args[0], SAFEPOINT))
    return function


class FunctionAddress(ir.CastInstr):
    """An integer read as the address of a function of `function_type` (opaque pointers do not say)."""

    def __init__(self, builder: ir.IRBuilder, address: ir.Value, type: ir.FunctionType) -> None:
        self._type = type
        super().__init__(builder.block, "inttoptr", address, PTR)
        builder._insert(self)

    @property
    def function_type(self) -> ir.FunctionType:
        return self._type


RARE = [1, 1 << 20]
"""Weights of a branch that is hardly ever taken."""
