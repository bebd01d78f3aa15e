"""Print a module as canonical text, in generic form, or as the vendor's disassembler does (spec: printing#outputs)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from tileir.ir.core import Module, Op
from tileir.ir.loc import UNKNOWN, Location
from tileir.ir.versions import NEWEST
from tileir.ops.module import Global
from tileir.text.attributes import attribute_text, hints_text
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
    items = [module.op]
    if form == "disassembly":  # in the order of a bytecode file: globals, then the others
        items = sorted(module.items, key=lambda item: not isinstance(item, Global))
    places = dict(_places(items, form)) if debug else {}
    locations = PlaceText(attribute_text, places.values()) if debug else None
    names = name_values(module.op, hinted=form != "generic", written=written)
    hints = partial(hints_text, disassembled=form == "disassembly")
    write = write_generic if form == "generic" else partial(_write, own_syntax=_OWN_SYNTAX[form])
    writer = Writer(names, write, level, places, locations, hints)
    writer.operations(items, "")
    definitions = [] if locations is None else locations.definitions()
    producer = module.op.attributes.get("producer") if form == "disassembly" else None
    lines = [*([f"// Producer: {producer}"] if producer else []), *writer.lines, *definitions]
    return "\n".join([*lines, ""]) or "\n"


_OWN_SYNTAX = {"module": is_expressible, "disassembly": is_writable}
"""The operations of a form that are written in their own syntax; the others are in the generic one."""
FORMS = (*_OWN_SYNTAX, "generic")


def _write(writer: Writer, op: Op, indent: str, own_syntax: Callable[[Op], bool]) -> None:
    (write_operation if own_syntax(op) else write_generic)(writer, op, indent)


def _places(items: Iterable[Op], form: str) -> Iterator[tuple[Op, Location]]:
    """Yield every operation that is written, before those inside it, with its location."""
    for item in items:
        keep: Keep = written
        if form == "disassembly":  # bytecode keeps no locations of a global, nor of a function without its own
            known = not isinstance(item, Global) and stored(item.loc) != UNKNOWN
            keep = stored if known else lambda loc: UNKNOWN
        for op in _written_operations(item, form):
            yield op, keep(op.loc)


def _written_operations(op: Op, form: str) -> Iterator[Op]:
    """Yield `op` and what is inside it, without the terminators that the form leaves out."""
    own_syntax = _OWN_SYNTAX.get(form)
    stack = [(op, own_syntax is None)]
    while stack:
        op, generic = stack.pop()
        yield op
        generic = generic or not (op.regions and own_syntax is not None and own_syntax(op))
        for region in reversed(op.regions):
            if region is not None:
                inner = region.ops if generic else shown_operations(op, region)
                stack += [(operation, generic) for operation in reversed(inner)]
