"""A file that is cut while a kernel uses it ends the launch with an error, and not the process."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="this system does not cut files that are in use")
guarded = pytest.mark.skipif(find_spec("tileir.host._mappings") is None, reason="the extension is not built")

CHILD = """
import faulthandler, os, signal, sys
import numpy as np
import tileir

faulthandler.enable()
path, target, mode, place = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
SIZE = 1 << 20
kernel = tileir.parse('''entry @k(%a: tile<ptr<i32>>, %at: tile<i32>, %out: tile<ptr<i32>>) {
  %cut = print_tko "cut" -> token
  %o = offset %a, %at : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %x, %t = load_ptr_tko weak %o token=%cut : tile<ptr<i32>> -> tile<i32>, token
  %s = store_ptr_tko weak %out, %x : tile<ptr<i32>>, tile<i32> -> token
  return
}''')["k"]
np.full(SIZE, 7, np.int32).tofile(path)
array, out = np.memmap(path, np.int32, mode), np.zeros(1, np.int32)
kernel.launch(1, array, place, out, target=target, output=lambda text: None)
assert out[0] == 7
try:
    kernel.launch(1, array, place, out, target=target, output=lambda text: os.truncate(path, 4096))
except ValueError as error:
    print(error)
try:
    kernel.launch(1, array, place, out, target=target)
except ValueError as error:
    print(error)
print(out[0], flush=True)
if place == 0:
    faulthandler.disable()
    array[SIZE - 1]  # nothing guards it any more
"""


def outcome(tmp_path: Path, target: str, mode: str, place: int) -> tuple[int, list[str]]:
    command = [sys.executable, "-c", CHILD, str(tmp_path / "x"), target, mode, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    return done.returncode, done.stdout.splitlines()


def said(tmp_path: Path) -> list[str]:
    refused = "kernel @k, parameter 0 'a' (tile<ptr<i32>>): expected an array whose memory is there, "
    refused += "got one whose storage was freed, or whose file was cut"
    return [f"the file '{tmp_path / 'x'}' was cut while a kernel used it", refused]


@guarded
@pytest.mark.parametrize("mode", ["r", "r+", "c"])
@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_a_kernel_that_reads_what_was_cut_off_reads_zeros_and_the_launch_fails(
    target: str, mode: str, tmp_path: Path
) -> None:
    assert outcome(tmp_path, target, mode, (1 << 20) - 1) == (0, [*said(tmp_path), "0"])


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_a_launch_on_a_file_that_is_cut_elsewhere_fails_and_leaves_faults_to_others(
    target: str, tmp_path: Path
) -> None:
    status, lines = outcome(tmp_path, target, "r+", 0)
    assert lines == [*said(tmp_path), "7"]
    assert status == -7


OVERLAPPING = """
import os, sys
import numpy as np
from tileir.host._mappings import guard, unguard

np.full(4 << 12, 7, np.uint8).tofile(sys.argv[1])
array = np.memmap(sys.argv[1], np.uint8, "r")
pages = [array[page << 12 :] for page in (0, 2, 3)]
entries = [guard(page.ctypes.data, page.nbytes) for page in pages]
another = guard(np.ones(9, np.uint8).ctypes.data, 9)
os.truncate(sys.argv[1], 2 << 12)
print(array[2 << 12], *map(unguard, entries), unguard(another))
"""


@guarded
def test_every_launch_on_what_was_cut_off_is_told(tmp_path: Path) -> None:
    """Only one of them meets the fault: for the others there are zeros already."""
    command = [sys.executable, "-c", OVERLAPPING, str(tmp_path / "x")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (0, "0 True True True False\n"), done.stderr
