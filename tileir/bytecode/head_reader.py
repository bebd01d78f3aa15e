"""Read the heads of instructions: opcode, flags, attributes and result types (spec: bytecode-instructions#top).

A head with the bytes of an earlier one says the same again, and is found by its bytes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tileir.bytecode import faults
from tileir.bytecode.attributes import READ_KIND
from tileir.bytecode.faults import BytecodeFault, shown_type
from tileir.bytecode.layout import AttrStep, InstructionLayout, layouts
from tileir.bytecode.tables import TableReaders
from tileir.bytecode.versions import max_opcode
from tileir.bytecode.wire import ByteCursor
from tileir.ir import types as t
from tileir.ir.attributes import TextEnum
from tileir.ir.core import NO_ATTRIBUTES, SharedAttributes
from tileir.ir.escaping import shown
from tileir.ir.loc import op_label
from tileir.ir.spec import PREVIEW_OPCODES, Placement
from tileir.ir.versions import version_text
from tileir.ops.calls import PreviewCall

_MOST_KEPT = 1 << 13
_LONGEST_KEPT = 64
"""The number of heads that are kept, and the bytes in one: files can be hostile."""


class InstructionHead(NamedTuple):
    """The head of an instruction, in front of its operands; instructions of the same bytes share it."""

    layout: InstructionLayout
    types: list[t.Type]
    flags: int
    attributes: dict[str, Any]


class HeadReader:
    """Reads the heads of the instructions of one file; with `strict`, unknown flags are errors."""

    def __init__(self, tables: TableReaders, strict: bool) -> None:
        self._tables = tables
        self._strict = strict
        self._layouts = layouts(tables.version, tables.preview)
        self._kept: dict[bytes, InstructionHead] = {}
        self._sizes = [0] * 256

    def known(self, cursor: ByteCursor) -> InstructionHead | None:
        """Return the head at `cursor` if one of the same bytes was read before; else nothing is read.

        Bytes as many as the latest head with this first byte had are looked up. What was decoded from exactly these
        bytes follows from them alone, so no other head begins with them.
        """
        begin, data = cursor.at, cursor.data
        if begin >= cursor.end:
            return None
        end = begin + self._sizes[data[begin]]
        head = self._kept.get(data[begin:end])
        if head is not None and end <= cursor.end:
            cursor.at = end
            return head
        return None

    def layout(self, cursor: ByteCursor, number: int) -> InstructionLayout:
        """Read the opcode of instruction `number`."""
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

    def read(self, cursor: ByteCursor, layout: InstructionLayout, begin: int) -> InstructionHead:
        """Read the rest of a head whose opcode stands at the offset `begin`."""
        types = self._result_types(cursor, layout)
        flags = self._flags(cursor, layout) if layout.has_flags else 0
        attributes = self._attributes(cursor, layout, flags, types)
        head = InstructionHead(layout, types, flags, SharedAttributes(attributes) if attributes else NO_ATTRIBUTES)
        return head if cursor.trace is not None else self._keep(head, cursor.data, begin, cursor.at)

    def _keep(self, head: InstructionHead, data: bytes, begin: int, end: int) -> InstructionHead:
        """Keep a head for the next one like it; the one to use, if there is one already."""
        if end - begin > _LONGEST_KEPT:
            return head
        self._sizes[data[begin]] = end - begin
        if len(self._kept) < _MOST_KEPT:
            return self._kept.setdefault(data[begin:end], head)
        return self._kept.get(data[begin:end], head)

    # ------------------------------------------------------------ opcodes

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

    # ------------------------------------------------------------ result types, flags, attributes

    def _result_types(self, cursor: ByteCursor, layout: InstructionLayout) -> list[t.Type]:
        count = self._result_count(cursor, layout) if layout.result_count else layout.stored_results
        assert count is not None
        types = []
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

    def _result_count(self, cursor: ByteCursor, layout: InstructionLayout) -> int:
        begin = cursor.at
        count = cursor.count()
        cursor.note(begin, f"number of results: {count}")
        if layout.stored_results not in (None, count):
            raise BytecodeFault(faults.FIELD_COUNT, f"expected {layout.stored_results} results, got {count}", begin)
        if layout.stored_results is None and count > cursor.left:
            raise BytecodeFault(faults.TRUNCATED, f"expected {count} result types, got {cursor.left} bytes", begin)
        return count

    def _flags(self, cursor: ByteCursor, layout: InstructionLayout) -> int:
        begin = cursor.at
        flags = cursor.varint()
        cursor.note(begin, f"flags {flags:#b}")
        if flags & layout.newer_flags:
            message = f"flags {flags & layout.newer_flags:#b} need a newer bytecode version than the file has"
            raise BytecodeFault(faults.GATE, message, begin)
        if self._strict and flags & ~layout.known_flags:
            raise BytecodeFault(faults.FLAGS, f"expected no flags but {layout.known_flags:#b}, got {flags:#b}", begin)
        return flags

    def _attributes(
        self, cursor: ByteCursor, layout: InstructionLayout, flags: int, types: list[t.Type]
    ) -> dict[str, Any]:
        attributes: dict[str, Any] = {step.attr.name: True for step in layout.units if flags & step.mask}
        for step in layout.attrs:
            if not step.mask or flags & step.mask:
                attributes[step.attr.name] = self._attribute(cursor, step, types)
        return attributes

    def _attribute(self, cursor: ByteCursor, step: AttrStep, types: list[t.Type]) -> object:
        begin = cursor.at
        try:
            value = READ_KIND[step.attr.kind](self._tables, cursor, step.attr, types)
        except BytecodeFault as fault:
            raise fault.inside(step.label) from None
        if cursor.trace is not None:
            cursor.note(begin, f"{step.label}: {_shown_value(value)}")
        return value


def _shown_value(value: object) -> str:
    return value.text if isinstance(value, TextEnum) else shown(value) if isinstance(value, str) else repr(value)
