"""The page of limits: programs refused as too large, too deep or too long, and the part that refuses them.

The numbers are the constants of the code; `tests/docs/test_limits.py` goes beyond each.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.bytecode import debug, faults, wire
from tileir.cpu.run import execution
from tileir.explore import launch, search
from tileir.gpu.ttir.rules import control as ttir_control
from tileir.host import limits
from tileir.ir.types import tiles
from tileir.runtime import grid, loading
from tileir.sanitize.proofs import races
from tileir.text import parser
from tileir.text.reading import reader, values
from tileir.tools import messages
from tileir.verify import control, verifier


@dataclass(frozen=True)
class Limit:
    """At most `most` of `what`; `says` is the code of the diagnostic, or the exception, beyond that."""

    what: str
    most: int
    says: str
    unit: str = ""


CHAPTERS = {
    "Reading and checking": (
        Limit("file of a program", loading.MAX_BYTES, "E0004", "bytes"),
        Limit("nesting in text: regions, types, attributes, lists, locations", reader.MAX_NESTING, "E0115", "levels"),
        Limit("an alias with all that it names", parser.MAX_PARTS, "E0115", "parts"),
        Limit("faults of a text; the rest is not read", reader.MAX_FAULTS, "E0132"),
        Limit("errors of the verifier; the rest is not shown", verifier.MAX_SHOWN, "a note"),
        Limit("functions that call each other in a chain", control.MAX_CALL_DEPTH, "E0817"),
        Limit("results that one name stands for", values.MAX_PACK, "E0112"),
        Limit("elements of a tile", tiles.MAX_TILE_ELEMENTS, "E0306"),
        Limit("an extent or stride of a tensor view", (1 << 63) - 1, "E0116"),
    ),
    "Bytecode": (
        Limit("nesting of regions, attributes, tuples and debug records", faults.MAX_NESTING, "E0931", "levels"),
        Limit("positions that a location is made of", debug.MAX_LOCATION_SIZE, "E0931"),
        Limit("a count of operands, results, elements, entries of a table", wire.MAX_COUNT, "E0912"),
    ),
    "Launches": (
        Limit("tile blocks along one axis of a grid", grid.MAX_EXTENT, "ValueError"),
        Limit("tile blocks of a grid on `cpu`", execution.LARGEST_GRID, "UnsupportedError"),
        Limit("iterations of the loops of a tile block; `max_iterations` changes it", limits.MAX_ITERATIONS, "Trap"),
        Limit(
            "storage of `alloca` that a launch holds at a time, and its alignment", limits.MAX_STORAGE, "Trap", "bytes"
        ),
        Limit("globals of a module with their alignment", limits.MAX_GLOBALS, "UnsupportedError", "bytes"),
        Limit("tiles of tile blocks that wait on `cpu`; others do not begin", execution.MOST_BYTES, "Trap", "bytes"),
        Limit(
            "operations that calls stand for in code for GPUs",
            ttir_control.MAX_CALLED,
            "UnsupportedError",
        ),
    ),
    "Tools": (
        Limit("executions that `explore` looks at; `--limit` changes it", launch.LIMIT, "a note"),
        Limit("elements that one execution accesses in `explore`", search.MOST_EVENTS, "UnsupportedError"),
        Limit("pairs of different accesses that `prove` compares", races.MOST_PAIRS, "an open verdict"),
        Limit("pairs that it compares once one is open", races.MOST_OPEN, "an open verdict"),
        Limit(
            "a message of an editor to `lsp` and `debug`", messages.MOST_BYTES, "the end of the conversation", "bytes"
        ),
    ),
}

_INTRODUCTION = """\
# Limits

Programs and launches that are too large, too deep or too long are refused or ended, with a
[diagnostic](diagnostics.md) or an exception of `tileir`. Everything else is bounded by the memory of the machine: a
kernel whose tiles need more at a time than there is raises `UnsupportedError` before it runs.

A function that calls itself, directly or through others, is refused with E0808. A launch may take any time,
unless it has a `timeout`: then it raises `LaunchTimeout`, a `Trap`.

This page is generated from the constants of the code (`make docs`).
"""


def page() -> str:
    parts = [_INTRODUCTION]
    for title, rows in CHAPTERS.items():
        lines = [f"| {one.what} | {_number(one.most)} {one.unit}".rstrip() + f" | {_shown(one.says)} |" for one in rows]
        parts.append("\n".join([f"## {title}\n", "| what | at most | beyond that |", "|---|---|---|", *lines, ""]))
    return "\n".join(parts)


def _number(number: int) -> str:
    """`number` with its power of two, if it is at or beside one that is worth the name."""
    power = (number + 2).bit_length() - 1
    less = (1 << power) - number
    if number < 1000 or not 0 <= less <= 2:
        return f"{number:,}"
    return f"2^{power}" + (f" - {less}" if less else "") + (f" ({number:,})" if power < 40 else "")


def _shown(says: str) -> str:
    return says if " " in says else f"`{says}`"
