"""Golden TTIR becomes the expected Tile IR; the TTIR is that of Triton's compiler, where it is installed.

``pytest tests/ttir/test_triton_ir_golden.py --bless`` rewrites both.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from tileir.text.printer import to_text
from tileir.triton import from_ttir


def find_version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


GOLDEN = Path(__file__).parent / "golden"
WRITTEN = Path(__file__).parent / "written"
"""Programs that were not made by Triton."""
PROGRAMS = sorted([*GOLDEN.glob("*.ttir"), *WRITTEN.glob("*.ttir")])
each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
needs_triton = pytest.mark.skipif(find_version("triton")[:4] != "3.9.", reason="needs triton 3.9")


@needs_triton
def test_the_golden_ttir_is_that_of_triton(bless: bool) -> None:
    from golden_kernels import KERNELS
    from triton_compiler import ttir

    made = {f"{name}.ttir": ttir(compiled) for name, compiled in KERNELS.items()}
    if bless:
        for name, text in made.items():
            (GOLDEN / name).write_text(text, encoding="utf-8")
    assert {name: (GOLDEN / name).read_text(encoding="utf-8") for name in made} == made
    assert {path.name for path in GOLDEN.glob("*.ttir")} == made.keys()


@each_program
def test_ttir_becomes_the_expected_program(path: Path, bless: bool) -> None:
    text = to_text(from_ttir(path.read_text(encoding="utf-8"), path.name))
    expected = path.with_suffix(".mlir")
    if bless:
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


@needs_triton
def test_a_kernel_is_imported_before_the_passes_of_triton_too() -> None:
    from golden_kernels import KERNELS
    from triton_compiler import ttir

    for name, compiled in KERNELS.items():
        module = from_ttir(ttir(compiled, passes=False), f"{name}.ttir")
        assert list(module.kernels) == [name]
