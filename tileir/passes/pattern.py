"""Patterns: rewrites of single operations and of what defines their operands, written in words.

    PatternRow("add-zero", "canonicalise", "addi(x, 0)", "x", Exactness.EXACT, "zero is neutral")

A small letter stands for any value, a capital for one that a `constant` defines, a number for a constant with that
integer in all elements; a name twice is the same value twice. ``overflow=O`` names an attribute's value and
``signedness=signed`` requires one; an attribute that is not mentioned may be anything, and gets its default in the
result. The result and `when` may call a word of `WORDS`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Protocol

from tileir.ir.attributes import DenseElements, Ordering, Predicate
from tileir.ir.core import Op, Value
from tileir.ir.fields import Attr
from tileir.ir.loc import Location
from tileir.ir.traits import Relation, Same
from tileir.ir.types import I1, ElementType, TileType, Type, checked_cast
from tileir.ops import OPS
from tileir.ops.core import Constant
from tileir.passes.facts import constant_of, signed_splat_of, splat, splat_of
from tileir.passes.rebuilding import Row

_TYPE = Relation.TYPE

Bound = dict[str, object]
"""The values of a pattern's names: values, and contents of attributes."""


RESULT = "result"
"""The name of what the matched operation gives, for conditions."""


class Destination(Protocol):
    """The place where what is made goes."""

    def emit(self, op: Op) -> Sequence[Value]: ...


# ---------------------------------------------------------------- terms


@dataclass(frozen=True)
class Name:
    """A value, or an attribute; `constant`: of known content."""

    name: str
    constant: bool


@dataclass(frozen=True)
class Number:
    value: int


@dataclass(frozen=True)
class Spoken:
    """A call of a word of `WORDS`, or a case of an enumeration without arguments."""

    name: str
    arguments: tuple[Term, ...] = ()


@dataclass(frozen=True)
class Apply:
    """An operation on `operands`, with some attributes."""

    op: type[Op]
    operands: tuple[Term, ...]
    attributes: tuple[tuple[str, Term], ...] = field(default=())


Term = Name | Number | Spoken | Apply


def read(text: str) -> Term:
    """Return the term that a text stands for. Raises ValueError for one that is none."""
    return _term(ast.parse(text, mode="eval").body)


