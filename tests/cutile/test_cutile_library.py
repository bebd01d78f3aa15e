"""The library as its own reference: its signatures and faults of a launch, and the examples in its documentation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import run_python

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

FOLDER = Path(__file__).parent


def run(program: str) -> subprocess.CompletedProcess:
    """A program that stands in for the driver, before it imports the library."""
    environment = os.environ | {"PYTHONPATH": str(FOLDER.parents[1])}
    return subprocess.run([sys.executable, str(FOLDER / program)], capture_output=True, text=True, env=environment)


def test_signatures_are_those_that_the_library_makes_for_a_launch():
    done = run("library_signatures.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("signatures, 0 differ\n")


def test_faults_of_arguments_and_grids_are_of_the_kind_and_begin_with_the_words_of_the_library():
    pytest.importorskip("cuda.tile", "1.7", reason="the words are those of cuda-tile 1.7")
    done = run("library_errors.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("launches, 0 differ\n")


@pytest.mark.parametrize(("target", "step"), [("interp", "5"), ("cpu", "20")])
def test_the_examples_of_the_documentation_print_what_it_says(target: str, step: str):
    """A part of them; `library_documentation.py` runs all."""
    torch = pytest.importorskip("torch", reason="the examples use torch")
    pytest.importorskip("cuda.tile", "1.7", reason="the examples are those of cuda-tile 1.7")
    if torch.cuda.is_available():
        pytest.skip("a GPU is there: the examples use it")
    done = run_python("-m", "tests.cutile.library_documentation", target, step)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" examples, 0 differ\n")
