"""A valid use of every operation is accepted, and every way to break its declaration is refused with its code."""

from __future__ import annotations

import pytest
from broken import TYPES, Subject
from chunks import operation_chunks

from tileir.ir.attributes import TextEnum
from tileir.ir.core import Value
from tileir.ir.fields import Operand, Result
from tileir.ir.traits import Relation, Same, TypeFrom
from tileir.ir.types import TOKEN, TileType, Type
from tileir.ir.versions import VERSIONS, version_key
from tileir.ops import OPS
from tileir.verify import verify

CHUNKS = operation_chunks()
CODES = {Relation.TYPE: "E0208", Relation.SHAPE: "E0209", Relation.RANK: "E0210", Relation.ELEMENT: "E0211"}

every_operation = pytest.mark.parametrize("name", sorted(OPS))


def test_every_operation_has_a_valid_use() -> None:
    assert set(CHUNKS) == set(OPS)


@every_operation
def test_valid_use_is_accepted(name: str) -> None:
    report = CHUNKS[name].run()
    assert not list(report), report.render()


@every_operation
def test_operands_have_declared_types(name: str) -> None:
    subject = Subject(name)
    for operand in filter(subject.has, OPS[name].spec.operands):
        for type in TYPES:
            if not operand.constraint.accepts(type):
                with subject.operand_of_type(operand, type):
                    assert subject.codes()[:1] == ["E0203"], (operand.name, type)


@every_operation
def test_results_have_declared_types(name: str) -> None:
    subject = Subject(name)
    for result in filter(subject.has, OPS[name].spec.results):
        for type in TYPES:
            if not result.constraint.accepts(type):
                with subject.result_of_type(result, type):
                    assert subject.codes()[:1] == ["E0204"], (result.name, type)


@every_operation
def test_required_attributes_are_given(name: str) -> None:
    subject = Subject(name)
    for attr in OPS[name].spec.attrs:
        if attr.required:
            with subject.attribute(attr.name):
                assert subject.codes() == ["E0201"], attr.name


@every_operation
def test_attributes_are_of_the_declared_kind(name: str) -> None:
    subject = Subject(name)
    for attr in OPS[name].spec.attrs:
        for value in (object(), [], {"a": 1}, 1.5, None, (None,), b"bytes"):
            with subject.attribute(attr.name, value):
                assert subject.codes() == ["E0202"], (attr.name, value)


@every_operation
def test_operands_are_counted(name: str) -> None:
    subject = Subject(name)
    op, operands, segments = subject.op, subject.op.operands, subject.op.segments
    extra = Value(TOKEN, op, 0)
    op.operands = [*operands, extra]
    assert "E0205" in subject.codes()
    op.operands = operands[:-1]
    if operands:
        assert subject.codes() == ["E0205"]
    op.operands = operands
    for sizes in ((*segments, 1), segments[:-1], tuple(-1 for _ in segments), tuple(7 for _ in segments)):
        op.segments = sizes
        if sizes != segments:
            assert subject.codes() == ["E0205"], sizes


@every_operation
def test_results_are_counted(name: str) -> None:
    subject = Subject(name)
    op, results = subject.op, subject.op.results
    if any(result.variadic for result in op.spec.results):
        return
    op.results = [*results, Value(TOKEN, op, len(results))]
    assert subject.codes() == ["E0206"]
    op.results = results[:-1]
    if results:
        assert subject.codes() == ["E0206"]


@every_operation
def test_regions_are_counted(name: str) -> None:
    subject = Subject(name)
    op, regions = subject.op, subject.op.regions
    op.regions = (*regions, None)
    assert subject.codes() == ["E0207"]
    if regions:
        op.regions = regions[:-1]
        assert subject.codes() == ["E0207"]
        op.regions = tuple(None for _ in regions)
        assert subject.codes() == ([] if name == "module" else ["E0207"])


def _related() -> list[tuple[str, Same]]:
    return [(name, trait) for name, op in OPS.items() for trait in op.spec.traits if isinstance(trait, Same)]


@pytest.mark.parametrize(
    ("name", "trait"), _related(), ids=lambda value: value if isinstance(value, str) else value.name
)
def test_fields_are_related_as_declared(name: str, trait: Same) -> None:
    subject = Subject(name)
    assert CODES[trait.relation] in set(_violations(subject, trait)) or _implied(subject, trait)


