"""Build TTIR: the insertion point, and short names for the instructions that most rules need.

Instructions beyond TTIR come from the vendor's table. Two features are NVIDIA's own and are left to those who use them:
multicast memory (`rules.atomics`) and copies by descriptor (`lib.descriptors`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from tileir.gpu.ttir.ir.code import I32, ConstantBits, Instruction, TtirAttribute, TtirBlock, TtirType, TtirValue
from tileir.ir.attributes import Rounding
from tileir.ir.loc import UNKNOWN, Location

INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip
"""Predicates in the order of MLIR's numbers."""

_FLOAT_CODES = {"f16": ("<e", 0), "f32": ("<f", 0), "f64": ("<d", 0), "bf16": ("<f", 16)}


class Builder:
    """Appends instructions to `block`, each with the location `loc`. `vendor` makes those that TTIR does not have."""

    def __init__(self, block: TtirBlock, vendor: VendorInstructions | None = None) -> None:
        self.block = block
        self.loc: Location = UNKNOWN
        self._vendor = vendor

    @property
    def vendor(self) -> VendorInstructions:
        assert self._vendor is not None
        return self._vendor

    def insert(
        self,
        name: str,
        operands: Sequence[TtirValue],
        types: Sequence[TtirType] = (),
        attributes: dict[str, TtirAttribute | ConstantBits] | None = None,
        regions: Sequence[TtirBlock] = (),
    ) -> list[TtirValue]:
        """Append an instruction; returns its results."""
        instruction = Instruction(name, list(operands), attributes or {}, tuple(types), list(regions), self.loc)
        self.block.instructions.append(instruction)
        return instruction.results

    def op(
        self, name: str, *operands: TtirValue, type: TtirType | None = None, **attributes: TtirAttribute
    ) -> TtirValue:
        """Append an instruction with one result, of the type of the first operand unless `type` says otherwise."""
        result_type = operands[0].type if type is None else type
        return self.insert(name, operands, [result_type], dict(attributes))[0]

    def effect(self, name: str, *operands: TtirValue, **attributes: TtirAttribute) -> None:
        """Append an instruction without results."""
        self.insert(name, operands, (), dict(attributes))

    @contextmanager
    def region(self, *types: TtirType) -> Iterator[TtirBlock]:
        """Make a block with arguments of the types; the instructions made meanwhile are appended to it."""
        outer, self.block = self.block, TtirBlock(types)
        try:
            yield self.block
        finally:
            self.block = outer

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
        attributes: dict[str, TtirAttribute | ConstantBits] = {
            "asm_string": text,
            "constraints": constraints,
            "pure": pure,
            "packed_element": 1,
        }
        return self.insert("tt.elementwise_inline_asm", operands, [type], attributes)[0]

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


class VendorInstructions(Protocol):
    """The instructions of a vendor. Operands are scalars or tensors; raises UnsupportedError for missing
    instructions."""

    library_prefix: str
    """Beginning of the names of the device library."""

    def library(self, build: Builder, name: str, *operands: TtirValue) -> TtirValue:
        """Return a function of the device library, of f32 or f64, by the name that C has for it."""

    def rounded(self, build: Builder, name: str, mode: Rounding, flush: bool, *operands: TtirValue) -> TtirValue:
        """Emit ``add sub mul div fma sqrt`` of f32 or f64, rounded in an IEEE mode; `flush` treats subnormals as zeros
        (f32). Not for rounding to nearest even without flushing, which TTIR has."""

    def approximate(self, build: Builder, name: str, flush: bool, *operands: TtirValue) -> TtirValue:
        """Emit ``div.approx div.full sqrt.approx tanh.approx ex2.approx rsqrt.approx`` of f32, within the bounds that
        PTX gives them."""

    def reciprocal(self, build: Builder, number: TtirValue) -> TtirValue:
        """Return the reciprocal of an f64 that f32 holds, within 0.51 units in the last place, without a function's
        call."""

    def extreme(self, build: Builder, name: str, propagate_nan: bool, *operands: TtirValue) -> TtirValue:
        """Emit ``max`` or ``min`` of f32 with subnormals as zeros."""

    def truncated(self, build: Builder, number: TtirValue, bits: int, signed: bool) -> TtirValue:
        """Return an f32 or f64 towards zero to an i32 or i64, saturated; 0 for NaN."""

    def odd_f32(self, build: Builder, source: TtirValue, signed: bool) -> TtirValue:
        """Return an i32 or i64 as an f32, its last bit set if it is not exact, so that a rounding to fewer bits is
        single."""

    def directed(self, build: Builder, number: TtirValue, element: str, mode: Rounding) -> TtirValue:
        """Return an f32 as f16, or an f64 as f32 or f16, towards zero or an infinity."""

    def nearest_tf32(self, build: Builder, number: TtirValue) -> TtirValue:
        """Return the bits of an f32 rounded to tf32, as an i32 whose low 13 bits may be anything
        (`Arch.rounds_to_tf32`)."""

    def opaque(self, build: Builder, value: TtirValue) -> TtirValue:
        """Return the same i32 or i64 in a form that the optimizer neither understands nor removes."""

    def unforeseen(self, build: Builder, value: TtirValue) -> TtirValue:
        """Return the same scalar i32 or i64, hidden from the optimizer where that makes better code."""

    def fence_aliases(self, build: Builder, word: Callable[[], TtirValue]) -> None:
        """Order what the thread does in memory under one address before what it does under another of the same memory.
        `word` makes the address of an i32 that the block has for itself."""
