"""Programs as bytecode for users, and as values that travel to other processes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tileir.bytecode import decode, encode, is_bytecode
from tileir.bytecode.versions import lowest_version as lowest_expressing
from tileir.bytecode.versions import needs
from tileir.ir.core import Block, Module, Op
from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.loc import Location, Source
from tileir.ir.versions import VERSIONS, version_text
from tileir.text.parser import parse
from tileir.text.printer import to_text
from tileir.verify import verify


def to_bytecode(module: Module, version: str | None = None, *, strict: bool = False) -> bytes:
    """Write a program, which should be valid, as bytecode.

    Parameters
    ----------
    module : Module
        The program.
    version : str or None
        ``"13.1"`` to ``"13.5"``; None is the lowest that can express the program and whose rules it keeps.
    strict : bool
        Whether a location that can only be kept in part is an error.

    Returns
    -------
    bytes
        The content of a bytecode file.

    Raises
    ------
    DiagnosticError
        With everything that the version cannot express, or that has no bytecode at all.
    TypeError
        For what is no module.
    """
    Module.required(module)
    return encode(module, version or lowest_version(module), strict=strict)


def lowest_version(module: Module) -> str:
    """Return the lowest version that can express `module` and whose rules it keeps; of an invalid one, the first of
    these."""
    lowest = version_text(lowest_expressing(needs(module)))
    candidates = VERSIONS[VERSIONS.index(lowest) :]
    return next((version for version in candidates if verify(module, version).ok), lowest)


# ---------------------------------------------------------------- pickling


@dataclass(frozen=True)
class _Item:
    """The parts of an entry or a global that bytecode leaves out: places of its operations, and arguments of its
    blocks."""

    name: str
    places: list[Location]
    arguments: list[tuple[tuple[str, ...], tuple[Location, ...]]]


@dataclass(frozen=True)
class Surroundings:
    """The parts of a module that bytecode leaves out; its items in their order."""

    name: str | None
    place: Location
    source: Source | None
    items: list[_Item]


def packed(module: Module) -> tuple[bytes, Surroundings]:
    """Return a module as plain data. Attributes that no declaration knows are left behind."""
    try:
        content = encode(module)
    except DiagnosticError:
        content = to_text(module).encode("utf-8", "surrogatepass")
    name = module.op.attributes.get("sym_name")
    return content, Surroundings(name, module.op.loc, module.source, [_left_out(item) for item in module.items])


def unpacked(content: bytes, around: Surroundings) -> Module:
    """Return the module that `packed` made plain data of."""
    module = decode(content) if is_bytecode(content) else parse(content.decode("utf-8", "surrogatepass"))
    module.source, module.op.loc = around.source, around.place
    module.op.attributes.pop("sym_name", None)
    if around.name is not None:
        module.op.attributes["sym_name"] = around.name
    found: dict[str, list[Op]] = defaultdict(list)
    for item in module.items:
        found[_name(item)].append(item)
    module.items[:] = [found[left.name].pop(0) for left in around.items]
    for item, left in zip(module.items, around.items, strict=True):
        for op, place in zip(item.walk(), left.places, strict=True):
            op.loc = place
        for block, (names, places) in zip(_blocks(item), left.arguments, strict=True):
            block.arg_names, block.arg_locs = names, places
    return module


def _left_out(item: Op) -> _Item:
    places = [op.loc for op in item.walk()]
    return _Item(_name(item), places, [(block.arg_names, block.arg_locs) for block in _blocks(item)])


def _name(item: Op) -> str:
    return str(item.attributes["sym_name"])


def _blocks(item: Op) -> Iterator[Block]:
    return (block for op in item.walk() for block in op.regions if block is not None)
