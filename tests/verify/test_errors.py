"""Every program of `tests/errors` has exactly the faults that its comments announce, in that order."""

from __future__ import annotations

import pytest
from chunks import Chunk, error_chunks


@pytest.mark.parametrize("chunk", error_chunks(), ids=lambda chunk: chunk.name)
def test_reports_exactly_what_is_expected(chunk: Chunk) -> None:
    found = list(chunk.run())
    expected = chunk.expected
    assert expected
    assert len(found) == len(expected), [diagnostic.render() for diagnostic in found]
    for diagnostic, expectation in zip(found, expected):
        assert expectation.matches(diagnostic), f"{diagnostic.render()}\nexpected {expectation}"
