"""Places survive: a trap in an optimised program names the user's line, and an operation made of two has both lines."""

from __future__ import annotations

import numpy as np
import pytest
from structural import program

import tileir
from tileir.ir.diagnostics import place_text
from tileir.ir.loc import CallSiteLoc, FusedLoc
from tileir.ops.floating import Fma
from tileir.ops.integer import AddI

FUNCTION = """
  experimental$func @quotient(%v: tile<i32>, %w: tile<i32>) -> tile<i32> {
    %q = divi %v, %w signed : tile<i32>
    return %q : tile<i32>
  }
"""
CALL = """
    %r = experimental$call @quotient(%a, %b) : (tile<i32>, tile<i32>) -> tile<i32>
    OUT %r
"""


def line_of(text: str, word: str) -> int:
    return 1 + next(number for number, line in enumerate(text.splitlines()) if word in line)


def trap_of(module: tileir.Module) -> tileir.Trap:
    with pytest.raises(tileir.Trap) as caught:
        module["k"].launch(
            (1,), False, 1, 0, 0.0, 0.0, np.zeros(64, np.int32), np.zeros(64, np.float32), target="interp"
        )
    return caught.value


def test_a_trap_in_an_inlined_function_names_its_line() -> None:
    text = program(CALL, FUNCTION)
    before, after = tileir.parse(text, "k.mlir"), tileir.optimize(tileir.parse(text, "k.mlir"), 3)
    place = f"k.mlir:{line_of(text, 'divi')}:"
    for module in (before, after):
        assert place_text(trap_of(module).loc).startswith(place)
    inlined = [op for op in after.walk() if op.spec.name == "divi"]
    assert isinstance(inlined[0].loc, CallSiteLoc)
    assert place_text(inlined[0].loc.caller).startswith(f"k.mlir:{line_of(text, 'call')}:")


def test_a_trap_in_a_shared_and_hoisted_operation_names_its_line() -> None:
    body = """
        %p = addi %b, %zero : tile<i32>
        %q = divi %a, %p signed : tile<i32>
        OUT %q
        %r = divi %a, %b signed : tile<i32>
        OUT %r
    """
    text = program(body)
    assert place_text(trap_of(tileir.optimize(tileir.parse(text, "k.mlir"), 3)).loc).startswith(
        f"k.mlir:{line_of(text, '%q = divi')}:"
    )


@pytest.mark.parametrize(
    ("body", "passes", "kind", "words"),
    [
        ("%p = mulf %x, %y : tile<f32>\n%s = addf %p, %x : tile<f32>\nREAL %s", "fuse-fma", Fma, ("addf", "mulf")),
        ("%p = addi %a, %two : tile<i32>\n%s = addi %p, %three : tile<i32>\nOUT %s", "canonicalise,dce", AddI,
         ("%s = addi", "%p = addi")),
    ],
)  # fmt: skip
def test_an_operation_made_of_two_has_both_lines(body: str, passes: str, kind: type, words: tuple[str, ...]) -> None:
    text = program(body)
    made = tileir.optimize(tileir.parse(text, "k.mlir"), passes=passes)
    (fused,) = [op for op in made.walk() if isinstance(op, kind) and isinstance(op.loc, FusedLoc)]
    found = [int(place_text(member).split(":")[1]) for member in fused.loc.members]
    assert found == [line_of(text, word) for word in words]
    assert f'"k.mlir":{found[1]}' in tileir.to_text(made, debug=True)


def test_regions_nested_very_deeply_are_refused() -> None:
    depth = 400
    text = program(
        "if %flag {\n" * depth + "store_ptr_tko weak %out, %a : tile<ptr<i32>>, tile<i32> -> token\n" + "}\n" * depth
    )
    with pytest.raises((tileir.UnsupportedError, tileir.DiagnosticError), match="nest"):
        tileir.optimize(tileir.parse(text), 1)