def _violations(subject: Subject, trait: Same):
    """The first code reported for each type that one of the related fields can have and the other has not."""
    fields = [field for field in (*subject.op.spec.operands, *subject.op.spec.results) if field.name in trait.fields]
    for field in filter(subject.has, fields):
        for type in filter(field.constraint.accepts, TYPES):
            change = subject.operand_of_type if isinstance(field, Operand) else subject.result_of_type
            with change(field, type):
                yield from subject.codes()[:1]


def _implied(subject: Subject, trait: Same) -> bool:
    """True if the relation cannot be broken alone: by the constraints, or by an earlier and stronger relation."""
    spec = subject.op.spec
    fields = [field for field in (*spec.operands, *spec.results) if field.name in trait.fields]
    members = {tuple(filter(field.constraint.accepts, TYPES)) for field in fields}
    if len(members) == 1 and len({_aspect(trait.relation, type) for type in next(iter(members))}) == 1:
        return True
    earlier = spec.traits[: spec.traits.index(trait)]
    return any(
        isinstance(each, Same) and each.relation is Relation.TYPE and set(trait.fields) <= set(each.fields)
        for each in earlier
    )


def _aspect(relation: Relation, type: Type) -> object:
    return type.element if relation is Relation.ELEMENT and isinstance(type, TileType) else type


def test_derived_types_are_those_of_their_source() -> None:
    for name, op in OPS.items():
        trait = op.spec.trait(TypeFrom)
        if trait is not None:
            subject = Subject(name)
            field: Result = next(field for field in op.spec.results if field.name == trait.source)
            other = next(filter(field.constraint.accepts, TYPES))
            padded = type(other)(*_with_other_tensor(other))
            with subject.result_of_type(field, padded):
                assert subject.codes() == ["E0212"]


def _with_other_tensor(view) -> tuple[object, ...]:
    tensor = type(view.tensor_view)(view.element, (64, 16), (16, 1))
    if hasattr(view, "traversal_strides"):
        return view.tile_shape, view.traversal_strides, tensor
    return (view.tile_shape, tensor, view.sparse_dim) if hasattr(view, "sparse_dim") else (view.tile_shape, tensor)


@every_operation
def test_levels_before_the_operation_refuse_it(name: str) -> None:
    subject, since = Subject(name), version_key(OPS[name].spec.since)
    for level in VERSIONS:
        refused = version_key(level) < since
        assert ("E0216" in subject.codes(level)) == refused


@every_operation
def test_levels_before_a_field_refuse_its_use(name: str) -> None:
    for attr in OPS[name].spec.attrs:
        if attr.since and attr.since != OPS[name].spec.since and attr.name in Subject(name).op.attributes:
            before = VERSIONS[VERSIONS.index(attr.since) - 1]
            subject = Subject(name)
            keep = subject.op.attributes[attr.name]
            for other in subject.op.spec.attrs:
                if other.since:
                    subject.op.attributes.pop(other.name, None)
            with subject.attribute(attr.name, keep):
                assert subject.codes(before)[:1] == (["E0217"] if keep != attr.default else [])
                assert subject.codes(attr.since) == []


def test_levels_before_a_case_refuse_it() -> None:
    for name, op in OPS.items():
        for attr in op.spec.attrs:
            for case in attr.enum or ():
                _refuses_case(name, attr.name, case)


def _refuses_case(name: str, attr: str, case: TextEnum) -> None:
    if case.since == "13.1":
        return
    subject = Subject(name)
    with subject.attribute(attr, case):
        before = VERSIONS[VERSIONS.index(case.since) - 1]
        assert {"E0216", "E0217", "E0218"} & set(subject.codes(before)[:1])


@pytest.mark.parametrize(
    ("terminator", "parent"),
    [("break", "for"), ("continue", "function"), ("return", "for"), ("yield", "for"), ("yield", "function")],
)
def test_terminators_stand_only_in_their_parents(terminator: str, parent: str) -> None:
    subject = Subject("for" if parent == "for" else "experimental$func")
    block = subject.op.regions[0]
    assert block is not None
    block.ops.pop()
    block.append(OPS[terminator].build())
    found = [diagnostic.code for diagnostic in verify(subject.module)]
    assert found == ["E0213"]
