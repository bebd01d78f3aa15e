"""The text being written: names, types, locations and lines, and the generic form of operations.

A line of an operation begins with its results and ends with its location; its own syntax (`text.syntax`) fills in the
rest. Operations without a syntax of their own are written in MLIR's generic form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tileir.ir import attributes as a
from tileir.ir.attributes import OptimizationHints
from tileir.ir.compare import is_implied
from tileir.ir.core import Block, Op, Value
from tileir.ir.fields import AttrKind
from tileir.ir.loc import Location
from tileir.ir.types import I32, FunctionType, Type
from tileir.text.attributes import FORMS, SEGMENT_SIZES, attr_dict, dict_text
from tileir.text.locations import PlaceText
from tileir.text.names import Names

INDENT = "  "


class _TypeTexts(dict[Type, str]):
    """Spellings of types, each made once."""

    def __init__(self, full: bool) -> None:
        super().__init__()
        self.full = full

    def __missing__(self, type: Type) -> str:
        text = self[type] = type.full_text if self.full else type.text
        return text


class Writer:
    """The lines of one text under way. `write` puts an operation into them, `hints` spells optimization hints."""

    def __init__(
        self,
        names: Names,
        write: Callable[[Writer, Op, str], None],
        version: str,
        place_of: dict[Op, Location],
        locations: PlaceText | None,
        hints: Callable[[OptimizationHints], str],
    ) -> None:
        self.uses = names.uses
        self.results = names.results
        self.write = write
        self.hints = hints
        self.version = version
        self.lines: list[str] = []
        self.short = _TypeTexts(full=False)
        self.full = _TypeTexts(full=True)
        self.properties: dict[tuple[object, ...], str] = {}
        """The properties of an operation in the generic form."""
        self._place_of = place_of
        self._locations = locations
        self._names: dict[type[Op], str] = {}

    def name(self, op: Op) -> str:
        """Return the name of an operation at the version written."""
        cls = type(op)
        found = self._names.get(cls)
        if found is None:
            found = self._names[cls] = cls.spec.spelling(self.version)
        return found

    def start(self, op: Op, indent: str) -> str:
        """Return indentation and results: all that stands before the name."""
        results = self.results.get(op)
        return indent if results is None else f"{indent}{results} = "

    def end(self, op: Op) -> str:
        """Return the location, if locations are written."""
        return "" if self._locations is None else self._locations.reference(self._place_of[op])

    def values(self, values: Iterable[Value]) -> str:
        """Return a comma list of uses."""
        uses = self.uses
        return ", ".join([uses[value] for value in values])

    def types(self, values: Iterable[Value]) -> str:
        """Return a comma list of the types of values, short."""
        short = self.short
        return ", ".join([short[value.type] for value in values])

    def operations(self, ops: Iterable[Op], indent: str) -> None:
        write = self.write
        for op in ops:
            write(self, op, indent)


def shown_operations(op: Op, block: Block) -> list[Op]:
    """Return the operations of a region that are written: an implied terminator is not."""
    return block.ops[:-1] if block.ops and is_implied(block.ops[-1], op) else block.ops


def write_body(writer: Writer, op: Op, block: Block, indent: str) -> None:
    """Write the lines of a region between its braces."""
    writer.operations(shown_operations(op, block), indent + INDENT)


def write_close(writer: Writer, op: Op, indent: str, tail: str = "") -> None:
    """Write the closing brace of the last region, and what stands behind it."""
    writer.lines.append(f"{indent}}}{tail}{writer.end(op)}")


def write_with_body(writer: Writer, op: Op, indent: str, header: str) -> None:
    """Write a whole operation with one region: header, body, dictionary."""
    (block,) = op.regions
    assert block is not None
    writer.lines.append(f"{writer.start(op, indent)}{header} {{")
    write_body(writer, op, block, indent)
    write_close(writer, op, indent, attr_dict(op))


def write_line(writer: Writer, op: Op, indent: str, text: str) -> None:
    """Write an operation without regions; `text` is what stands behind its name."""
    writer.lines.append(f"{writer.start(op, indent)}{writer.name(op)} {text}{writer.end(op)}")


def arguments_text(writer: Writer, values: Iterable[Value]) -> str:
    """Return arguments with their types, in parentheses."""
    return f"({', '.join([f'{writer.uses[value]}: {writer.short[value.type]}' for value in values])})"


def result_list(writer: Writer, types: Iterable[Type]) -> str:
    """Return a single type bare, any other number of types in parentheses."""
    texts = [writer.short[type] for type in types]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def write_generic(writer: Writer, op: Op, indent: str) -> None:
    """Add an operation and all that is inside it."""
    head = f'{writer.start(op, indent)}"cuda_tile.{writer.name(op)}"({writer.values(op.operands)})'
    if op.spec.attrs or op.spec.segmented:
        head += _properties_text(writer, op)
    if op.regions:
        _regions(writer, op, indent, head + " (")
        head = f"{writer.lines.pop()})"
    full = writer.full
    operands = ", ".join([full[value.type] for value in op.operands])
    writer.lines.append(f"{head}{attr_dict(op)} : ({operands}) -> {_results(full, op.results)}{writer.end(op)}")


def _regions(writer: Writer, op: Op, indent: str, head: str) -> None:
    """Write the regions between parentheses; the last line is left open for what follows."""
    for region in op.regions:
        writer.lines.append(head + "{")
        if region is not None:
            _block(writer, region, indent)
        head = f"{indent}}}, "
    writer.lines.append(f"{indent}}}")


def _block(writer: Writer, block: Block, indent: str) -> None:
    """Write a block; it gets a label if it has arguments or would otherwise not be seen."""
    if block.args or not block.ops:
        declared = ", ".join(f"{writer.uses[value]}: {writer.full[value.type]}" for value in block.args)
        writer.lines.append(f"{indent}^bb0{f'({declared})' if declared else ''}:")
    for op in block.ops:
        write_generic(writer, op, indent + INDENT)


def _results(full: dict[Type, str], results: Sequence[Value]) -> str:
    if len(results) == 1:
        text = full[results[0].type]
        return f"({text})" if isinstance(results[0].type, FunctionType) else text
    return f"({', '.join([full[result.type] for result in results])})"


# ---------------------------------------------------------------- properties


def _properties_text(writer: Writer, op: Op) -> str:
    """Return `` <{key = value}>``; nothing without any. Spelt once for each operation with the same objects as
    attributes, as the cases of enumerations are."""
    key = (type(op), *op.segments, *op.attributes, *map(id, op.attributes.values()))
    text = writer.properties.get(key)
    if text is None:
        properties = dict_text(_properties(op), " <")
        text = writer.properties[key] = properties and f"{properties}>"
    return text


def _properties(op: Op) -> dict[str, a.Attribute]:
    """Return every declared attribute that is set or has a default to write, and the sizes of the operand groups."""
    found: dict[str, a.Attribute] = {}
    for attr in op.spec.attrs:
        value = op.attributes.get(attr.name, None if attr.required else attr.default)
        if value is not None and value is not False and value != ():
            found[attr.name] = FORMS[attr.kind].attribute(value)
        elif attr.kind is AttrKind.BOOL and value is False:
            found[attr.name] = a.BoolAttr(False)
    if op.spec.segmented:
        found[SEGMENT_SIZES] = a.DenseArray(I32, op.segments)
    return found
