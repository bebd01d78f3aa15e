"""Levels, passes by name, and what is refused."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from structural import program

import tileir
from tests.thorough import sampled
from tileir.analysis import placement, walk
from tileir.ir.compare import identical
from tileir.ops.calls import Call
from tileir.ops.control import For
from tileir.ops.module import Entry
from tileir.ops.pointers import LoadPtr
from tileir.ops.views import LoadView
from tileir.passes import pattern
from tileir.passes.canonicalise import PATTERNS
from tileir.passes.pipeline import LEVELS, PASSES
from tileir.passes.running import Step
from tileir.tools.optimise import watched

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = program("%s = addi %a, %zero : tile<i32>\n%t = addi %s, %zero : tile<i32>\nOUT %t")


def test_level_0_changes_nothing_and_no_level_changes_the_module_it_is_given() -> None:
    module = tileir.parse(TEXT)
    before = tileir.to_text(module)
    assert identical(tileir.optimize(module, 0), module)
    assert "addi" not in tileir.to_text(tileir.optimize(module))
    assert tileir.to_text(module) == before


def chain(count: int) -> str:
    """A body of so many stores, in two turns, each behind the one before, and sums of what was loaded."""
    lines = ["%t0 = make_token : token", "%s0 = addi %a, %b : tile<i32>"]
    for at in range(count):
        lines += [
            f"%t{at + 1} = store_ptr_tko weak %out, %s{at} token=%t{at} : tile<ptr<i32>>, tile<i32> -> token",
            f"%l{at}, %u{at} = load_ptr_tko weak %out token=%t{at + 1} : tile<ptr<i32>> -> tile<i32>, token",
            f"%s{at + 1} = addi %l{at}, %s{at} : tile<i32>",
        ]
    return program("\n".join(lines))


def entries(count: int) -> str:
    """So many copies of an entry with loops, pointers and masks."""
    text = (ROOT / "bench" / "kernels" / "softmax_pointers.mlir").read_text()
    begin, end = text.index("  entry @softmax"), text.rindex("}")
    copies = [text[begin:end].replace("@softmax(", f"@softmax_{at}(") for at in range(count)]
    return text[:begin] + "\n".join(copies) + text[end:]


def functions(count: int) -> str:
    """So many times 16 functions, each called by an entry of its own."""
    scalar = "tile<i32>"
    called = f"(%x: {scalar}) -> {scalar} {{ %y = addi %x, %x : {scalar} return %y : {scalar} }}"
    texts = (
        f"""experimental$func @f{at}{called}
        entry @k{at}(%p: tile<ptr<i32>>, %x: {scalar}) {{
          %r = experimental$call @f{at}(%x) : ({scalar}) -> {scalar}
          %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, {scalar} -> token
        }}"""
        for at in range(16 * count)
    )
    return f"cuda_tile.module @m {{ {' '.join(texts)} }}"


def doubling(depth: int) -> str:
    """So many functions that each call the next one twice; the last one adds 1."""
    scalar = "tile<i32>"
    head = f"(%x: {scalar}) -> {scalar} {{"
    added = f"%i = constant <i32: 1> : {scalar} %y = addi %x, %i : {scalar}"
    texts = [f"experimental$func @f{depth}{head} {added} return %y : {scalar} }}"]
    for at in range(depth):
        body = (f"%{to} = experimental$call @f{at + 1}(%{of}) : ({scalar}) -> {scalar}" for to, of in ("yx", "zy"))
        texts.append(f"experimental$func @f{at}{head} {' '.join(body)} return %z : {scalar} }}")
    entry = f"""entry @k(%p: tile<ptr<i32>>, %x: {scalar}) {{
      %r = experimental$call @f0(%x) : ({scalar}) -> {scalar}
      %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, {scalar} -> token
    }}"""
    return f"cuda_tile.module @m {{ {' '.join(texts)} {entry} }}"


def calls(module: tileir.Module, level: int) -> int:
    """Calls of functions in an optimisation."""
    count = 0

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(watch)
    try:
        tileir.optimize(module, level)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("text", [chain, entries, functions])
@pytest.mark.parametrize("level", sampled(range(1, len(LEVELS)), 3))
def test_work_grows_with_the_program_and_no_faster(text: Callable[[int], str], level: int) -> None:
    short, long = (tileir.parse(text(count)) for count in (8, 32))
    assert tileir.verify(short).ok and tileir.verify(long).ok
    assert calls(long, level) < 4.5 * calls(short, level)


@pytest.mark.parametrize("level", range(1, len(LEVELS)))
def test_calls_that_multiply_do_not_multiply_work(level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With smaller limits, which are reached sooner."""
    monkeypatch.setattr(placement, "LARGEST_KERNEL", 64)
    monkeypatch.setattr(placement, "LARGEST_PART", 16)
    monkeypatch.setattr(walk, "MOST_LOOKS", 256)
    few, many = (tileir.parse(doubling(depth)) for depth in (10, 20))
    assert tileir.verify(few).ok and tileir.verify(many).ok
    assert calls(many, level) < 4 * calls(few, level)


def test_functions_of_a_small_kernel_become_parts_of_it_and_large_ones_of_a_large_one_do_not() -> None:
    def left(depth: int) -> set[str]:
        made = tileir.optimize(tileir.parse(doubling(depth)), passes="inline")
        assert tileir.verify(made).ok
        (entry,) = (op for op in made.items if isinstance(op, Entry))
        return {op.callee for op in entry.walk() if isinstance(op, Call)}

    assert left(9) == set()
    assert left(20)


