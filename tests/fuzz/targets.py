"""The functions that a fuzzer runs on one input; anything but a diagnostic is a bug."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tileir import bytecode, verify
from tileir.ir.core import Module
from tileir.ir.diagnostics import DiagnosticError
from tileir.text.parser import parse
from tileir.text.printer import to_text

Input = TypeVar("Input", bytes, str)
MOST_SHOWN = 1 << 20


def bytecode_target(data: bytes) -> None:
    """A file is a diagnostic or a module; a module that can be written reads back as what was written."""
    shown = bytecode.dump(data)
    assert len(shown) <= 200 * len(data) + 10_000
    module = _read(bytecode.decode, data)
    if module is None:
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
    module = _read(parse, data.decode("utf-8", "replace"))
    if module is not None:
        str(verify(module))
        to_text(module, form="generic")


def _read(reader: Callable[[Input], Module], data: Input) -> Module | None:
    """The module, or None if reading it gives diagnostics, which can be shown."""
    try:
        return reader(data)
    except DiagnosticError as error:
        shown = str(error)
    assert "error[E0" in shown
    return None


TARGETS: dict[str, Callable[[bytes], None]] = {"bytecode": bytecode_target, "text": text_target}
