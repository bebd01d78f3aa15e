"""Debuggers and `perf` know native code: its functions and its lines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tileir

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="native code has no lines here")
SOFTMAX = Path(tileir.__file__).parent / "examples" / "softmax.mlir"
EXP = 1 + SOFTMAX.read_text().split("%powers =")[0].count("\n")
LAUNCH = f"""\
import numpy as np, tileir
kernel = tileir.load({str(SOFTMAX)!r})["softmax"]
kernel.launch(2, np.ones((2, 1000), np.float32), np.ones((2, 1000), np.float32), 2, 1000, debug_info=True)
"""


PLACE = Path(f"/tmp/perf-{os.getpid()}.map")


@pytest.fixture(scope="module", autouse=True)
def without_names() -> Iterator[None]:
    """The file stays for `perf`, which reads it when the process has ended; here nobody does."""
    yield
    PLACE.unlink(missing_ok=True)


def names() -> list[tuple[int, int, str]]:
    """The ranges in the file for `perf`: begin, end, name."""
    lines = PLACE.read_text().splitlines()
    found = (line.split(" ", 2) for line in lines)
    return [(int(begin, 16), int(begin, 16) + int(size, 16), name) for begin, size, name in found]


def test_perf_has_a_name_with_the_line_for_all_code() -> None:
    x, y = np.ones((2, 1000), np.float32), np.zeros((2, 1000), np.float32)
    kernel = tileir.load(SOFTMAX)["softmax"]
    kernel.launch(2, x, y, 2, 1000, debug_info=True)
    np.testing.assert_allclose(y, 1 / 1000, rtol=1e-6)
    ranges = names()
    own = [one for one in ranges if one[2].startswith("@softmax ")]
    assert any(name == f"@softmax softmax.mlir:{EXP}" for _, _, name in own)
    ordered = sorted(own)
    assert all(end <= begin for (_, end, _), (begin, _, _) in pairwise(ordered))
    kernel.launch(2, x, y, 2, 1000, debug_info=True)
    assert names() == ranges, "compiled once"


def test_a_program_may_have_any_name() -> None:
    text = "cuda_tile.module @m { entry @k() { %n = constant <i32: 1> : tile<i32> } }"
    for name in ('a "quoted" \\ name.mlir', "ünicode ∞.mlir", "a\nb.mlir", "", "/no/such/folder/x.mlir"):
        tileir.parse(text, name)["k"].launch(1, debug_info=True)
    assert all("\n" not in one[2] for one in names())


def test_debug_info_is_true_or_false() -> None:
    x, y = np.ones((2, 1000), np.float32), np.zeros((2, 1000), np.float32)
    with pytest.raises(TypeError, match="debug_info: expected True or False, got 'yes'"):
        tileir.load(SOFTMAX)["softmax"].launch(2, x, y, 2, 1000, debug_info="yes")


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_gdb_stops_at_a_line_of_the_program(tmp_path: Path) -> None:
    script = tmp_path / "launch.py"
    script.write_text(LAUNCH)
    commands = ["set breakpoint pending on", f"break softmax.mlir:{EXP}", "run", "backtrace 1"]
    words = [word for command in commands for word in ("-ex", command)]
    ran = subprocess.run(
        ["gdb", "-nx", "-batch", *words, "--args", sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(tileir.__file__).parents[1],
        env={**os.environ, "DEBUGINFOD_URLS": ""},
    )
    if "ptrace" in ran.stderr or "Couldn't get registers" in ran.stderr:
        pytest.skip("gdb may not trace processes here")
    assert re.search(rf"#0\s+(0x\w+ in )?softmax \(\) at .*softmax\.mlir:{EXP}\n", ran.stdout), ran.stdout + ran.stderr
