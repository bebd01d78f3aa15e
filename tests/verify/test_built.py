"""Modules built in memory: faults that no text can have, the shape of reports, and that nothing fails on them."""

from __future__ import annotations

import random

import pytest
from broken import TYPES, Subject
from hypothesis import given, settings
from hypothesis import strategies as st

from tileir.ir import types as t
from tileir.ir.attributes import (
    ArrayAttr,
    DenseElements,
    DictAttr,
    DivBy,
    IntegerAttr,
    OptimizationHints,
    Rounding,
    StringAttr,
)
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.loc import FileLoc
from tileir.ir.versions import VERSIONS
from tileir.ops import OPS
from tileir.ops.calls import Func
from tileir.ops.control import If, Loop, Return
from tileir.ops.core import Constant
from tileir.ops.floating import AddF, NegF
from tileir.ops.integer import AddI
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.text.parser import parse
from tileir.verify import verify

F32 = t.tile(t.F32)
I1 = t.tile(t.I1)


def module(*items: Op) -> Module:
    body = Block()
    for item in items:
        body.append(item)
    return Module(ModuleOp.build(sym_name="m", body=body))


def function(types: list[t.Type], name: str = "f") -> tuple[Op, Block]:
    body = Block(types)
    return Func.build(sym_name=name, function_type=t.FunctionType(types), body=body), body


def codes(program: Module, level: str = "13.5") -> list[str]:
    return [diagnostic.code for diagnostic in verify(program, level)]


# ---------------------------------------------------------------- rules that text cannot break


@pytest.mark.parametrize("length", [0, 3, 5, 12, 20])
def test_constants_hold_one_or_all_elements(length: int) -> None:
    op, body = function([])
    tile = t.tile(t.F32, 4)
    body.append(Constant.build([tile], value=DenseElements(tile, bytes(length))))
    body.append(Return.build())
    assert codes(module(op)) == ["E0406"]
    assert codes(module(Global.build(sym_name="g", value=DenseElements(tile, bytes(length))))) == ["E0406"]


def test_globals_hold_numbers() -> None:
    value = DenseElements(t.tile(t.PointerType(t.F32), 2), bytes(8))
    assert codes(module(Global.build(sym_name="g", value=value))) == ["E0814"]


@pytest.mark.parametrize(("every", "along"), [(2, None), (None, 0)])
def test_every_and_along_go_together(every: int | None, along: int | None) -> None:
    subject = Subject("assume")
    with subject.attribute("predicate", DivBy(8, every, along)):
        assert subject.codes() == ["E0451"]


@pytest.mark.parametrize("name", ["entry", "load_ptr_tko", "store_ptr_tko", "load_view_tko", "store_view_tko"])
def test_hints_are_dictionaries(name: str) -> None:
    subject = Subject(name)
    with subject.attribute("optimization_hints", OptimizationHints(DictAttr.of({"sm_90": StringAttr("x")}))):
        assert subject.codes() == ["E0830"]


@pytest.mark.parametrize("name", ["load_view_tko", "store_view_tko", "atomic_red_view_tko"])
def test_an_empty_list_of_bounds_is_too_short(name: str) -> None:
    subject = Subject(name)
    with subject.attribute("inbounds", ()):
        assert subject.codes() == ["E0625"]


def test_tile_views_are_made_of_tile_extents_and_a_tensor_view() -> None:
    with pytest.raises(t.InvalidType) as caught:
        t.PartitionViewType((), t.TensorViewType(t.F32, (), ()))
    assert caught.value.code == "E0310"
    with pytest.raises(t.InvalidType) as caught:
        t.PartitionViewType((4,), t.tile(t.F32, 4))
    assert caught.value.code == "E0311"


def test_values_of_another_region_are_not_visible() -> None:
    op, body = function([I1, F32])
    inner = Block()
    hidden = inner.append(NegF.build([F32], source=body.args[1]))
    inner.append(OPS["yield"].build())
    body.append(If.build([], condition=body.args[0], then=inner))
    body.append(NegF.build([F32], source=hidden.results[0]))
    body.append(Return.build())
    assert codes(module(op)) == ["E0221"]


def test_values_of_another_function_are_not_visible() -> None:
    first, first_body = function([F32], "f")
    first_body.append(Return.build())
    second, second_body = function([], "g")
    second_body.append(NegF.build([F32], source=first_body.args[0]))
    second_body.append(Return.build())
    assert codes(module(first, second)) == ["E0221"]


def test_isolated_regions_see_nothing_from_outside() -> None:
    outer, body = function([F32], "f")
    inner, inner_body = function([], "g")
    inner_body.append(NegF.build([F32], source=body.args[0]))
    inner_body.append(Return.build())
    body.append(inner)
    body.append(Return.build())
    assert codes(module(outer)) == ["E0802", "E0222"]


