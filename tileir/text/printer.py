"""Canonical text of a module (specification 8): the way out of `tileir.text`.

Knows: the three forms, what stands around the operations, and which operation is written by which part.
Does not know: how one operation is written (`text.format_text`, `text.structured_text`, `text.generic_text`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tileir.ir.core import Module, Op
from tileir.ir.declare import NEWEST
from tileir.ir.loc import UNKNOWN, Location
from tileir.ops.module import Global
from tileir.text.attribute_text import disassembled_hints_text, hints_text
from tileir.text.fits import can_be_written, fits
from tileir.text.format_text import write_formatted
from tileir.text.generic_text import write_generic
from tileir.text.location_text import Keep, LocationText, stored, written
from tileir.text.naming import name_values
from tileir.text.structured_text import rules, shown_operations
from tileir.text.writer import Writer


def to_text(module: Module, *, form: str = "module", debug: bool = False, level: str = NEWEST) -> str:
    """The text of `module`, ending in one newline.

    `form` is ``"module"`` (``cuda_tile.module @name { ... }``), ``"disassembly"`` (the items alone, globals first, as
    the vendor's disassembler writes the module's bytecode) or ``"generic"`` (MLIR's generic form). `debug` adds the
    location of every operation and the aliases they use. `level` is the language version whose spellings are used.
    Raises ValueError for another form.
    """
    if form not in FORMS:
        raise ValueError(f"expected form to be one of {', '.join(FORMS)}, got '{form}'")
    items = _disassembled(module) if form == "disassembly" else [module.op]
    places = dict(_places(items, form)) if debug else {}
    locations = LocationText(places.values()) if debug else None
    names = name_values(module.op, hinted=form != "generic")
    hints = disassembled_hints_text if form == "disassembly" else hints_text
    writer = Writer(names, _WRITERS[form], level, places, locations, hints)
    writer.operations(items, "")
    definitions = [] if locations is None else locations.definitions()
    producer = _producer_lines(module) if form == "disassembly" else []
    lines = [*producer, *writer.lines, *definitions]
    return "\n".join([*lines, ""]) or "\n"


def items_text(module: Module, items: Iterable[Op]) -> str:
    """Some items of `module` in MLIR's generic form: equal texts mean equal items, but for locations."""
    writer = Writer(name_values(module.op, hinted=False), write_generic, NEWEST, {}, None, hints_text)
    writer.operations(list(items), "")
    return "\n".join(writer.lines)


def write_custom(writer: Writer, op: Op, indent: str) -> None:
    """Add an operation in its own syntax, or in the generic form if that cannot say all of it."""
    write = rules.get(type(op), write_formatted) if fits(op) else write_generic
    write(writer, op, indent)


def write_disassembled(writer: Writer, op: Op, indent: str) -> None:
    """Add an operation as the vendor's disassembler writes it."""
    write = rules.get(type(op), write_formatted) if can_be_written(op) else write_generic
    write(writer, op, indent)


_WRITERS = {"module": write_custom, "disassembly": write_disassembled, "generic": write_generic}
FORMS = tuple(_WRITERS)


def _disassembled(module: Module) -> list[Op]:
    """The items in the order of a bytecode file: globals, then the others."""
    return sorted(module.items, key=lambda item: not isinstance(item, Global))


def _producer_lines(module: Module) -> list[str]:
    producer = module.op.attributes.get("producer")
    return [f"// Producer: {producer}"] if producer else []


def _places(items: Iterable[Op], form: str) -> Iterator[tuple[Op, Location]]:
    """Every operation that is written, before those inside it, with the location it is written with."""
    for item in items:
        keep = _stored_with(item) if form == "disassembly" else written
        for op in _written_operations(item, form):
            yield op, keep(op.loc)


def _stored_with(item: Op) -> Keep:
    """What bytecode keeps of the locations in an item: nothing of a global or where the function itself has none."""
    known = not isinstance(item, Global) and stored(item.loc) != UNKNOWN
    return stored if known else lambda loc: UNKNOWN


def _written_operations(op: Op, form: str) -> Iterator[Op]:
    """`op` and what is inside it, without the terminators that the form leaves out."""
    in_own_syntax = {"module": fits, "disassembly": can_be_written}.get(form)
    stack = [(op, in_own_syntax is None)]
    while stack:
        op, generic = stack.pop()
        yield op
        generic = generic or not (op.regions and in_own_syntax is not None and in_own_syntax(op))
        for region in reversed(op.regions):
            if region is not None:
                inner = region.ops if generic else shown_operations(op, region)
                stack += [(operation, generic) for operation in reversed(inner)]
