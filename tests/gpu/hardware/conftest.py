"""Everything here is for hardware: see `tests.targets.hardware`."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = f"{Path(__file__).parent}/"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if str(item.path).startswith(HERE):
            item.add_marker("hardware")
