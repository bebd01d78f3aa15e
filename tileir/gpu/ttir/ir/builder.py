"""Build TTIR: the insertion point, and short names for the instructions that most rules need.

Instructions beyond TTIR come from the vendor's table. Two features are NVIDIA's own and are left to those who use them:
multicast memory (`rules.atomics`) and copies by descriptor (`lib.descriptors`).
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tileir.gpu.ttir.ir.code import I32, ConstantBits, Instruction, TtirAttribute, TtirBlock, TtirType, TtirValue
from tileir.ir.attributes import AtomicMode, MemoryOrdering, MemoryScope, Rounding
from tileir.ir.core import Op
from tileir.ir.loc import UNKNOWN, Location

INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip
"""Predicates in the order of MLIR's numbers."""

_FLOAT_CODES = {"f16": ("<e", 0), "f32": ("<f", 0), "f64": ("<d", 0), "bf16": ("<f", 16)}

_ORDERINGS = (MemoryOrdering.RELAXED, MemoryOrdering.ACQUIRE, MemoryOrdering.RELEASE, MemoryOrdering.ACQ_REL)
_SCOPES = (MemoryScope.DEVICE, MemoryScope.TL_BLK, MemoryScope.SYS)
_MODES = (
    AtomicMode.AND, AtomicMode.OR, AtomicMode.XOR, AtomicMode.ADD, AtomicMode.ADDF,
    AtomicMode.MAX, AtomicMode.MIN, AtomicMode.UMAX, AtomicMode.UMIN, AtomicMode.XCHG,
)  # fmt: skip
"""Orderings, scopes (a tile block is one block of the hardware) and atomic operations in the order of Triton's numbers,
from 1."""


@dataclass(frozen=True)
class MemoryOrder:
    """The ordering of an access, and the threads for which it holds; a weak access has no scope."""

    ordering: MemoryOrdering = MemoryOrdering.WEAK
    scope: MemoryScope | None = None

    @staticmethod
    def of(op: Op) -> MemoryOrder:
        """Return the order of an operation that has these attributes."""
        return MemoryOrder(op.attributes["memory_ordering_semantics"], op.attributes.get("memory_scope"))

    def attributes(self) -> dict[str, TtirAttribute]:
        """Return the attributes of a strong access."""
        assert self.scope is not None
        return {"sem": _ORDERINGS.index(self.ordering) + 1, "scope": _SCOPES.index(self.scope) + 1}


WEAK, RELAXED = MemoryOrder(), MemoryOrder(MemoryOrdering.RELAXED, MemoryScope.DEVICE)


