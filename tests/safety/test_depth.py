"""Programs as deep as the limits allow go through every tool: regions in one another, chains of calls and of uses, and
sums too long to be understood. A longer chain of calls is refused by its code."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from growing_programs import (
    I32,
    PTR,
    branches,
    entry,
    masks,
    nested_branches,
    nested_carrying,
    nested_endless,
    store,
    tokens,
)

import tileir
from tests.targets import ttir
from tests.thorough import sampled
from tileir.ir import types as t
from tileir.passes.pipeline import PASSES
from tileir.text.reading.reader import MAX_NESTING
from tileir.verify.control import MAX_CALL_DEPTH


def chain(length: int) -> str:
    """A kernel that calls the last of `length` functions, each of which calls the one before."""
    lines = [
        "experimental$func @f0(%x: tile<i32>) -> tile<i32> { %r = addi %x, %x : tile<i32>\n return %r : tile<i32> }"
    ]
    for number in range(1, length):
        lines.append(
            f"experimental$func @f{number}(%x: tile<i32>) -> tile<i32> {{\n"
            f"  %r = experimental$call @f{number - 1}(%x) : (tile<i32>) -> tile<i32>\n  return %r : tile<i32>\n}}"
        )
    lines.append(
        "entry @k(%p: tile<ptr<i32>>) {\n  %a = constant <i32: 21> : tile<i32>\n"
        f"  %b = experimental$call @f{length - 1}(%a) : (tile<i32>) -> tile<i32>\n"
        "  store_ptr_tko weak %p, %b : tile<ptr<i32>>, tile<i32> -> token\n  return\n}"
    )
    return "\n".join(lines)


@pytest.fixture(scope="module")
def longest() -> tileir.Kernel:
    return tileir.parse(chain(MAX_CALL_DEPTH))["k"]


@pytest.mark.parametrize("options", [{"target": "interp"}, {}, {"optimize": False}, {"check": "strict"}], ids=str)
def test_the_longest_chain_runs(longest, options) -> None:
    out = np.zeros(4, np.int32)
    longest.launch(1, out, **options)
    assert out[0] == 42


def test_the_longest_chain_goes_through_every_tool(longest, tmp_path) -> None:
    out = np.zeros(4, np.int32)
    assert tileir.sanitize(longest, 1, out, copy=True).ok
    assert tileir.explore(longest, 1, out).ok
    assert "bounds: open" in str(tileir.prove(longest))
    assert list(tileir.optimize(longest.module, 2).kernels) == ["k"]
    tileir.view(longest, 1, out).save(tmp_path / "page.html")


@pytest.mark.parametrize("length", [MAX_CALL_DEPTH + 1, 300, 3000])
def test_a_longer_chain_is_refused_once(length) -> None:
    with pytest.raises(tileir.DiagnosticError) as caught:
        tileir.parse(chain(length))["k"].launch(1, np.zeros(4, np.int32))
    assert [one.code for one in caught.value.diagnostics] == ["E0817"]


# ---------------------------------------------------------------- programs that are deep in other ways


DEEPEST = MAX_NESTING - 3
"""Regions in one another: the entry is one more, and a type in the innermost takes two levels."""
LONGEST = 1200
"""Operations in a chain, more than Python lets calls be nested."""


def uses(count: int) -> str:
    body = [f"%v0 = addi %x, %n : {I32}"]
    body += [f"%v{at + 1} = {('addi', 'muli')[at % 2]} %v{at}, %{'xn'[at % 3 > 1]} : {I32}" for at in range(count)]
    return entry(*body, f"%o = offset %p, %v{count} : {PTR}, {I32} -> {PTR}", store("", f"%v{count}", "%o"))


def sums(count: int) -> str:
    """Return a program with two sums of so many parameters: each addresses memory, compared with or times the other."""
    body = []
    for name in "ab":
        body += [f"%{name}0 = addi %{name}_0, %{name}_0 : {I32}"]
        body += [f"%{name}{at} = addi %{name}{at - 1}, %{name}_{at} : {I32}" for at in range(1, count)]
    last = count - 1
    body += [
        f"%m = muli %a{last}, %b{last} : {I32}",
        f"%less = cmpi less_than %a{last}, %b{last}, signed : {I32} -> tile<i1>",
        f"%more = cmpi greater_than %m, %b{last}, signed : {I32} -> tile<i1>",
        f"if %less {{ %o = offset %p, %m : {PTR}, {I32} -> {PTR} {store(0, '%m', '%o')} }}",
        f"if %more {{ %o = offset %p, %a{last} : {PTR}, {I32} -> {PTR} {store(1, '%m', '%o')} }}",
        store(2, "%m"),
    ]
    parameters = (f"%{name}_{at}: {I32}" for name in "ab" for at in range(count))
    return entry(*body, parameters=f"%p: {PTR}, " + ", ".join(parameters))


DEEP = {
    "branches": lambda: nested_branches(DEEPEST),
    "carrying loops": lambda: nested_carrying(DEEPEST),
    "endless loops": lambda: nested_endless(DEEPEST // 2),
    "a chain of calls": lambda: chain(MAX_CALL_DEPTH),
    "a chain of uses": lambda: uses(LONGEST),
    "a chain of branches": lambda: branches(LONGEST // 4),
    "a chain of tokens": lambda: tokens(LONGEST // 30),
    "a chain of masks": lambda: masks(LONGEST // 12),
    "a product of sums of 30 parameters": lambda: sums(30),
}


def arguments(kernel: tileir.Kernel) -> list[object]:
    """Return arguments with which no loop runs; the conditions are true."""
    given: list[object] = []
    for parameter in kernel.parameters:
        element = t.checked_cast(parameter.type, t.TileType).element
        if isinstance(element, t.PointerType):
            given.append(np.ones(64, np.int32 if element.pointee is t.I32 else np.float32))
        else:
            given.append({"x": 1, "n": 0, "f": 1.0, "c": True}.get(parameter.name, 0))
    return given


def launched(kernel: tileir.Kernel, **options: object) -> None:
    kernel.launch(1, *arguments(kernel), **options, max_iterations=1000)  # type: ignore[arg-type]


TOOLS: dict[str, Callable[[tileir.Kernel], object]] = {
    "text": lambda kernel: tileir.parse(tileir.to_text(kernel.module)),
    "verify": lambda kernel: tileir.verify(kernel.module).raise_if_errors(),
    "interp": lambda kernel: launched(kernel, target="interp"),
    "cpu": launched,
    "ttir": lambda kernel: ttir.lowered(kernel, "sm_90"),
    "sanitize": lambda kernel: str(tileir.sanitize(kernel, 1, *arguments(kernel))),
    "prove": lambda kernel: str(tileir.prove(kernel)),
    "explore": lambda kernel: str(tileir.explore(kernel, 1, *arguments(kernel))),
    "view": lambda kernel: tileir.view(kernel, 1, *arguments(kernel)),
    "every pass": lambda kernel: [tileir.optimize(kernel.module, passes=[name]) for name in PASSES],
}


CASES = [(program, tool) for program in DEEP for tool in TOOLS if (program, tool) != ("endless loops", "view")]
"""A view has no limit of iterations of its own: it pictures a kernel that does not end for as long."""


@pytest.mark.parametrize(("program", "tool"), sampled(CASES, 5))
def test_a_deep_program_goes_through(program: str, tool: str) -> None:
    kernel = tileir.parse(DEEP[program]())["k"]
    if program == "endless loops" and tool in ("interp", "cpu"):
        with pytest.raises(tileir.Trap, match="hang"):
            TOOLS[tool](kernel)
    else:
        TOOLS[tool](kernel)
