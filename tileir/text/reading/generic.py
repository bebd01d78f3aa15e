"""Operations in the generic form (spec: syntax#generic-form).

Knows: its layout, and how properties, operand groups and regions are fitted to what an operation declares.
Does not know: any operation by name.
"""

from __future__ import annotations

from typing import Any

from tileir.ir import attributes as a
from tileir.ir.core import Block, Op
from tileir.ir.loc import SourceLoc
from tileir.ir.spec import OpSpec
from tileir.ir.types import I32, FunctionType
from tileir.text.kinds import SEGMENT_SIZES
from tileir.text.reading import codes
from tileir.text.reading.arguments import function_type
from tileir.text.reading.attributes import dictionary
from tileir.text.reading.properties import distribute
from tileir.text.reading.reader import shown_token
from tileir.text.reading.spellings import PREFIX, spellings
from tileir.text.reading.statements import StatementReader


def read_generic(p: StatementReader) -> Op:
    """The rest of an operation whose quoted name was just taken."""
    loc = p.taken()
    cls = _operation(p)
    spec = cls.spec
    p.expect("(")
    values, marks = p.value_list() if p.peek()[0] == "%" else ([], [])
    p.expect(")")
    if p.peek() == "[":
        p.fail(codes.REGION_COUNT, f"'{spec.name}': expected no successors, got some")
    properties = _properties(p)
    regions = _regions(p, spec)
    at = p.here()
    entries = dictionary(p) if p.peek() == "{" else {}
    given = properties if properties is not None else entries
    sizes = given.pop(SEGMENT_SIZES, None)
    attributes: dict[str, Any] = {}
    discardable = distribute(p, spec, entries, attributes, at)
    if properties is not None:
        _check_known(p, spec, properties, loc)
        distribute(p, spec, properties, attributes, loc)
    _require(p, spec, attributes, loc)
    type = function_type(p, values, marks)
    segments = _segments(p, spec, sizes, len(values), loc)
    _check_results(p, spec, type, loc)
    op = cls(values, type.results, attributes, regions, segments=segments)
    op.discardable = discardable
    return op


def _operation(p: StatementReader) -> type[Op]:
    p.index -= 1
    name = p.string()
    found = spellings().get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    if found is None:
        p.index -= 1
        p.unknown_operation(name)
    return found


# ---------------------------------------------------------------- properties


def _properties(p: StatementReader) -> dict[str, a.Attribute] | None:
    """``<{name = value, ...}>``."""
    if not p.accept("<"):
        return None
    found = dictionary(p)
    p.expect(">")
    return found


def _check_known(p: StatementReader, spec: OpSpec, properties: dict[str, a.Attribute], loc: SourceLoc) -> None:
    unknown = next((key for key in properties if key not in spec.attr_index), None)
    if unknown is not None:
        message = f"'{spec.name}': expected a declared property, got {shown_token(unknown)}"
        p.fail(codes.UNKNOWN_ATTRIBUTE, message, loc)


def _require(p: StatementReader, spec: OpSpec, attributes: dict[str, Any], loc: SourceLoc) -> None:
    missing = next((attr.name for attr in spec.attrs if attr.required and attr.name not in attributes), None)
    if missing is not None:
        p.fail(codes.MISSING_PROPERTY, f"'{spec.name}': expected the property '{missing}', got none", loc)


def _segments(
    p: StatementReader, spec: OpSpec, sizes: a.Attribute | None, count: int, loc: SourceLoc
) -> tuple[int, ...]:
    """The number of operands in the group of each declared operand."""
    if sizes is None:
        if spec.segmented and any(not operand.single for operand in spec.operands):
            p.fail(codes.MISSING_PROPERTY, f"'{spec.name}': expected the property '{SEGMENT_SIZES}', got none", loc)
        found = spec.default_segments(count)
    elif isinstance(sizes, a.DenseArray) and sizes.element is I32:
        found = tuple(int(size) for size in sizes.values)
    else:
        p.fail(codes.PROPERTY, f"'{spec.name}' attribute '{SEGMENT_SIZES}': expected array<i32: ...>, got another", loc)
    fits = len(found) == len(spec.operands) and sum(found) == count and min(found, default=0) >= 0
    for operand, size in zip(spec.operands, found):
        fits = fits and (operand.variadic or size == 1 or (operand.optional and size == 0))
    if not fits:
        declared = ", ".join(operand.name for operand in spec.operands) or "none"
        message = f"'{spec.name}': expected operands for {declared}, got {count} in groups {list(found)}"
        p.fail(codes.OPERAND_COUNT, message, loc)
    return found


# ---------------------------------------------------------------- signature


def _check_results(p: StatementReader, spec: OpSpec, type: FunctionType, loc: SourceLoc) -> None:
    declared = len(spec.results)
    if declared != len(type.results) and not any(result.variadic for result in spec.results):
        message = f"'{spec.name}': expected {declared} result types, got {len(type.results)}"
        p.fail(codes.RESULT_COUNT, message, loc, expected=str(declared), got=str(len(type.results)))


# ---------------------------------------------------------------- regions


def _regions(p: StatementReader, spec: OpSpec) -> tuple[Block | None, ...]:
    """``({ ... }, ...)``. Not a `comma_list`: nested regions must take few Python frames."""
    at = p.here()
    found: list[Block | None] = []
    more = p.accept("(")
    while more:
        opening = p.here()
        p.expect("{")
        found.append(None if p.accept("}") else p.block(spec, [], opening))
        more = p.accept(",")
        if not more:
            p.expect(")", "',' or ')'")
    if len(found) != len(spec.regions):
        message = f"'{spec.name}': expected {len(spec.regions)} regions, got {len(found)}"
        p.fail(codes.REGION_COUNT, message, at, expected=str(len(spec.regions)), got=str(len(found)))
    return tuple(block or (None if region.optional else Block()) for block, region in zip(found, spec.regions))
