"""Read function bodies: which values are visible where, operands, regions, and where instructions stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tileir.bytecode import faults
from tileir.bytecode.faults import MAX_NESTING, BytecodeFault, shown_type
from tileir.bytecode.head_reader import HeadReader
from tileir.bytecode.layout import InstructionLayout, OperandStep
from tileir.bytecode.tables import TableReaders
from tileir.bytecode.wire import ByteCursor
from tileir.ir.core import Block, Value
from tileir.ir.fields import RegionField
from tileir.ir.loc import UNKNOWN, BytecodePart, Location
from tileir.ir.spec import OperandLayout

Operands = tuple[Sequence[Value], tuple[int, ...]]
"""Flat operands, and the length of each group."""


class BodyReader:
    """Reads the instructions at `cursor` up to its end.

    `part` is the function from its first instruction on, for places and paths; `next_location` gives the debug location
    of each instruction in turn, and is None where there are none.
    """

    def __init__(
        self,
        tables: TableReaders,
        heads: HeadReader,
        cursor: ByteCursor,
        part: BytecodePart,
        next_location: Callable[[], Location | None] | None,
    ) -> None:
        self._tables = tables
        self._heads = heads
        self._cursor = cursor
        self._part = part
        self._next_location = next_location
        self._values: list[Value] = []

    def read(self, block: Block) -> None:
        """Fill `block`, whose arguments are the first values."""
        self._explain(block.args)
        self._values += block.args
        while self._cursor.left:
            self._instruction(block, 0)
        self._check_end(block)

    def _instruction(self, block: Block, depth: int) -> None:
        """Read the next instruction into `block`."""
        cursor, heads, part = self._cursor, self._heads, self._part
        begin, index = cursor.at, len(part.offsets)
        if index == BytecodePart.LENGTH:
            part, index = part.following(), 0
            self._part = part
        part.offsets.append(begin)
        head = heads.known(cursor)
        layout = heads.layout(cursor, part.first + index) if head is None else head.layout
        try:
            loc = self._location() if self._next_location else None
            layout, types, flags, attributes = head or heads.read(cursor, layout, begin)
            segments = layout.spec.fixed_segments or ()
            operands: Sequence[Value] | None = self._usual_values(len(segments)) if segments else None
            if operands is None:
                operands, segments = self._operands(layout, flags)
            if layout.sized_attrs:
                attributes = self._sized(layout, attributes, segments)
            regions = self._regions(layout, depth) if layout.regions else ()
        except BytecodeFault as fault:
            raise fault.inside_op(part.first + index, layout.name) from None
        op = layout.cls(operands, types, attributes, regions, UNKNOWN, segments)
        op.origin, op.number = (part, index) if loc is None else (loc, 0)
        op.parent = block
        block.ops.append(op)
        defines = op.defines
        if cursor.trace is None and not layout.implicit_results and not isinstance(defines, tuple):
            self._values.append(defines)
            return
        results = op.results[: layout.stored_results] if layout.implicit_results else op.results
        self._explain(results)
        self._values += results

    def _explain(self, values: Sequence[Value]) -> None:
        """Tell the trace which numbers the values have that become visible now."""
        trace = self._cursor.trace
        if trace is not None:
            for index, value in enumerate(values, len(self._values)):
                trace.heading(self._cursor.at, f"value {index}: {_source(value)}")

    def _location(self) -> Location | None:
        """Return the debug location of the next instruction."""
        assert self._next_location is not None
        try:
            return self._next_location()
        except BytecodeFault as fault:
            raise fault.inside("location") from None

    # ------------------------------------------------------------ operands

    def _sized(
        self, layout: InstructionLayout, attributes: dict[str, Any], segments: tuple[int, ...]
    ) -> dict[str, Any]:
        """Hold boolean lists against the operands that they are about, and leave out those that say nothing."""
        for step, position in layout.sized_attrs:
            values, count = attributes[step.attr.name], segments[position]
            if len(values) != count:
                label = layout.operands[position].label
                message = f"expected {count} booleans, one for each value of {label}, got {len(values)}"
                raise BytecodeFault(faults.FIELD_COUNT, message, self._cursor.at).inside(step.label)
            if not any(values):
                attributes = attributes.copy()
                del attributes[step.attr.name]
        return attributes

    def _operands(self, layout: InstructionLayout, flags: int) -> Operands:
        if layout.operand_layout is OperandLayout.COUNTED:
            return self._counted_operands(layout)
        if layout.operand_layout is OperandLayout.SEGMENTS:
            return self._segmented_operands(layout, flags)
        return [self._value(step.label) for step in layout.operands], layout.spec.default_segments(0)

    def _segmented_operands(self, layout: InstructionLayout, flags: int) -> Operands:
        operands: list[Value] = []
        segments = []
        for step in layout.operands:
            size = self._group_size(step, flags)
            operands += self._group(step.label, size)
            segments.append(size)
        return operands, tuple(segments)

    def _group_size(self, step: OperandStep, flags: int) -> int:
        if step.operand.single:
            return 1
        if step.operand.optional:
            return 1 if step.stored and flags & step.mask else 0
        cursor = self._cursor
        begin = cursor.at
        size = cursor.count()
        if cursor.trace is not None:
            cursor.note(begin, f"number of values of {step.label}: {size}")
        return size

    def _counted_operands(self, layout: InstructionLayout) -> Operands:
        cursor = self._cursor
        begin = cursor.at
        total = cursor.count()
        if cursor.trace is not None:
            cursor.note(begin, f"number of operands: {total}")
        least, most = layout.least_operands, layout.most_operands
        if total < least or (most is not None and total > most):
            wanted = f"at least {least}" if most is None else str(most) if least == most else f"{least} to {most}"
            raise BytecodeFault(faults.FIELD_COUNT, f"expected {wanted} operands, got {total}", begin)
        segments = layout.spec.default_segments(total)
        usual = self._usual_values(total)
        if usual is not None:
            return usual, segments
        operands: list[Value] = []
        for step, size in zip(layout.operands, segments):
            operands += [self._value(step.label) for _ in range(size)]
        return operands, segments

    def _group(self, label: str, size: int) -> Sequence[Value]:
        found = self._usual_values(size)
        return [self._value(label) for _ in range(size)] if found is None else found

    def _usual_values(self, count: int) -> tuple[Value, ...] | None:
        """Return the values whose numbers, of two bytes at most, come next; None, with nothing read, where they do not.

        Whoever reads them again then says what is wrong with them, and where, and tells a trace.
        """
        cursor, values = self._cursor, self._values
        data, at, end = cursor.data, cursor.at, cursor.end
        if count > end - at or cursor.trace is not None:
            return None
        found = []
        try:
            for _ in range(count):
                number = data[at]
                at += 1
                if number >= 0x80:
                    high = data[at]
                    at += 1
                    if high >= 0x80:
                        return None
                    number += (high - 1) << 7
                found.append(values[number])
        except IndexError:
            return None
        if at > end:
            return None
        cursor.at = at
        return tuple(found)

    def _value(self, label: str) -> Value:
        cursor, values = self._cursor, self._values
        begin = cursor.at
        try:
            index = cursor.varint()
            if index >= len(values):
                message = f"expected one of the {len(values)} values visible here, got value {index}"
                raise BytecodeFault(faults.INDEX, message, begin)
        except BytecodeFault as fault:
            raise fault.inside(label) from None
        if cursor.trace is not None:
            cursor.note(begin, f"{label}: value {index}")
        return values[index]

    # ------------------------------------------------------------ regions

    def _regions(self, layout: InstructionLayout, depth: int) -> tuple[Block | None, ...]:
        cursor = self._cursor
        begin = cursor.at
        count = cursor.count()
        if cursor.trace is not None:
            cursor.note(begin, f"number of regions: {count}")
        if count != layout.regions:
            raise BytecodeFault(faults.REGION_COUNT, f"expected {layout.regions} regions, got {count}", begin)
        return tuple([self._region(region, depth + 1) for region in layout.spec.regions])

    def _region(self, region: RegionField, depth: int) -> Block | None:
        label = f"region '{region.name}'"
        try:
            if not self._has_block(region):
                return None
            block, count = self._block_head(depth)
        except BytecodeFault as fault:
            raise fault.inside(label) from None
        visible = len(self._values)
        self._explain(block.args)
        self._values += block.args
        for _ in range(count):
            self._instruction(block, depth)
        try:
            self._check_end(block)
        except BytecodeFault as fault:
            raise fault.inside(label) from None
        del self._values[visible:]
        return block

    def _has_block(self, region: RegionField) -> bool:
        cursor = self._cursor
        begin = cursor.at
        count = cursor.count()
        if cursor.trace is not None:
            cursor.note(begin, f"region '{region.name}', number of blocks: {count}")
        if count > 1 or (count == 0 and not region.optional):
            wanted = "at most one block" if region.optional else "one block"
            raise BytecodeFault(faults.BLOCK, f"expected {wanted}, got {count}", begin)
        return count == 1

    def _block_head(self, depth: int) -> tuple[Block, int]:
        """Return a block with its arguments, and the number of instructions in it."""
        cursor = self._cursor
        begin = cursor.at
        if depth > MAX_NESTING:
            raise BytecodeFault(faults.NESTING, f"expected regions nested at most {MAX_NESTING} deep, got more", begin)
        types = self._tables.types.read_list(cursor)
        if cursor.trace is not None:
            cursor.note(begin, f"block arguments: {', '.join(map(shown_type, types))}")
        begin = cursor.at
        count = cursor.count()
        if cursor.trace is not None:
            cursor.note(begin, f"number of operations: {count}")
        return Block(types), count

    def _check_end(self, block: Block) -> None:
        if block.terminator is None:
            got = f"'{block.ops[-1].spec.name}'" if block.ops else "an empty block"
            raise BytecodeFault(
                faults.BLOCK, f"expected a block that ends with a terminator, got {got}", self._cursor.at
            )


def _source(value: Value) -> str:
    return f"argument {value.index}" if value.op is None else f"result {value.index} of '{value.op.spec.name}'"
