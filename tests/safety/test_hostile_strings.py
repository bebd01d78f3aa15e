"""No string of a program reaches code, a terminal or a file but through an escape or under a name of ours."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hostile import STRINGS, harmless, program

import tileir
from tests.thorough import sampled
from tileir.cli import main
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.run.program import lowered
from tileir.gpu.arch import arch_named
from tileir.gpu.program import compiled
from tileir.gpu.ttir.entry import lower_entry
from tileir.host import extern
from tileir.runtime.gpu_routes import source_of
from tileir.runtime.module import Kernel, Module
from tileir.text.numbers import string_text

HARMLESS = "plain"


@pytest.fixture(params=sampled(STRINGS, 3))
def string(request: pytest.FixtureRequest) -> str:
    return STRINGS[request.param]


@pytest.fixture
def registered(string: str) -> Iterator[None]:
    """The host function that extended programs call."""
    tileir.register_extern(string, lambda number: number + 1)
    yield
    del extern._externs[string]


def by_route(string: str, route: str) -> Module:
    """A module with the string in every field, read from text or from bytecode."""
    extended = route == "text, extended"
    module = tileir.parse(program(string, extended), filename=string)
    return module if route != "bytecode" else tileir.from_bytecode(tileir.to_bytecode(module), filename=string)


def only_kernel(module: Module) -> Kernel:
    (kernel,) = module.kernels.values()
    return kernel


ROUTES = ("text", "text, extended", "bytecode")


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.usefixtures("registered")
def test_a_launch_does_what_the_program_says(string: str, route: str, target: str) -> None:
    kernel, out, printed = only_kernel(by_route(string, route)), np.zeros(1, np.int32), []
    kernel.launch(1, out, False, target=target, output=printed.append)
    assert out[0] == 10 + (route == "text, extended")
    assert "".join(printed) == string


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.usefixtures("registered")
def test_a_trap_can_be_shown(string: str, route: str, target: str) -> None:
    kernel, out = only_kernel(by_route(string, route)), np.zeros(1, np.int32)
    with pytest.raises(tileir.Trap) as caught:
        kernel.launch(1, out, True, target=target, output=lambda text: None)
    assert caught.value.kernel == kernel.name == string
    assert harmless(str(caught.value))


@pytest.mark.usefixtures("registered")
def test_native_code_is_the_same_whatever_things_are_called(string: str) -> None:
    found, expected = (
        str(lowered(only_kernel(module).entry, tuple(module.globals.addresses), CheckLevel.ON).module)
        for module in (by_route(string, "text, extended"), by_route(HARMLESS, "text, extended"))
    )
    assert found == expected


def test_code_for_gpus_differs_in_names_and_places_alone(string: str) -> None:
    def text(name: str) -> list[str]:
        kernel = only_kernel(by_route(name, "bytecode"))
        made = compiled_text(kernel)
        assert made.isascii() and harmless(made.replace(name, "") if len(name) > 10_000 else made)
        return [line.partition(" loc(")[0] for line in made.splitlines() if not line.startswith('"tt.func"')]

    assert text(string) == text(HARMLESS)


def compiled_text(kernel: Kernel) -> str:
    source = source_of(kernel)
    return lower_entry(source.entry, source.functions, arch_named("sm_90")).text


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton")
def test_compiled_code_for_gpus_has_one_kernel_of_our_name(string: str) -> None:
    source = source_of(only_kernel(by_route(string, "bytecode")))
    texts = compiled(source, arch_named("sm_90"), [], ["ptx", "cubin"]).artifacts
    entries = [line for line in texts.texts["ptx"].splitlines() if ".entry" in line.partition("//")[0]]
    assert len(entries) == 1 and ".entry tileir_" in entries[0]
    assert harmless(texts.texts["ptx"].replace(string, "")) and texts.binary


@pytest.mark.parametrize("route", ROUTES)
def test_printed_text_is_plain_and_read_back(string: str, route: str) -> None:
    module = by_route(string, route)
    for form in ("module", "generic"):
        text = tileir.to_text(module, form=form, debug=True)
        assert text.isascii() and all(line.isprintable() for line in text.split("\n"))
        assert tileir.to_text(tileir.parse(text), form=form, debug=True) == text


@pytest.mark.parametrize("route", ROUTES)
def test_messages_of_python_can_be_shown(string: str, route: str) -> None:
    module = by_route(string, route)
    kernel, out = only_kernel(module), np.zeros(1, np.int32)
    wrong = (
        lambda: module["missing"],
        lambda: module[string + "x"],
        lambda: kernel.launch(1),
        lambda: kernel.launch(0, out, True),
        lambda: kernel.launch("1", out, True),
        lambda: kernel.launch(1, np.zeros(1), True),
        lambda: kernel.launch(1, out, 5),
    )
    for action in wrong:
        with pytest.raises((KeyError, TypeError, ValueError)) as caught:
            action()
        assert harmless(str(caught.value))
    assert harmless(repr(module)) and harmless(repr(kernel))


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_an_unknown_function_of_the_host_can_be_named(string: str, target: str) -> None:
    kernel = only_kernel(by_route(string, "text, extended"))
    with pytest.raises(tileir.UnsupportedError) as caught:
        kernel.launch(1, np.zeros(1, np.int32), False, target=target)
    assert harmless(str(caught.value))


def test_diagnostics_can_be_shown(string: str) -> None:
    twice = program(string).replace("global @", f"global @{string_text(string)} <i32: 5> : tile<1xi32>\n global @")
    for text in (twice, program(string).replace("addi", "addf"), program(string) + string):
        with pytest.raises(tileir.DiagnosticError) as caught:
            tileir.verify(tileir.parse(text, filename=string)).raise_if_errors()
        assert harmless(str(caught.value))


@pytest.mark.parametrize("words", [["check"], ["run", "--grid", "1"], ["bench", "--grid", "1"], ["compile"]])
@pytest.mark.parametrize("kind", sampled(["newline", "terminal", "direction", "not UTF-8", "very long"], 3))
def test_the_command_line_shows_nothing_that_controls_a_terminal(
    kind: str, words: list[str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    string = STRINGS[kind]
    for name, content in files(string).items():
        path = tmp_path / name
        path.write_bytes(content)
        arguments = ["i32[1]", "1"] if "--grid" in words else []
        main([words[0], *words[1:], str(path), *arguments])
        written = capfdbinary.readouterr()
        for stream in (written.out, written.err):
            assert harmless(stream.decode("utf-8")), name


def files(string: str) -> dict[str, bytes]:
    """Programs as files, which print nothing themselves."""
    text = program(string)
    silent = "\n".join(line for line in text.splitlines() if "print_tko" not in line)
    return {
        "program.mlir": silent.encode(),
        "program.tileirbc": tileir.to_bytecode(tileir.parse(silent)),
        "wrong.mlir": silent.replace("addi", "addf").encode(),
    }


@pytest.mark.parametrize("file", ["/dev/zero", "/dev/tty", "\x1b[2Ja.py", "/etc", "a\0b"])
def test_python_does_not_open_what_a_program_calls_its_file(file: str) -> None:
    """A warning is shown with the line of the file that it names, which Python reads."""
    text = f"""entry @k(%p: tile<ptr<i32>>) {{
      %f = constant <i1: 0> : tile<i1>
      %x, %t = load_ptr_tko weak %p, %f : tile<ptr<i32>>, tile<i1> -> tile<i32>, token loc({string_text(file)}:1:1)
      return
    }}"""
    with pytest.warns(tileir.KernelWarning) as caught:
        tileir.parse(text)["k"].launch(1, np.zeros(1, np.int32), target="interp", mode="strict")
    assert harmless(warnings.formatwarning(caught[0].message, caught[0].category, caught[0].filename, caught[0].lineno))
