"""Writing the body of a function: instructions, regions and value numbers (spec: bytecode-instructions#format)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tileir.bytecode import faults
from tileir.bytecode.attributes import HELD, WRITE_KIND
from tileir.bytecode.debug import DebugWriter
from tileir.bytecode.faults import MAX_NESTING, BytecodeFault
from tileir.bytecode.layout import InstructionLayout, layout_of
from tileir.bytecode.tables import TableWriters
from tileir.bytecode.wire import Sink
from tileir.ir.core import Block, Op, Value
from tileir.ir.fields import Attr
from tileir.ir.spec import OperandLayout


class BodyWriter:
    """Writes the operations of a function to `sink`, and their locations to `locations` (None: they are lost)."""

    def __init__(self, tables: TableWriters, debug: DebugWriter, sink: Sink, locations: list[int] | None) -> None:
        self._tables = tables
        self._debug = debug
        self._sink = sink
        self._locations = locations
        self._numbers: dict[Value, int] = {}
        self._visible = 0

    def write(self, block: Block) -> None:
        """Write the block of an entry; its arguments are the first values."""
        self._define(block.args)
        for op in block.ops:
            self._instruction(op, 0)

    def _define(self, values: Sequence[Value]) -> None:
        for value in values:
            self._numbers[value] = self._visible
            self._visible += 1

    def _instruction(self, op: Op, depth: int) -> None:
        layout = layout_of(op.spec, self._tables.version)
        try:
            if self._locations is not None:
                self._locations.append(self._debug.number(op.loc))
            self._sink.varint(layout.opcode)
            results = self._results(op, layout)
            flags = self._flags(op, layout) if layout.has_flags else 0
            self._attributes(op, layout, flags)
            self._operands(op, layout)
            if layout.regions:
                self._regions(op, layout, depth + 1)
        except BytecodeFault as fault:
            raise fault.writing_error(op) from None
        self._define(results)

    def _results(self, op: Op, layout: InstructionLayout) -> tuple[Value, ...]:
        """Write the types of the results; gives those that are visible afterwards."""
        results = op.results
        count = len(results) - len(layout.implicit_results)
        if layout.stored_results not in (None, count):
            raise BytecodeFault(faults.MALFORMED, f"expected {len(layout.spec.results)} results, got {len(results)}")
        if layout.result_count:
            self._sink.varint(count)
        stored = results[:count]
        for result in stored:
            self._sink.varint(self._tables.types.number(result.type))
        return stored

    def _flags(self, op: Op, layout: InstructionLayout) -> int:
        flags = 0
        for bit in layout.flag_bits:
            field = bit.field
            if isinstance(field, Attr):
                value = op.attributes.get(field.name)
                # By identity: an enumeration case whose number is 0 equals False.
                present = value is not None and value is not False
            else:
                present = op.segments[field.position] > 0
            flags |= present << bit.bit
        self._sink.varint(flags)
        return flags

    # ------------------------------------------------------------ attributes and operands

    def _attributes(self, op: Op, layout: InstructionLayout, flags: int) -> None:
        sizes = {step.attr.name: op.segments[position] for step, position in layout.sized_attrs}
        for step in layout.attrs:
            if step.mask and not flags & step.mask:
                continue
            try:
                value = held(op, step.attr)
                if step.attr.name in sizes:
                    value = _sized(value, sizes[step.attr.name])
                WRITE_KIND[step.attr.kind](self._tables, self._sink, value)
            except BytecodeFault as fault:
                raise fault.inside(step.label) from None

    def _operands(self, op: Op, layout: InstructionLayout) -> None:
        self._check_operands(op, layout)
        if layout.operand_layout is OperandLayout.COUNTED:
            self._sink.varint(len(op.operands))
        if layout.operand_layout is not OperandLayout.SEGMENTS:
            for value in op.operands:
                self._sink.varint(self._number(value))
            return
        for step in layout.operands:
            group = op.operand_group(step.operand.position)
            if step.operand.variadic:
                self._sink.varint(len(group))
            for value in group if step.stored else ():
                self._sink.varint(self._number(value))

    @staticmethod
    def _check_operands(op: Op, layout: InstructionLayout) -> None:
        """Check that operand groups are as declared, without which the file could not be read."""
        sizes = op.segments
        fits = len(sizes) == len(layout.operands) and sum(sizes) == len(op.operands)
        for step, size in zip(layout.operands, sizes):
            fits = fits and (size == 1 if step.operand.single else step.operand.variadic or size <= 1)
        if not fits:
            raise BytecodeFault(faults.MALFORMED, f"expected the declared operands, got groups of {list(sizes)}")

    def _number(self, value: Value) -> int:
        number = self._numbers.get(value)
        if number is None:
            raise BytecodeFault(faults.MALFORMED, "expected operands that are defined before and visible here")
        return number

    # ------------------------------------------------------------ regions

    def _regions(self, op: Op, layout: InstructionLayout, depth: int) -> None:
        if depth > MAX_NESTING:
            raise BytecodeFault(faults.NESTING, f"expected regions nested at most {MAX_NESTING} deep, got more")
        if len(op.regions) != layout.regions:
            raise BytecodeFault(faults.MALFORMED, f"expected {layout.regions} regions, got {len(op.regions)}")
        self._sink.varint(layout.regions)
        for region, block in zip(layout.spec.regions, op.regions):
            if block is not None:
                self._block(block, depth)
            elif region.optional:
                self._sink.varint(0)
            else:
                raise BytecodeFault(faults.MALFORMED, f"expected a block in region '{region.name}', got none")

    def _block(self, block: Block, depth: int) -> None:
        """Write a region of one block; the values in it are not visible afterwards."""
        visible = self._visible
        check_terminated(block)
        self._sink.varint(1)
        self._tables.types.write_list(self._sink, [argument.type for argument in block.args])
        self._sink.varint(len(block.ops))
        self._define(block.args)
        for op in block.ops:
            self._instruction(op, depth)
        self._forget(block)
        self._visible = visible

    def _forget(self, block: Block) -> None:
        for values in (block.args, *(op.results for op in block.ops)):
            for value in values:
                self._numbers.pop(value, None)


def held(op: Op, attr: Attr) -> Any:
    """Return the value of an attribute that is always written; anything but a value of its kind is a fault."""
    value = op.attributes.get(attr.name, attr.default)
    wanted = attr.enum or HELD[attr.kind]
    if not isinstance(value, wanted):
        got = "nothing" if attr.required and attr.name not in op.attributes else type(value).__name__
        raise BytecodeFault(faults.MALFORMED, f"expected a value of {wanted.__name__}, got {got}")
    return value


def check_terminated(block: Block) -> None:
    """Check that every region has a terminator, as files hold no implicit ones."""
    if block.terminator is None:
        got = f"'{block.ops[-1].spec.name}'" if block.ops else "an empty block"
        raise BytecodeFault(faults.MALFORMED, f"expected a block that ends with a terminator, got {got}")


def _sized(values: tuple[bool, ...], count: int) -> tuple[bool, ...]:
    """Return one boolean per operand; an attribute that is left out is all false."""
    if values and len(values) != count:
        raise BytecodeFault(faults.MALFORMED, f"expected {count} booleans, got {len(values)}")
    return values or (False,) * count
