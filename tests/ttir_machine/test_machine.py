"""Blocks of the TTIR machine take turns."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ttir_machine.programs import Body, execute
from tests.ttir_machine.values import MachineFault
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirValue


def _waiting(limit: int) -> Body:
    """Each block waits until as many blocks have come as `limit` says."""

    def body(build: Builder, memory: list[TtirValue]) -> None:
        one, zero = build.integer(I32, 1), build.integer(I32, 0)
        atomic = {"atomic_rmw_op": 4, "sem": 1, "scope": 1}
        build.op("tt.atomic_rmw", memory[0], one, type=I32, **atomic)
        with build.region() as before:
            seen = build.op("tt.atomic_rmw", memory[0], zero, type=I32, **atomic)
            build.effect("scf.condition", build.compare("slt", seen, build.integer(I32, limit)))
        with build.region() as after:
            build.effect("scf.yield")
        build.insert("scf.while", (), (), {}, [before, after])

    return body


def test_blocks_that_wait_for_each_other_take_turns() -> None:
    counter = np.zeros(1, np.int32)
    execute(_waiting(6), counter, grid=(3, 2))
    assert counter[0] == 6


def test_blocks_that_wait_for_ever_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.ttir_machine.machine.MAX_TURNS", 100)
    with pytest.raises(MachineFault, match="for ever"):
        execute(_waiting(7), np.zeros(1, np.int32), grid=(3, 2))
