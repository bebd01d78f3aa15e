"""Text of strings, symbols and dictionary keys (spec: syntax#lexical).

Knows: escapes, and which names need quotes. Does not know: where they stand.
"""

from __future__ import annotations

import re

from tileir.ir.shown import as_bytes

_PLAIN_STRING = re.compile(r"[ !#-\[\]-~]*")
_BARE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")


def string_text(value: str) -> str:
    """`value` in quotes; everything but printable ASCII is escaped byte by byte."""
    if _PLAIN_STRING.fullmatch(value):
        return f'"{value}"'
    return f'"{"".join(map(_escaped, as_bytes(value)))}"'


def _escaped(byte: int) -> str:
    if byte == ord("\\"):
        return "\\\\"
    return chr(byte) if 0x20 <= byte < 0x7F and byte != ord('"') else f"\\{byte:02X}"


def name_text(name: str) -> str:
    """A dictionary key or hint key: bare where it can be."""
    return name if _BARE_NAME.fullmatch(name) else string_text(name)


def symbol_text(name: str) -> str:
    return "@" + name_text(name)
