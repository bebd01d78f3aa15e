"""Object files as LLVM writes them: the symbols that they take from the process that loads them, and the lines of code.

Symbols are read from ELF, Mach-O (``mach-o/nlist.h``) and COFF (PE format, "COFF symbol table"), lines from ELF with
line number programs of DWARF 4 (chapter 6.2); all of 64 bits and little-endian.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tileir.host import elf

# ---------------------------------------------------------------- symbols


_MACH_O = b"\xcf\xfa\xed\xfe"
_MACH_O_HEADER = 32
_MACH_O_SYMBOLS = 2
_MACH_O_SYMBOL = struct.Struct("<IBBHQ")
_MACH_O_EXTERNAL, _MACH_O_KIND, _MACH_O_DEBUG = 0x01, 0x0E, 0xE0

_COFF_MACHINES = (b"\x64\x86", b"\x64\xaa")
"""x86-64 and AArch64."""
_COFF_SYMBOL = struct.Struct("<8sIhHBB")
_COFF_EXTERNAL = 2


_MARKS = frozenset(("_fltused", "_GLOBAL_OFFSET_TABLE_"))
"""Names that only linkers look at."""


class UnknownObject(Exception):
    """An object file of another format."""


def undefined_symbols(code: bytes) -> list[str]:
    """Return the names, as C spells them, that an object file uses and does not define. Raises `UnknownObject`."""
    if code.startswith(elf.MAGIC):
        return _needed(one.name for one in elf.symbols(list(elf.sections(code))) if one.name and not one.section)
    if code.startswith(_MACH_O):
        # Every name of C has an underscore in front.
        return _needed(name.removeprefix("_") for name in _mach_o(code))
    if code[:2] in _COFF_MACHINES:
        return _needed(_coff(code))
    raise UnknownObject(f"expected an object file in ELF, Mach-O or COFF, got one that begins with {code[:4].hex()}")


def _needed(names: Iterable[str]) -> list[str]:
    return [name for name in names if name not in _MARKS]


def _name(code: bytes, begin: int) -> str:
    return code[begin : code.index(b"\0", begin)].decode()


def _mach_o(code: bytes) -> Iterator[str]:
    (commands,) = struct.unpack_from("<I", code, 16)
    at = _MACH_O_HEADER
    for _ in range(commands):
        kind, size = struct.unpack_from("<II", code, at)
        if kind == _MACH_O_SYMBOLS:
            offset, count, names = struct.unpack_from("<III", code, at + 8)
            for number in range(count):
                name, kinds, _, _, _ = _MACH_O_SYMBOL.unpack_from(code, offset + number * _MACH_O_SYMBOL.size)
                if kinds & _MACH_O_EXTERNAL and not kinds & (_MACH_O_KIND | _MACH_O_DEBUG):
                    yield _name(code, names + name)
        at += size


def _coff(code: bytes) -> Iterator[str]:
    offset, count = struct.unpack_from("<II", code, 8)
    names = offset + count * _COFF_SYMBOL.size
    number = 0
    while number < count:
        name, value, section, _, storage, more = _COFF_SYMBOL.unpack_from(code, offset + number * _COFF_SYMBOL.size)
        if storage == _COFF_EXTERNAL and section == 0 and value == 0:
            zeros, place = struct.unpack("<II", name)
            yield name.rstrip(b"\0").decode() if zeros else _name(code, names + place)
        number += 1 + more


# ---------------------------------------------------------------- lines


class NoLines(Exception):
    """An object file of another kind."""


@dataclass(frozen=True)
class CodeRange:
    """Instructions ``begin <= offset < end`` of a section that come from one line; line 0 is none."""

    begin: int
    end: int
    file: str
    line: int


@dataclass(frozen=True)
class FunctionRange:
    """A function: its symbol, where it begins in its section, and its size."""

    name: str
    begin: int
    size: int


@dataclass
class CodeMap:
    """The functions and lines of one section of code, in the order of their offsets."""

    functions: list[FunctionRange] = field(default_factory=list)
    ranges: list[CodeRange] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The bytes from the begin of the section to the end of its last function."""
        return max((one.begin + one.size for one in self.functions), default=0)

    def at(self, offset: int) -> CodeRange | None:
        """Return the line of the instruction at an offset."""
        found = bisect_right(self.ranges, offset, key=lambda one: one.begin) - 1
        return self.ranges[found] if found >= 0 and offset < self.ranges[found].end else None


_LINES = ".debug_line"


def code_map(code: bytes, symbol: str) -> CodeMap:
    """Return the functions and lines of the section in which `symbol` is. Raises `NoLines`."""
    if not code.startswith(elf.MAGIC):
        raise NoLines(f"expected an object file in ELF, got one that begins with {code[:4].hex()}")
    found = list(elf.sections(code))
    symbols = elf.symbols(found)
    section = next(one.section for one in symbols if one.name == symbol)
    inside = [one for one in symbols if one.section == section]
    functions = [FunctionRange(one.name, one.value, one.size) for one in inside if one.kind == elf.FUNCTION]
    ranges: list[CodeRange] = []
    for number, one in enumerate(found):
        if one.name == _LINES:
            ranges += _Program(one.content, _addresses(found, symbols, number, section)).ranges()
    return CodeMap(sorted(functions, key=lambda one: one.begin), sorted(ranges, key=lambda one: one.begin))


