"""Writing a bytecode file (spec: bytecode-errors#writer).

Not kept: the name of the module, the order between globals and entries, attributes that no declaration knows, and
locations without a debug scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tileir.bytecode import faults
from tileir.bytecode.attributes import HELD, WRITE_KIND, write_tagged
from tileir.bytecode.debug import DebugWriter
from tileir.bytecode.decode import ALWAYS_HINTS_SINCE, GLOBAL_FIELDS_SINCE, HAS_HINTS, KERNEL
from tileir.bytecode.faults import MAX_NESTING, BytecodeFault, inside, shown_type
from tileir.bytecode.layout import InstructionLayout, layout_of
from tileir.bytecode.sections import ALIGNMENT, Section, write_file
from tileir.bytecode.tables import TableWriters
from tileir.bytecode.types import TypeWriter
from tileir.bytecode.versions import lowest_version, needs, parse_version
from tileir.bytecode.wire import Sink
from tileir.ir.attributes import ArrayAttr, DictAttr, OptimizationHints
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.ir.fields import Attr
from tileir.ir.spec import OperandLayout, Placement
from tileir.ir.traits import NO_MEMORY_EFFECT, PURE
from tileir.ir.types import TileType
from tileir.ir.versions import Version, version_key
from tileir.ops.calls import Call, Func
from tileir.ops.module import Entry, Global
from tileir.ops.reduction import Reduce, Scan

PRODUCER_SINCE = version_key("13.3")
TILES_ONLY_SINCE = version_key("13.5")
"""From here on entries take scalar tiles only."""
NO_HINTS = OptimizationHints(DictAttr())


def encode(module: Module, version: str | None = None, *, strict: bool = False) -> bytes:
    """Return the bytecode of a module, which should be verified; `version` None is the lowest that can express it.

    With `strict`, a location that can only be kept in part is an error. Raises DiagnosticError with everything that
    the version cannot express, or that has no bytecode at all.
    """
    wanted = None if version is None else parse_version(version)
    faulty = list(_unwritable(module))
    found = list(needs(module))
    target = lowest_version(found) if wanted is None else wanted
    faulty += [diagnostic for diagnostic in (need.unless(target) for need in found) if diagnostic is not None]
    if target >= TILES_ONLY_SINCE:
        faulty += _passed_by_no_launch(module)
    if faulty:
        raise DiagnosticError(faulty, module.source)
    return _ModuleWriter(target, strict).write(module)


# ---------------------------------------------------------------- what no version can express


_INLINING = "'tileir opt --passes inline' puts functions that return at their end only in the place of their calls"


def _unwritable(module: Module) -> Iterator[Diagnostic]:
    for item in module.items:
        if not isinstance(item, Entry | Global) and item.spec.placement is not Placement.TEXT_ONLY:
            message = f"'{item.spec.name}': expected only entries and globals directly in a module"
            yield Diagnostic(faults.NOT_SELF_CONTAINED, message, item.loc, op=item.spec.name)
    for op in module.walk():
        if op.spec.placement is Placement.TEXT_ONLY:
            message = f"'{op.spec.name}': the operation has no bytecode in any version"
            hint = _INLINING if isinstance(op, Func | Call) else None
            yield Diagnostic(faults.NO_BYTECODE, message, op.loc, hint=hint, op=op.spec.name)
        elif op.spec.placement is not Placement.INSTRUCTION and op.parent_op not in (None, module.op):
            message = f"'{op.spec.name}': expected only instructions inside '{op.parent_op.spec.name}'"
            yield Diagnostic(faults.NOT_SELF_CONTAINED, message, op.loc, op=op.spec.name)
        elif isinstance(op, Reduce | Scan):
            yield from _effects(op)


def _effects(op: Op) -> Iterator[Diagnostic]:
    """Yield operations with effects in the body of a reduction; those with regions count by what is in them.

    The writer of 13.3 asks for pure operations; the tools read whatever is free of memory effects, in every version.
    """
    for inner in op.walk():
        free = {PURE, NO_MEMORY_EFFECT}.intersection(inner.spec.traits) or inner.regions or inner.spec.terminator
        if inner is not op and not free:
            message = f"'{inner.spec.name}': expected only operations without memory effects inside '{op.spec.name}'"
            yield Diagnostic(faults.NOT_SELF_CONTAINED, message, inner.loc, op=inner.spec.name)


def _passed_by_no_launch(module: Module) -> Iterator[Diagnostic]:
    """Yield parameters of entries that are no tiles (spec: module#entry-checks)."""
    for item in module.items:
        for index, type in enumerate(item.function_type.inputs if isinstance(item, Entry) else ()):
            if not isinstance(type, TileType):
                message = f"'entry' argument {index}: expected a scalar tile in version 13.5, got {shown_type(type)}"
                yield Diagnostic(faults.ENTRY_ARGUMENT, message, item.loc, op="entry")


# ---------------------------------------------------------------- module, globals, entries


class _ModuleWriter:
    """A file being written."""

    def __init__(self, version: Version, strict: bool) -> None:
        self._version = version
        self._tables = TableWriters(version, TypeWriter(version))
        self._debug = DebugWriter(self._tables.strings, version, strict)

    def write(self, module: Module) -> bytes:
        """Write every section; tables come last, when everything that refers to them has been written."""
        payloads: dict[Section, bytes | bytearray] = {}
        items = [item for item in module.items if isinstance(item, Global)]
        if items:
            payloads[Section.GLOBAL] = self._counted(items, self._global).data
        functions = self._counted([item for item in module.items if isinstance(item, Entry)], self._entry)
        functions.padding(ALIGNMENT[Section.FUNCTION])
        payloads[Section.FUNCTION] = functions.data
        producer = held_by(module.op, "producer") if module.op.attributes.get("producer") else ""
        if producer and self._version >= PRODUCER_SINCE:
            payloads[Section.PRODUCER] = self._producer(producer)
        preview = any(op.spec.preview for op in module.walk())
        return write_file(self._version, {**payloads, **self._table_payloads()}, preview)

    def _table_payloads(self) -> dict[Section, bytes]:
        payloads = {Section.TYPE: self._tables.types.payload(4), Section.STRING: self._tables.strings.payload(4)}
        if len(self._tables.constants):
            payloads[Section.CONSTANT] = self._tables.constants.payload(8)
        debug = self._debug.payload()
        return payloads if debug is None else payloads | {Section.DEBUG: debug}

    def _producer(self, producer: str) -> bytearray:
        sink = Sink()
        sink.varint(self._tables.strings.number(producer))
        return sink.data

    def _counted(self, items: Sequence[Op], write: Callable[[Sink, Op], None]) -> Sink:
        sink = Sink()
        sink.varint(len(items))
        for item in items:
            try:
                self._name(sink, item)
                write(sink, item)
            except BytecodeFault as fault:
                raise fault.writing_error(item) from None
        return sink

    def _name(self, sink: Sink, item: Op) -> None:
        name = held_by(item, "sym_name")
        if not name:
            raise BytecodeFault(faults.MALFORMED, "expected a name, got an empty string")
        sink.varint(self._tables.strings.number(name))

    def _global(self, sink: Sink, item: Op) -> None:
        value = held_by(item, "value")
        sink.varint(self._tables.types.number(value.type))
        sink.varint(self._tables.constants.number(value))
        sink.pattern(held_by(item, "alignment"), 64)
        if self._version >= GLOBAL_FIELDS_SINCE:
            sink.varint(held_by(item, "symbol_visibility"))
            sink.varint(bool(item.attributes.get("constant")))

    def _entry(self, sink: Sink, item: Op) -> None:
        sink.varint(self._tables.types.number(held_by(item, "function_type")))
        hints = held_by(item, "optimization_hints") if item.attributes.get("optimization_hints") else NO_HINTS
        always = self._version >= ALWAYS_HINTS_SINCE
        sink.byte(KERNEL | (HAS_HINTS if hints and not always else 0))
        number, locations = self._debug.function(item.loc)
        sink.varint(number)
        if hints or always:
            write_tagged(self._tables, sink, hints)
        if always:
            write_tagged(self._tables, sink, item.attributes.get("arg_attrs") or ArrayAttr(()))
        body = self._body(item, locations if number else None)
        sink.varint(len(body))
        sink.data += body

    def _body(self, item: Op, locations: list[int] | None) -> bytearray:
        block = item.regions[0] if item.regions else None
        if block is None:
            raise BytecodeFault(faults.MALFORMED, "expected a body, got none")
        check_terminated(block)
        sink = Sink()
        BodyWriter(self._tables, self._debug, sink, locations).write(block)
        return sink.data


def held_by(op: Op, name: str) -> Any:
    """Return the value of a declared attribute, of the class that its kind has."""
    with inside(f"attribute '{name}'"):
        return held(op, op.spec.attr_index[name])


# ---------------------------------------------------------------- instructions


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