def test_an_operation_is_not_visible_in_its_own_regions() -> None:
    op, body = function([])
    inner = Block()
    loop = body.append(Loop.build([F32], body=inner))
    inner.append(NegF.build([F32], source=loop.results[0]))
    inner.append(OPS["continue"].build())
    body.append(Return.build())
    assert codes(module(op)) == ["E0220"]


def test_both_branches_see_only_what_is_outside() -> None:
    op, body = function([I1, F32])
    then, otherwise = Block(), Block()
    hidden = then.append(NegF.build([F32], source=body.args[1]))
    then.append(OPS["yield"].build())
    otherwise.append(NegF.build([F32], source=hidden.results[0]))
    otherwise.append(OPS["yield"].build())
    body.append(If.build([], condition=body.args[0], then=then, otherwise=otherwise))
    body.append(Return.build())
    assert codes(module(op)) == ["E0221"]


def test_blocks_end_with_a_terminator() -> None:
    op, _ = function([])
    assert codes(module(op)) == ["E0215"]


# ---------------------------------------------------------------- reports


def test_one_fault_per_operation_and_all_operations() -> None:
    op, body = function([F32, I1])
    number, bit = body.args
    body.append(AddF.build([I1], lhs=bit, rhs=bit, rounding_mode=Rounding.FULL))
    body.append(AddI.build([F32], lhs=number, rhs=number))
    body.append(AddF.build([F32], lhs=number, rhs=number, rounding_mode=Rounding.FULL))
    body.append(Return.build(operands=[number]))
    assert codes(module(op)) == ["E0203", "E0203", "E0701", "E0502"]


def test_diagnostics_carry_what_was_expected_and_found() -> None:
    op, body = function([I1])
    body.arg_locs = (FileLoc("k.py", 1, 7),)
    body.append(NegF.build([F32], source=body.args[0], loc=FileLoc("k.py", 2, 3)))
    body.append(Return.build())
    (found,) = verify(module(op))
    assert found.message == "'negf' operand 'source': expected a tile of f16, bf16, f32 or f64, got tile<i1>"
    assert (found.op, found.expected, found.got) == ("negf", "a tile of f16, bf16, f32 or f64", "tile<i1>")
    assert found.loc == FileLoc("k.py", 2, 3)
    assert [note.loc for note in found.notes] == [FileLoc("k.py", 1, 7)]
    assert found.hint == "'negi' takes integers"


def _wrong(count: int) -> Module:
    op, body = function([I1])
    for _ in range(count):
        body.append(NegF.build([F32], source=body.args[0]))
    body.append(Return.build())
    return module(op)


def test_at_most_a_hundred_errors_are_reported() -> None:
    report = verify(_wrong(100))
    assert len(report) == 100
    assert not any("more than" in note.message for found in report for note in found.notes)
    report = verify(_wrong(10_000))
    assert len(report) == 100
    assert "more than 100 errors" in report.diagnostics[-1].notes[-1].message


def test_warnings_do_not_hide_errors_nor_fail_the_report() -> None:
    globals_ = [
        Global.build(sym_name=f"g{index}", value=DenseElements(t.tile(t.I8, 1), b"\0"), alignment=3)
        for index in range(150)
    ]
    report = verify(module(*globals_))
    assert report.ok
    assert [found.code for found in report] == ["W0801"] * 100
    assert "more than 100 warnings" in report.diagnostics[-1].notes[-1].message
    report = verify(module(*globals_, function([])[0]))
    assert [found.code for found in report.errors] == ["E0215"]


def test_unknown_levels_are_refused() -> None:
    with pytest.raises(ValueError, match=r"level: expected one of '13.1', .*, got '13.9'"):
        verify(module(), "13.9")


def test_sound_operations_do_not_hide_those_that_only_look_alike() -> None:
    op, body = function([F32])
    for mode in (Rounding.ZERO, 1, True, 1.0, Rounding.ZERO):
        body.append(AddF.build([F32], lhs=body.args[0], rhs=body.args[0], rounding_mode=mode))
    body.append(Return.build())
    assert codes(module(op)) == ["E0202"] * 3


def test_lists_of_numbers_and_of_booleans_are_told_apart() -> None:
    for first, second in (((True, False), (1, 0)), ((1, 0), (True, False))):
        subject = Subject("load_view_tko")
        block = subject.op.parent
        assert block is not None
        twin = type(subject.op)(
            subject.op.operands,
            [value.type for value in subject.op.results],
            subject.op.attributes | {"inbounds": second},
            segments=subject.op.segments,
        )
        subject.op.attributes["inbounds"] = first
        block.ops.insert(block.ops.index(subject.op) + 1, twin)
        twin.parent = block
        assert subject.codes() == ["E0202"]


