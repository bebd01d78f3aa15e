"""Inputs that reach new code are kept and changed further; nothing but diagnostics comes of any of them.

`python -m tests.fuzz.run` does the same for longer.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fuzz.run import CORPUS, NAMES
from tests.fuzz.targets import TARGETS

SECONDS = 2
CORPUS_LIMIT = 200_000
ROOT = Path(__file__).parent.parent.parent

each_target = pytest.mark.parametrize("target", NAMES)


@each_target
def test_the_corpus_passes(target):
    paths = sorted((CORPUS / target).iterdir())
    assert len(paths) > 100
    for path in paths:
        TARGETS[target](path.read_bytes())


def test_the_corpus_stays_small():
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < CORPUS_LIMIT


@pytest.mark.skipif(find_spec("atheris") is None, reason="needs the package atheris")
@pytest.mark.thorough
@each_target
def test_nothing_is_found_in_a_few_seconds(target, tmp_path):
    options = ["--seconds", str(SECONDS), "--target", target, "--seed", "1", "--found", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.run", *options], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr[-4000:]
    assert not list(tmp_path.iterdir())