def _term(node: ast.expr) -> Term:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Number(int(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return Number(-int(node.operand.value))  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        is_value = len(node.id) == 1 or node.id == RESULT
        return Name(node.id, node.id.isupper()) if is_value else Spoken(node.id)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        arguments = tuple(map(_term, node.args))
        if node.func.id not in OPS:
            return Spoken(node.func.id, arguments)
        attributes = tuple((keyword.arg or "", _term(keyword.value)) for keyword in node.keywords)
        return Apply(OPS[node.func.id], arguments, attributes)
    raise ValueError(f"expected a term of a pattern, got {ast.unparse(node)!r}")


# ---------------------------------------------------------------- rows


@dataclass(frozen=True)
class PatternRow(Row):
    """A rewrite whose pattern and result are terms."""

    matched: Apply = field(init=False, repr=False, compare=False)
    made: Term = field(init=False, repr=False, compare=False)
    condition: Term | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pattern = read(self.pattern)
        assert isinstance(pattern, Apply), f"{self.name}: a pattern is an operation"
        object.__setattr__(self, "matched", pattern)
        object.__setattr__(self, "made", read(self.becomes))
        object.__setattr__(self, "condition", read(self.when) if self.when else None)

    def may_match(self, defining: Sequence[type]) -> bool:
        """Return whether the pattern may match an operation whose operands are defined by operations, or blocks, of
        those classes."""
        return all(map(_may_fit, self.matched.operands, defining))

    def match(self, op: Op) -> Bound | None:
        """Return the values of the names if the pattern matches `op` and the condition holds."""
        bound: Bound = {}
        if not _fits_op(self.matched, op, bound):
            return None
        bound[RESULT] = op.results[0]
        if self.condition is not None and not evaluated(self.condition, bound):
            return None
        return bound

    def absorbed(self, op: Op) -> list[Op]:
        """Return the operations, beside constants, that the pattern looks through."""
        found: list[Op] = []
        _collect(self.matched, op, found)
        return found


def _may_fit(term: Term, defining: type) -> bool:
    """Return whether a term may match a value, judging by the class of its definition."""
    if isinstance(term, Apply):
        return defining is term.op
    return defining is Constant or not (isinstance(term, Number) or (isinstance(term, Name) and term.constant))


def _fits(term: Term, value: Value, bound: Bound) -> bool:
    if isinstance(term, Name):
        if term.constant and constant_of(value) is None:
            return False
        return bound.setdefault(term.name, value) is value
    if isinstance(term, Number):
        content = constant_of(value)
        if content is None or content.element.is_float:
            return False
        return splat_of(value) == term.value % (1 << content.element.bits)
    assert isinstance(term, Apply)
    return isinstance(value.owner, Op) and _fits_op(term, value.owner, bound)


def _fits_op(term: Apply, op: Op, bound: Bound) -> bool:
    if type(op) is not term.op or op.discardable:
        return False
    for name, wanted in term.attributes:
        found = _effective(op.spec.attr_index[name], op)
        if isinstance(wanted, Name):
            if bound.setdefault(wanted.name, found) != found:
                return False
        elif found != _case(op.spec.attr_index[name], wanted):
            return False
    return all(_fits(part, value, bound) for part, value in zip(term.operands, op.operands))


def _effective(attr: Attr, op: Op) -> object:
    return op.attributes.get(attr.name, attr.default)


def _case(attr: Attr, term: Term) -> object:
    """Return the content of an attribute that a pattern spells out."""
    if isinstance(term, Spoken) and attr.enum is not None:
        return attr.enum.keywords()[term.name]
    if isinstance(term, Spoken):
        return {"true": True, "false": False}[term.name]
    assert isinstance(term, Number)
    return term.value


def _collect(term: Apply, op: Op, found: list[Op]) -> None:
    for part, value in zip(term.operands, op.operands):
        if isinstance(part, Apply) and isinstance(value.owner, Op):
            found.append(value.owner)
            _collect(part, value.owner, found)


def evaluated(term: Term, bound: Bound) -> object:
    """Return the value of a term of words and names."""
    if isinstance(term, Name):
        return bound[term.name]
    if isinstance(term, Number):
        return term.value
    assert isinstance(term, Spoken)
    word: Callable[..., object] = WORDS[term.name]
    return word(*(evaluated(argument, bound) for argument in term.arguments))


# ---------------------------------------------------------------- what is made


def build(term: Term, type: Type | None, bound: Bound, loc: Location, emitter: Destination) -> Value | None:
    """Return the value of that type that a term describes; None if it would be of another.

    No type need be given for content that has one of its own.
    """
    found: object = None if isinstance(term, Apply) else evaluated(term, bound)
    if isinstance(found, DenseElements):
        return emitter.emit(Constant.build([found.type], loc, value=found))[0]
    assert type is not None, "the type of what is made follows from that of the result"
    if isinstance(term, Apply):
        return _build_op(term, type, bound, loc, emitter)
    if isinstance(found, Value):
        return found if found.type is type else None
    assert isinstance(found, int), "a word gives a value, the content of a constant or a number"
    content = splat(checked_cast(type, TileType), found)
    return emitter.emit(Constant.build([type], loc, value=content))[0]


def _build_op(term: Apply, type: Type, bound: Bound, loc: Location, emitter: Destination) -> Value | None:
    fields = {operand.name: part for operand, part in zip(term.op.spec.operands, term.operands)}
    types = _types(term.op, type, fields, bound)
    if types is None:
        return None
    operands: list[Value] = []
    for name, part in fields.items():
        made = build(part, types.get(name), bound, loc, emitter)
        if made is None:
            return None
        operands.append(made)
    attributes = {}
    for name, wanted in term.attributes:
        attr = term.op.spec.attr_index[name]
        content = _content(attr, wanted, bound)
        if content != attr.default:
            attributes[name] = content
    (result,) = emitter.emit(term.op(operands, [type], attributes, (), loc))
    return result


def _content(attr: Attr, term: Term, bound: Bound) -> object:
    if isinstance(term, Name):
        return bound[term.name]
    if isinstance(term, Spoken) and term.name in WORDS:
        return evaluated(term, bound)
    return _case(attr, term)


def _known_type(term: Term, bound: Bound) -> Type | None:
    """Return the type of a value that is bound, or of an operation that gives what it takes."""
    if isinstance(term, Name):
        found = bound.get(term.name)
        return found.type if isinstance(found, Value) else None
    if not isinstance(term, Apply):
        return None
    fields = dict(zip((operand.name for operand in term.op.spec.operands), term.operands))
    groups = (trait.fields for trait in term.op.spec.traits if isinstance(trait, Same) and trait.relation is _TYPE)
    alike = {name for group in groups if term.op.spec.results[0].name in group for name in group}
    types = (_known_type(part, bound) for name, part in fields.items() if name in alike)
    return next((found for found in types if found is not None), None)


def _types(op: type[Op], type: Type, fields: dict[str, Term], bound: Bound) -> dict[str, Type] | None:
    """Return the types of the operands, as the result and the other operands tell; None if these do not go together."""
    types: dict[str, Type] = {op.spec.results[0].name: type}
    for name, part in fields.items():
        found = _known_type(part, bound)
        if found is not None:
            types[name] = found
    for relation in op.spec.traits:
        if isinstance(relation, Same) and relation.relation is _TYPE:
            known = {types[name] for name in relation.fields if name in types}
            if len(known) > 1:
                return None
            types.update((name, one) for one in known for name in relation.fields)
    return types


# ---------------------------------------------------------------- the words of patterns


_REFLEXIVE = (Predicate.EQUAL, Predicate.LESS_THAN_OR_EQUAL, Predicate.GREATER_THAN_OR_EQUAL)


def other(ordering: Ordering) -> Ordering:
    """Return the ordering of a comparison whose result is negated: with NaN it gives the opposite."""
    return Ordering.UNORDERED if ordering is Ordering.ORDERED else Ordering.ORDERED


def reflexive(predicate: Predicate) -> int:
    """Return 1 if a relation is reflexive, else 0."""
    return int(predicate in _REFLEXIVE)


def composed(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """Return the permutation that does first the one, then the other."""
    return tuple(first[at] for at in second)


def in_order(permutation: tuple[int, ...]) -> bool:
    """Return whether a permutation leaves every dimension where it is."""
    return permutation == tuple(range(len(permutation)))


def variable(value: Value) -> bool:
    """Return whether a value is not a known constant."""
    return constant_of(value) is None


def wider(value: Value, than: Value) -> bool:
    """Return whether the elements of one tile have more bits than those of another."""
    return value.tile.number.bits > than.tile.number.bits


def one_bit(value: Value) -> bool:
    """Return whether the elements are i1."""
    return value.tile.element is I1


def wide_integer(value: Value) -> bool:
    """Return whether the elements are integers of more than one bit."""
    element = value.tile.element
    return isinstance(element, ElementType) and not element.is_float and element.bits > 1


def narrower(value: Value, than: Value) -> bool:
    """Return whether the elements of one tile have fewer bits than those of another."""
    return wider(than, value)


def fits_sum(value: Value, other: Value) -> bool:
    """Return whether the sum of two constants, read as signed, fits their common type."""
    return _signed_sum(value, other) is not None


def signed_sum(value: Value, other: Value) -> DenseElements:
    """Return the sum of two constants, which fits."""
    found = _signed_sum(value, other)
    assert found is not None, "a condition has asked whether the sum fits"
    return splat(value.tile, found)


def _signed_sum(value: Value, other: Value) -> int | None:
    one, two = signed_splat_of(value), signed_splat_of(other)
    if one is None or two is None or value.type is not other.type or value.tile.number.bits == 1:
        return None
    half = 1 << (value.tile.number.bits - 1)
    return one + two if -half <= one + two < half else None


WORDS: dict[str, Callable[..., object]] = {
    "mirrored": attrgetter("mirrored"),
    "negated": attrgetter("negated"),
}
WORDS |= {
    word.__name__: word
    for word in (
        composed,
        fits_sum,
        in_order,
        narrower,
        one_bit,
        other,
        reflexive,
        signed_sum,
        variable,
        wide_integer,
        wider,
    )
}
