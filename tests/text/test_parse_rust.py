"""Dumps of a Rust front end read as they are: the forms of its printer that the canonical text does not have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from parse_programs import check_faults

import tileir

DUMP = (Path(__file__).parent / "rust_dump.mlir").read_text()


def test_a_dump_reads_runs_and_has_a_canonical_text() -> None:
    module = tileir.parse(DUMP)
    x, counter = np.array([1, 5, 2, 3], np.float32), np.array([0], np.int32)
    module["k"].launch(1, x, counter, target="interp")
    assert x.tolist() == [2.0, 3.0, -2.0, 12.0]
    assert counter.tolist() == [0]  # ceil((5 + 2) / 2) + 2 is what the exchange expects
    text = tileir.to_text(module)
    assert tileir.to_text(tileir.parse(text)) == text
    assert "overflow<no_signed_wrap>" in text and "0xFF800000 : f32" in text and "rounding<approx>" in text


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("%r, %t = atomic_rmw_tko relaxed device %p, %n «:» tile<ptr<i32>>, tile<i32> -> tile<i32>, token", "E0103"),
        ("%r = addi %n, %n overflow «nsww» : tile<i32>", "E0103"),
        ("%r = constant <i32: 1, «x»> : tile<2xi32>", "E0103"),
        ("%r = constant <f8e5m2: «700»> : tile<f8E5M2>", "E0119"),
    ],
)
def test_what_is_wrong_in_a_dump_has_its_place(statement: str, code: str) -> None:
    check_faults(f"entry @k(%p: tile<ptr<i32>>, %n: tile<i32>) {{\n  {statement}\n  return\n}}", code)


def test_an_identity_that_the_type_cannot_have_is_a_fault() -> None:
    reduction = (
        "reduce %x dim=0 identities=[«1.5»] : tile<4xi32> -> tile<i32> {\n ^bb0(%a: tile<i32>, %b: tile<i32>):\n"
    )
    body = f"%x = iota : tile<4xi32>\n%r = {reduction} yield %a : tile<i32>\n}}"
    check_faults(f"entry @k() {{\n  {body}\n  return\n}}", "E0118")
