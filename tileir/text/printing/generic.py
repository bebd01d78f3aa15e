"""Operations in the generic form (spec: syntax#generic-form): operands, properties, regions, full types.

Knows: which attributes are properties, and the layout of regions and signatures.
Does not know: any operation by name.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.ir import attributes as a
from tileir.ir.core import Block, Op, Value
from tileir.ir.fields import AttrKind
from tileir.ir.types import I32, FunctionType, Type
from tileir.text.kinds import SEGMENT_SIZES, free_attribute
from tileir.text.printing.attributes import dict_text, sorted_entries
from tileir.text.printing.writer import INDENT, Writer


def write_generic(writer: Writer, op: Op, indent: str) -> None:
    """Add an operation and all that is inside it."""
    head = f'{writer.start(op, indent)}"cuda_tile.{writer.name(op)}"({writer.values(op.operands)})'
    if op.spec.attrs or op.spec.segmented:
        head += _properties_text(writer, op)
    if op.regions:
        _regions(writer, op, indent, head + " (")
        head = f"{writer.lines.pop()})"
    discardable = f" {dict_text(sorted_entries(op.discardable))}" if op.discardable else ""
    writer.lines.append(f"{head}{discardable} : {_signature(writer, op)}{writer.end(op)}")


def _regions(writer: Writer, op: Op, indent: str, head: str) -> None:
    """The regions between parentheses; the last line is left open for what follows."""
    for region in op.regions:
        writer.lines.append(head + "{")
        if region is not None:
            _block(writer, region, indent)
        head = f"{indent}}}, "
    writer.lines.append(f"{indent}}}")


def _block(writer: Writer, block: Block, indent: str) -> None:
    """A label is written for a block that has arguments or would otherwise not be seen."""
    if block.args or not block.ops:
        declared = ", ".join(f"{writer.uses[value]}: {writer.full[value.type]}" for value in block.args)
        writer.lines.append(f"{indent}^bb0{f'({declared})' if declared else ''}:")
    for op in block.ops:
        write_generic(writer, op, indent + INDENT)


def _signature(writer: Writer, op: Op) -> str:
    full = writer.full
    operands = ", ".join([full[value.type] for value in op.operands])
    return f"({operands}) -> {_results(full, op.results)}"


def _results(full: dict[Type, str], results: Sequence[Value]) -> str:
    if len(results) == 1:
        text = full[results[0].type]
        return f"({text})" if isinstance(results[0].type, FunctionType) else text
    return f"({', '.join([full[result.type] for result in results])})"


# ---------------------------------------------------------------- properties


def _properties_text(writer: Writer, op: Op) -> str:
    """`` <{key = value}>``; nothing without any. Spelt once for each operation with the same objects as attributes, as
    the cases of enumerations are."""
    key = (type(op), *op.segments, *op.attributes, *map(id, op.attributes.values()))
    text = writer.properties.get(key)
    if text is None:
        properties = _properties(op)
        text = f" <{dict_text(sorted_entries(properties))}>" if properties else ""
        writer.properties[key] = text
    return text


def _properties(op: Op) -> dict[str, a.Attribute]:
    """Every declared attribute that is set or has a default to write, and the sizes of the operand groups."""
    found = {}
    for attr in op.spec.attrs:
        value = op.attributes.get(attr.name, None if attr.required else attr.default)
        if value is not None and value is not False and value != ():
            found[attr.name] = free_attribute(attr, value)
        elif attr.kind is AttrKind.BOOL and value is False:
            found[attr.name] = a.BoolAttr(False)
    if op.spec.segmented:
        found[SEGMENT_SIZES] = a.DenseArray(I32, op.segments)
    return found
