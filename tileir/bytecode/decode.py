"""Reading a bytecode file: producer, globals, functions (spec: bytecode-errors#reader)."""

from __future__ import annotations

from tileir.bytecode import faults
from tileir.bytecode.attributes import read_case, read_hints, read_tagged
from tileir.bytecode.debug import DebugReader
from tileir.bytecode.faults import BytecodeFault, inside, shown_type
from tileir.bytecode.head_reader import HeadReader
from tileir.bytecode.instruction_reader import BodyReader
from tileir.bytecode.sections import Section, read_file
from tileir.bytecode.tables import ConstantReader, StringReader, TableReaders
from tileir.bytecode.types import TypeReader
from tileir.bytecode.wire import ByteCursor, Trace, signed
from tileir.ir import types as t
from tileir.ir.attributes import ArrayAttr, OptimizationHints, Visibility
from tileir.ir.core import Block, Module, Op
from tileir.ir.escaping import shown
from tileir.ir.gc_pause import without_collection
from tileir.ir.loc import BytecodeLoc, BytecodePart, Location
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