class Builder:
    """Appends instructions to `block`, each with the location `loc`. `vendor` makes those that TTIR does not have."""

    def __init__(self, block: TtirBlock, vendor: Callable[[Builder], VendorInstructions] | None = None) -> None:
        self.block = block
        self.loc: Location = UNKNOWN
        self._vendor = None if vendor is None else vendor(self)

    @property
    def vendor(self) -> VendorInstructions:
        assert self._vendor is not None
        return self._vendor

    def insert(
        self,
        name: str,
        operands: Sequence[TtirValue],
        types: Sequence[TtirType] = (),
        attributes: Mapping[str, TtirAttribute | ConstantBits] | None = None,
        regions: Sequence[TtirBlock] = (),
    ) -> list[TtirValue]:
        """Append an instruction; returns its results."""
        instruction = Instruction(name, list(operands), dict(attributes or {}), tuple(types), list(regions), self.loc)
        self.block.instructions.append(instruction)
        return instruction.results

    def op(
        self, name: str, *operands: TtirValue, type: TtirType | None = None, **attributes: TtirAttribute
    ) -> TtirValue:
        """Append an instruction with one result, of the type of the first operand unless `type` says otherwise."""
        result_type = operands[0].type if type is None else type
        return self.insert(name, operands, [result_type], attributes)[0]

    def effect(self, name: str, *operands: TtirValue, **attributes: TtirAttribute) -> None:
        """Append an instruction without results."""
        self.insert(name, operands, (), attributes)

    @contextmanager
    def region(self, *types: TtirType) -> Iterator[TtirBlock]:
        """Make a block with arguments of the types; the instructions made meanwhile are appended to it."""
        with self.at(TtirBlock(types)) as block:
            yield block

    @contextmanager
    def at(self, block: TtirBlock) -> Iterator[TtirBlock]:
        """Append the instructions made meanwhile to `block`."""
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    @contextmanager
    def where(self, condition: TtirValue) -> Iterator[None]:
        """Run the instructions made meanwhile if the scalar `condition` holds."""
        with self.region() as then:
            yield
            self.effect("scf.yield")
        with self.region() as otherwise:
            self.effect("scf.yield")
        self.insert("scf.if", [condition], regions=[then, otherwise])

    def repeated(
        self,
        count: int,
        initial: Sequence[TtirValue],
        step: Callable[[TtirValue, list[TtirValue]], Sequence[TtirValue]],
    ) -> list[TtirValue]:
        """Return the values that `step` carries after `count` rounds; it gets the number of the round, an i32."""
        types = [value.type for value in initial]
        with self.region(I32, *types) as body:
            number, *values = body.arguments
            self.effect("scf.yield", *step(number, values))
        bounds = [self.integer(I32, bound) for bound in (0, count, 1)]
        return self.insert("scf.for", [*bounds, *initial], types, regions=[body])

    # --- constants

    def bits(self, type: TtirType, pattern: int) -> TtirValue:
        """Return a constant of `type` in which every element has the bits `pattern` (taken modulo the width)."""
        number = ConstantBits(pattern & ((1 << type.bits) - 1), type)
        return self.insert("arith.constant", (), [type], {"value": number})[0]

    def integer(self, type: TtirType, value: int) -> TtirValue:
        """Return a constant of an integer type; negative numbers in two's complement."""
        return self.bits(type, value)

    def float(self, type: TtirType, value: float) -> TtirValue:
        """Return a constant of f16, f32 or f64, rounded to nearest; of bf16 if `value` is a bf16 number."""
        code, shift = _FLOAT_CODES[type.element]
        return self.bits(type, int.from_bytes(struct.pack(code, value), "little") >> shift)

    def truth(self, value: bool, shape: tuple[int, ...] = ()) -> TtirValue:
        return self.bits(TtirType("i1", shape), int(value))

    # --- shapes

    def splat(self, value: TtirValue, *shape: int) -> TtirValue:
        """Return a tensor of `shape` with the scalar `value` in every element; `value` itself for no shape."""
        assert not value.type.is_tensor
        return self.op("tt.splat", value, type=value.type.shaped(*shape)) if shape else value

    def like(self, value: TtirValue, other: TtirValue) -> TtirValue:
        """Return the scalar `value` in the shape of `other`; `value` itself if it has that shape already."""
        return value if value.type.shape == other.type.shape else self.splat(value, *other.type.shape)

    def broadcast(self, value: TtirValue, *shape: int) -> TtirValue:
        """Return a tensor whose axes of extent 1 are repeated to `shape`, which has as many axes."""
        if value.type.shape == shape:
            return value
        return self.op("tt.broadcast", value, type=value.type.shaped(*shape))

    def reshape(self, value: TtirValue, *shape: int) -> TtirValue:
        """Return the same elements in row-major order in another shape; a scalar counts as a tensor of one element."""
        if value.type.shape == shape:
            return value
        if not value.type.is_tensor:
            return self.splat(value, *shape)
        if not shape:
            return self.op("tt.unsplat", value, type=value.type.shaped())
        return self.op("tt.reshape", value, type=value.type.shaped(*shape))

    def transpose(self, value: TtirValue, *order: int) -> TtirValue:
        """Transpose: axis i of the result is axis ``order[i]`` of `value`."""
        if order == tuple(range(len(order))):
            return value
        shape = tuple(value.type.shape[axis] for axis in order)
        return self.op("tt.trans", value, type=value.type.shaped(*shape), order=tuple(order))

    def range(self, count: int) -> TtirValue:
        """Return 0, 1, … as a tensor of `count` i32."""
        if count == 1:
            return self.integer(I32.shaped(1), 0)
        return self.op("tt.make_range", type=I32.shaped(count), start=0, end=count)

    def positions(self, axis: int, *shape: int) -> TtirValue:
        """Return an i32 tensor of `shape` with each element's position along `axis`."""
        line = [extent if dim == axis else 1 for dim, extent in enumerate(shape)]
        return self.broadcast(self.reshape(self.range(shape[axis]), *line), *shape)

    def numbers(self, *shape: int) -> TtirValue:
        """Return an i32 tensor of `shape` with each element's number in row-major order."""
        total, stride = self.integer(I32.shaped(*shape), 0), 1
        for axis in reversed(range(len(shape))):
            part = self.positions(axis, *shape)
            scaled = self.op("arith.muli", part, self.integer(part.type, stride)) if stride > 1 else part
            total = self.op("arith.addi", total, scaled)
            stride *= shape[axis]
        return total

    def places(self, number: TtirValue, *shape: int) -> list[TtirValue]:
        """Return the position along each axis of `shape` of an element, from its number in row-major order."""
        found: list[TtirValue] = []
        for extent in reversed(shape):
            count = self.integer(I32, extent)
            found.insert(0, self.op("arith.remui", number, count))
            number = self.op("arith.divui", number, count)
        return found

    # --- element by element

    def compare(self, predicate: str, first: TtirValue, second: TtirValue) -> TtirValue:
        """Compare by ``arith.cmpi``: eq ne slt sle sgt sge ult ule ugt uge."""
        number = ConstantBits(INTEGER_PREDICATES.index(predicate), TtirType("i64"))
        return self.insert("arith.cmpi", (first, second), [first.type.of("i1")], {"predicate": number})[0]

    def compare_float(self, predicate: str, first: TtirValue, second: TtirValue) -> TtirValue:
        """Compare by ``arith.cmpf``: oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno."""
        number = ConstantBits(FLOAT_PREDICATES.index(predicate), TtirType("i64"))
        return self.insert("arith.cmpf", (first, second), [first.type.of("i1")], {"predicate": number})[0]

    def select(self, condition: TtirValue, first: TtirValue, second: TtirValue) -> TtirValue:
        """Select, element by element, `first` where `condition` holds, else `second`; a scalar condition chooses
        all."""
        return self.op("arith.select", condition, first, second, type=first.type)

    def cast(self, name: str, value: TtirValue, element: str) -> TtirValue:
        """Return an instruction that changes the element type; `value` itself if it has that type already."""
        return value if value.type.element == element else self.op(name, value, type=value.type.of(element))

    def resized(self, value: TtirValue, element: str, signed: bool) -> TtirValue:
        """Return an integer extended (by its sign or by zeros) or cut to the width of `element`."""
        if TtirType(element).bits < value.type.bits:
            return self.cast("arith.trunci", value, element)
        return self.cast("arith.extsi" if signed else "arith.extui", value, element)

    def bitcast(self, value: TtirValue, element: str) -> TtirValue:
        """Return the same bits as another element type of the same width."""
        return self.cast("tt.bitcast", value, element)

    def inverted(self, value: TtirValue) -> TtirValue:
        """Return an integer with every bit flipped; of i1 the negation."""
        return self.op("arith.xori", value, self.integer(value.type, -1))

    def asm(
        self, text: str, constraints: str, operands: Sequence[TtirValue], type: TtirType, pure: bool = True
    ) -> TtirValue:
        """Emit machine code for every element: ``$0`` is the result, ``$1``… the operands.

        Constraints of PTX: ``h`` a 16-bit, ``r`` a 32-bit, ``l`` a 64-bit register, ``f`` and ``d`` the same of floats.
        Of AMDGCN: ``v`` vector registers. Without `pure` it is run for every element of every thread, also where
        threads hold copies of one element.
        """
        attributes: dict[str, TtirAttribute] = {
            "asm_string": text,
            "constraints": constraints,
            "pure": pure,
            "packed_element": 1,
        }
        return self.insert("tt.elementwise_inline_asm", operands, [type], attributes)[0]

    # --- memory

    def load(
        self,
        pointers: TtirValue,
        mask: TtirValue | None = None,
        other: TtirValue | None = None,
        order: MemoryOrder = WEAK,
    ) -> TtirValue:
        """Return the elements at `pointers`. Where `mask` is false nothing is read, and the result is `other`, or 0."""
        type = pointers.type.of(pointers.type.pointee)
        masked = () if mask is None else (mask, self.bits(type, 0) if other is None else other)
        if order.scope is None:
            segments = (1, len(masked) // 2, len(masked) // 2)
            return self.op("tt.load", pointers, *masked, type=type, operandSegmentSizes=segments, isVolatile=False)
        words = self.words(pointers)
        operands, word = [words, self._chosen(mask, words)], words.type.of(words.type.pointee)
        found = self.insert("tt.atomic_load", operands, [word], order.attributes())[0]
        found = self.bitcast(found, type.element)
        return self.select(masked[0], found, masked[1]) if masked else found

    def store(
        self, pointers: TtirValue, elements: TtirValue, mask: TtirValue | None = None, order: MemoryOrder = WEAK
    ) -> None:
        """Write the elements at `pointers` where `mask` is true."""
        if order.scope is None:
            self.effect("tt.store", pointers, elements, *(() if mask is None else (mask,)))
            return
        words = self.words(pointers)
        chosen = self._chosen(mask, words)
        operands = [words, self.bitcast(elements, words.type.pointee), chosen]
        self.insert("tt.atomic_store", operands, (), order.attributes())

    def atomic(
        self, mode: AtomicMode, pointers: TtirValue, argument: TtirValue, mask: TtirValue | None, order: MemoryOrder
    ) -> TtirValue:
        """Combine each element into memory where `mask` is true; returns the old ones, elsewhere undefined ones."""
        operands = [pointers, argument, self._chosen(mask, pointers)]
        attributes = {"atomic_rmw_op": _MODES.index(mode) + 1, **order.attributes()}
        return self.insert("tt.atomic_rmw", operands, [argument.type], attributes)[0]

    def words(self, pointers: TtirValue) -> TtirValue:
        """Return pointers to integers instead of floats: strong accesses are about bits."""
        return self.bitcast(pointers, f"!tt.ptr<i{pointers.type.of(pointers.type.pointee).bits}>")

    def _chosen(self, mask: TtirValue | None, pointers: TtirValue) -> TtirValue:
        return self.truth(True, pointers.type.shape) if mask is None else mask

    # --- functions

    def library(self, symbol: str, *operands: TtirValue) -> TtirValue:
        """Return a function of the device library for every element, by its full name."""
        return self.op("tt.extern_elementwise", *operands, libname="", libpath="", symbol=symbol, pure=True)

    def all_true(self, *conditions: TtirValue | None) -> TtirValue | None:
        """Return the conjunction of the conditions that there are; None of none."""
        present = [condition for condition in conditions if condition is not None]
        if not present:
            return None
        result = present[0]
        for condition in present[1:]:
            result = self.op("arith.andi", result, condition)
        return result


class VendorInstructions(ABC):
    """The instructions of a vendor, made by `build`. Operands are scalars or tensors; raises UnsupportedError for
    missing instructions."""

    library_prefix: str
    """Beginning of the names of the device library."""

    def __init__(self, build: Builder) -> None:
        self.build = build

    @abstractmethod
    def library(self, name: str, *operands: TtirValue) -> TtirValue:
        """Return a function of the device library, of f32 or f64, by the name that C has for it."""

    @abstractmethod
    def rounded(self, name: str, mode: Rounding, flush: bool, *operands: TtirValue) -> TtirValue:
        """Emit ``add sub mul div fma sqrt`` of f32 or f64, rounded in an IEEE mode; `flush` treats subnormals as zeros
        (f32). Not for rounding to nearest even without flushing, which TTIR has."""

    @abstractmethod
    def approximate(self, name: str, flush: bool, *operands: TtirValue) -> TtirValue:
        """Emit ``div.approx div.full sqrt.approx tanh.approx ex2.approx rsqrt.approx`` of f32, within the bounds that
        PTX gives them."""

    @abstractmethod
    def reciprocal(self, number: TtirValue) -> TtirValue:
        """Return the reciprocal of an f64 that f32 holds, within 0.51 units in the last place, without a function's
        call."""

    @abstractmethod
    def extreme(self, name: str, propagate_nan: bool, *operands: TtirValue) -> TtirValue:
        """Emit ``max`` or ``min`` of f32 with subnormals as zeros."""

    @abstractmethod
    def truncated(self, number: TtirValue, bits: int, signed: bool) -> TtirValue:
        """Return an f32 or f64 towards zero to an i32 or i64, saturated; 0 for NaN."""

    @abstractmethod
    def odd_f32(self, source: TtirValue, signed: bool) -> TtirValue:
        """Return an i32 or i64 as an f32, its last bit set if it is not exact, so that a rounding to fewer bits is
        single."""

    @abstractmethod
    def directed(self, number: TtirValue, element: str, mode: Rounding) -> TtirValue:
        """Return an f32 as f16, or an f64 as f32 or f16, towards zero or an infinity."""

    @abstractmethod
    def nearest_tf32(self, number: TtirValue) -> TtirValue:
        """Return the bits of an f32 rounded to tf32, as an i32 whose low 13 bits may be anything
        (`Arch.rounds_to_tf32`)."""

    @abstractmethod
    def opaque(self, value: TtirValue) -> TtirValue:
        """Return the same i32 or i64 in a form that the optimizer neither understands nor removes."""

    @abstractmethod
    def unforeseen(self, value: TtirValue) -> TtirValue:
        """Return the same scalar i32 or i64, hidden from the optimizer where that makes better code."""

    @abstractmethod
    def fence_aliases(self, word: Callable[[], TtirValue]) -> None:
        """Order what the thread does in memory under one address before what it does under another of the same memory.
        `word` makes the address of an i32 that the block has for itself."""
