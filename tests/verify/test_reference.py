"""The reference tools refuse and accept the same programs as the verifier."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from as_entry import with_entries
from chunks import TESTS, Chunk, chunks, error_chunks

from tests.thorough import sampled
from tileir.bytecode import encode
from tileir.ir.core import Module
from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.spec import Placement
from tileir.ops.calls import Func
from tileir.ops.module import Entry
from tileir.text.parser import parse
from tileir.verify import verify
from tileir.verify.symbols import signature_of

sys.path.insert(0, str(TESTS / "bytecode"))

from reference_tools import is_refused

NOT_IN_BYTECODE = {"E0202", "E0405", "E0802", "E0812", "E0824", "E0826"}
"""Rules that no bytecode can break: it does not say the same thing twice, and has no place for nested items."""
OURS = {"E0816"}
"""Rules that the tools do not have."""

PROGRAMS = [
    *error_chunks(),
    *(chunk for name in ("operations", "accepted") for chunk in chunks(TESTS / "verify" / f"{name}.mlir")),
]


@pytest.mark.parametrize("chunk", sampled(PROGRAMS, 5), ids=lambda chunk: chunk.name)
def test_gives_the_verdict_of_the_reference(chunk: Chunk, tmp_path: Path) -> None:
    module = _module(chunk)
    report = verify(module)
    if {diagnostic.code for diagnostic in report} & NOT_IN_BYTECODE:
        pytest.skip("bytecode does not say this")
    if {diagnostic.code for diagnostic in report} & OURS:
        pytest.skip("a rule of ours")
    try:
        data = encode(module, "13.5")
    except DiagnosticError:
        pytest.skip("cannot be written as bytecode")
    assert is_refused(data, tmp_path) != report.ok, report.render()


def _module(chunk: Chunk) -> Module:
    try:
        module = parse(chunk.text, "chunk")
    except DiagnosticError:
        pytest.skip("cannot be read")
    if any(op.spec.placement is Placement.TEXT_ONLY and not isinstance(op, Func) for op in module.walk()):
        pytest.skip("uses an operation without bytecode")
    signatures = [signature_of(item) for item in module.items if isinstance(item, Entry | Func)]
    if any(signature is None or signature.results for signature in signatures):
        pytest.skip("entries have no results")
    return with_entries(module)
