"""``tileir compile SCRIPT.py::KERNEL``: a kernel of Triton as a program."""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from tileir.cli import FAULT, UsageError, show
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.usage import pip_install
from tileir.runtime.module import Module

SEPARATOR = "::"


def add_signature(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("kernels of Triton (SCRIPT.py::KERNEL)")
    text = "types of the parameters, such as '*fp16,*fp16:16,i32'; :16 means divisible by 16"
    group.add_argument("--signature", metavar="TYPES", help=text)
    text = "the value of a constant, such as BLOCK=128; once for each"
    group.add_argument("--constexpr", action="append", default=[], metavar="NAME=VALUE", help=text)


def is_kernel(word: str) -> bool:
    """Return whether a word names a kernel in a script."""
    return SEPARATOR in word and not Path(word).exists()


def program(options: argparse.Namespace) -> Module:
    """Return the program of the kernel that the options name. Raises UsageError, and what Triton and the importer
    raise."""
    file, _, name = options.file.partition(SEPARATOR)
    constants = _constants(options.constexpr)
    kernel = getattr(_script(Path(file)), name, None)
    if kernel is None:
        raise UsageError(f"{file}: no kernel '{name}'")
    from triton.compiler.errors import CompilationError

    from tileir.triton import to_tile_ir

    try:
        return to_tile_ir(kernel, options.signature or (), constants)
    except CompilationError as error:
        show.diagnostics(f"{file}: {error}", sys.stderr)
        raise SystemExit(FAULT) from error
    except (TypeError, ValueError) as error:
        raise UsageError(f"{options.file}: {error}") from error


def _script(path: Path) -> ModuleType:
    """Return the module of a script, which is run for it, though not as the main program."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    try:
        import triton  # noqa: F401 - that it is there
    except ImportError as error:
        raise UnsupportedError(f"needs the package triton ({pip_install('triton')}): {error}", "triton") from error
    sys.path.insert(0, str(path.resolve().parent))
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: expected a Python file")
    module = sys.modules[path.stem] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _constants(words: Sequence[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"--constexpr {word}: expected NAME=VALUE")
        found[name] = _constant(value)
    return found


def _constant(text: str) -> object:
    """Return a constant of Python, or a type of Triton's: ``tl.float32``; any other word is itself."""
    if text.startswith("tl."):
        import triton.language

        return getattr(triton.language, text.removeprefix("tl."), text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
