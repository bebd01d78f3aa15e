"""A tool whose packages are missing says so, and packages that are not asked for are not imported."""

import subprocess
import sys
from pathlib import Path

import pytest

from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.usage import extra

ROOT = Path(__file__).parents[2]


def test_a_missing_package_is_named_with_the_extra() -> None:
    with pytest.raises(UnsupportedError) as raised, extra("the tool", "pygls"):
        raise ModuleNotFoundError("No module named 'pygls.x'", name="pygls.x")
    assert "the tool needs pygls" in str(raised.value) and "pip install 'pygls" in str(raised.value)


def test_another_missing_module_is_a_bug() -> None:
    with pytest.raises(ModuleNotFoundError), extra("the tool", "pygls"):
        raise ModuleNotFoundError("No module named 'other'", name="other")


def test_the_package_imports_no_tool() -> None:
    listed = "[name for name in sys.modules if name.startswith(('pyg', 'lsp', 'tileir.tools'))]"
    code = f"import sys, tileir; print({listed})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout.strip() == "[]"
