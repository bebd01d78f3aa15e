"""The memory for tiles is a thread's own."""

import sys
from pathlib import Path

import pytest

from tileir.cpu.run.arena import Arena


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says of a process's memory")
@pytest.mark.parametrize("size", [1 << 16, 8 << 20])
def test_no_other_process_shares_an_arena(size):
    arena = Arena(size)
    mappings = (line.split() for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines())
    ranges = {tuple(int(bound, 16) for bound in bounds.split("-")): kind for bounds, kind, *_ in mappings}
    (kind,) = [kind for (begin, end), kind in ranges.items() if begin <= arena.address < end]
    assert kind == "rw-p"
