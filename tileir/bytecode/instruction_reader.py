"""Reading the body of a function: instructions, regions and value numbers (spec: bytecode-instructions#format).

Knows: how the layout of an instruction is walked and which values are visible where.
Does not know: any operation; the layouts (`layout`) come from the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from tileir.bytecode import faults
from tileir.bytecode.attributes import READ_KIND
from tileir.bytecode.faults import MAX_NESTING, BytecodeFault, shown_type
from tileir.bytecode.layout import AttrStep, InstructionLayout, OperandStep, layouts
from tileir.bytecode.tables import TableReaders
from tileir.bytecode.versions import max_opcode
from tileir.bytecode.wire import ByteCursor
from tileir.ir import types as t
from tileir.ir.attributes import TextEnum
from tileir.ir.core import Block, Op, Value
from tileir.ir.fields import RegionField
from tileir.ir.loc import BytecodeLoc, Location, op_label
from tileir.ir.shown import shown
from tileir.ir.spec import PREVIEW_OPCODES, OperandLayout, Placement
from tileir.ir.versions import version_text
from tileir.ops.calls import PreviewCall

T = TypeVar("T")


class BodyReader:
    """Reads the instructions at `cursor` up to its end.

    `place` is the function as paths name it; `next_location` gives the debug location of each instruction in turn.
    """

    def __init__(
        self,
        tables: TableReaders,
        cursor: ByteCursor,
        filename: str,
        place: str,
        next_location: Callable[[], Location | None],
        strict: bool,
    ) -> None:
        self._tables = tables
        self._cursor = cursor
        self._filename = filename
        self._place = place
        self._next_location = next_location
        self._strict = strict
        self._layouts = layouts(tables.version, tables.preview)
        self._values: list[Value] = []
        self._count = 0

    def read(self, block: Block) -> None:
        """Fill `block`, whose arguments are the first values."""
        self._define(block.args)
        while self._cursor.left:
            block.append(self._instruction(0))
        self._check_end(block)

    def _instruction(self, depth: int) -> Op:
        number, begin = self._count, self._cursor.at
        self._count += 1
        layout = self._opcode(number)
        try:
            loc = self._location(layout, number, begin)
            op = self._plain(layout, loc) or self._fields(layout, loc, depth)
        except BytecodeFault as fault:
            raise fault.inside_op(number, layout.name) from None
        self._define(op.results[: layout.stored_results])
        return op

    def _plain(self, layout: InstructionLayout, loc: Location) -> Op | None:
        """An instruction of plain layout, without a step by step account; None, with nothing read, if that fails.

        Whoever reads it again then says what is wrong with it, and where.
        """
        cursor = self._cursor
        if not layout.plain or cursor.trace is not None:
            return None
        begin = cursor.at
        try:
            types = self._plain_numbers(self._tables.types.of_values, len(layout.result_labels))
            flags = self._flags(layout) if layout.has_flags else 0
            attributes: dict[str, Any] = {step.attr.name: True for step in layout.units if flags & step.mask}
            for step in layout.attrs:
                if not step.mask or flags & step.mask:
                    attributes[step.attr.name] = READ_KIND[step.attr.kind](self._tables, cursor, step.attr, types)
            operands = self._plain_numbers(self._values, len(layout.operands))
        except (BytecodeFault, LookupError):
            cursor.at = begin
            return None
        return layout.cls(operands, types, attributes, (), loc, layout.spec.fixed_segments)

    def _plain_numbers(self, things: Mapping[int, T] | Sequence[T], count: int) -> list[T]:
        """The things whose numbers come next, of two bytes at most. Raises LookupError for a number of none."""
        cursor = self._cursor
        data, at, found = cursor.data, cursor.at, []
        for _ in range(count):
            number = data[at]
            at += 1
            if number >= 0x80:
                high = data[at]
                at += 1
                if high >= 0x80:
                    raise LookupError
                number += (high - 1) << 7
            found.append(things[number])
        if at > cursor.end:
            raise LookupError
        cursor.at = at
        return found

    def _define(self, values: list[Value]) -> None:
        """Make values visible, under the next free numbers."""
        trace = self._cursor.trace
        if trace is not None:
            for index, value in enumerate(values, len(self._values)):
                trace.heading(self._cursor.at, f"value {index}: {_source(value)}")
        self._values += values

    def _fields(self, layout: InstructionLayout, loc: Location, depth: int) -> Op:
        types = self._result_types(layout)
        flags = self._flags(layout) if layout.has_flags else 0
        attributes = self._attributes(layout, flags, types)
        operands, segments = self._operands(layout, flags)
        if layout.sized_attrs:
            self._check_sizes(layout, attributes, segments)
        regions: tuple[Block | None, ...] = ()
        if layout.regions:
            self._check_region_count(layout)
            regions = tuple([self._region(region, depth + 1) for region in layout.spec.regions])
        return layout.cls(operands, types, attributes, regions, loc, segments)

    # ------------------------------------------------------------ the head of an instruction

    def _opcode(self, number: int) -> InstructionLayout:
        cursor = self._cursor
        begin = cursor.at
        try:
            opcode = cursor.varint()
            layout = self._layouts.get(opcode)
            if layout is None or layout.spec.placement is not Placement.INSTRUCTION:
                raise self._unknown_opcode(opcode, begin)
        except BytecodeFault as fault:
            raise fault.inside(f"op {number}") from None
        if cursor.trace is not None:
            cursor.trace.heading(begin, op_label(number, layout.name))
            cursor.note(begin, f"opcode: {layout.name}")
        return layout

    def _unknown_opcode(self, opcode: int, begin: int) -> BytecodeFault:
        version = self._tables.version
        if opcode in PREVIEW_OPCODES:
            return self._preview_opcode(opcode, begin)
        greatest = max_opcode(version)
        if opcode > greatest:
            message = f"expected an opcode of at most {greatest:#x} in version {version_text(version)}, got {opcode:#x}"
            return BytecodeFault(faults.GATE, message, begin)
        return BytecodeFault(faults.TAG, f"expected the opcode of an instruction, got {opcode:#x}", begin)

    def _preview_opcode(self, opcode: int, begin: int) -> BytecodeFault:
        if self._tables.preview:
            known = f"{PreviewCall.spec.opcode:#x} ('{PreviewCall.spec.name}')"
            return BytecodeFault(faults.TAG, f"expected {known}, the only preview instruction, got {opcode:#x}", begin)
        message = f"opcode {opcode:#x} is of a preview, which the version tag of the file does not announce"
        return BytecodeFault(faults.GATE, message, begin)

    def _location(self, layout: InstructionLayout, number: int, begin: int) -> Location:
        try:
            found = self._next_location()
        except BytecodeFault as fault:
            raise fault.inside("location") from None
        if found is not None:
            return found
        return BytecodeLoc(self._filename, self._place, begin, number, layout.name)

    def _result_types(self, layout: InstructionLayout) -> list[t.Type]:
        count = self._result_count(layout) if layout.result_count else layout.stored_results
        assert count is not None
        cursor, types = self._cursor, []
        for position in range(count):
            begin, label = cursor.at, layout.result_labels[min(position, len(layout.result_labels) - 1)]
            try:
                type = self._tables.types.read(cursor)
            except BytecodeFault as fault:
                raise fault.inside(label) from None
            types.append(type)
            if cursor.trace is not None:
                cursor.note(begin, f"type of {label}: {shown_type(type)}")
        types += layout.implicit_results
        return types

    def _result_count(self, layout: InstructionLayout) -> int:
        begin = self._cursor.at
        count = self._cursor.count()
        self._cursor.note(begin, f"number of results: {count}")
        if layout.stored_results not in (None, count):
            raise BytecodeFault(faults.FIELD_COUNT, f"expected {layout.stored_results} results, got {count}", begin)
        if layout.stored_results is None and count > self._cursor.left:
            raise BytecodeFault(
                faults.TRUNCATED, f"expected {count} result types, got {self._cursor.left} bytes", begin
            )
        return count

    def _flags(self, layout: InstructionLayout) -> int:
        begin = self._cursor.at
        flags = self._cursor.varint()
        self._cursor.note(begin, f"flags {flags:#b}")
        if flags & layout.newer_flags:
            message = f"flags {flags & layout.newer_flags:#b} need a newer bytecode version than the file has"
            raise BytecodeFault(faults.GATE, message, begin)
        if self._strict and flags & ~layout.known_flags:
            raise BytecodeFault(faults.FLAGS, f"expected no flags but {layout.known_flags:#b}, got {flags:#b}", begin)
        return flags

    # ------------------------------------------------------------ attributes and operands

    def _attributes(self, layout: InstructionLayout, flags: int, types: list[t.Type]) -> dict[str, Any]:
        attributes: dict[str, Any] = {step.attr.name: True for step in layout.units if flags & step.mask}
        for step in layout.attrs:
            if not step.mask or flags & step.mask:
                attributes[step.attr.name] = self._attribute(step, types)
        return attributes

    def _attribute(self, step: AttrStep, types: list[t.Type]) -> object:
        cursor = self._cursor
        begin = cursor.at
        try:
            value = READ_KIND[step.attr.kind](self._tables, cursor, step.attr, types)
        except BytecodeFault as fault:
            raise fault.inside(step.label) from None
        if cursor.trace is not None:
            cursor.note(begin, f"{step.label}: {_shown_value(value)}")
        return value

    def _check_sizes(self, layout: InstructionLayout, attributes: dict[str, Any], segments: tuple[int, ...]) -> None:
        """Hold boolean lists against the operands that they are about, and leave out those that say nothing."""
        for step, position in layout.sized_attrs:
            values, count = attributes[step.attr.name], segments[position]
            if len(values) != count:
                label = layout.operands[position].label
                message = f"expected {count} booleans, one for each value of {label}, got {len(values)}"
                raise BytecodeFault(faults.FIELD_COUNT, message, self._cursor.at).inside(step.label)
            if not any(values):
                del attributes[step.attr.name]

    def _operands(self, layout: InstructionLayout, flags: int) -> tuple[list[Value], tuple[int, ...]]:
        if layout.operand_layout is OperandLayout.FIXED:
            return [self._value(step.label) for step in layout.operands], layout.spec.default_segments(0)
        if layout.operand_layout is OperandLayout.COUNTED:
            return self._counted_operands(layout)
        operands: list[Value] = []
        segments = []
        for step in layout.operands:
            group = self._operand_group(step, flags)
            operands += group
            segments.append(len(group))
        return operands, tuple(segments)

    def _counted_operands(self, layout: InstructionLayout) -> tuple[list[Value], tuple[int, ...]]:
        begin = self._cursor.at
        total = self._cursor.count()
        self._cursor.note(begin, f"number of operands: {total}")
        least, most = layout.least_operands, layout.most_operands
        if total < least or (most is not None and total > most):
            wanted = f"at least {least}" if most is None else str(most) if least == most else f"{least} to {most}"
            raise BytecodeFault(faults.FIELD_COUNT, f"expected {wanted} operands, got {total}", begin)
        segments = layout.spec.default_segments(total)
        operands = []
        for step, size in zip(layout.operands, segments):
            operands += [self._value(step.label) for _ in range(size)]
        return operands, segments

    def _operand_group(self, step: OperandStep, flags: int) -> list[Value]:
        if step.operand.single:
            return [self._value(step.label)]
        if step.operand.optional:
            return [self._value(step.label)] if step.stored and flags & step.mask else []
        begin = self._cursor.at
        size = self._cursor.count()
        self._cursor.note(begin, f"number of values of {step.label}: {size}")
        return [self._value(step.label) for _ in range(size)]

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

    def _check_region_count(self, layout: InstructionLayout) -> None:
        begin = self._cursor.at
        count = self._cursor.count()
        self._cursor.note(begin, f"number of regions: {count}")
        if count != layout.regions:
            raise BytecodeFault(faults.REGION_COUNT, f"expected {layout.regions} regions, got {count}", begin)

    def _region(self, region: RegionField, depth: int) -> Block | None:
        label = f"region '{region.name}'"
        try:
            if not self._has_block(region):
                return None
            block, count = self._block_head(depth)
        except BytecodeFault as fault:
            raise fault.inside(label) from None
        visible = len(self._values)
        self._define(block.args)
        for _ in range(count):
            block.append(self._instruction(depth))
        try:
            self._check_end(block)
        except BytecodeFault as fault:
            raise fault.inside(label) from None
        del self._values[visible:]
        return block

    def _has_block(self, region: RegionField) -> bool:
        begin = self._cursor.at
        count = self._cursor.count()
        self._cursor.note(begin, f"region '{region.name}', number of blocks: {count}")
        if count > 1 or (count == 0 and not region.optional):
            wanted = "at most one block" if region.optional else "one block"
            raise BytecodeFault(faults.BLOCK, f"expected {wanted}, got {count}", begin)
        return count == 1

    def _block_head(self, depth: int) -> tuple[Block, int]:
        """A block with its arguments, and the number of instructions in it."""
        cursor = self._cursor
        begin = cursor.at
        if depth > MAX_NESTING:
            raise BytecodeFault(faults.NESTING, f"expected regions nested at most {MAX_NESTING} deep, got more", begin)
        types = self._tables.types.read_list(cursor)
        if cursor.trace is not None:
            cursor.note(begin, f"block arguments: {', '.join(map(shown_type, types))}")
        begin = cursor.at
        count = cursor.count()
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


def _shown_value(value: object) -> str:
    return value.text if isinstance(value, TextEnum) else shown(value) if isinstance(value, str) else repr(value)
