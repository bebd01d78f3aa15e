"""The library as its own reference: its signatures for a launch, and the examples in its documentation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

FOLDER = Path(__file__).parent


def run(program: str, *arguments: str) -> subprocess.CompletedProcess:
    """Each is a process of its own: one stands in for the driver, the other for CUDA."""
    environment = os.environ | {"PYTHONPATH": str(FOLDER.parents[1])}
    command = [sys.executable, str(FOLDER / program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_signatures_are_those_that_the_library_makes_for_a_launch():
    done = run("library_signatures.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("signatures, 0 differ\n")


@pytest.mark.parametrize(("target", "step"), [("interp", "5"), ("cpu", "20")])
def test_the_examples_of_the_documentation_print_what_it_says(target: str, step: str):
    """A part of them; `library_documentation.py` runs all."""
    torch = pytest.importorskip("torch", reason="the examples use torch")
    pytest.importorskip("cuda.tile", "1.7", reason="the examples are those of cuda-tile 1.7")
    if torch.cuda.is_available():
        pytest.skip("a GPU is there: the examples use it")
    done = run("library_documentation.py", target, step)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" examples, 0 differ\n")
