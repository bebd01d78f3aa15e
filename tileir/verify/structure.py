"""Rules that follow from declarations: operands, attributes, results and regions, with the fix where there is one."""

from __future__ import annotations

from collections.abc import Callable

from tileir.ir.core import Op
from tileir.ir.fields import Attr, Operand, Result
from tileir.ir.spec import OpSpec
from tileir.ir.traits import ParentOneOf, Relation, Same, TerminatedBy, TypeFrom
from tileir.ir.types import INTS, PointerType, TensorViewType, TileType, Type, dims_text
from tileir.ops.constraints import BASE_FLOATS
from tileir.verify import versions
from tileir.verify.kinds import kind_of, value_text
from tileir.verify.rule import Check, CheckContext, Rule, Violation, counted, defined, listed

_FOR_INTEGERS = {
    "absf": "absi",
    "addf": "addi",
    "cmpf": "cmpi",
    "divf": "divi",
    "maxf": "maxi",
    "minf": "mini",
    "mmaf": "mmai",
    "mulf": "muli",
    "negf": "negi",
    "remf": "remi",
    "subf": "subi",
}
_FOR_FLOATS = {integer: floating for floating, integer in _FOR_INTEGERS.items()}
_OF_TILE_VIEWS = ("load_view_tko", "store_view_tko", "get_index_space_shape")


def twin_hint(op: Op, type: Type) -> str | None:
    """Return a hint naming the operation that does the same for elements of `type`, or converts it for `op`; None if
    there is none."""
    if isinstance(type, TensorViewType) and op.spec.name in _OF_TILE_VIEWS:
        return "'make_partition_view' cuts it into tiles"
    element = type.element if isinstance(type, TileType) else None
    if isinstance(element, PointerType):
        return _pointer_hint(op)
    if element in INTS and op.spec.name in _FOR_INTEGERS:
        return f"'{_FOR_INTEGERS[op.spec.name]}' takes integers"
    if element in BASE_FLOATS and op.spec.name in _FOR_FLOATS:
        return f"'{_FOR_FLOATS[op.spec.name]}' takes floats"
    return None


def _pointer_hint(op: Op) -> str | None:
    if op.spec.name in ("addi", "subi"):
        return "'offset' moves pointers"
    if op.spec.name == "bitcast":
        return "'int_to_ptr', 'ptr_to_int' and 'ptr_to_ptr' convert pointers"
    return None


def ending_hint(op: Op, parent: Op) -> str | None:
    """Names what ends a block of `parent`, for an operation that ends those of others."""
    trait = parent.spec.trait(TerminatedBy)
    if trait is None or not op.spec.terminator:
        return None
    names = " or ".join(f"'{name}'" for name in (trait.terminator, *trait.also))
    return f"a block of '{parent.spec.name}' ends with {names}"


def relation_hint(relation: Relation, type: Type, other: Type) -> str | None:
    """Names what brings two tiles to the same rank or shape, if one of them only lacks dimensions or repetition."""
    if not isinstance(type, TileType) or not isinstance(other, TileType):
        return None
    if relation is Relation.RANK:
        return "'reshape' adds or drops dimensions of extent 1"
    is_scalar = bool(type.shape) != bool(other.shape)
    if is_scalar and (relation is Relation.SHAPE or (relation is Relation.TYPE and type.element is other.element)):
        return "'reshape' and 'broadcast' make a tile of a scalar"
    return None


def rules(spec: OpSpec) -> tuple[Rule, ...]:
    """Return the derived rules of one operation, in the order of checking."""
    result = versions.op_rules(spec)
    result += _counts(spec)
    result += [_parent(trait) for trait in spec.traits if isinstance(trait, ParentOneOf)]
    result += [_missing(attr) for attr in spec.attrs if attr.required]
    result += [_kind(attr) for attr in spec.attrs]
    result += versions.field_rules(spec)
    result += [_operand_type(operand) for operand in spec.operands]
    result += [_result_type(field) for field in spec.results]
    result += _result_versions(spec)
    result += [_relation(spec, trait) for trait in spec.traits if isinstance(trait, Same)]
    result += [_derived(spec, trait) for trait in spec.traits if isinstance(trait, TypeFrom)]
    return tuple(result)