def _addresses(
    sections: Sequence[elf.ElfSection], symbols: Sequence[elf.ElfSymbol], lines: int, code: int
) -> dict[int, int]:
    """Return the addresses in a section of line numbers that lie in one of code, by their place."""
    found = {}
    for table in (one for one in sections if one.kind == elf.RELOCATIONS and one.info == lines):
        for at, info, addend in struct.iter_unpack("<QQq", table.content):
            symbol = symbols[info >> 32]
            if symbol.section == code:
                found[at] = symbol.value + addend
    return found


@dataclass
class _Header:
    """The header of a line number program."""

    instruction: int
    line_base: int
    line_range: int
    operands: tuple[int, ...]
    """The number of operands of each standard opcode, from opcode 1."""
    files: list[str]


class _Program:
    """Line number programs, run one after the other; an address is taken from `addresses` by its place."""

    def __init__(self, data: bytes, addresses: dict[int, int]) -> None:
        self._data, self._addresses, self._at = data, addresses, 0

    def ranges(self) -> Iterator[CodeRange]:
        while self._at < len(self._data):
            begin = self._at
            (length,) = struct.unpack_from("<I", self._data, begin)
            header = self._header()
            yield from self._run(header, begin + 4 + length)
            self._at = begin + 4 + length

    def _header(self) -> _Header:
        version, length = struct.unpack_from("<HI", self._data, self._at + 4)
        if version != 4:
            raise NoLines(f"expected DWARF 4, got version {version}")
        end = self._at + 10 + length
        instruction, _, _, base, span, codes = struct.unpack_from("<BBBbBB", self._data, self._at + 10)
        self._at += 16
        operands = tuple(self._data[self._at : self._at + codes - 1])
        self._at += codes - 1
        folders = [""]
        while (name := self._text()) != "":
            folders.append(name)
        files = [""]
        while (name := self._text()) != "":
            folder, _, _ = self._number(), self._number(), self._number()
            files.append(f"{folders[folder]}/{name}" if folder else name)
        self._at = end
        return _Header(instruction, base, span, operands, files)

    def _text(self) -> str:
        end = self._data.index(b"\0", self._at)
        text = self._data[self._at : end].decode("utf-8", "replace")
        self._at = end + 1
        return text

    def _number(self, signed: bool = False) -> int:
        """Return a number in LEB128."""
        found = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            found |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return found - (1 << shift) if signed and byte & 0x40 else found

    def _run(self, header: _Header, end: int) -> Iterator[CodeRange]:
        """Yield the ranges of a table, whose rows each last until the next."""
        state = _Row()
        last: _Row | None = None
        while self._at < end:
            over = self._step(state, header)
            if over is None:
                continue
            begin = None if last is None else last.address
            if last is not None and begin is not None and state.address is not None and state.address > begin:
                yield CodeRange(begin, state.address, header.files[last.file], last.line)
            last = None if over else _Row(state.address, state.file, state.line)
            if over:
                state = _Row()

    def _step(self, row: _Row, header: _Header) -> bool | None:
        """Run one opcode; gives None if it makes no row, else whether that ends the sequence."""
        code = self._data[self._at]
        self._at += 1
        if code > len(header.operands):
            advance = code - len(header.operands) - 1
            row.move(header.instruction * (advance // header.line_range))
            row.line += header.line_base + advance % header.line_range
            return False
        if code == 0:
            return self._extended(row)
        if code == 1:
            return False
        self._standard(code, row, header)
        return None

    def _extended(self, row: _Row) -> bool | None:
        length = self._number()
        begin = self._at
        code = self._data[begin]
        self._at = begin + length
        if code == 2:
            row.address = self._addresses.get(begin + 1)
        return True if code == 1 else None

    def _standard(self, code: int, row: _Row, header: _Header) -> None:
        if code == 2:
            row.move(header.instruction * self._number())
        elif code == 3:
            row.line += self._number(signed=True)
        elif code == 4:
            row.file = self._number()
        elif code == 8:
            row.move(header.instruction * ((255 - len(header.operands) - 1) // header.line_range))
        elif code == 9:
            (more,) = struct.unpack_from("<H", self._data, self._at)
            self._at += 2
            row.move(more)
        else:
            for _ in range(header.operands[code - 1]):
                self._number()


@dataclass
class _Row:
    """The registers; an address of another section is None."""

    address: int | None = None
    file: int = 1
    line: int = 1

    def move(self, bytes: int) -> None:
        if self.address is not None:
            self.address += bytes
