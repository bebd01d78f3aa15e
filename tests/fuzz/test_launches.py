"""Launches that are interrupted, trap or run out of time leave those of other threads, and the next, right.

`make fuzz` tries many more.
"""

from __future__ import annotations

import os

import pytest

from tests.fuzz.launching.__main__ import findings
from tests.fuzz.launching.changing import SELDOM, USUAL, launches
from tests.thorough import sampled

ROUNDS = 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot copy a process")
@pytest.mark.parametrize("first", sampled([0, 501], 2))
def test_nothing_is_lost(first: int) -> None:
    assert findings(first, ROUNDS) == []


def test_launches_with_changing_arguments_from_many_threads_are_right_and_keep_nothing() -> None:
    wrong, kinds = launches(20_000, 8, 1)
    assert not wrong and len(kinds) == len({*USUAL, *SELDOM})
