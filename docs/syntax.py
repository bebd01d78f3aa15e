"""Syntax of an operation in the reference, from its declared format.

Knows: where results and the name stand, and how blanks are left out. Does not know: how a directive of the declared
format looks (`text.syntax`).
"""

from __future__ import annotations

import re

from tileir.ir.spec import OpSpec
from tileir.text.syntax.format import shown


def syntax(spec: OpSpec) -> str:
    """One line: words as written, ``%operands``, ``[optional parts]``, ``<attributes>`` by name."""
    if spec.format is None:
        return spec.syntax
    text = " ".join(part for part in (_results(spec), spec.name, shown(spec)) if part)
    return re.sub(r" (?=[,\]])|(?<=%\w) (?=\[)|(?<=\[) ", "", text).replace(" [%index", "[%index")


def _results(spec: OpSpec) -> str:
    names = [f"%{result.name}, ..." if result.variadic else f"%{result.name}" for result in spec.results]
    return f"{', '.join(names)} =" if names else ""
