"""Options of the test run."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the expected outputs of the golden tests")


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether expected outputs are to be rewritten instead of compared."""
    return bool(request.config.getoption("--bless"))
