"""Names of the Python interface: the modules they report, their documentation; errors can be pickled."""

from __future__ import annotations

import inspect
import pickle
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator

import pytest

import tileir
from tileir.ir.loc import FileLoc

NAMES = [name for name in tileir.__all__ if name != "__version__"]
SECTION = re.compile(r"(?m)^( *)(Parameters|Attributes|Returns|Raises)\n\1(-+)$")
CLASSES = [name for name in NAMES if inspect.isclass(getattr(tileir, name))]
FUNCTIONS = [name for name in NAMES if name not in CLASSES]


def methods(cls: type) -> Iterator[tuple[str, object]]:
    """Public functions and properties of a class that it defines itself."""
    for name, member in vars(cls).items():
        if name[0] != "_" and (inspect.isroutine(member) or isinstance(member, property) or hasattr(member, "func")):
            yield name, getattr(member, "func", getattr(member, "fget", member))


def documented(text: str, section: str) -> list[str]:
    """The names that a section of a docstring in the style of NumPy describes."""
    lines = inspect.cleandoc(text).split("\n")
    if section not in lines:
        return []
    begin = lines.index(section)
    assert set(lines[begin + 1]) == {"-"} and len(lines[begin + 1]) == len(section)
    found = []
    for line in lines[begin + 2 :]:
        if re.fullmatch(r"-+", line):
            found.pop()
            break
        if line and line[0] != " ":
            found += [name.strip() for name in line.partition(" : ")[0].split(",")]
    return [name for name in found if name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_documents_its_parameters_and_what_it_gives(name: str) -> None:
    function = getattr(tileir, name)
    text = inspect.getdoc(function)
    signature = inspect.signature(function)
    prefixes = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    expected = [prefixes.get(one.kind, "") + one.name for one in signature.parameters.values()]
    assert text is not None and documented(text, "Parameters") == expected
    assert bool(documented(text, "Returns")) == (signature.return_annotation != "None")
    assert all(len(line) <= 116 for line in text.split("\n"))


def test_a_launch_documents_its_parameters() -> None:
    text = inspect.getdoc(tileir.Kernel.launch) or ""
    assert documented(text, "Parameters") == ["grid", "*args", "target", "check", "**keywords"]
    assert "Trap" in documented(text, "Raises")


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_documents_itself_and_what_it_has(name: str) -> None:
    cls = getattr(tileir, name)
    text = inspect.getdoc(cls)
    assert text is not None and "attributes" in text.lower()
    for method, function in methods(cls):
        assert inspect.getdoc(function), f"{name}.{method}"


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_known_by_its_public_name(name: str) -> None:
    cls = getattr(tileir, name)
    assert f"{cls.__module__}.{cls.__qualname__}" == f"tileir.{name}"
    assert pickle.loads(pickle.dumps(cls)) is cls


ERRORS = [
    tileir.Trap("it", kernel="k", block=(1, 2, 3), op="addf", loc=FileLoc("k.mlir", 1, 2), array="x", index=4),
    tileir.LaunchTimeout("late", kernel="k"),
    tileir.UnsupportedError("what", "cpu"),
    tileir.DiagnosticError([tileir.Diagnostic("E0001", "message")]),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_travels_and_shows_its_public_name(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and (str(copy), repr(copy)) == (str(error), repr(error))
    name = f"tileir.{type(error).__name__}"
    assert "".join(traceback.format_exception_only(error)).startswith(name)
    if not isinstance(error, tileir.DiagnosticError):
        assert repr(error).startswith(f"{name}(")


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_no_part_of_it() -> None:
    assert run("import sys, tileir\nprint([name for name in sys.modules if name.startswith('tileir.')])") == "[]\n"


@pytest.mark.parametrize("name", ["explore", "sanitize", "verify"])
def test_a_function_is_not_hidden_by_the_package_of_its_name(name: str) -> None:
    code = f"import tileir.{name}\nfrom tileir import {name}\nprint({name} is tileir.{name}, callable({name}))"
    assert run(code) == "True True\n"
