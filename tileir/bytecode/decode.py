"""Reading a bytecode file: producer, globals, functions (spec: bytecode-errors#reader)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tileir.bytecode import faults
from tileir.bytecode.attributes import read_case, read_hints, read_tagged
from tileir.bytecode.debug import DebugReader
from tileir.bytecode.faults import MAX_NESTING, BytecodeFault, inside, shown_type
from tileir.bytecode.head_reader import HeadReader
from tileir.bytecode.layout import InstructionLayout, OperandStep
from tileir.bytecode.sections import Section, read_file
from tileir.bytecode.tables import ConstantReader, StringReader, TableReaders
from tileir.bytecode.types import TypeReader
from tileir.bytecode.wire import ByteCursor, Trace, signed
from tileir.ir import types as t
from tileir.ir.attributes import ArrayAttr, OptimizationHints, Visibility
from tileir.ir.core import Block, Module, Op, Value, without_collection
from tileir.ir.escaping import shown
from tileir.ir.fields import RegionField
from tileir.ir.loc import UNKNOWN, BytecodeLoc, BytecodePart, Location
from tileir.ir.spec import OperandLayout
from tileir.ir.versions import version_key
from tileir.ops.module import Entry, Global, ModuleOp

MODULE_NAME = "kernels"
"""Files do not hold the name of the module."""

PRIVATE, KERNEL, HAS_HINTS, EXTERNAL = 1, 2, 4, 4
"""Bits of the flags of a function entry; from 13.5 on hints are always there and bit 2 is for code from elsewhere."""
GLOBAL_FIELDS_SINCE = version_key("13.3")
"""First version whose globals hold visibility and constancy."""
FLAGS_CHECKED_SINCE = version_key("13.4")
ARGUMENTS_PER_BYTE, FREE_ARGUMENTS = 8, 1 << 16
"""Entries with the same signature share its storage, so arguments are limited by the size of the file."""
ALWAYS_HINTS_SINCE = version_key("13.5")
"""First version whose entries always hold hints and argument attributes."""


class FileReader:
    """A file being read by `module`; afterwards its tables can be inspected."""

    def __init__(self, data: bytes, filename: str, strict: bool = False, trace: Trace | None = None) -> None:
        self._filename = filename
        file = read_file(data, strict, trace)
        self._version = file.version
        self._payloads = file.payloads
        self._names: set[str] = set()
        self._arguments = 0
        with inside(Section.STRING.label):
            self.strings = StringReader(file.payloads[Section.STRING])
        with inside(Section.TYPE.label):
            self.types = TypeReader(file.payloads.get(Section.TYPE), file.version)
        with inside(Section.CONSTANT.label):
            self.constants = ConstantReader(file.payloads.get(Section.CONSTANT))
        with inside(Section.DEBUG.label):
            self.debug = DebugReader(file.payloads.get(Section.DEBUG), self.strings, file.version)
        self._tables = TableReaders(file.version, self.strings, self.types, self.constants, file.preview)
        self._heads = HeadReader(self._tables, strict)

    def module(self) -> Module:
        attributes: dict[str, object] = {"sym_name": MODULE_NAME}
        producer = self._producer()
        if producer:
            attributes["producer"] = producer
        body = Block()
        for item in [*self._globals(), *self._functions()]:
            body.append(item)
        return Module(ModuleOp([], [], attributes, (body,), self._place("module", 0)))

    def _place(self, path: str, offset: int) -> Location:
        return BytecodeLoc.at(self._filename, path, offset)

    def _producer(self) -> str:
        cursor = self._payloads.get(Section.PRODUCER)
        if cursor is None:
            return ""
        begin = cursor.at
        with inside(Section.PRODUCER.label):
            producer = self.strings.read(cursor)
        cursor.note(begin, f'producer: "{shown(producer)}"')
        return producer

    def _name(self, cursor: ByteCursor, what: str) -> str:
        """Return the name of a global or function, which must be new."""
        begin = cursor.at
        name = self.strings.read_name(cursor, f"the name of a {what}")
        cursor.note(begin, f"{what} @{shown(name)}")
        if name in self._names:
            raise BytecodeFault(faults.DUPLICATE, f"expected each symbol once, got @{shown(name)} twice", begin)
        self._names.add(name)
        return name

    # ------------------------------------------------------------ globals

    def _globals(self) -> list[Op]:
        cursor = self._payloads.get(Section.GLOBAL)
        if cursor is None:
            return []
        begin = cursor.at
        with inside(Section.GLOBAL.label):
            count = cursor.fitting_count("globals", 4 if self._version < GLOBAL_FIELDS_SINCE else 6)
        cursor.note(begin, f"number of globals: {count}")
        return [self._global(cursor, index) for index in range(count)]

    def _global(self, cursor: ByteCursor, index: int) -> Op:
        begin = cursor.at
        with inside(f"global {index}"):
            name = self._name(cursor, "global")
        place = f"global @{shown(name)}"
        with inside(place):
            attributes = self._global_fields(cursor)
        return Global([], [], {"sym_name": name} | attributes, loc=self._place(place, begin))

    def _global_fields(self, cursor: ByteCursor) -> dict[str, object]:
        begin = cursor.at
        type = self.types.read(cursor)
        cursor.note(begin, f"type: {shown_type(type)}")
        begin = cursor.at
        attributes: dict[str, object] = {"value": self.constants.read(cursor, type)}
        cursor.note(begin, "value")
        begin = cursor.at
        alignment = signed(cursor.varint(), 64)
        cursor.note(begin, f"alignment {alignment}")
        if alignment:
            attributes["alignment"] = alignment
        if self._version >= GLOBAL_FIELDS_SINCE:
            attributes |= self._global_flags(cursor)
        return attributes

    def _global_flags(self, cursor: ByteCursor) -> dict[str, object]:
        begin = cursor.at
        visibility = read_case(cursor, Visibility, self._version)
        constant = cursor.varint() != 0
        cursor.note(begin, f"{visibility.text}, {'constant' if constant else 'not constant'}")
        attributes: dict[str, object] = {}
        if constant:
            attributes["constant"] = True
        if visibility is not Visibility.PUBLIC:
            attributes["symbol_visibility"] = visibility
        return attributes

    # ------------------------------------------------------------ functions

    def _functions(self) -> list[Op]:
        cursor = self._payloads[Section.FUNCTION]
        begin = cursor.at
        with inside(Section.FUNCTION.label):
            count = cursor.fitting_count("functions", 1)
        cursor.note(begin, f"number of functions: {count}")
        return [self._function(cursor, index) for index in range(count)]

    def _function(self, cursor: ByteCursor, index: int) -> Op:
        begin = cursor.at
        if cursor.trace is not None:
            cursor.trace.heading(begin, f"function {index}")
        with inside(f"function {index}"):
            name = self._name(cursor, "function")
        place = f"function @{shown(name)}"
        with inside(place):
            return self._entry(cursor, name, place, begin)

    def _entry(self, cursor: ByteCursor, name: str, place: str, begin: int) -> Op:
        with inside("signature"):
            signature = self._signature(cursor)
        flags = self._entry_flags(cursor)
        at = cursor.at
        with inside("location"):
            next_location = self.debug.locations(cursor)
            loc = (next_location and next_location()) or self._place(place, begin)
        cursor.note(at, "location list")
        attributes: dict[str, object] = {"sym_name": name, "function_type": signature}
        attributes |= self._entry_attributes(cursor, flags)
        at = cursor.at
        length = cursor.varint()
        cursor.note(at, f"body of {length} bytes")
        block = Block(signature.inputs)
        part = BytecodePart(self._filename, place)
        BodyReader(self._tables, self._heads, cursor.sub(length), part, next_location).read(block)
        return Entry([], [], attributes, (block,), loc)

    def _signature(self, cursor: ByteCursor) -> t.FunctionType:
        begin = cursor.at
        signature = self.types.read_signature(cursor)
        cursor.note(begin, f"signature: {shown_type(signature)}")
        self._arguments += len(signature.inputs)
        most = ARGUMENTS_PER_BYTE * len(cursor.data) + FREE_ARGUMENTS
        if self._arguments > most:
            message = f"expected at most {most} arguments of all entries in a file of this size, got {self._arguments}"
            raise BytecodeFault(faults.LIMIT, message, begin)
        return signature

    def _entry_flags(self, cursor: ByteCursor) -> int:
        begin = cursor.at
        flags = cursor.byte()
        cursor.note(begin, f"flags {flags:#b}")
        known = PRIVATE | KERNEL | (0 if self._version >= ALWAYS_HINTS_SINCE else HAS_HINTS)
        if self._version >= FLAGS_CHECKED_SINCE and flags & ~known:
            message, hint = f"expected no function flags but {known:#b}, got {flags:#b}", self._library_hint(flags)
            raise BytecodeFault(faults.FLAGS, message, begin, hint)
        if not flags & KERNEL:
            message, hint = f"expected a kernel (flag {KERNEL:#b}), got flags {flags:#b}", self._library_hint(flags)
            raise BytecodeFault(faults.NOT_ENTRY, message, begin, hint)
        if flags & PRIVATE:
            raise BytecodeFault(faults.FLAGS, "expected a public kernel, got a private one", begin)
        return flags

    def _library_hint(self, flags: int) -> str | None:
        """Return a hint about a preview function, which cannot be run here; None for others."""
        if not self._tables.preview or flags & KERNEL:
            return None
        name = "preview$extern_impl" if flags & EXTERNAL else "preview$func"
        return f"'{name}' stands in libraries of code for a GPU, which are linked in; kernels call it by its name"

    def _entry_attributes(self, cursor: ByteCursor, flags: int) -> dict[str, object]:
        attributes: dict[str, object] = {}
        hints = self._entry_hints(cursor, flags)
        if hints:
            attributes["optimization_hints"] = hints
        if self._version >= ALWAYS_HINTS_SINCE:
            begin = cursor.at
            with inside("argument attributes"):
                arg_attrs = read_tagged(self._tables, cursor)
            cursor.note(begin, "argument attributes")
            if isinstance(arg_attrs, ArrayAttr) and arg_attrs.items:
                attributes["arg_attrs"] = arg_attrs
        return attributes

    def _entry_hints(self, cursor: ByteCursor, flags: int) -> OptimizationHints | None:
        if self._version < ALWAYS_HINTS_SINCE and not flags & HAS_HINTS:
            return None
        begin = cursor.at
        with inside("optimization hints"):
            hints = read_hints(self._tables, cursor)
        cursor.note(begin, "optimization hints")
        return hints


@without_collection()
def decode(data: bytes, filename: str = "<bytes>", *, strict: bool = False) -> Module:
    """Return the module in a bytecode file; it is not verified.

    Operations without debug location say where they stand in the file (`BytecodeLoc`). With `strict`, sections that
    come twice and unknown flags of operations are errors; else the last section counts and the flags mean nothing.

    Raises DiagnosticError naming the path into the file and the byte offset.
    """
    try:
        return FileReader(bytes(data), filename, strict).module()
    except BytecodeFault as fault:
        raise fault.reading_error(filename) from None


# ---------------------------------------------------------------- instructions


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
