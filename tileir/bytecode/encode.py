"""Writing a bytecode file (spec: bytecode-errors#writer).

Not kept: the name of the module, the order between globals and entries, attributes that no declaration knows, and
locations without a debug scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tileir.bytecode import faults
from tileir.bytecode.attributes import write_tagged
from tileir.bytecode.debug import DebugWriter
from tileir.bytecode.decode import ALWAYS_HINTS_SINCE, GLOBAL_FIELDS_SINCE, HAS_HINTS, KERNEL
from tileir.bytecode.faults import BytecodeFault, inside, shown_type
from tileir.bytecode.instruction_writer import BodyWriter, check_terminated, held
from tileir.bytecode.sections import ALIGNMENT, Section, write_file
from tileir.bytecode.tables import TableWriters
from tileir.bytecode.types import TypeWriter
from tileir.bytecode.versions import lowest_version, needs, parse_version
from tileir.bytecode.wire import Sink
from tileir.ir.attributes import ArrayAttr, DictAttr, OptimizationHints
from tileir.ir.core import Module, Op
from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.ir.spec import Placement
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
