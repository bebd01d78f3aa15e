"""Native code stops faulty accesses where the interpreter does (`make fuzz` tries many more)."""

from __future__ import annotations

import pytest

from tests.fuzz.faulty.campaign import BATCH, findings
from tests.thorough import sampled

COUNT = 60


@pytest.mark.parametrize("first", sampled([0, BATCH], 2))
def test_both_targets_do_the_same_with_faulty_programs(first: int) -> None:
    assert findings(first, COUNT, jobs=1) == []
