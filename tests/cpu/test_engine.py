"""Machine code is loaded only if all that it calls is there."""

from __future__ import annotations

import pytest

from tileir.cpu.elf import undefined_symbols
from tileir.cpu.engine import host, object_code
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