def _rule(code: str, check: Check) -> Rule:
    return Rule(code, check, structural=True)


# ---------------------------------------------------------------- counts


def _counts(spec: OpSpec) -> list[Rule]:
    result = [_rule("E0205", _operand_count(spec)), _rule("E0206", _result_count(spec))]
    return [*result, _rule("E0207", _regions(spec))]


def _operand_count(spec: OpSpec) -> Check:
    total = len(spec.operands)

    def check(op: Op, context: CheckContext) -> Violation | None:
        if op.segments == spec.fixed_segments:
            found = len(op.operands)
            return None if found == total else Violation("", counted(total, "operand"), str(found))
        return _segments(op, spec)

    return check


def _segments(op: Op, spec: OpSpec) -> Violation | None:
    sizes = op.segments
    if len(sizes) != len(spec.operands) or any(type(size) is not int or size < 0 for size in sizes):
        return Violation("operand segment sizes", counted(len(spec.operands), "size"), str(len(sizes)))
    for operand, size in zip(spec.operands, sizes):
        if operand.single and size != 1:
            return Violation(f"operand '{operand.name}'", "one value", str(size))
        if operand.optional and size > 1:
            return Violation(f"operand '{operand.name}'", "at most one value", str(size))
    if sum(sizes) != len(op.operands):
        return Violation("", counted(sum(sizes), "operand"), str(len(op.operands)))
    return None


def _result_count(spec: OpSpec) -> Check:
    total = len(spec.results)
    variadic = any(field.variadic for field in spec.results)

    def check(op: Op, context: CheckContext) -> Violation | None:
        found = len(op.results)
        if variadic or found == total:
            return None
        return Violation("", counted(total, "result") if total else "no results", str(found))

    return check


def _regions(spec: OpSpec) -> Check:
    total = len(spec.regions)
    terminated = spec.trait(TerminatedBy)

    def check(op: Op, context: CheckContext) -> Violation | None:
        if len(op.regions) != total:
            return Violation("", counted(total, "region") if total else "no regions", str(len(op.regions)))
        for field, block in zip(spec.regions, op.regions):
            if block is None and not field.optional and terminated is not None:
                return Violation(f"region '{field.name}'", "a block", "none")
        return None

    return check


# ---------------------------------------------------------------- parents and attributes


def _parent(trait: ParentOneOf) -> Rule:
    allowed = frozenset(trait.parents)
    expected = listed([f"'{name}'" for name in trait.parents])

    def check(op: Op, context: CheckContext) -> Violation | None:
        parent = op.parent_op
        if parent is not None and parent.spec.name in allowed:
            return None
        got, hint = ("none", None) if parent is None else (f"'{parent.spec.name}'", ending_hint(op, parent))
        return Violation("parent operation", expected, got, hint=hint)

    return _rule("E0213", check)


def _missing(attr: Attr) -> Rule:
    name, text = attr.name, kind_of(attr).text

    def check(op: Op, context: CheckContext) -> Violation | None:
        return None if name in op.attributes else Violation(f"attribute '{name}'", text, "none")

    return _rule("E0201", check)


def _kind(attr: Attr) -> Rule:
    name, kind = attr.name, kind_of(attr)
    accepts = kind.accepts

    def check(op: Op, context: CheckContext) -> Violation | None:
        if name not in op.attributes or accepts(op.attributes[name]):
            return None
        return Violation(f"attribute '{name}'", kind.text, value_text(op.attributes[name]))

    return _rule("E0202", check)


# ---------------------------------------------------------------- types


def _operand_type(operand: Operand) -> Rule:
    name, position, constraint = operand.name, operand.position, operand.constraint
    accepts = constraint.accepts

    def check(op: Op, context: CheckContext) -> Violation | None:
        group = op.operand_group(position)
        for index, value in enumerate(group):
            if not accepts(value.type):
                what = f"operand '{name}'" if operand.single or operand.optional else f"operand '{name}[{index}]'"
                notes, hint = defined(value, what), twin_hint(op, value.type)
                return Violation(what, constraint.text, repr(value.type), notes, hint)
        return None

    return _rule("E0203", check)


