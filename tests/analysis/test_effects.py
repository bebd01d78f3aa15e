"""Every operation declares its effects on memory, truthfully, and questions about them are answered."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress

import pytest

import tileir
from tests.golden.arguments import arguments, runs
from tileir import ops
from tileir.analysis.effects import (
    access_of,
    accesses_of,
    allocations_in,
    effects_of,
    own_effect,
    reachable,
    reads,
    token_operands,
    token_results,
    updates,
    writes,
)
from tileir.interp.cells import CheckedAccess
from tileir.interp.compact import effects as compact_effects
from tileir.interp.machine import TABLES
from tileir.interp.memory import Memory
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering, MemoryScope
from tileir.ir.core import Op
from tileir.ir.declare import operand, output
from tileir.ir.effects import CALLEE_EFFECTS, AccessTrait, Effect, EffectTrait
from tileir.ir.traits import NO_MEMORY_EFFECT, PURE, RECURSIVE_EFFECTS, SYMBOL, TERMINATOR
from tileir.ops.constraints import POINTER_TILE, TILE, TOKEN

HARMLESS = {PURE, NO_MEMORY_EFFECT, TERMINATOR, RECURSIVE_EFFECTS}
VERBS = {Effect.READ: "load", Effect.WRITE: "store", Effect.UPDATE: "update"}
ADDRESSES = (
    t.tile(t.PointerType(t.F32), 4),
    t.TensorViewType(t.F32, [4], [1]),
    t.PartitionViewType([4], t.TensorViewType(t.F32, [4], [1])),
)
"""A value of each kind that leads to memory."""

every_operation = pytest.mark.parametrize(
    "op", [op for op in ops.OPS.values() if SYMBOL not in op.spec.traits], ids=lambda op: op.spec.name
)
every_access = pytest.mark.parametrize(
    "op", [op for op in ops.OPS.values() if op.spec.trait(AccessTrait)], ids=lambda op: op.spec.name
)


# ------------------------------------------------------------ declarations


def undeclared(op: type[Op]) -> list[str]:
    """Gaps and contradictions in what an operation declares of its effects."""
    traits, spec = set(op.spec.traits), op.spec
    effects = [trait for trait in traits if isinstance(trait, EffectTrait) or trait is CALLEE_EFFECTS]
    found = [] if bool(traits & HARMLESS) != bool(effects) and len(effects) <= 1 else ["effects"]
    tokens = [field for field in (*spec.operands, *spec.results) if field.constraint is TOKEN]
    if tokens and not effects and PURE not in traits:
        found.append("effect on the order of accesses")
    if "memory_ordering_semantics" in spec.attr_index and spec.trait(AccessTrait) is None:
        found.append("access")
    return found


@every_operation
def test_an_operation_says_what_it_does_beside_computing(op: type[Op]) -> None:
    assert undeclared(op) == []


def test_an_operation_that_says_nothing_is_found() -> None:
    class Silent(Op, name="test$silent"):
        """Loads in silence."""

        source = operand(POINTER_TILE)
        token = operand(TOKEN)
        result = output(TILE)

    assert undeclared(Silent) == ["effects", "effect on the order of accesses"]


def test_an_operation_that_contradicts_itself_is_found() -> None:
    class Torn(Op, name="test$torn", traits=(PURE, EffectTrait("prints", Effect.PRINT))):
        """Prints without effect."""

    assert undeclared(Torn) == ["effects"]


@every_access
def test_an_access_names_fields_that_fit(op: type[Op]) -> None:
    access, operands = op.spec.trait(AccessTrait), op.spec.operand_index
    assert any(map(operands[access.through].constraint.accepts, ADDRESSES))
    for tile in filter(None, (access.value, access.expected, access.padding)):
        assert operands[tile].constraint.accepts(t.tile(t.F32, 4))
    for mask in filter(None, (access.mask,)):
        assert operands[mask].constraint.accepts(t.tile(t.I1, 4))
        assert not operands[mask].constraint.accepts(t.tile(t.F32, 4))
    if not operands[access.through].constraint.accepts(ADDRESSES[0]):
        assert operands[access.indices].variadic
    if access.rows:
        assert operands[access.rows].single and "dim" in op.spec.attr_index
    assert bool(access.value) == (access.effect is not Effect.READ)
    if access.effect is Effect.READ:
        assert access.result
    assert not access.result or access.result in [result.name for result in op.spec.results]


@every_access
def test_no_operand_of_an_access_is_forgotten(op: type[Op]) -> None:
    access = op.spec.trait(AccessTrait)
    named = {getattr(access, field) for field in ("through", "value", "expected", "mask", "padding", "indices", "rows")}
    assert {operand.name for operand in op.spec.operands} - named <= {"token"}


# ------------------------------------------------------------ declarations against the interpreter


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> set[tuple[type[Op], str]]:
    """Accesses to memory by the operations that the interpreter runs."""
    found: set[tuple[type[Op], str]] = set()
    running: list[type[Op]] = []

    def watch(rule: Callable[..., Callable[..., object]]) -> Callable[..., Callable[..., object]]:
        def watched(op: Op, *plain: Callable[..., object]) -> Callable[..., object]:
            run = rule(op, *plain)

            def step(*values: object) -> object:
                running.append(type(op))
                try:
                    return run(*values)
                finally:
                    running.pop()

            return step

        return watched

    def note(method: str, verb: Callable[..., str]) -> None:
        original = getattr(Memory, method)

        def noted(self: Memory, *values: object, **named: object) -> object:
            found.add((running[-1], verb(*values, *named.values())))
            return original(self, *values, **named)

        monkeypatch.setattr(Memory, method, noted)

    def verb_of(*values: object) -> str:
        return next(value.verb for value in values if isinstance(value, CheckedAccess))

    for table in (TABLES.pure, TABLES.effects, compact_effects):
        for op, rule in list(table.items()):
            monkeypatch.setitem(table, op, watch(rule))
    note("resolve", verb_of)
    note("window", verb_of)
    note("allocate", lambda *values: "allocate")
    return found


def test_operations_do_to_memory_what_they_say(observed: set[tuple[type[Op], str]]) -> None:
    for _, text, name, run in runs():
        kernel = tileir.parse(text)[name]
        with warnings.catch_warnings(), suppress(tileir.Trap):
            warnings.simplefilter("ignore")
            kernel.launch(run.grid, *arguments(kernel, run), target="interp", output=lambda text: None)
    verbs = VERBS | {Effect.ALLOCATE: "allocate"}
    declared = {(op, op.spec.trait(EffectTrait)) for op in ops.OPS.values() if op.spec.trait(EffectTrait)}
    assert observed == {(op, verbs[trait.effect]) for op, trait in declared if trait.effect in verbs}


# ------------------------------------------------------------ questions

PROGRAM = """
experimental$func @stores(%p: tile<ptr<f32>>, %v: tile<f32>) {
  %t = store_ptr_tko weak %p, %v : tile<ptr<f32>>, tile<f32> -> token
  return
}
experimental$func @outer(%p: tile<ptr<f32>>, %v: tile<f32>) {
  experimental$call @stores(%p, %v) : (tile<ptr<f32>>, tile<f32>) -> ()
  return
}
entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<i32>>, %m: tile<i1>, %i: tile<i32>) {
  %one = constant <i32: 1> : tile<i32>
  %rows = constant <i32: [3, 1]> : tile<2xi32>
  %zero = constant <f32: 0.0> : tile<f32>
  %start = make_token : token
  %x, %loaded = load_ptr_tko acquire device %p, %m, %zero token=%start
    : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
  %old, %updated = atomic_cas_tko acq_rel sys %q, %one, %i, %m token=%loaded
    : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
  %tensor = make_tensor_view %p, shape = [8, 4], strides = [4, 1] : tensor_view<8x4xf32, strides=[4,1]>
  %got = experimental$gather_load %tensor, %rows, [%i] <{dim = 0 : i64}>
    : tensor_view<8x4xf32, strides=[4,1]>, tile<2xi32>, tile<i32> -> tile<2x4xf32>
  if %m {
    experimental$call @outer(%p, %x) : (tile<ptr<f32>>, tile<f32>) -> ()
    %own = alloca num_elem = 4, alignment = 4 : tile<ptr<f32>>
  }
  loop {
    %inner = alloca num_elem = 4, alignment = 4 : tile<ptr<f32>>
    break
  }
  print_tko "%f\\n", %x : tile<f32> -> token
}
"""


@pytest.fixture
def kernel() -> Op:
    return tileir.parse(PROGRAM)["k"].entry


def named(root: Op, name: str) -> Op:
    return next(op for op in root.walk() if op.spec.name == name)


def test_an_access_has_its_operands_and_its_ordering(kernel: Op) -> None:
    load = access_of(named(kernel, "load_ptr_tko"))
    assert load is not None
    pointer, _, mask, _ = kernel.regions[0].args  # type: ignore[union-attr]
    assert (load.address, load.mask, load.indices, load.value, load.expected) == (pointer, mask, [], None, None)
    assert load.padding is named(kernel, "load_ptr_tko").operands[2]
    assert load.result is load.op.results[0]
    assert (load.reads, load.writes, load.updates) == (True, False, False)
    assert (load.ordering, load.scope) == (MemoryOrdering.ACQUIRE, MemoryScope.DEVICE)
    assert (load.is_strong, load.acquires, load.releases) == (True, True, False)


def test_an_update_reads_and_writes(kernel: Op) -> None:
    update = access_of(named(kernel, "atomic_cas_tko"))
    assert update is not None
    assert (update.reads, update.writes, update.updates) == (True, True, True)
    _, expected, value, mask, _ = update.op.operands
    assert (update.expected, update.value, update.mask) == (expected, value, mask)
    assert update.acquires and update.releases and not update.replicated


def test_the_rows_of_an_access_are_one_of_its_indices(kernel: Op) -> None:
    load = access_of(named(kernel, "experimental$gather_load"))
    assert load is not None
    _, rows, offset = load.op.operands
    assert (load.indices, load.sparse_dim) == ([rows, offset], 0)
    assert (load.ordering, load.scope, load.is_strong) == (MemoryOrdering.WEAK, None, False)


def test_an_operation_without_access_has_none(kernel: Op) -> None:
    assert access_of(named(kernel, "make_tensor_view")) is None
    assert access_of(named(kernel, "if")) is None


def test_effects_are_those_of_regions_and_functions_too(kernel: Op) -> None:
    inside = named(kernel, "if")
    assert own_effect(inside) is Effect.NONE
    assert effects_of(inside) == Effect.WRITE | Effect.ALLOCATE
    assert (reads(inside), writes(inside), updates(inside)) == (False, True, False)
    everything = Effect.READ | Effect.WRITE | Effect.UPDATE | Effect.ALLOCATE | Effect.PRINT
    assert effects_of(kernel) == everything


def test_each_function_is_reached_once(kernel: Op) -> None:
    call = "experimental$call @outer(%p, %x) : (tile<ptr<f32>>, tile<f32>) -> ()"
    twice = tileir.parse(PROGRAM.replace(call, f"{call} {call}"))
    assert [op.spec.name for op in reachable(twice["k"].entry)].count("store_ptr_tko") == 1
    assert [access.op.spec.name for access in accesses_of(kernel)] == [
        "load_ptr_tko",
        "atomic_cas_tko",
        "experimental$gather_load",
        "store_ptr_tko",
    ]


def test_memory_taken_in_a_loop_is_given_back_there(kernel: Op) -> None:
    (body,) = kernel.regions
    assert body is not None
    inside = named(kernel, "if").regions[0]
    assert [op.parent for op in allocations_in(body)] == [inside]


@pytest.mark.parametrize("pure", [True, False])
def test_a_pure_function_of_the_host_has_no_effect(pure: bool) -> None:
    text = f"""experimental$extern_elementwise %x
      {{libname = "", libpath = "", pure = {str(pure).lower()}, symbol = "f"}} : (tile<f32>) -> tile<f32>"""
    entry = tileir.parse(f"entry @k(%x: tile<f32>) {{ %y = {text} }}")["k"].entry
    assert effects_of(entry) is (Effect.NONE if pure else Effect.HOST)


def test_tokens_are_told_from_other_values(kernel: Op) -> None:
    load = named(kernel, "load_ptr_tko")
    assert tuple(token_operands(load)) == load.operands[3:]
    assert tuple(token_results(load)) == load.results[1:]
    assert token_operands(named(kernel, "make_tensor_view")) == []
