"""TTIR as older versions of Triton spell it.

Knows: what has changed since 3.6 among the instructions that we make, one line of text each. Does not know: what any
of it is for.

Before 3.9 there are no atomic loads and stores: an `or` with 0 and an exchange do the same, on 32 and 64 bits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.loc import UNKNOWN, FileLoc, Location

Version = tuple[int, int]
OLDEST: Version = (3, 6)

_GRID = re.compile(r'"tt\.grid_dependency_(wait|launch_dependents)"\(\) : \(\) -> \(\)')
_ATOMIC = re.compile(
    r'^(?P<indent> *)(?:(?P<result>%\d+) = )?"tt\.atomic_(?:load|store)"\((?P<operands>[^)]*)\) '
    r"\{(?P<how>[^}]*)\} : \((?P<types>.*)\) -> \((?P<type>[^()]*)\)(?P<loc>.*)$",
    re.MULTILINE,
)
_FILE = re.compile(r'loc\(("[^"\\]*"):(\d+):(\d+)\)')
_OR, _EXCHANGE = 2, 10


def spelled(ttir: str, version: Version) -> str:
    """`ttir`, which the newest version reads, for `version`. Raises UnsupportedError for what that does not have."""
    if version < OLDEST:
        found, oldest = (".".join(map(str, number)) for number in (version, OLDEST))
        raise UnsupportedError(f"Triton {found} is too old: expected version {oldest} or newer", "cuda")
    for since, mend in _MENDS:
        if version < since:
            ttir = mend(ttir)
    return ttir


def _descriptors(ttir: str) -> str:
    return re.sub(r"!tt\.tensordesc<([^<>]+)>", r"!tt.tensordesc<tensor<\1>>", ttir)


def _barriers(ttir: str) -> str:
    return re.sub(r'"ttg\.barrier"\(\)( \{[^{}]*\})?', '"gpu.barrier"()', ttir)


def _grid_dependencies(ttir: str) -> str:
    attributes = 'asm_string = "griddepcontrol.{0}; // $0", constraints = "=r", packed_element = 1 : i32, pure = false'

    def by_asm(found: re.Match[str]) -> str:
        return f'"tt.elementwise_inline_asm"() {{{attributes.format(found[1])}}} : () -> (i32)'

    return _GRID.sub(by_asm, ttir)


def _atomic_accesses(ttir: str) -> str:
    return _ATOMIC.sub(lambda found: _load(found) if found["result"] else _store(found), ttir)


def _load(found: re.Match[str]) -> str:
    type, zero = found["type"], f"%zero{found['result'][1:]}"
    _require_words(found, type)
    pointers, mask = found["operands"].split(", ")
    pointer_type, mask_type = found["types"].split(", ")
    value = f"dense<0> : {type}" if type.startswith("tensor") else f"0 : {type}"
    constant = f'{found["indent"]}{zero} = "arith.constant"() {{value = {value}}} : () -> ({type})'
    return f"{constant}\n" + _rmw(found, _OR, (pointers, zero, mask), (pointer_type, type, mask_type), type)


def _store(found: re.Match[str]) -> str:
    types = found["types"].split(", ")
    _require_words(found, types[1])
    return _rmw(found, _EXCHANGE, found["operands"].split(", "), types, types[1])


def _rmw(found: re.Match[str], kind: int, operands: Sequence[str], types: Sequence[str], type: str) -> str:
    result = f"{found['result']} = " if found["result"] else ""
    attributes = f"atomic_rmw_op = {kind} : i32, {found['how']}"
    signature = f"({', '.join(types)}) -> ({type})"
    call = f'"tt.atomic_rmw"({", ".join(operands)}) {{{attributes}}} : {signature}'
    return f"{found['indent']}{result}{call}{found['loc']}"


def _require_words(found: re.Match[str], type: str) -> None:
    """Raise UnsupportedError for elements that atomic operations do not have."""
    if not re.search(r"i(32|64)>?$", type):
        what = "a load or store with an ordering: before version 3.9, Triton has it for elements of 32 and 64 bits only"
        raise UnsupportedError(f"{what}, got {type}", "cuda", _place(found["loc"]))


def _place(loc: str) -> Location:
    """The place in the program that a line of TTIR names."""
    named = _FILE.search(loc)
    return FileLoc(json.loads(named[1]), int(named[2]), int(named[3])) if named else UNKNOWN


_MENDS: tuple[tuple[Version, Callable[[str], str]], ...] = (
    ((3, 7), _barriers),
    ((3, 8), _descriptors),
    ((3, 9), _grid_dependencies),
    ((3, 9), _atomic_accesses),
)
"""Changes for versions before the one named."""
