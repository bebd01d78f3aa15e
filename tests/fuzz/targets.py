"""What a fuzzer runs on one input; anything but a diagnostic is a bug.

Knows: what must hold of any input. Does not know: where inputs come from (`run`, `test_coverage_guided`).
"""

from __future__ import annotations

from collections.abc import Callable

from tileir import bytecode, verify
from tileir.ir.diagnostics import DiagnosticError
from tileir.text.parser import parse
from tileir.text.printer import to_text

MOST_SHOWN = 1 << 20


def bytecode_target(data: bytes) -> None:
    """A file is a diagnostic or a module; a module that can be written reads back as what was written."""
    shown = bytecode.dump(data)
    assert len(shown) <= 200 * len(data) + 10_000
    try:
        module = bytecode.decode(data)
    except DiagnosticError as error:
        assert len(error.diagnostics) == 1
        assert "(offset 0x" in str(error)
        return
    report = verify(module)
    assert len(str(report)) <= MOST_SHOWN
    try:
        written = bytecode.encode(module, "13.5")
    except DiagnosticError:
        assert not report.ok
        return
    again = bytecode.decode(written)
    assert bytecode.encode(again, "13.5") == written
    if report.ok:
        assert to_text(again) == to_text(module)


def text_target(data: bytes) -> None:
    """A text is diagnostics or a module, which can be checked and printed."""
    try:
        module = parse(data.decode("utf-8", "replace"))
    except DiagnosticError as error:
        assert error.diagnostics
        str(error)
        return
    str(verify(module))
    to_text(module, form="generic")


TARGETS: dict[str, Callable[[bytes], None]] = {"bytecode": bytecode_target, "text": text_target}
