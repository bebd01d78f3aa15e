"""A tool whose packages are missing says so, and what is not asked for is not imported."""

import subprocess
import sys

import pytest

from tileir.ir.diagnostics import UnsupportedError
from tileir.tools.extra import extra


def test_a_missing_package_is_named_with_the_extra() -> None:
    with (
        pytest.raises(UnsupportedError, match=r"the tool needs pygls: pip install 'tileir\[tools\]'"),
        extra("the tool", "pygls"),
    ):
        raise ModuleNotFoundError("No module named 'pygls.x'", name="pygls.x")


def test_another_missing_module_is_a_bug() -> None:
    with pytest.raises(ModuleNotFoundError), extra("the tool", "pygls"):
        raise ModuleNotFoundError("No module named 'other'", name="other")


def test_the_package_imports_no_tool() -> None:
    code = "import sys, tileir; print(sorted(m for m in sys.modules if m.partition('.')[0] in ('pygls', 'lsprotocol', 'pygments') or m.startswith('tileir.tools')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
