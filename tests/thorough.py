"""Cases that take long: `make test` runs a sample of them, and `make script-test` the others, which have this mark."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def sampled(cases: Iterable[object], every: int) -> list[object]:
    """Parameters for the cases; all but the first of each `every` are thorough. A tuple is the arguments of a case.

    The samples of a product take turns in its last axis where `every` and the length of that have no common divisor.
    """
    arguments = (case if isinstance(case, tuple) else (case,) for case in cases)
    marks = pytest.mark.thorough
    return [pytest.param(*case, marks=marks if number % every else ()) for number, case in enumerate(arguments)]
