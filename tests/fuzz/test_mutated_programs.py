"""Whatever is wrong with a program, all that comes of it is a diagnostic (`make fuzz` tries for longer)."""

from __future__ import annotations

import os
from functools import cache
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutation import mutated_bytes, mutated_text, programs

import tileir
from tileir.ir.compare import identical

TRIES = int(os.environ.get("TILEIR_FUZZ_TRIES", "150"))
thorough = settings(max_examples=TRIES, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
seeds = st.integers(0, 2**64 - 1)


def parsed(text: str) -> tileir.Module | None:
    """The program, or None if reading it gives diagnostics, which can be shown."""
    try:
        return tileir.parse(text)
    except tileir.DiagnosticError as error:
        shown = str(error)
    assert "error[E" in shown
    return None


@thorough
@given(seeds)
def test_mutated_text_gives_diagnostics_and_what_is_read_can_be_checked_and_printed(seed: int) -> None:
    module = parsed(mutated_text(Random(seed)))
    if module is None:
        return
    report = tileir.verify(module)
    assert str(report) or not len(report)
    assert report.to_json()["ok"] == report.ok
    for form in ("module", "generic"):
        text = tileir.to_text(module, form=form)
        if report.ok:
            assert identical(tileir.parse(text), module)


@thorough
@given(seeds)
def test_mutated_text_that_is_valid_survives_bytecode(seed: int) -> None:
    module = parsed(mutated_text(Random(seed)))
    if module is None or not tileir.verify(module).ok:
        return
    try:
        data = tileir.to_bytecode(module)
    except tileir.DiagnosticError:
        return
    again = tileir.from_bytecode(data)
    assert tileir.to_bytecode(again) == data


@cache
def encoded() -> list[bytes]:
    result = []
    for text in programs():
        module = tileir.parse(text)
        try:
            result.append(tileir.to_bytecode(module))
        except tileir.DiagnosticError:
            continue
    return result


@thorough
@given(seeds)
def test_mutated_bytecode_gives_diagnostics(seed: int) -> None:
    random = Random(seed)
    data = mutated_bytes(random.choice(encoded()), random)
    try:
        module = tileir.load(data)
    except tileir.DiagnosticError as error:
        str(error)
        return
    tileir.verify(module)
    tileir.to_text(module)
