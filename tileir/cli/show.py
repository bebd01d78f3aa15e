"""Output of the command: diagnostics, tables, colours."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TextIO

from tileir.ir.diagnostics import Diagnostic
from tileir.ir.escaping import shown_lines

if TYPE_CHECKING:
    from rich.console import Console


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
        """Return the table as plain text, with a line of spaces above and below, and one of `rule` under the
        headings."""
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
    """Return the number of columns of a terminal that the text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


_STYLES = (
    (re.compile(r"(?m)^(?:\S.*?: )?(error(?:\[\w+\])?):"), "bold red"),
    (re.compile(r"(?m)^(?:\S.*?: )?(trap):"), "bold red"),
    (re.compile(r"(?m)^(?:\S.*?: )?(warning(?:\[\w+\])?):"), "bold yellow"),
    (re.compile(r"(?m)^(?:\S.*?: )?(note):"), "bold cyan"),
    (re.compile(r"(?m)^  (hint):"), "bold green"),
    (re.compile(r"(?m)^ *\d* \| ( *\^~*)$"), "bold red"),
    (re.compile(r"(?m)^( *\d* \|)"), "blue"),
)

_WIDEST = 1000
_READABLE = 100


def console(stream: TextIO | None = None) -> Console:
    """Return a console on `stream` (default: standard output) that never rewrites its input."""
    from rich.console import Console

    return Console(file=stream or sys.stdout, highlight=False, soft_wrap=True, emoji=False, markup=False)


def diagnostics(text: str, stream: TextIO) -> None:
    """Print rendered diagnostics; in colour where `stream` is a terminal."""
    from rich.text import Text

    shown = shown_lines(text)
    styled = Text(shown)
    for pattern, style in _STYLES:
        for match in pattern.finditer(shown):
            styled.stylize(style, *match.span(1))
    console(stream).print(styled)


def explanations(diagnostics: Iterable[Diagnostic], stream: TextIO) -> None:
    """Print the command that explains the codes of diagnostics."""
    codes = dict.fromkeys(diagnostic.code for diagnostic in diagnostics)
    if codes:
        print(f"'tileir explain {' '.join(codes)}' says more", file=stream)


def line(text: str, stream: TextIO | None = None) -> None:
    """Print text in which names of a program may be."""
    print(shown_lines(text), file=stream or sys.stdout)


def page(markdown: str) -> None:
    """Show Markdown: laid out on a terminal, as it is elsewhere."""
    from rich.console import Console
    from rich.markdown import Markdown

    terminal = Console(highlight=False)
    if terminal.is_terminal:
        terminal.print(Markdown(markdown), width=min(terminal.width, _READABLE))
    else:
        print(markdown, end="")


def table(columns: dict[str, Justify], rows: Sequence[Sequence[str | Coloured]]) -> TextTable:
    """Return a table; `columns` maps each heading to its justification."""
    return TextTable(columns, [[_harmless(cell) for cell in row] for row in rows])


def _harmless(cell: str | Coloured) -> str | Coloured:
    return shown_lines(cell) if isinstance(cell, str) else cell


def print_table(table: TextTable, stream: TextIO | None = None) -> None:
    """Print a table, in colour on a terminal; wider than that rather than cut."""
    stream = stream or sys.stdout
    if stream.isatty():
        _print_styled(table, stream)
    else:
        has_rules = (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")
        print(*table.lines("─" if has_rules else "-"), sep="\n", file=stream)


def _print_styled(table: TextTable, stream: TextIO) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    styled = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading, justify in table.columns.items():
        styled.add_column(heading, justify=justify, no_wrap=True)
    for row in table.rows:
        styled.add_row(*(cell if isinstance(cell, str) else Text(cell.text, cell.colour) for cell in row))
    target = Console(file=stream, highlight=False, emoji=False, markup=False)
    needed = Measurement.get(target, target.options.update(width=_WIDEST), styled).maximum
    target.width = max(target.width, needed)
    target.print(styled)


def counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


LONGEST = 1000
"""Elements of a tile that is printed whole, as NumPy prints arrays."""
EDGE = 3
"""Elements, or rows, shown at each end."""
_ROW = re.compile(r"\[([^\[\]]*)\]")
_ROWS = re.compile(r"\[((?:\[[^\[\]]*\](?:, )?)+)\]")


def abbreviating(stream: TextIO) -> Callable[[str], object] | None:
    """Return a function that writes to `stream` with long tiles cut, if that is a terminal; None if not."""
    return (lambda text: stream.write(abbreviated(text))) if stream.isatty() else None


def abbreviated(text: str) -> str:
    """Return `text` with the middle of rows, and of lists of rows, left out if a tile in it is long."""
    if text.count(", ") < LONGEST:
        return text
    return _ROWS.sub(lambda match: f"[{_cut(_ROW.findall(match[1]), '[{}]')}]", _ROW.sub(_cut_row, text))


def _cut_row(match: re.Match[str]) -> str:
    return f"[{_cut(match[1].split(', '), '{}')}]"


def _cut(items: list[str], form: str) -> str:
    shown = [form.format(item) for item in items]
    return ", ".join(shown if len(items) <= 2 * EDGE else [*shown[:EDGE], "...", *shown[-EDGE:]])
