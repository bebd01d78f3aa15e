"""Programs of the tests on a disk that is really full: a file system in memory of so many kilobytes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PATIENCE = 120.0
"""Seconds that a program may take."""
_MOUNT = 'mount -t tmpfs -o size="$1k" small "$2"'


def _run(folder: Path, size: int, command: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of the shell in a name space of its own, in which `folder` is the small disk."""
    script = ["unshare", "-rm", "sh", "-c", f"{_MOUNT} && {command}", "sh", str(size), str(folder), *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run(script, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


def run_on_small_disk(folder: Path, size: int, program: str) -> str:
    """Return the output of a Python program; `sys.argv[1]` is the folder of the small disk. Skips where none can be
    mounted."""
    folder.mkdir()
    if shutil.which("unshare") is None or _run(folder, size, "true").returncode:
        pytest.skip("needs a system that lets a user mount a file system in a name space of its own (unshare -rm)")
    ran = _run(folder, size, f'{sys.executable} -c "$3" "$2"', program)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
