"""Programs that verbs take: files, and kernels of Triton in scripts, ``SCRIPT.py::KERNEL``."""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Callable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from tileir.cli import FAULT, UsageError, files, show
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.usage import pip_install
from tileir.runtime.module import Module
from tileir.verify import verify

T = TypeVar("T")
SEPARATOR = "::"


def add_signature(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("kernels of Triton (SCRIPT.py::KERNEL)")
    text = "types of the parameters, such as '*fp16,*fp16:16,i32'; :16 means divisible by 16"
    group.add_argument("--signature", metavar="TYPES", help=text)
    text = "the value of a constant, such as BLOCK=128; once for each"
    group.add_argument("--constexpr", action="append", default=[], metavar="NAME=VALUE", help=text)


def words_of(options: argparse.Namespace) -> list[str]:
    """Return the words of a command that name its program: the file, or the kernel with its types and constants."""
    types = ["--signature", options.signature] if options.signature else []
    return [options.file, *types, *(word for one in options.constexpr for word in ("--constexpr", one))]


def verified(word: str, options: argparse.Namespace) -> Module:
    """Return the program of a file or a kernel, without a fault at the language level. Raises `DiagnosticError`,
    UsageError, and what Triton raises."""
    (module,) = all_verified([word], options)
    return module


def all_verified(words: Sequence[str], options: argparse.Namespace) -> list[Module]:
    """Return the program of each word, as `verified` does; one of them has to be a kernel if types are given."""
    require_kernel(words, options)
    return [_verified(word, options) for word in words]


def _verified(word: str, options: argparse.Namespace) -> Module:
    if not is_kernel(word):
        return files.verified(word, options.level)
    module = kernel_program(word, options)
    verify(module, options.level).raise_if_errors()
    return module


def is_kernel(word: str) -> bool:
    """Return whether a word names a kernel in a script."""
    return SEPARATOR in word and not Path(word).exists()


def require_kernel(words: Sequence[str], options: argparse.Namespace) -> None:
    """Raise UsageError for types that are given where no word names a kernel."""
    if (options.signature or options.constexpr) and not any(map(is_kernel, words)):
        raise UsageError("--signature and --constexpr are for a kernel in a script: SCRIPT.py::KERNEL")


def kernel_program(word: str, options: argparse.Namespace) -> Module:
    """Return the program of the kernel that a word names, for the types that the options give."""
    from tileir.triton import to_tile_ir

    return _compiled(word, options, to_tile_ir)


def kernel_ttir(word: str, options: argparse.Namespace) -> str:
    """Return the kernel that a word names as TTIR."""
    from tileir.triton.export import to_ttir

    return _compiled(word, options, to_ttir)


def _compiled(word: str, options: argparse.Namespace, compile: Callable[..., T]) -> T:
    file, _, name = word.partition(SEPARATOR)
    kernel = getattr(_script(Path(file)), name, None)
    if kernel is None:
        raise UsageError(f"{file}: no kernel '{name}'")
    from triton.compiler.errors import CompilationError

    try:
        return compile(kernel, options.signature or (), _constants(options.constexpr))
    except CompilationError as error:
        show.diagnostics(f"{file}: {error}", sys.stderr)
        raise SystemExit(FAULT) from error
    except (TypeError, ValueError) as error:
        raise UsageError(f"{word}: {error}") from error


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
