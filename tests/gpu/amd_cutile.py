"""Machine code for AMD of all kernels of the tests of cuTile Python, and of its examples: `make amd-test` runs this."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tests.gpu.test_hsaco_cutile import ARCHS, CASES, Case, on_machine, require_same

SCRIPTS = sorted((Path(__file__).parents[2] / "examples" / "cutile").glob("*.py"))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_kernel_gives_what_the_interpreter_gives(case: Case, arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    require_same(case, arch, capsys)


@pytest.mark.parametrize("number", range(len(SCRIPTS)), ids=[path.stem for path in SCRIPTS])
def test_an_example_agrees_with_its_reference(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="examples compare with torch")
    with on_machine(ARCHS[number % len(ARCHS)]):
        runpy.run_path(str(SCRIPTS[number]), run_name="__main__")
    assert capsys.readouterr().out.startswith(f"{SCRIPTS[number].stem}: ")
