"""Modules and kernels as Python sees them.

Knows: how a program is made of text or bytecode, and what belongs to a loaded module: its kernels, its globals, whether
it has been verified.
Does not know: files (`loading`), how a kernel is launched (`launch`).
"""

from __future__ import annotations

import codecs
import math
import operator
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tileir.ir import core
from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.ir.loc import SourceLoc, file_position
from tileir.ir.shown import shown
from tileir.ir.types import FunctionType
from tileir.ir.versions import NEWEST
from tileir.ops.module import Entry
from tileir.runtime.prepared import Prepared
from tileir.runtime.targets import DEFAULT, Run, TargetName

if TYPE_CHECKING:
    from tileir.analysis.provenance import Writes
    from tileir.host.output import Output
    from tileir.interp.api import Mode
    from tileir.runtime.arguments import Binder, Parameter
    from tileir.runtime.grid import GridLike
    from tileir.runtime.options import Check, LaunchOptions, Progress
    from tileir.runtime.pickling import Surroundings
    from tileir.runtime.storage import GlobalStorage

MAGIC = b"\x7fTileIR\x00"
_NUL = b"\x00"


class Module(Prepared, core.Module):
    """A loaded program: ``module["name"]`` is a kernel of it.

    Its globals live as long as it does and keep their contents from launch to launch.

    Attributes
    ----------
    op : Op
        The module operation.
    source : Source or None
        The text that it was read from.
    """

    __module__ = "tileir"

    @staticmethod
    def of(module: core.Module) -> Module:
        """`module` itself if it is loaded, else a loaded module of the same operations. Raises TypeError for others."""
        core.Module.required(module)
        return module if isinstance(module, Module) else Module(module.op, module.source)

    @cached_property
    def kernels(self) -> dict[str, Kernel]:
        """The entries by name, in program order."""
        return {item.sym_name: Kernel(self, item) for item in self.items if isinstance(item, Entry)}

    def __getitem__(self, name: str) -> Kernel:
        """The kernel `name`. Raises KeyError with the names there are."""
        if name not in self.kernels:
            raise KeyError(f"no kernel @{shown(name)} in {self!r}")
        return self.kernels[name]

    @cached_property
    def globals(self) -> GlobalStorage:
        """The memory of the globals, initialised when first asked for."""
        from tileir.runtime.storage import GlobalStorage

        return GlobalStorage(self.items)

    @cached_property
    def _errors(self) -> DiagnosticError | None:
        from tileir.verify import verify

        report = verify(self)
        return None if report.ok else DiagnosticError(report.errors, self.source)

    def require_valid(self) -> None:
        """Raise `DiagnosticError` if the verifier finds an error. Verified once."""
        if self._errors is not None:
            raise DiagnosticError(self._errors.diagnostics, self.source)

    def __reduce__(self) -> tuple[Callable[..., Module], tuple[object, ...]]:
        """As bytecode, or text where there is none; the globals of a copy hold their initial values."""
        from tileir.runtime.pickling import packed

        return _unpickled, packed(self)

    def __repr__(self) -> str:
        name = self.op.attributes.get("sym_name", "")
        kernels = ", ".join(f"@{shown(kernel)}" for kernel in self.kernels) or "none"
        return f"<tileir module @{shown(name)}, kernels: {kernels}>"