@pytest.mark.parametrize("level", range(1, len(LEVELS)))
def test_a_program_that_is_watched_becomes_the_same(level: int) -> None:
    steps: list[Step] = []
    module = tileir.parse(entries(1))
    watched_module = watched(module, level, watch=steps.append)
    assert identical(watched_module, tileir.optimize(module, level))
    for step in steps:
        assert identical(step.before, step.after) == (not step.changes)
    assert identical(steps[-1].after, watched_module)
    assert all(tileir.verify(tileir.Module.of(step.after)).ok for step in steps)


def test_passes_run_once_each_in_the_order_given() -> None:
    steps: list[Step] = []
    watched(tileir.parse(TEXT), passes="dce, canonicalise", watch=steps.append)
    assert [step.name for step in steps] == ["dce", "canonicalise"]
    assert all(step.seconds >= 0 for step in steps)


def test_a_pass_without_work_gives_the_program_itself() -> None:
    steps: list[Step] = []
    text = (
        "entry @k(%p: tile<ptr<i32>>, %a: tile<i32>) { store_ptr_tko weak %p, %a : tile<ptr<i32>>, tile<i32> -> token }"
    )
    watched(tileir.parse(text), passes=["cse"], watch=steps.append)
    assert steps[0].after is steps[0].before


def test_tiles_of_i1_stay_tiles() -> None:
    made = {"i1": "cmpi less_than %as, %bs, signed : tile<8xi32> ->", "i32": "maxi %as, %bs signed :"}
    for element, text in made.items():
        body = "\n".join(
            [
                *(f"%{x}1 = reshape %{x} : tile<i32> -> tile<1xi32>" for x in "ab"),
                *(f"%{x}s = broadcast %{x}1 : tile<1xi32> -> tile<8xi32>" for x in "ab"),
                f"%r = {text} tile<8x{element}>",
            ]
        )
        (found,) = (op for op in tileir.optimize(tileir.parse(program(body)), passes="canonicalise").walk()
                    if op.spec.name in ("cmpi", "maxi"))  # fmt: skip
        assert found.results[0].type.shape == ((8,) if element == "i1" else (1,))


@pytest.mark.parametrize(
    ("store", "hoisted"),
    [
        ("store_ptr_tko weak %real, %x : tile<ptr<f32>>, tile<f32> -> token", True),
        ("store_ptr_tko release device %real, %x : tile<ptr<f32>>, tile<f32> -> token", False),
        ("%u = store_ptr_tko weak %real, %x token=%t0 : tile<ptr<f32>>, tile<f32> -> token", False),
    ],
)
def test_a_load_leaves_a_loop_that_stores_unless_it_waits_for_that(store: str, hoisted: bool) -> None:
    """A store that the load waits for makes its token, so that the load has an operand of the loop."""
    token = "u" if store.startswith("%u") else "t0"
    body = f"""%t0 = make_token : token
        %r:2 = for %i in (%zero to %three, step %one) : tile<i32>
            iter_values(%v = %a, %t1 = %t0) -> (tile<i32>, token) {{
          {store}
          %w, %t = load_ptr_tko weak %out token=%{token} : tile<ptr<i32>> -> tile<i32>, token
          %s = addi %v, %w : tile<i32>
          continue %s, %t : tile<i32>, token
        }}
        OUT %r#0"""
    made = tileir.optimize(tileir.parse(program(body)), passes="licm")
    (load,) = (op for op in made.walk() if isinstance(op, LoadPtr))
    assert isinstance(load.parent_op, For) is not hoisted


WRONG = [{"level": 4}, {"level": -1}, {"passes": "no"}, {"passes": ["dce", ""]}, {"target": "no"}]


@pytest.mark.parametrize("arguments", WRONG)
def test_wrong_levels_passes_and_targets_are_refused(arguments: dict) -> None:
    with pytest.raises(ValueError, match="expected"):
        tileir.optimize(tileir.parse(TEXT), **arguments)


def test_an_invalid_program_is_refused() -> None:
    wrong = tileir.parse("entry @k(%x: tile<4xf32>) {\n%y = iota : tile<2x2xi32>\n}")
    with pytest.raises(tileir.DiagnosticError):
        tileir.optimize(wrong)


def test_levels_are_made_of_passes_and_each_has_all_of_the_one_before() -> None:
    for lower, higher in itertools.pairwise(LEVELS):
        assert set(lower) <= set(higher) <= PASSES.keys()


@pytest.mark.parametrize(("target", "loads"), [(None, LoadPtr), ("cuda", LoadPtr), ("cpu", LoadView)])
def test_accesses_become_views_at_level_2_where_native_code_is_made(target: str | None, loads: type) -> None:
    body = """%lanes = iota : tile<8xi32>
        %base = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
        %all = broadcast %base : tile<1xptr<i32>> -> tile<8xptr<i32>>
        %at = offset %all, %lanes : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
        %v, %t = load_ptr_tko weak %at : tile<8xptr<i32>> -> tile<8xi32>, token
        %u = store_ptr_tko weak %at, %v token=%t : tile<8xptr<i32>>, tile<8xi32> -> token"""
    made = tileir.optimize(tileir.parse(program(body)), target=target)
    assert [type(op) for op in made.walk() if isinstance(op, LoadPtr | LoadView)] == [loads]


def test_no_level_changes_rounding() -> None:
    kinds = {row.kind.value for names in LEVELS for name in names for row in PASSES[name].rows}
    assert "changes rounding" not in kinds


def test_every_word_of_patterns_is_used() -> None:
    text = " ".join(f"{row.pattern} {row.becomes} {row.when}" for row in PATTERNS)
    assert [word for word in pattern.WORDS if f"{word}(" not in text] == []
