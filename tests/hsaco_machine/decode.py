"""Instructions of AMD's GPUs as tinygrad's tables decode and describe them."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from tests.hsaco_machine.typed import PseudoFault

FAMILIES = {"gfx1100": "rdna3", "gfx1201": "rdna4", "gfx942": "cdna"}
"""The set of instructions of each architecture that the machine runs."""


@cache
def _part(family: str, name: str) -> Any:
    return importlib.import_module(f"tinygrad.runtime.autogen.amd.{family}.{name}")


@cache
def _formats(family: str) -> list[Any]:
    """The encodings, the special ones first; those of buffers are missing in tinygrad's own list for RDNA."""
    renderer: Any = importlib.import_module("tinygrad.renderer.amd")
    found = list(renderer._load_formats()[family])
    more = [getattr(_part(family, "ins"), name, None) for name in ("MUBUF", "VBUFFER")]
    return [*(one for one in more if one is not None and one not in found), *found]


def decoded(content: bytes, family: str) -> Any:
    """The instruction at the beginning of `content`. Raises PseudoFault."""
    renderer: Any = importlib.import_module("tinygrad.renderer.amd")
    for form in _formats(family):
        if renderer._matches(content, form):
            return form.from_bytes(content)
    raise PseudoFault(f"no instruction of {family} begins with {content[:8].hex()}")


@cache
def _by_name(family: str) -> dict[str, str]:
    return {_bare(op.name): text for op, text in _part(family, "str_pcode").PCODE.items()}


def _bare(name: str) -> str:
    return name.removesuffix("_E32").removesuffix("_E64")


@cache
def pseudo_code(family: str, op: Any) -> str:
    """The pseudo-code of an operation. Raises PseudoFault if there is none."""
    table = _part(family, "str_pcode").PCODE
    found = table.get(op) or _by_name(family).get(_bare(op.name))
    if found is None:
        raise PseudoFault(f"there is no pseudo-code of {op.name}")
    return str(found)


@cache
def name_of(op: Any) -> str:
    """The name of an operation whatever its encoding."""
    return _bare(op.name)


@cache
def pseudo_code_named(family: str, name: str) -> str:
    """The pseudo-code of an operation by its name."""
    if name not in _by_name(family):
        raise PseudoFault(f"there is no pseudo-code of {name}")
    return _by_name(family)[name]


@cache
def widths_named(family: str, name: str) -> dict[str, int]:
    """The bits of the operands of an operation, from whichever encoding tells them."""
    for op, fields in _part(family, "operands").OPERANDS.items():
        if _bare(op.name) == name and "src0" in fields:
            return {field: described[1] for field, described in fields.items()}
    return {}