def _branch(condition: Value, *kinds: str) -> Op:
    """An `if` with a region for each of `kinds`: "none", "empty", "ends" or "ends twice"."""
    regions: list[Block | None] = []
    for kind in kinds:
        regions.append(None if kind == "none" else Block())
        for _ in range({"ends": 1, "ends twice": 2}.get(kind, 0)):
            regions[-1].append(OPS["yield"].build())
    return If.build([], condition=condition, then=regions[0], otherwise=regions[1])


def test_sound_regions_and_ends_do_not_hide_those_that_only_look_alike() -> None:
    op, body = function([I1])
    kinds = (("ends", "ends"), ("ends", "none"), ("ends", "ends twice"), ("empty", "ends"), ("none", "ends"))
    for pair in (*kinds, *kinds):
        body.append(_branch(body.args[0], *pair))
    body.append(Return.build())
    assert codes(module(op)) == ["E0214", "E0215", "E0207"] * 2


# ---------------------------------------------------------------- nothing fails


def test_deep_nesting_is_no_problem() -> None:
    op, body = function([I1])
    block = body
    for _ in range(5000):
        inner = Block()
        block.append(If.build([], condition=body.args[0], then=inner))
        block.append(Return.build() if block is body else OPS["yield"].build())
        block = inner
    block.append(OPS["yield"].build())
    assert codes(module(op)) == []


def test_a_module_without_a_block_is_verified() -> None:
    assert codes(Module(ModuleOp.build(sym_name="m"))) == []
    assert codes(Module(Entry.build())) == ["E0207"]


JUNK: tuple[object, ...] = (
    None,
    0,
    -1,
    1 << 70,
    True,
    1.5,
    "x",
    "",
    (),
    (1, 2),
    (True, False),
    [],
    {},
    object(),
    t.F32,
    t.TOKEN,
    t.FunctionType((F32,), (F32,)),
    Rounding.NEAREST_AWAY,
    IntegerAttr(1, t.I32),
    ArrayAttr((StringAttr("x"),)),
    DictAttr.of({}),
    OptimizationHints(DictAttr.of({})),
    DenseElements(t.tile(t.I32, 2), b""),
    DivBy(0),
)


def _break(subject: Subject, choice: random.Random) -> None:
    """One random change to a random operation, however absurd."""
    op = choice.choice(list(subject.module.walk()))
    block = choice.choice([block for block in op.regions if block is not None] or [None])
    kind = choice.randrange(12)
    if kind == 0 and op.attributes:
        op.attributes.pop(choice.choice(list(op.attributes)))
    elif kind == 1 and op.spec.attrs:
        op.attributes[choice.choice(op.spec.attrs).name] = choice.choice(JUNK)
    elif kind == 2 and op.operands:
        index = choice.randrange(len(op.operands))
        op.operands = op.operands[:index] + op.operands[index + 1 :]
    elif kind == 3:
        op.operands += (choice.choice([Value(choice.choice(TYPES), op, 0), *op.results, *op.operands]),)
    elif kind == 4 and op.results:
        choice.choice(op.results).type = choice.choice(TYPES)
    elif kind == 5:
        op.results = (*op.results, Value(choice.choice(TYPES), op, len(op.results)))
    elif kind == 6:
        op.regions = choice.choice([(), (None,), (None, None), (*op.regions, None), op.regions[:-1]])
    elif kind == 7:
        op.segments = choice.choice([(), (1,), (-1, 2), (0, 0, 0), (9,), op.segments[:-1], (*op.segments, 0)])
    elif kind == 8 and block is not None:
        block.args.append(Value(choice.choice(TYPES), block, len(block.args)))
    elif kind == 9 and block is not None and block.ops:
        block.ops.pop(choice.randrange(len(block.ops)))
    elif kind == 10 and block is not None and block.args:
        choice.choice(block.args).type = choice.choice(TYPES)
    elif kind == 11 and block is not None:
        other = choice.choice(sorted(OPS))
        block.ops.insert(0, Subject(other).op)
        block.ops[0].parent = block


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(sorted(OPS)), st.integers(1, 6), st.integers(0, 1 << 32), st.sampled_from(VERSIONS))
def test_no_program_makes_the_verifier_fail(name: str, changes: int, seed: int, level: str) -> None:
    subject, choice = Subject(name), random.Random(seed)
    for _ in range(changes):
        _break(subject, choice)
    report = verify(subject.module, level, warn_hints=True)
    assert report.render() or report.ok


def test_text_without_items_is_a_module() -> None:
    assert verify(parse("")).ok
