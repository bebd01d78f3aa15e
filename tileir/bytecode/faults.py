"""Faults of bytecode: the codes, one per category, and the exception that gathers the path to the faulty field."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tileir.ir.core import Op
from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.ir.loc import UNKNOWN, BytecodeLoc, op_label
from tileir.ir.types import FunctionType, Type

MAGIC = "E0901"
TRUNCATED = "E0902"
VARINT = "E0903"
VERSION = "E0904"
SECTION_ID = "E0905"
END = "E0906"
SECTION_LENGTH = "E0907"
ALIGNMENT = "E0908"
SECTION_MISSING = "E0909"
DUPLICATE = "E0910"
COUNT = "E0911"
LIMIT = "E0912"
OFFSET = "E0913"
INDEX = "E0914"
TAG = "E0915"
GATE = "E0916"
ENUM = "E0917"
FLAGS = "E0918"
RANGE = "E0919"
KIND = "E0920"
CONST_SIZE = "E0921"
EMPTY_NAME = "E0922"
NOT_ENTRY = "E0923"
RECURSION = "E0924"
TYPE_VERIFY = "E0925"
REGION_COUNT = "E0926"
BLOCK = "E0927"
FIELD_COUNT = "E0928"
LOC = "E0929"
DEBUG_INFO = "E0930"
NESTING = "E0931"

NOT_SELF_CONTAINED = "E0950"
WRITE_GATE = "E0951"
WRITE_LOC = "E0952"
WRITE_VERSION = "E0953"
WRITE_ATTR = "E0954"
NO_BYTECODE = "E0955"
MALFORMED = "E0956"
ENTRY_ARGUMENT = "E0957"

MAX_NESTING = 128
"""Deepest nesting of regions, attributes and locations that is read or written."""
_SHOWN_TYPE = 200
_SHOWN_PARTS = 16


class BytecodeFault(Exception):
    """One fault: `code` is the category, `offset` counts bytes from the start of the file (None when writing)."""

    def __init__(self, code: str, message: str, offset: int | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.offset = offset
        self.hint = hint
        self._path: list[str] = []
        self._has_op = False

    def inside(self, part: str) -> BytecodeFault:
        """Name the part of the file around what has been named so far."""
        self._path.append(part)
        return self

    def inside_op(self, number: int, name: str) -> BytecodeFault:
        """Name the operation; of nested ones only the innermost is named, by its number in the function."""
        if not self._has_op:
            self._has_op = True
            self._path.append(op_label(number, name))
        return self

    @property
    def path(self) -> str:
        return ", ".join(reversed(self._path)) or "file"

    def reading_error(self, filename: str) -> DiagnosticError:
        loc = BytecodeLoc.at(filename, self.path, self.offset or 0)
        return DiagnosticError([Diagnostic(self.code, self.message, loc, hint=self.hint)])

    def writing_error(self, op: Op | None) -> DiagnosticError:
        prefix = ", ".join(([] if op is None else [f"'{op.spec.name}'"]) + self._path[::-1])
        message = f"{prefix}: {self.message}" if prefix else self.message
        loc, name = (UNKNOWN, None) if op is None else (op.loc, op.spec.name)
        return DiagnosticError([Diagnostic(self.code, message, loc, hint=self.hint, op=name)])


@contextmanager
def inside(part: str) -> Iterator[None]:
    """Add `part` to the path of a fault raised within."""
    try:
        yield
    except BytecodeFault as fault:
        raise fault.inside(part) from None


def shown_type(type: Type) -> str:
    """Return a type as messages show it, not too long."""
    text = f"({_few(type.inputs)}) -> ({_few(type.results)})" if isinstance(type, FunctionType) else repr(type)
    return text if len(text) <= _SHOWN_TYPE else text[:_SHOWN_TYPE] + "..."


def _few(types: tuple[Type, ...]) -> str:
    """Return a few of the types: signatures may hold any number of long types, so only those that will be shown are
    spelled."""
    return ", ".join(map(repr, types[:_SHOWN_PARTS])) + (", ..." if len(types) > _SHOWN_PARTS else "")