class Kernel(Prepared):
    """An entry of a loaded module, ready to be launched.

    Attributes
    ----------
    module : Module
        The program that it is part of.
    entry : Entry
        The operation.
    name : str
        Its name, without ``@``.
    """

    __module__ = "tileir"

    def __init__(self, module: Module, entry: Entry) -> None:
        self.module = module
        self.entry = entry
        self.name: str = entry.sym_name
        self.ready: dict[tuple[str, bool] | None, tuple[Sequence[tuple[int, Binder]], Run]] = {}
        """What launches without options have made ready, by target and check (`launch.launch_kernel`)."""

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in order, with names and types."""
        from tileir.runtime.arguments import Parameter

        signature: FunctionType = self.entry.function_type
        names = _parameter_names(self.entry, len(signature.inputs))
        return tuple(
            Parameter(self.name, index, name, ty, lambda: self.writes)
            for index, (name, ty) in enumerate(zip(names, signature.inputs))
        )

    @cached_property
    def writes(self) -> Writes:
        """What the kernel may write, and through which parameters."""
        from tileir.analysis.provenance import writes_of

        return writes_of(self.entry)

    if TYPE_CHECKING:

        def launch(
            self,
            grid: GridLike,
            *args: object,
            target: TargetName | str = ...,
            check: Check = ...,
            debug_info: bool = ...,
            mode: Mode = ...,
            max_iterations: int | None = ...,
            optimize: bool = ...,
            output: Output = ...,
            progress: Progress | None = ...,
            seed: int | None = ...,
            stages: int | None = ...,
            stream: object = ...,
            threads: int | None = ...,
            timeout: float | None = ...,
            warps: int | None = ...,
            **named: object,
        ) -> None: ...

    else:

        def launch(self, grid, *args, target=DEFAULT, check=True, **keywords):
            """Run the kernel for every tile block of a grid; arrays are written in place.

            Parameters
            ----------
            grid : int or sequence of int
                Number of tile blocks along each axis, 1 to 3 positive integers.
            *args : object
                Arguments in the order of the parameters. A ``tile<ptr<E>>`` takes an array of E whose memory can be
                used in place, or a `tileir.Pointer`; a scalar takes a number that fits.
            target : str, default "cpu"
                ``"cpu"`` is native code; ``"interp"`` the reference interpreter, which checks every memory access and,
                with `check`, the kernel's own assumptions; ``"cuda"``, ``"cuda:tileiras"`` and ``"hip"`` are GPUs,
                where a launch returns before the kernel has run.
            check : bool or "strict", default True
                How much of what a kernel must not do is looked for.
            **keywords : object
                Arguments by the names of their parameters, and options of the target: ``debug_info``, ``mode``,
                ``max_iterations``, ``optimize``, ``output``, ``progress``, ``seed``, ``stages``, ``stream``,
                ``threads``, ``timeout``, ``warps``. A parameter of such a name is given by position.

            Raises
            ------
            TypeError, ValueError
                Before anything runs, for arguments, a grid or options that do not fit.
            DiagnosticError
                If the program is not valid.
            UnsupportedError
                If the target cannot run the kernel.
            Trap
                For a fault of the run; `LaunchTimeout` for one that takes too long.
            """
            if keywords:
                args, keywords = self._separated(args, keywords)
            self._launch(self, grid, args, target, check, keywords)

    @cached_property
    def _separated(self) -> Callable[..., tuple[Sequence[object], LaunchOptions]]:
        from tileir.runtime.naming import CallForms

        return CallForms(self.name, [parameter.name for parameter in self.parameters]).separated

    @cached_property
    def _launch(self) -> Callable[..., None]:
        """Looked up once: an import takes a tenth of the time of a launch."""
        from tileir.runtime.launch import launch_kernel

        return launch_kernel

    def __reduce__(self) -> tuple[Callable[..., Kernel], tuple[object, ...]]:
        return operator.getitem, (self.module, self.name)

    def __repr__(self) -> str:
        parameters = ", ".join(f"{shown(parameter.name)}: {parameter.type!r}" for parameter in self.parameters)
        return f"<tileir kernel @{shown(self.name)}({parameters})>"


def required_kernel(kernel: object) -> Kernel:
    """`kernel`, which must be one. Raises TypeError."""
    if isinstance(kernel, Kernel):
        return kernel
    hint = "; those of a module are in its attribute 'kernels'" if isinstance(kernel, core.Module) else ""
    raise TypeError(f"kernel: expected a kernel, such as module['name'], got {type(kernel).__name__}{hint}")


def _parameter_names(entry: Entry, count: int) -> list[str]:
    """The names written in the text, without ``%``; ``argN`` where there are none."""
    written = entry.body.arg_names if entry.body is not None else ()
    if len(written) == count:
        return [name.removeprefix("%") for name in written]
    return [f"arg{index}" for index in range(count)]


def parse(text: str, filename: str = "<string>", first_line: int = 1, *, level: str = NEWEST) -> Module:
    """Read a program from text. It is not verified.

    Parameters
    ----------
    text : str
        The program.
    filename : str
        Its name in messages.
    first_line : int
        Number of its first line in the file.
    level : str
        Language version, for what is wrong beside the faults of the text.

    Returns
    -------
    Module
        The program.

    Raises
    ------
    DiagnosticError
        With every fault of the text, and with what else is wrong in what could be read.
    TypeError
        For what is no text.
    """
    from tileir.text.parser import parse as parse_text

    if not isinstance(text, str):
        raise TypeError(f"text: expected a string, got {type(text).__name__}; tileir.load takes files and bytes")
    try:
        return Module.of(parse_text(text, filename, first_line))
    except DiagnosticError as error:
        raise _with_violations(error, level) from None


def _with_violations(error: DiagnosticError, level: str) -> DiagnosticError:
    """The faults of a text with those that the verifier finds in the rest of it, in the order of the text."""
    from tileir.verify import verify_partial

    if error.partial is None:
        return error
    found = [*error.diagnostics, *verify_partial(error.partial, level)]
    return DiagnosticError(sorted(found, key=_offset), error.source)


def _offset(diagnostic: Diagnostic) -> float:
    place = file_position(diagnostic.loc)
    return place.offset if isinstance(place, SourceLoc) else math.inf


def from_bytecode(data: bytes, filename: str = "<bytecode>") -> Module:
    """Read a program from bytecode. It is not verified.

    Parameters
    ----------
    data : bytes
        The content of a bytecode file.
    filename : str
        Its name in messages.

    Returns
    -------
    Module
        The program.

    Raises
    ------
    DiagnosticError
        With the path into the file and the byte offset of what is wrong.
    TypeError
        For what is no bytes.
    """
    from tileir.bytecode import decode

    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"data: expected bytes, got {type(data).__name__}; tileir.load takes files and text")
    return Module.of(decode(bytes(data), filename))


def from_content(content: bytes, filename: str, first_line: int = 1, *, level: str = NEWEST) -> Module:
    """A module from the content of a file, text or bytecode, or from the part of a text that begins at `first_line`.

    Raises `DiagnosticError`, for text as `from_text` does.
    """
    if content.startswith(MAGIC[:1]):  # which no text begins with, though the file may be cut short or damaged
        return from_bytecode(content, filename)
    return from_text(_decoded(content, filename), filename, first_line, level=level)


def from_text(text: str, filename: str = "<string>", first_line: int = 1, *, level: str = NEWEST) -> Module:
    """A module from text: Tile IR, or TTIR as Triton writes it. Raises `DiagnosticError`, as `parse` does."""
    if "tt.func" not in text:
        return parse(text, filename, first_line, level=level)
    from tileir.triton.importer.entry import imported, is_ttir

    if not is_ttir(text):
        return parse(text, filename, first_line, level=level)
    return Module.of(imported(text, filename, first_line))


def _unpickled(content: bytes, around: Surroundings) -> Module:
    from tileir.runtime.pickling import put_back

    module = from_content(content, around.source.name if around.source else "<pickle>")
    put_back(module, around)
    return module


def cannot_begin(content: bytes) -> bool:
    """Whether no program begins like this, in text or bytecode."""
    if content.startswith(MAGIC):
        return False
    try:
        codecs.getincrementaldecoder("utf-8-sig")().decode(content)
    except UnicodeDecodeError:
        return True
    return content.startswith(_NUL)


def _decoded(content: bytes, filename: str) -> str:
    """The text in UTF-8 `content`, without a byte order mark."""
    try:
        text, place = content.decode("utf-8-sig"), 0
        if not content.startswith(_NUL):
            return text
    except UnicodeDecodeError as error:
        place = error.start
    what = f"expected text in UTF-8 or Tile IR bytecode, got byte {content[place]:#04x} at offset {place}"
    raise DiagnosticError([Diagnostic("E0003", f"{filename}: {what}")])
