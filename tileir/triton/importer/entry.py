"""Kernels as entries of a module."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.core import Block, Value
from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.ir.loc import NameLoc, Source
from tileir.ir.types import FunctionType
from tileir.ops.control import Return
from tileir.ops.module import TRITON, Entry, ModuleOp
from tileir.ops.views import MakeTensorView
from tileir.triton.importer.blocks import import_body
from tileir.triton.importer.building import TileBuilder
from tileir.triton.importer.faults import ImportFault
from tileir.triton.importer.importing import Imported, Importing, Unavailable, promised
from tileir.triton.importer.reader import read
from tileir.triton.importer.rules import RULES
from tileir.triton.importer.syntax import MlirArgument, MlirDescriptor, MlirFunction
from tileir.triton.importer.types import flat_types

_FUNCTION = re.compile(r'^\s*"?tt\.func\b', re.MULTILINE)
MAX_FAULTS = 100
"""More are not reported."""


def is_ttir(text: str) -> bool:
    """Return whether a text is TTIR, or meant to be: it has a function of Triton."""
    return _FUNCTION.search(text) is not None


def imported(text: str, filename: str, first_line: int = 1) -> core.Module:
    """Return the program of a TTIR text: an entry for each public function. Raises `DiagnosticError`."""
    source = Source(filename, text, first_line)
    functions = read(source)
    faults: list[Diagnostic] = []
    items = Block()
    by_name = {function.symbol: function for function in functions}
    for function in functions:
        if function.public:
            importing = Importing(source, RULES, by_name, TileBuilder(Block()), faults)
            items.append(_entry(importing, function))
    if faults:
        raise DiagnosticError(faults[:MAX_FAULTS], source)
    has_views = any(isinstance(op, MakeTensorView) for item in items.ops for op in item.walk())
    return core.Module(ModuleOp.build(sym_name="triton", producer=TRITON if has_views else None, body=items))


def _entry(importing: Importing, function: MlirFunction) -> Entry:
    expected = _parameters(function)
    body = importing.build.block = Block([parameter.type for parameter in expected])
    body.arg_names = tuple(f"%{parameter.name}" for parameter in expected)
    importing.build.loc = function.loc
    importing.scopes[0].update(_arguments(importing, function, body.args))
    try:
        import_body(importing, function.regions[0], lambda _: importing.build.insert(Return))
    except Unavailable:
        assert importing.faults, "what is not there has been noted"
    except ImportFault as fault:
        importing.faults.append(fault.diagnostic(function.loc))
    signature = FunctionType([argument.type for argument in body.args])
    return Entry.build(sym_name=function.symbol, function_type=signature, body=body, loc=function.loc)


# ------------------------------------------------------------ parameters


@dataclass(frozen=True)
class KernelParameter:
    """A parameter of an entry; `argument` is the one of the kernel that it carries, by its position."""

    name: str
    type: t.TileType
    argument: int


def _parameters(function: MlirFunction) -> list[KernelParameter]:
    """Return a parameter for each argument, in order: a descriptor is given as the address of its first element.

    Triton's front end gives the extents (i32) and strides (i64) of a descriptor as the arguments behind it; where they
    are not there, parameters are added.
    """
    made: list[KernelParameter] = []
    for index, argument in enumerate(function.arguments):
        name, types = _name(argument), flat_types(argument.type)
        made.append(KernelParameter(name, types[0], index))
        if isinstance(argument.type, MlirDescriptor) and not _has_layout(function, index):
            rank = len(argument.type.shape)
            words = [f"{word}.{axis}" for word in ("shape", "stride") for axis in range(rank)]
            made += [KernelParameter(f"{name}.{word}", type, index) for word, type in zip(words, types[1:])]
    return made


def _has_layout(function: MlirFunction, index: int) -> bool:
    """Return whether the extents and strides of the descriptor argument at `index` follow it as arguments."""
    expected = flat_types(function.arguments[index].type)[1:]
    behind = function.arguments[index + 1 : index + 1 + len(expected)]
    return [flat_types(argument.type) for argument in behind] == [[type] for type in expected]


def _name(argument: MlirArgument) -> str:
    """Return the name in Python, where it is known. Names may be repeated, as those of Triton's places are."""
    loc = argument.loc
    if _NUMBERED.fullmatch(argument.name) and isinstance(loc, NameLoc) and loc.name.isidentifier():
        return loc.name
    return argument.name.removeprefix("%")


def _arguments(importing: Importing, function: MlirFunction, values: Sequence[Value]) -> dict[str, Imported]:
    """Return the arguments of a kernel by name, as what the parameters give."""
    found: dict[str, Imported] = {}
    position = 0
    for index, argument in enumerate(function.arguments):
        parts = list(values[position : position + len(flat_types(argument.type))])
        parts[0] = promised(importing.build, parts[0], argument.attributes)
        found[argument.name] = importing.rebuilt(argument.type, parts)
        position += 1 if _has_layout(function, index) else len(parts)
    return found


_NUMBERED = re.compile(r"%(?:arg)?\d+")
