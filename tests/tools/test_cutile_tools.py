"""The launches of a cuTile script are pictured and stepped through, at the lines of its file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import run_python

pytest.importorskip("cuda.tile", reason="cuTile kernels need cuda-tile")

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tileir/examples/cutile/vector_add.py"


def run(*arguments: str, commands: str = "") -> subprocess.CompletedProcess[str]:
    return run_python("-m", "tileir", "cutile", *arguments, SCRIPT, commands=commands)


def test_each_launch_has_a_page_with_the_python_file(tmp_path: Path) -> None:
    ran = run("--view", str(tmp_path / "pages"))
    assert ran.returncode == 0 and "agree with NumPy" in ran.stdout, ran.stderr
    (page,) = (tmp_path / "pages").glob("*.html")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.DOTALL)[1])
    python = [number for number, file in enumerate(data["files"]) if file["name"].endswith("vector_add.py")]
    line = SCRIPT.read_text().split("ct.store")[0].count("\n") + 1
    loads = [op for op in data["ops"] if op["name"] == "load_view_tko"]
    assert len(loads) == 2 and all([python[0], line] in op["places"] and op["count"] == 4 for op in loads)


def test_breakpoints_stand_in_the_python_file() -> None:
    line = SCRIPT.read_text().split("ct.store")[0].count("\n") + 1
    commands = f"break vector_add.py:{line} block 2\ncontinue\nwhere\nlist\ndelete\ncontinue\n"
    ran = run("--debug", commands=commands)
    assert ran.returncode == 0, ran.stderr
    assert f"breakpoint 1: tile block (2, 0, 0), {SCRIPT}:{line}" in ran.stdout
    assert f"> {line:4}     ct.store(out" in ran.stdout and "agree with NumPy" in ran.stdout


def test_quitting_ends_the_script() -> None:
    ran = run("--debug", commands="quit\n")
    assert ran.returncode == 0 and "agree" not in ran.stdout and "Traceback" not in ran.stderr


def test_one_tool_at_a_time() -> None:
    ran = run("--debug", "--sanitize")
    assert ran.returncode == 2 and "expected one of --sanitize, --view, --debug and --profile" in ran.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="native code has no lines here")
def test_a_profile_has_the_lines_of_the_python_file() -> None:
    ran = run("--profile")
    assert ran.returncode == 0 and "agree with NumPy" in ran.stdout, ran.stderr
    assert f"\n{SCRIPT}\n" in ran.stderr
    line = SCRIPT.read_text().split("ct.store")[0].count("\n") + 1
    (stored,) = (row.split() for row in ran.stderr.split("\n") if row.split()[:1] == [str(line)])
    assert "ct.store(out," in " ".join(stored)
    assert "12 k" in " ".join(stored), "bytes of three arrays of 1000 floats"
