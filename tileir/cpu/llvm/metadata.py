"""Debug information of native code: which line each instruction comes from.

It is LLVM metadata (https://llvm.org/docs/SourceLevelDebugging.html), in DWARF 4.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.elements import I32
from tileir.ir.core import Op

_WARN, _MAX = 2, 7
"""LLVM's reaction to two modules of different flags: for the version of its metadata, and of DWARF."""
_COLUMNS = 1 << 16


@dataclass(frozen=True)
class CodePlace:
    """A place in a file: line and column count from one, column 0 is none."""

    file: str
    line: int
    column: int = 0


PlaceOf = Callable[[Op], CodePlace | None]


class DebugLines:
    """The debug information of one LLVM module; `name` is what debuggers call its kernel."""

    def __init__(self, module: ir.Module, place_of: PlaceOf, name: str, main: str) -> None:
        self._module, self._place_of, self._name = module, place_of, name
        module.add_named_metadata("llvm.module.flags", [I32(_WARN), "Debug Info Version", I32(3)])
        module.add_named_metadata("llvm.module.flags", [I32(_MAX), "Dwarf Version", I32(4)])
        self._main = main
        self._unit = module.add_debug_info("DICompileUnit", self._unit_fields(main), is_distinct=True)
        module.add_named_metadata("llvm.dbg.cu", self._unit)
        self._subprograms: dict[ir.Function, ir.DIValue] = {}

    def _unit_fields(self, main: str) -> Mapping[str, object]:
        return {
            "language": ir.DIToken("DW_LANG_C99"),
            "file": self._file(main),
            "producer": "tileir",
            "runtimeVersion": 0,
            "isOptimized": True,
            "emissionKind": ir.DIToken("FullDebug"),
        }

    def _file(self, name: str) -> ir.DIValue:
        """Return the file's metadata: LLVM takes names of bytes, as a program may come from a file of any name."""
        folder, base = os.path.split(name)
        return self._module.add_debug_info("DIFile", {"filename": base, "directory": folder})

    def begin(self, function: ir.Function, line: int = 1, file: ir.DIValue | None = None) -> None:
        """Give a function its entry; without one, its instructions have no lines."""
        type = self._module.add_debug_info("DISubroutineType", {"types": self._module.add_metadata([None])})
        made = self._module.add_debug_info(
            "DISubprogram",
            {
                "name": self._name,
                "file": file or self._file(self._main),
                "line": line,
                "type": type,
                "unit": self._unit,
                "spFlags": ir.DIToken("DISPFlagDefinition"),
            },
            is_distinct=True,
        )
        function.set_metadata("dbg", made)
        self._subprograms[function] = made

    def start_of(self, function: ir.Function) -> ir.DIValue:
        """Return the location of code that belongs to no operation."""
        return self._module.add_debug_info("DILocation", {"line": 0, "column": 0, "scope": self._subprograms[function]})

    def location(self, op: Op, function: ir.Function) -> ir.DIValue | None:
        """Return the location of an operation's instructions in a function; None for one without a line."""
        place = self._place_of(op)
        return None if place is None else self._at(place, function)

    def _at(self, place: CodePlace, function: ir.Function) -> ir.DIValue:
        scope = self._subprograms[function]
        if place.file != self._main:
            fields = {"scope": scope, "file": self._file(place.file), "discriminator": 0}
            scope = self._module.add_debug_info("DILexicalBlockFile", fields, is_distinct=False)
        column = place.column if place.column < _COLUMNS else 0
        return self._module.add_debug_info("DILocation", {"line": place.line, "column": column, "scope": scope})

    def begin_shared(self, function: ir.Function, outer: ir.DIValue) -> ir.DIValue:
        """Give a function that one operation calls that operation's line; `outer` is its location in the caller."""
        fields = dict(outer.operands)
        line = fields["line"]
        self.begin(function, line, dict(fields["scope"].operands)["file"])
        scope = self._subprograms[function]
        return self._module.add_debug_info("DILocation", {"line": line, "column": 0, "scope": scope})
