"""Operations in the generic form (specification 3.7): operands, properties, regions, full types.

Knows: how a declared attribute becomes a property, and the layout of regions and signatures.
Does not know: any operation by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tileir.ir import attributes as a
from tileir.ir.core import Block, Op
from tileir.ir.declare import SEGMENTED, Attr, AttrKind
from tileir.ir.types import I1, I32, I64, FunctionType, Type
from tileir.text.attribute_text import ENUM_MNEMONICS, dict_text
from tileir.text.format_text import sorted_entries
from tileir.text.writer import INDENT, Writer

SEGMENT_SIZES = "operandSegmentSizes"


def write_generic(writer: Writer, op: Op, indent: str) -> None:
    """Add an operation and all that is inside it."""
    head = f'{writer.start(op, indent)}"cuda_tile.{writer.name(op)}"({writer.values(op.operands)})'
    properties = _properties(op)
    if properties:
        head += f" <{dict_text(sorted_entries(properties))}>"
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
    operands = ", ".join(writer.full[value.type] for value in op.operands)
    return f"({operands}) -> {_results(writer, [value.type for value in op.results])}"


def _results(writer: Writer, types: list[Type]) -> str:
    texts = [writer.full[type] for type in types]
    single = len(types) == 1 and not isinstance(types[0], FunctionType)
    return texts[0] if single else f"({', '.join(texts)})"


# ---------------------------------------------------------------- properties


def _properties(op: Op) -> dict[str, a.Attribute]:
    """Every declared attribute that is set or has a default to write, and the sizes of the operand groups."""
    found = {}
    for attr in op.spec.attrs:
        value = op.attributes.get(attr.name, None if attr.required else attr.default)
        if value is not None and value is not False and value != ():
            found[attr.name] = property_attribute(attr, value)
        elif attr.kind is AttrKind.BOOL and value is False:
            found[attr.name] = a.BoolAttr(False)
    if SEGMENTED in op.spec.traits:
        found[SEGMENT_SIZES] = a.DenseArray(I32, op.segments)
    return found


def property_attribute(attr: Attr, value: Any) -> a.Attribute:
    """The attribute that stands for the Python value of a declared attribute."""
    return _PROPERTIES[attr.kind](value)


def _case(case: a.TextEnum) -> a.Attribute:
    return a.EnumAttr(case) if type(case) in ENUM_MNEMONICS else a.IntegerAttr(int(case), I32)


_PROPERTIES: dict[AttrKind, Callable[[Any], a.Attribute]] = {
    AttrKind.ENUM: _case,
    AttrKind.UNIT: lambda value: a.UnitAttr(),
    AttrKind.I32: lambda value: a.IntegerAttr(value, I32),
    AttrKind.I64: lambda value: a.IntegerAttr(value, I64),
    AttrKind.BOOL: a.BoolAttr,
    AttrKind.STRING: a.StringAttr,
    AttrKind.SYMBOL: lambda value: a.SymbolRef((value,)),
    AttrKind.SYMBOL_NAME: a.StringAttr,
    AttrKind.TYPE: a.TypeAttr,
    AttrKind.DENSE: lambda value: value,
    AttrKind.I32_ARRAY: lambda value: a.DenseArray(I32, tuple(value)),
    AttrKind.BOOL_ARRAY: lambda value: a.DenseArray(I1, tuple(value)),
    AttrKind.ARRAY: lambda value: value,
    AttrKind.TAGGED: lambda value: value,
    AttrKind.HINTS: lambda value: value,
}
