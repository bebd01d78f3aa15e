"""Regions and lines of operations with a syntax of their own.

Knows: how a region, its arguments and a one-line operation are laid out, and which terminators are hidden.
Does not know: the syntax of any operation (`text.syntax`).
"""

from __future__ import annotations

from collections.abc import Iterable

from tileir.ir.compare import is_implied
from tileir.ir.core import Block, Op, Value
from tileir.ir.types import Type
from tileir.text.printing.attributes import attr_dict
from tileir.text.printing.writer import INDENT, Writer


def shown_operations(op: Op, block: Block) -> list[Op]:
    """The operations of a region that are written: an implied terminator is not."""
    return block.ops[:-1] if block.ops and is_implied(block.ops[-1], op) else block.ops


def write_body(writer: Writer, op: Op, block: Block, indent: str) -> None:
    """The lines of a region between its braces."""
    writer.operations(shown_operations(op, block), indent + INDENT)


def write_close(writer: Writer, op: Op, indent: str, tail: str = "") -> None:
    """The closing brace of the last region, and what stands behind it."""
    writer.lines.append(f"{indent}}}{tail}{writer.end(op)}")


def write_with_body(writer: Writer, op: Op, indent: str, header: str) -> None:
    """A whole operation with one region: header, body, dictionary."""
    (block,) = op.regions
    assert block is not None
    writer.lines.append(f"{writer.start(op, indent)}{header} {{")
    write_body(writer, op, block, indent)
    write_close(writer, op, indent, attr_dict(op))


def write_line(writer: Writer, op: Op, indent: str, text: str) -> None:
    """An operation without regions; `text` is what stands behind its name."""
    writer.lines.append(f"{writer.start(op, indent)}{writer.name(op)} {text}{writer.end(op)}")


def arguments_text(writer: Writer, values: Iterable[Value]) -> str:
    """Arguments with their types, in parentheses."""
    return f"({', '.join([f'{writer.uses[value]}: {writer.short[value.type]}' for value in values])})"


def result_list(writer: Writer, types: Iterable[Type]) -> str:
    """One type bare, any other number in parentheses."""
    texts = [writer.short[type] for type in types]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
