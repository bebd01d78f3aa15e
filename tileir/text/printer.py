"""Print a module as canonical text, in generic form, or as the vendor's disassembler does (spec: printing#outputs)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tileir.ir.core import Module, Op
from tileir.ir.loc import UNKNOWN, Location
from tileir.ir.versions import NEWEST
from tileir.ops.module import Global
from tileir.text.attributes import attribute_text, disassembled_hints_text, hints_text
from tileir.text.locations import Keep, PlaceText, stored, written
from tileir.text.names import name_values
from tileir.text.syntax.expressible import is_expressible, is_writable
from tileir.text.syntax.format import write_operation
from tileir.text.writer import Writer, shown_operations, write_generic


def to_text(
    module: Module, *, form: str = "module", debug: bool = False, level: str = NEWEST, written: bool = False
) -> str:
    """Print a program. Parsing the text gives the same program.

    Parameters
    ----------
    module : Module
        The program.
    form : str
        ``"module"`` is ``cuda_tile.module @name { ... }``; ``"disassembly"`` the items alone, globals first, as the
        vendor's disassembler writes the module's bytecode; ``"generic"`` MLIR's generic form.
    debug : bool
        Whether the location of every operation is printed, with the aliases that they use.
    level : str
        Language version whose spellings are used.
    written : bool
        Whether values keep the names of the text that the program was read from; otherwise names are made, as the
        vendor's printer makes them.

    Returns
    -------
    str
        The text, ending in one newline.

    Raises
    ------
    ValueError
        For another form.
    TypeError
        For what is no module.
    """
    if form not in FORMS:
        raise ValueError(f"expected form to be one of {', '.join(FORMS)}, got '{form}'")
    Module.required(module)
    items = _disassembled(module) if form == "disassembly" else [module.op]
    places = dict(_places(items, form)) if debug else {}
    locations = PlaceText(attribute_text, places.values()) if debug else None
    names = name_values(module.op, hinted=form != "generic", written=written)
    hints = disassembled_hints_text if form == "disassembly" else hints_text
    writer = Writer(names, _WRITERS[form], level, places, locations, hints)
    writer.operations(items, "")
    definitions = [] if locations is None else locations.definitions()
    producer = module.op.attributes.get("producer") if form == "disassembly" else None
    lines = [*([f"// Producer: {producer}"] if producer else []), *writer.lines, *definitions]
    return "\n".join([*lines, ""]) or "\n"


def write_custom(writer: Writer, op: Op, indent: str) -> None:
    """Add an operation in its own syntax, or in the generic form if that cannot say all of it."""
    write = write_operation if is_expressible(op) else write_generic
    write(writer, op, indent)


def write_disassembled(writer: Writer, op: Op, indent: str) -> None:
    """Add an operation as the vendor's disassembler writes it."""
    write = write_operation if is_writable(op) else write_generic
    write(writer, op, indent)


_WRITERS = {"module": write_custom, "disassembly": write_disassembled, "generic": write_generic}
FORMS = tuple(_WRITERS)


def _disassembled(module: Module) -> list[Op]:
    """Return the items in the order of a bytecode file: globals, then the others."""
    return sorted(module.items, key=lambda item: not isinstance(item, Global))


def _places(items: Iterable[Op], form: str) -> Iterator[tuple[Op, Location]]:
    """Yield every operation that is written, before those inside it, with its location."""
    for item in items:
        keep = _stored_with(item) if form == "disassembly" else written
        for op in _written_operations(item, form):
            yield op, keep(op.loc)


def _stored_with(item: Op) -> Keep:
    """Return the part of the locations in an item that bytecode keeps: none of a global, nor of a function without its
    own."""
    known = not isinstance(item, Global) and stored(item.loc) != UNKNOWN
    return stored if known else lambda loc: UNKNOWN


def _written_operations(op: Op, form: str) -> Iterator[Op]:
    """Yield `op` and what is inside it, without the terminators that the form leaves out."""
    in_own_syntax = {"module": is_expressible, "disassembly": is_writable}.get(form)
    stack = [(op, in_own_syntax is None)]
    while stack:
        op, generic = stack.pop()
        yield op
        generic = generic or not (op.regions and in_own_syntax is not None and in_own_syntax(op))
        for region in reversed(op.regions):
            if region is not None:
                inner = region.ops if generic else shown_operations(op, region)
                stack += [(operation, generic) for operation in reversed(inner)]
