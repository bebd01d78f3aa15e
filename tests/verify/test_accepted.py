"""Legal programs are accepted at their level, and the rounding modes of conversions are those of the specification."""

from __future__ import annotations

from pathlib import Path

import pytest
from chunks import TESTS, Chunk, chunks

from tileir.ir import types as t
from tileir.ir.attributes import Rounding as R
from tileir.text.parser import parse
from tileir.verify import verify
from tileir.verify.arithmetic import conversion_modes, widens

IEEE = {R.NEAREST_EVEN, R.ZERO, R.NEGATIVE_INF, R.POSITIVE_INF}


@pytest.mark.parametrize("chunk", chunks(TESTS / "verify" / "accepted.mlir"), ids=lambda chunk: chunk.name)
def test_is_accepted(chunk: Chunk) -> None:
    report = chunk.run()
    assert not list(report), report.render()


@pytest.mark.parametrize("path", sorted((TESTS / "golden").glob("*.mlir")), ids=lambda path: path.name)
def test_golden_programs_are_accepted(path: Path) -> None:
    for program in path.read_text(encoding="utf-8").split("\n// -----"):
        report = verify(parse(program, path.name))
        assert report.ok, report.render()


@pytest.mark.parametrize(
    ("source", "result", "modes"),
    [
        (t.F32, t.F8E8M0FNU, {R.ZERO, R.POSITIVE_INF}),
        (t.F64, t.F8E4M3FN, {R.NEAREST_EVEN}),
        (t.F4E2M1FN, t.F8E5M2, {R.NEAREST_EVEN}),
        (t.F16, t.FNV8E5M3FNU, {R.NEAREST_EVEN}),
        (t.F16, t.F32, IEEE | {R.NEAREST_AWAY}),
        (t.F16, t.TF32, IEEE | {R.NEAREST_AWAY}),
        (t.BF16, t.TF32, IEEE | {R.NEAREST_AWAY}),
        (t.F4E2M1FN, t.F16, IEEE | {R.NEAREST_AWAY}),
        (t.F8E5M2, t.F16, IEEE | {R.NEAREST_AWAY}),
        (t.TF32, t.F32, IEEE | {R.NEAREST_AWAY}),
        (t.F64, t.F32, IEEE),
        (t.F32, t.TF32, {R.NEAREST_EVEN, R.ZERO, R.NEAREST_AWAY}),
        (t.F8E8M0FNU, t.F32, {R.NEAREST_EVEN, R.ZERO}),
        (t.FNV8E5M3FNU, t.F16, {R.NEAREST_EVEN, R.ZERO}),
        (t.F16, t.BF16, {R.NEAREST_EVEN, R.ZERO}),
        (t.BF16, t.F16, {R.NEAREST_EVEN, R.ZERO}),
        (t.F64, t.TF32, {R.NEAREST_EVEN, R.ZERO}),
    ],
)
def test_conversions_have_the_modes_of_the_table(source: t.ElementType, result: t.ElementType, modes: set[R]) -> None:
    assert set(conversion_modes(source, result, (13, 5))) == modes
    before = modes if result is t.F8E8M0FNU else {R.NEAREST_EVEN}
    assert set(conversion_modes(source, result, (13, 3))) == before


def test_what_widens_is_what_keeps_every_number() -> None:
    for source in t.FLOATS:
        assert widens(source, source)
        assert widens(source, t.F64)
    assert not widens(t.F8E8M0FNU, t.F32)