def _result_type(field: Result) -> Rule:
    accepts = field.constraint.accepts

    def check(op: Op, context: CheckContext) -> Violation | None:
        results = op.results if field.variadic else [op.results[field.position]]
        for index, value in enumerate(results):
            if not accepts(value.type):
                what = _result_text(field.name) + (f" {index}" if field.variadic else "")
                return Violation(what, field.constraint.text, repr(value.type), hint=twin_hint(op, value.type))
        return None

    return _rule("E0204", check)


def _result_text(name: str) -> str:
    return "result" if name in ("result", "results") else f"result '{name}'"


def _result_versions(spec: OpSpec) -> list[Rule]:
    return [_type_rule(code, violation) for code, violation in versions.TYPE_RULES if spec.results]


def _type_rule(code: str, violation: Callable[[str, Type, CheckContext], Violation | None]) -> Rule:
    def check(op: Op, context: CheckContext) -> Violation | None:
        for value in op.results:
            found = violation("result", value.type, context)
            if found is not None:
                return found
        return None

    return _rule(code, check)


# ---------------------------------------------------------------- relations


def _element(type: Type) -> object:
    return type.element if isinstance(type, TileType) else type


def _shape(type: Type) -> object:
    return type.shape if isinstance(type, TileType) else type


def _rank(type: Type) -> object:
    return len(type.shape) if isinstance(type, TileType) else type


_ASPECTS: dict[Relation, tuple[str, Callable[[Type], object]]] = {
    Relation.TYPE: ("E0208", lambda type: type),
    Relation.SHAPE: ("E0209", _shape),
    Relation.RANK: ("E0210", _rank),
    Relation.ELEMENT: ("E0211", _element),
}

Member = tuple[str, Callable[[Op], list[Type]]]
"""A field in words, and how to read its types."""


def _relation(spec: OpSpec, trait: Same) -> Rule:
    code, aspect = _ASPECTS[trait.relation]
    members = [_member(spec, name) for name in trait.fields]

    def check(op: Op, context: CheckContext) -> Violation | None:
        first: tuple[str, Type] | None = None
        for what, types_of in members:
            for type in types_of(op):
                if first is None:
                    first = (what, type)
                elif type is not first[1] and aspect(type) != aspect(first[1]):
                    return differs(what, type, trait.relation, *first)
        return None

    return _rule(code, check)


def differs(what: str, type: Type, relation: Relation, other: str, other_type: Type) -> Violation:
    """Return the violation of a field that has not the type, shape, rank or element type of another."""
    wanted = _wanted(relation, other_type)
    expected = f"{wanted}, as {other}" + ("" if relation is Relation.TYPE else f" of {other_type!r}")
    return Violation(what, expected, repr(type), hint=relation_hint(relation, type, other_type))


def _wanted(relation: Relation, type: Type) -> str:
    if relation is Relation.TYPE or not isinstance(type, TileType):
        return repr(type)
    if relation is Relation.SHAPE:
        return f"shape [{dims_text(type.shape)}]"
    return f"rank {type.rank}" if relation is Relation.RANK else f"elements of {type.element!r}"


def _member(spec: OpSpec, name: str) -> Member:
    operand = spec.operand_index.get(name)
    if operand is None:
        position = next(field.position for field in spec.results if field.name == name)
        return _result_text(name), lambda op: [op.results[position].type]
    where = operand.position
    if spec.fixed_segments is not None:
        return f"operand '{name}'", lambda op: [op.operands[where].type]
    return f"operand '{name}'", lambda op: [value.type for value in op.operand_group(where)]


def _derived(spec: OpSpec, trait: TypeFrom) -> Rule:
    what, types_of = _member(spec, trait.field)
    _, sources_of = _member(spec, trait.source)

    def check(op: Op, context: CheckContext) -> Violation | None:
        found, expected = types_of(op)[0], trait.derive(sources_of(op)[0])
        return None if found is expected else Violation(what, f"{trait.text}, {expected!r}", repr(found))

    return _rule("E0212", check)
