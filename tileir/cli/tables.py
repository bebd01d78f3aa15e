"""Tables of text: columns that are as wide as their longest cell.

Knows: how wide characters are, and how a table is laid out. Does not know: terminals and their colours (`cli.show`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Justify = Literal["left", "right"]
_GAP = "   "


@dataclass(frozen=True)
class Coloured:
    """A cell that has a colour where there are colours."""

    text: str
    colour: str


@dataclass(frozen=True)
class TextTable:
    """`columns` maps each heading to its justification; each row has as many cells, without line breaks."""

    columns: dict[str, Justify]
    rows: Sequence[Sequence[str | Coloured]]

    def lines(self, rule: str = "─") -> list[str]:
        """The table as plain text, with a line of spaces above and below, and one of `rule` under the headings."""
        rows = [list(self.columns), *([text_of(cell) for cell in row] for row in self.rows)]
        widths = [max(map(_width, column)) for column in zip(*rows)]
        head, *body = (f" {_GAP.join(map(_justified, row, widths, self.columns.values()))} " for row in rows)
        whole = _width(head)
        return [" " * whole, head, f" {rule * (whole - 2)} ", *body, " " * whole]


def text_of(cell: str | Coloured) -> str:
    return cell if isinstance(cell, str) else cell.text


def _justified(text: str, width: int, justify: Justify) -> str:
    space = " " * (width - _width(text))
    return space + text if justify == "right" else text + space


def _width(text: str) -> int:
    """Columns of a terminal that the text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
