"""LLVM's coroutines: functions that can suspend and be resumed later.

A coroutine's function gives a handle when it is first left, or ends. LLVM keeps what lives across a suspension in
a frame on the heap, which is freed when the code ends or the handle is destroyed (https://llvm.org/docs/Coroutines.html).
A frame that holds vectors needs more alignment than `malloc` gives, and C has no such function on every system: the
block that holds the frame is larger by that much, and its address stands in front of the frame.
"""

from __future__ import annotations

import llvmlite.binding as llvm
from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I32, I64, PTR
from tileir.cpu.emit.record import NO_MEMORY


class LlvmToken(ir.Type):
    """LLVM's type of what ties intrinsics together."""

    def _to_string(self) -> str:
        return "token"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LlvmToken)

    def __hash__(self) -> int:
        return hash(LlvmToken)


TOKEN = LlvmToken()
NONE = ir.Constant(TOKEN, "none")
NULL = ir.Constant(PTR, None)
END = ir.VoidType() if llvm.llvm_version_info >= (22,) else I1
_INTRINSICS: dict[str, tuple[ir.Type, list[ir.Type]]] = {
    "llvm.coro.id": (TOKEN, [I32, PTR, PTR, PTR]),
    "llvm.coro.size.i64": (I64, []),
    "llvm.coro.align.i64": (I64, []),
    "llvm.coro.begin": (PTR, [TOKEN, PTR]),
    "llvm.coro.suspend": (I8, [TOKEN, I1]),
    "llvm.coro.free": (PTR, [TOKEN, PTR]),
    "llvm.coro.end": (END, [PTR, I1, TOKEN]),
    "llvm.coro.resume": (ir.VoidType(), [PTR]),
    "llvm.coro.destroy": (ir.VoidType(), [PTR]),
    "malloc": (PTR, [I64]),
    "free": (ir.VoidType(), [PTR]),
}


class Coroutine:
    """The function that `builder` stands in at its beginning, made a coroutine. It gives a pointer, the handle; where
    there is no memory for its frame it gives null, and stores `NO_MEMORY` at `status`."""

    def __init__(self, builder: ir.IRBuilder, status: ir.Value) -> None:
        self._builder = builder
        # llvmlite does not know this attribute, and takes no others than those it knows.
        set.add(builder.function.attributes, "presplitcoroutine")
        self._id = call(builder, "llvm.coro.id", I32(0), NULL, NULL, NULL)
        self._handle = call(builder, "llvm.coro.begin", self._id, _new_frame(builder, status))
        self._cleanup, self._left = (builder.append_basic_block(name) for name in ("cleanup", "suspended"))

    def suspend(self) -> None:
        """Suspend the function here; the code that follows runs when it is resumed."""
        builder = self._builder
        resumed = builder.append_basic_block("resumed")
        way = builder.switch(call(builder, "llvm.coro.suspend", NONE, I1(0)), self._left)
        way.add_case(I8(0), resumed)
        way.add_case(I8(1), self._cleanup)
        builder.position_at_end(resumed)

    def end(self) -> None:
        """End the function here; nothing can follow."""
        builder = self._builder
        builder.branch(self._cleanup)
        builder.position_at_end(self._cleanup)
        frame = call(builder, "llvm.coro.free", self._id, self._handle)
        call(builder, "free", builder.load(_in_front(builder, frame), typ=PTR))
        builder.branch(self._left)
        builder.position_at_end(self._left)
        call(builder, "llvm.coro.end", self._handle, I1(0), NONE)
        builder.ret(self._handle)


def _new_frame(builder: ir.IRBuilder, status: ir.Value) -> ir.Value:
    """Allocate a frame of the size and alignment that LLVM finds for it; leave the function if that fails."""
    align = call(builder, "llvm.coro.align.i64")  # at least that of a pointer
    block = call(builder, "malloc", builder.add(call(builder, "llvm.coro.size.i64"), align))
    with builder.if_then(builder.icmp_unsigned("==", block, NULL)):
        builder.store(I32(NO_MEMORY), status)
        builder.ret(NULL)
    end = builder.add(builder.ptrtoint(block, I64), align)
    frame = builder.inttoptr(builder.and_(end, builder.neg(align)), PTR)
    builder.store(block, _in_front(builder, frame))
    return frame


def _in_front(builder: ir.IRBuilder, frame: ir.Value) -> ir.Value:
    """Return the place of the address of the block that holds a frame."""
    return builder.gep(frame, [I64(-8)], source_etype=I8)


def call(builder: ir.IRBuilder, name: str, *arguments: ir.Value) -> ir.Value:
    """Call one of the functions that coroutines need."""
    module = builder.module
    if name not in module.globals:
        ir.Function(module, ir.FunctionType(*_INTRINSICS[name]), name)
    return builder.call(module.globals[name], list(arguments))
