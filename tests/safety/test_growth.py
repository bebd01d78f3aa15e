"""Compiling and proving take work in proportion to the program, whatever it is made of.

Work is counted: calls of Python functions, and lines of what is made. A program with so many of a kind is compared
with one of twice as many, four and eight times as many.
"""

from __future__ import annotations

import cProfile
from collections.abc import Callable, Iterator

import pytest

import tileir
from tests.safety.growing_programs import SHAPES, Program, chapters, repeated
from tests.targets.ttir import lowered as lowered_for_gpu
from tests.thorough import sampled
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.run.program import lowered
from tileir.passes.pipeline import PASSES
from tileir.runtime.native import source_of

FASTEST = 2**1.5
"""By so much at most the growth from n to 4n is multiplied where n is doubled."""
FEW = 4
"""Operations of the smallest program of a chapter."""
HOPELESS = 2**3
"""A growth beyond which a larger program may never be done."""


def native(kernel: tileir.Kernel, rewrites: bool) -> int:
    """Lines of the kernel in LLVM's language."""
    source = source_of(kernel, CheckLevel.ON, rewrites)
    return str(lowered(source.items()[0], source.global_names, source.checks).module).count("\n")


def ttir(kernel: tileir.Kernel) -> int:
    """Lines of the kernel in TTIR; none if a GPU cannot run it, which is found out in as much time."""
    try:
        return lowered_for_gpu(kernel, "sm_90").text.count("\n")
    except tileir.UnsupportedError:
        return 0


STAGES: dict[str, Callable[[tileir.Module], int]] = {
    "native": lambda module: native(module["k"], False),
    "rewritten": lambda module: native(module["k"], True),
    "passes": lambda module: len(str(tileir.optimize(module, passes=list(PASSES)))),
    "ttir": lambda module: ttir(module["k"]),
    "prove": lambda module: str(tileir.prove(module["k"])).count("\n"),
}


def work(text: str) -> dict[str, int]:
    """The calls of each stage, and the lines that it makes."""
    found = {}
    module = tileir.parse(text)
    tileir.verify(module).raise_if_errors()
    for name, stage in STAGES.items():
        profile = cProfile.Profile(builtins=False)
        lines = profile.runcall(stage, module)
        found[name] = sum(each.callcount for each in profile.getstats())
        found[f"{name}, lines"] = lines
    return found


def grown(program: Program, smallest: int) -> Iterator[str]:
    """The stages whose work grows too fast, with what it was."""
    work(program(smallest))  # what is made once for all programs
    counts: list[dict[str, int]] = []
    for times in (1, 2, 4, 8):
        counts.append(work(program(smallest * times)))
        for stage in counts[-1]:
            found = [count[stage] for count in counts]
            if times == 4 and found[2] - found[1] > HOPELESS * max(found[1] - found[0], found[0]):
                yield f"{stage}: {found}"
                return
            if times == 8 and found[3] - found[1] > FASTEST * (found[2] - found[0]):
                yield f"{stage}: {found}"


@pytest.mark.parametrize("chapter", sampled(chapters(), 8))
def test_many_operations_of_a_chapter(chapter: str) -> None:
    uses = chapters()[chapter]
    assert list(grown(lambda count: repeated(uses, count), max(1, FEW // len(uses)))) == []


@pytest.mark.parametrize("shape", sampled(SHAPES, 8))
def test_many_of(shape: str) -> None:
    assert list(grown(SHAPES[shape], 3)) == []
