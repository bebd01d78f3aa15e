"""Some random runs of every litmus test and algorithm; `make fuzz` makes 10,000 of each."""

from __future__ import annotations

import pytest

from tests.explore.conformance import programs, stray

INTERPRETED = 25
NATIVE = ("MP12", "SB3", "LB1", "CoRR1", "RMW1", "LOCK1", "IRIW2", "TILE1", "mutex", "look_back", "last_block")
"""A choice, as each has to be compiled."""


@pytest.mark.parametrize("name", programs())
def test_the_interpreter_does_what_is_allowed(name: str) -> None:
    assert stray(programs()[name], "interp", range(INTERPRETED)) == set()


@pytest.mark.parametrize("name", NATIVE)
def test_native_code_does_what_is_allowed(name: str) -> None:
    assert stray(programs()[name], "cpu", range(100)) == set()


def test_what_is_not_allowed_would_be_seen() -> None:
    program = programs()["MP12"]
    one = min(program.allowed())
    assert all(dict(found)["out[16]"] in (1, 2) for found in program.allowed())
    assert tuple(sorted({**dict(one), "out[16]": 9}.items())) not in program.allowed()
