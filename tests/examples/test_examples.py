"""Every example program does what it says: on arrays against NumPy, and by the command in its header."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import tileir
from tileir.cli import main
from tileir.examples import FOLDER, Example
from tileir.examples.checks import EXAMPLES, largest_error
from tileir.runtime.module import DEFAULT_TARGET, placed, target_named, target_names

PROGRAMS = sorted(FOLDER.glob("*.mlir"))
COMMAND = re.compile(r"^// +tileir (.*)$", re.MULTILINE)


def check(example: Example, target: str = DEFAULT_TARGET, **options) -> None:
    arguments = example.arguments(example.sizes, np.random.default_rng(1))
    answer = example.answer(arguments)
    lines: list[str] = []
    kernel = tileir.load(example.path)[example.kernel]
    place = target_named(target)
    if place.gives_output:
        options["output"] = lines.append
    with placed(place, list(arguments.values())) as values:
        kernel.launch(example.grid(example.sizes), *values, target=target, **options)
    assert largest_error(arguments, answer) <= example.tolerance
    if place.gives_output:
        assert sorted("".join(lines).splitlines()) == sorted(example.printed(example.sizes))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
@pytest.mark.parametrize("target", target_names())
def test_every_target_gives_what_numpy_gives(example: Example, target: str) -> None:
    try:
        target_named(target)
    except tileir.UnsupportedError as error:
        pytest.skip(str(error))
    check(example, target)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_nothing_an_example_does_is_undefined(example: Example, recwarn: pytest.WarningsRecorder) -> None:
    check(example, "interp", mode="strict", seed=3)
    assert not recwarn.list


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_command_in_the_header_works(path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(FOLDER.parent.parent)
    commands = COMMAND.findall(path.read_text().partition("cuda_tile.module")[0])
    assert commands
    for command in commands:
        words = shlex.split(command.replace(f"examples/{path.name}", str(path)))
        assert str(path) in words
        assert main(words) == 0, capsys.readouterr().err


def test_every_program_is_an_example_and_every_example_has_a_program() -> None:
    assert {example.path for example in EXAMPLES} == set(PROGRAMS)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_an_example_survives_printing(path: Path) -> None:
    module = tileir.load(path)
    text = tileir.to_text(module)
    assert tileir.to_text(tileir.parse(text)) == text


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("version", ["13.1", "13.2", "13.3", "13.4", "13.5"])
def test_an_example_survives_bytecode_of_every_version_that_has_its_operations(path: Path, version: str) -> None:
    module = tileir.load(path)
    if not tileir.verify(module, level=version).ok:
        assert path.stem == "embedding"
        pytest.skip("uses an operation that is newer")
    back = tileir.from_bytecode(tileir.to_bytecode(module, version=version))
    # Bytecode has no name for the module, and neither has this form.
    assert tileir.to_text(back, form="disassembly") == tileir.to_text(module, form="disassembly")


@pytest.mark.parametrize(
    "sizes", [{"M": 1, "N": 1, "K": 1}, {"M": 129, "N": 70, "K": 65}, {"M": 128, "N": 256, "K": 64}]
)
def test_the_product_by_pointers_works_for_any_extents(sizes: dict[str, int]) -> None:
    check(next(example for example in EXAMPLES if example.name == "gemm_kloop").resized(**sizes))


def test_the_f16_product_of_512_is_within_1e_5_of_the_largest_element() -> None:
    for name in ("gemm_kloop", "gemm_views"):
        check(next(example for example in EXAMPLES if example.name == name).resized(M=512, N=512, K=512))


def test_a_size_that_an_example_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="has the sizes size, got sise"):
        next(example for example in EXAMPLES if example.name == "gemm_blocked").resized(sise=1)
