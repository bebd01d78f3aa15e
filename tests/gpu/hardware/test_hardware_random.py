"""Programs put together at random do on a GPU what they do in the interpreter, bit for bit.

The seed of a program is the name of its test, so a failure on a GPU can be studied elsewhere with the same program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import TypeVar

import pytest

import tileir
from tests.differential import outcome
from tests.gpu.hardware.hardware_device import Device
from tests.gpu.test_ttir_random_programs import EIGHT_BITS
from tests.gpu.ttir_nests import program
from tests.gpu.ttir_view_programs import view_program
from tests.targets import ttir
from tileir.fuzz.builder import ProgramBuilder
from tileir.fuzz.draft import STORED, arrays
from tileir.ir import types as t

T = TypeVar("T")
PROGRAMS, NESTS, VIEWS = 150, 100, 150
LONGEST = 2_000_000
"""Characters of TTIR that Triton's compiler is given of a nest: some, where calls multiply code, take it minutes."""
STATEMENTS = 12
GRID = (5,)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_program_does_what_it_does_in_the_interpreter(device: Device, seed: int) -> None:
    """One token runs through all of its memory operations."""
    random = Random(seed)

    def choose(options: Sequence[T]) -> T:
        return options[random.randrange(len(options))]

    others = [element for element in STORED if element not in (t.I32, t.I1)]
    if device.arch == "sm_80":
        others = [element for element in others if element not in EIGHT_BITS]
    elements = tuple(dict.fromkeys((t.I32, t.I1, choose(others), choose(others))))
    module = tileir.Module.of(ProgramBuilder(choose, elements).program(STATEMENTS))
    device.assert_like_interpreter(module["k"], (1,), arrays(elements))


@pytest.mark.parametrize("seed", range(NESTS))
def test_early_exits_from_random_nests_are_taken(device: Device, seed: int) -> None:
    """Each block prints the way that it took."""
    if not device.is_open:
        pytest.skip("prints, which the vendor's code does not hand to the host")
    kernel = tileir.parse(program(seed))["k"]
    if len(ttir.lowered(kernel, device.arch).text) > LONGEST:
        pytest.skip("takes the compiler too long")
    first, second = outcome(kernel, GRID, (), "interp"), device.outcome(kernel, GRID, ())
    assert by_block(second.printed) == by_block(first.printed)


def by_block(printed: str) -> dict[str, list[str]]:
    """The lines of each tile block, in order."""
    found = defaultdict(list)
    for line in printed.splitlines():
        found[line.split(" ", 1)[0]].append(line)
    return found


@pytest.mark.parametrize("seed", range(VIEWS))
def test_a_tile_is_loaded_and_stored_through_a_random_view(device: Device, seed: int) -> None:
    made = view_program(seed)
    device.assert_like_interpreter(tileir.parse(made.text)["k"], (1,), made.args)
