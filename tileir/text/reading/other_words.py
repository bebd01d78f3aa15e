"""Words that stand for types and keywords in other languages, and what Tile IR calls them.

Knows: the words of MLIR's dialects, of C, of NumPy and of GPU assemblers, and that letters may be large or small. Does
not know: operations (`text.reading.advice`), nor where a type or a keyword may stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tileir.ir.near import did_you_mean

_TYPES = {
    "e3m4": "f8E4M3FN",
    "f8e3m4": "f8E4M3FN",
    "f8e4m3": "f8E4M3FN",
    "f8e5m2fn": "f8E5M2",
    "f8e8m0": "f8E8M0FNU",
    "f4e2m1": "f4E2M1FN",
    "index": "i64",
    "double": "f64",
    "float": "f32",
    "half": "f16",
    "int": "i32",
    "bool": "i1",
    "tensor": "tile",
    "memref": "tensor_view",
    "pointer": "ptr",
    "vector": "tile",
    "tt.ptr": "ptr",
    "tt.tensordesc": "tensor_view",
    "llvm.ptr": "ptr",
}
"""By names in small letters."""
_SIGNED = re.compile(r"[su]i?(\d+)|u?int(\d+)", re.ASCII)
"""Integers, which have no sign of their own here."""
_KEYWORDS = {
    "eq": "equal",
    "oeq": "equal",
    "ueq": "equal",
    "ne": "not_equal",
    "one": "not_equal",
    "une": "not_equal",
    "rn": "nearest_even",
    "rne": "nearest_even",
    "rtne": "nearest_even",
    "rz": "zero",
    "rtz": "zero",
    "rd": "negative_inf",
    "rm": "negative_inf",
    "ru": "positive_inf",
    "rp": "positive_inf",
    "nsw": "no_signed_wrap",
    "nuw": "no_unsigned_wrap",
    "monotonic": "relaxed",
    "gpu": "device",
    "cta": "tl_blk",
    "block": "tl_blk",
    "system": "sys",
}
_ORDERS = {"lt": "less_than", "le": "less_than_or_equal", "gt": "greater_than", "ge": "greater_than_or_equal"}
_ORDER = re.compile(r"[sou]?(lt|le|gt|ge)")


def type_hint(name: str, known: Iterable[str]) -> str | None:
    """Which of the `known` names of types a name that is none of them may be meant for."""
    names = list(known)
    small = name.lower()
    by_small = {one.lower(): one for one in names}
    signed = _SIGNED.fullmatch(small)
    meant = by_small.get(small) or _TYPES.get(small) or (signed and f"i{signed[1] or signed[2]}")
    return f"did you mean '{meant}'?" if meant in names else did_you_mean(name, names)


def keyword_hint(word: str, known: Iterable[str]) -> str | None:
    """Which of the `known` keywords a word that is none of them may be meant for."""
    names = list(known)
    order = _ORDER.fullmatch(word)
    meant = _ORDERS[order[1]] if order else _KEYWORDS.get(word)
    return f"did you mean '{meant}'?" if meant in names else did_you_mean(word, names)
