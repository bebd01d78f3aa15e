"""Print TTIR as MLIR text in generic form, which Triton's parser reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tileir.gpu.ttir.ir.code import ConstantBits, Instruction, Text, TtirAttribute, TtirBlock, TtirFunction, TtirValue
from tileir.ir.escaping import as_bytes
from tileir.ir.loc import Location, SourceLoc, file_position


def function_text(function: TtirFunction) -> str:
    """Return a module with `function` as its only entry."""
    return "\n".join(["module {", *_flat(_Writer().function(function)), "}", ""])


def attribute_text(value: TtirAttribute | ConstantBits) -> str:
    """Return an attribute as MLIR writes it."""
    if isinstance(value, Text):
        return value.text
    if isinstance(value, ConstantBits):
        return _number(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value} : i32"
    if isinstance(value, str):
        return _quoted(value)
    element = "i1" if value and isinstance(value[0], bool) else "i32"
    items = ", ".join(str(item).lower() for item in value)
    return f"array<{element}: {items}>" if value else f"array<{element}>"


def _number(number: ConstantBits) -> str:
    element = number.type.element
    if element == "i1":
        text = "true" if number.bits else "false"
    elif number.type.is_float:
        text = f"0x{number.bits:0{number.type.bits // 4}X}"
    else:
        text = str(number.bits - (1 << number.type.bits if number.bits >> (number.type.bits - 1) else 0))
    if number.type.is_tensor:
        return f"dense<{text}> : {number.type}"
    return text if element == "i1" else f"{text} : {element}"


def _quoted(text: str) -> str:
    """Return a string literal; MLIR wants bytes that are not plain ASCII as two hexadecimal digits."""
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in as_bytes(text))
    return f'"{"".join(plain)}"'


def _location(loc: Location) -> str:
    place = file_position(loc)
    if place is None:
        return ""
    found = place.file_loc if isinstance(place, SourceLoc) else place
    return f" loc({_quoted(found.file)}:{found.line}:{found.column})"


Lines = Iterator["str | Lines"]
"""Lines, and the lines of regions among them."""


class _Writer:
    """Numbers the values as they are defined."""

    def __init__(self) -> None:
        self.names: dict[TtirValue, str] = {}

    def define(self, value: TtirValue) -> str:
        name = self.names[value] = f"%{len(self.names)}"
        return name

    def function(self, function: TtirFunction) -> Lines:
        arguments = function.body.arguments
        types = ", ".join(str(argument.type) for argument in arguments)
        attributes = ", ".join(_dictionary(function.argument_attributes.get(i, {})) for i in range(len(arguments)))
        names = ", ".join(f"{self.define(argument)}: {argument.type}" for argument in arguments)
        yield f'"tt.func"() <{{function_type = ({types}) -> (), sym_name = {_quoted(function.name)}, '
        yield f'  sym_visibility = "public", arg_attrs = [{attributes}]}}> ({{'
        yield f"^bb0({names}):"
        yield self.instructions(function.body, "  ")
        yield "}) : () -> ()"

    def instructions(self, block: TtirBlock, indent: str) -> Lines:
        for instruction in block.instructions:
            yield from self.instruction(instruction, indent)

    def instruction(self, instruction: Instruction, indent: str) -> Lines:
        operands = ", ".join(self.names[value] for value in instruction.operands)
        inputs = ", ".join(str(value.type) for value in instruction.operands)
        outputs = ", ".join(map(str, instruction.result_types))
        attributes = f" {_dictionary(instruction.attributes)}" if instruction.attributes else ""
        tail = f"{attributes} : ({inputs}) -> ({outputs}){_location(instruction.loc)}"
        names = ", ".join(map(self.define, instruction.results))
        head = f'{indent}{names}{" = " if names else ""}"{instruction.name}"({operands})'
        if not instruction.regions:
            yield head + tail
            return
        yield f"{head} ({{"
        for position, region in enumerate(instruction.regions):
            if position:
                yield f"{indent}}}, {{"
            yield self.region(region, indent)
        yield f"{indent}}}){tail}"

    def region(self, block: TtirBlock, indent: str) -> Lines:
        yield f"{indent}^bb0({', '.join(f'{self.define(value)}: {value.type}' for value in block.arguments)}):"
        yield self.instructions(block, indent + "  ")


def _flat(lines: Lines) -> Iterator[str]:
    """Yield the lines in order. However deep they are nested, Python's stack is not."""
    stack = [lines]
    while stack:
        for line in stack[-1]:
            if not isinstance(line, str):
                stack.append(line)
                break
            yield line
        else:
            stack.pop()


def _dictionary(attributes: Mapping[str, TtirAttribute | ConstantBits]) -> str:
    return "{" + ", ".join(f"{name} = {attribute_text(value)}" for name, value in attributes.items()) + "}"
