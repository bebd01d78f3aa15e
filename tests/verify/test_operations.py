"""A valid use of every operation is accepted, and every way to break its declaration is refused with its code."""

from __future__ import annotations

import pytest
from chunks import operation_chunks

from tileir.ops import OPS

CHUNKS = operation_chunks()


def test_every_operation_has_a_valid_use() -> None:
    assert set(CHUNKS) == set(OPS)


@pytest.mark.parametrize("name", sorted(OPS))
def test_valid_use_is_accepted(name: str) -> None:
    report = CHUNKS[name].run()
    assert not list(report), report.render()
