"""Machine code is loaded only if all that it calls is there, and made again if what makes it has changed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tileir
from tileir.cpu.llvm.elf import undefined_symbols
from tileir.cpu.llvm.engine import CODE_MAKERS, host, object_code
from tileir.ir.diagnostics import UnsupportedError

CALLS = """
target triple = "{triple}"
declare void @{callee}()
define void @caller() {{
  call void @{callee}()
  ret void
}}
"""


def test_a_function_that_the_process_lacks_is_named() -> None:
    if "linux" not in host().triple:
        pytest.skip("only ELF files list their symbols where we look")
    with pytest.raises(UnsupportedError, match="no_such_function"):
        object_code(CALLS.format(triple=host().triple, callee="no_such_function"), host())


def test_a_function_of_the_process_is_found() -> None:
    assert object_code(CALLS.format(triple=host().triple, callee="abort"), host())


def test_other_formats_say_nothing() -> None:
    assert undefined_symbols(b"\xcf\xfa\xed\xfe" + bytes(100)) == []


def test_code_in_the_cache_depends_on_all_that_makes_code() -> None:
    package = Path(tileir.__file__).parent
    sources = [path.read_text() for part in CODE_MAKERS for path in (package / part).rglob("*.py")]
    imported = {part for source in sources for part in re.findall(r"^from tileir\.(\w+)", source, re.MULTILINE)}
    assert "cpu" in imported
    assert imported <= {*CODE_MAKERS, "cache"}
