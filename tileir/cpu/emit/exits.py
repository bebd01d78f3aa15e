"""Exits from the LLVM function under construction: traps, safepoints, and tile blocks that are set aside.

A safepoint is a place where a tile block leaves off if its launch has ended: one load from the thread's own memory says
whether to call the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from llvmlite import ir

from tileir.cpu.emit.coroutines import Coroutine
from tileir.cpu.emit.elements import I8, I32, I64, PTR
from tileir.cpu.emit.record import (
    ABANDON,
    ABANDONED,
    ATTENTION,
    CHANGES,
    EVIDENCE,
    EVIDENCE_PLACE,
    HOST,
    LINE,
    MOST_WORDS,
    SAFEPOINT,
    SET_ASIDE,
    STATUS,
    WAITING,
    TrapKind,
    TrapSite,
)
from tileir.ir.core import Op

ATTEND = "tileir.attend"
HOST_CALL = ir.FunctionType(I32, [I32])
"""``call(number of the operation, SAFEPOINT, or that of a warning)``; gives GO_ON or ABANDON."""


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


# ---------------------------------------------------------------- exits of an emitter


RARE = [1, 1 << 20]
"""Weights of a branch that is hardly ever taken."""
NO_EVIDENCE: Mapping[int, ir.Value] = MappingProxyType({})


class Exits:
    """The ways an emitter can leave its function early; `builder` stands where code goes next."""

    module: ir.Module
    builder: ir.IRBuilder
    arena: ir.Value
    exit: ir.Block
    status: ir.Value
    coroutine: Coroutine | None
    traps: list[TrapSite]
    stops: dict[tuple[int, ...], tuple[ir.Block, Sequence[ir.Value]]]
    counts_changes: bool

    def free_place(self) -> ir.Value:
        """Return the place in the arena of the next buffer, an i64."""
        raise NotImplementedError

    def buffer(self, size: int) -> ir.Value:
        """Return arena space of `size` bytes."""
        raise NotImplementedError

    # ------------------------------------------------------------ traps

    def trap_if(self, condition: ir.Value, op: Op, message: str) -> None:
        """Stop the tile block and the launch when `condition` holds."""
        self.leave_if(condition, self.trap_sites(TrapSite(op, message)))

    def trap_at(self, condition: ir.Value, site: TrapSite, place: ir.Value) -> None:
        """Stop with a trap whose evidence lies at a place of the arena."""
        self.leave_if(condition, self.trap_sites(site), {EVIDENCE_PLACE: place})

    def trap_with(self, condition: ir.Value, op: Op, message: str, kind: TrapKind, words: Sequence[ir.Value]) -> None:
        """Stop as `trap_if` does; `words` are the evidence, all i64."""
        site = TrapSite(op, message, kind)
        if len(words) <= MOST_WORDS:
            evidence = {EVIDENCE + 8 * position: word for position, word in enumerate(words)}
            self.leave_if(condition, self.trap_sites(site), evidence)
            return
        place = self.free_place()
        buffer = self.buffer(8 * len(words))
        for position, word in enumerate(words):
            self.builder.store(word, self.builder.gep(buffer, [I64(8 * position)], source_etype=I8))
        self.trap_at(condition, site, place)

    def trap_sites(self, *sites: TrapSite) -> int:
        """Number sites for code that leaves with `leave_with`; gives the number of the first."""
        self.traps += sites
        return len(self.traps) - len(sites) + 1

    def leave_with(self, status: ir.Value) -> None:
        """Emit a return of `status` if it is not 0; whoever gave it has left the evidence."""
        self._leave_if(self.builder.icmp_unsigned("!=", status, I32(0)), status)

    def leave_if(self, condition: ir.Value, status: int, evidence: Mapping[int, ir.Value] = NO_EVIDENCE) -> None:
        """Emit a return of `status` when `condition` holds; leave words at places of the arena."""
        self._leave_if(condition, I32(status), evidence)

    def _leave_if(self, condition: ir.Value, status: ir.Value, evidence: Mapping[int, ir.Value] = NO_EVIDENCE) -> None:
        builder, here = self.builder, self.builder.block
        go_on = builder.append_basic_block("checked")
        stop, given = self._stop(tuple(evidence))
        builder.cbranch(condition, stop, go_on).set_weights(RARE)
        for word, value in zip(given, (status, *evidence.values())):
            word.add_incoming(value, here)
        builder.position_at_end(go_on)

    def _stop(self, places: tuple[int, ...]) -> tuple[ir.Block, Sequence[ir.Value]]:
        """Return the block that leaves words at those places of the arena, and its phis: the status, and the words."""
        if places not in self.stops:
            builder, here = self.builder, self.builder.block
            stop = builder.append_basic_block("trap")
            builder.position_at_end(stop)
            status, *words = builder.phi(I32), *(builder.phi(I64) for _ in places)
            for place, word in zip(places, words):
                builder.store(word, builder.gep(self.arena, [I64(place)], source_etype=I8))
            builder.store(status, self.status)
            builder.branch(self.exit)
            builder.position_at_end(here)
            self.stops[places] = stop, (status, *words)
        return self.stops[places]

    # ------------------------------------------------------------ others

    def safepoint(self) -> None:
        """Call the host if it wants that, and leave off if it says so."""
        builder = self.builder
        look, go_on = builder.append_basic_block("safepoint"), builder.append_basic_block("go_on")
        builder.cbranch(wanted(builder, self.arena), look, go_on).set_weights(RARE)
        builder.position_at_end(look)
        answer = builder.call(attend(self.module), [self.arena])
        self.leave_if(builder.icmp_unsigned("==", answer, I32(ABANDON)), ABANDONED)
        builder.branch(go_on)
        builder.position_at_end(go_on)

    def set_aside(self, loop: int) -> None:
        """Leave the tile block, which waits in the loop of that number, to go on with it later."""
        assert self.coroutine is not None
        builder = self.builder
        builder.store(I64(loop), field_of(builder, self.arena, WAITING))
        builder.store(I32(SET_ASIDE), field_of(builder, self.arena, STATUS))
        self.coroutine.suspend()

    def changed(self, condition: ir.Value | None = None) -> None:
        """Count a change, if `condition` holds, that others may wait for or that ends the waiting of this block."""
        if not self.counts_changes:
            return
        builder = self.builder
        place = field_of(builder, self.arena, CHANGES)
        more = I64(1) if condition is None else builder.zext(condition, I64)
        builder.store(builder.add(builder.load(place, typ=I64), more), place)
