"""Loaded programs, their kernels, the targets that run them, and how a launch comes together.

These are one file because each is told of the others: a kernel launches on a target, a target prepares a kernel.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, cached_property
from html import escape
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Literal, NoReturn, Protocol, TypeVar, cast

from tileir.host.float_state import usual_floats
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.core import without_collection
from tileir.ir.diagnostics import DiagnosticError, UnsupportedError
from tileir.ir.escaping import shown
from tileir.ops.module import Entry
from tileir.runtime.grid import Grid, GridLike, checked_grid

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Unpack

    from tileir.analysis.provenance import Writes
    from tileir.host.printing import Output
    from tileir.interp.api import Mode
    from tileir.runtime.arguments import Argument, Bind, Binder, Parameter
    from tileir.runtime.arrays import Array
    from tileir.runtime.memory import GlobalStorage
    from tileir.runtime.options import Check, LaunchOptions, Progress
    from tileir.runtime.serialisation import Surroundings

TargetName = Literal["interp", "cpu", "cuda", "cuda:tileiras", "hip"]
DEFAULT_TARGET: TargetName = "cpu"
"""The target of launches that name none: native code."""

Run = Callable[[Grid, "Sequence[Argument]"], object]
"""Runs a prepared kernel over a grid, to the end if the target is no GPU; raises `Trap`."""


class DirectRun:
    """A `Run` that can often do without arguments being bound.

    ``direct(grid, values)`` launches with values as they were given, or bound, where all of them are plain (contiguous
    arrays, numbers that fit). Otherwise it returns False and has done nothing.
    """

    direct: Callable[[GridLike, Sequence[object]], bool]

    def __call__(self, grid: Grid, arguments: Sequence[Argument]) -> None:
        raise NotImplementedError


_UNMADE = object()
T = TypeVar("T")


class Memo:
    """Keeps work that is done once for an object in its dictionary."""

    __slots__ = ()

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`, which is called on first use of `key`."""
        found = self._memo.get(key, _UNMADE)
        if found is _UNMADE:
            found = self._memo[key] = make()
        return cast(T, found)

    @cached_property
    def _memo(self) -> dict[Hashable, object]:
        return {}


class Module(Memo, core.Module):
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
            raise KeyError(f"no kernel @{shown(str(name))} in {self!r}")
        return self.kernels[name]

    @cached_property
    def globals(self) -> GlobalStorage:
        """The memory of the globals, initialised on first use."""
        from tileir.runtime.memory import GlobalStorage

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
        """Pickle as bytecode, or as text if there is none; the globals of a copy hold their initial values."""
        from tileir.runtime.serialisation import packed

        return _unpickled, packed(self)

    def _repr_html_(self) -> str:
        from tileir.text.highlight import html_of
        from tileir.text.printer import to_text

        return html_of(self.source.text if self.source is not None else to_text(self))

    def __repr__(self) -> str:
        name = self.op.attributes.get("sym_name", "")
        kernels = ", ".join(f"@{shown(kernel)}" for kernel in self.kernels) or "none"
        return f"<tileir module @{shown(name)}, kernels: {kernels}>"


class Kernel(Memo):
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
        self.ready: dict[tuple[object, ...] | None, tuple[Bind, Run]] = {}
        """Launches that are ready to run, by target, check and options (`launch_kernel`)."""

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in order, with types, and the names written in the text; ``argN`` where there are none."""
        from tileir.runtime.arguments import Parameter

        signature: t.FunctionType = self.entry.function_type
        names = self.entry.body.arg_names if self.entry.body is not None else ()
        if len(names) != len(signature.inputs):
            names = tuple(f"arg{index}" for index in range(len(signature.inputs)))
        return tuple(
            Parameter(self.name, index, name.removeprefix("%"), ty, lambda: self.writes)
            for index, (name, ty) in enumerate(zip(names, signature.inputs))
        )

    @cached_property
    def writes(self) -> Writes:
        """Return what the kernel may write, and through which parameters."""
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

        def launch(self, grid, *args, target=DEFAULT_TARGET, check=True, **keywords):
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
                How thoroughly faults of the kernel are checked for.
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
                from tileir.runtime.options import separated

                names = [parameter.name for parameter in self.parameters]
                args, keywords = separated(self.name, names, args, keywords)
            launch_kernel(self, grid, args, target, check, keywords)

    def __getitem__(self, grid: object) -> NoReturn:
        """Raise TypeError: ``kernel[grid](...)`` of other languages is `launch` here."""
        raise TypeError(f"kernel @{shown(self.name)}: launch it with kernel.launch(grid, ...), not kernel[grid](...)")

    def __reduce__(self) -> tuple[Callable[..., Kernel], tuple[object, ...]]:
        return operator.getitem, (self.module, self.name)

    def _repr_html_(self) -> str:
        rows = [
            f"<tr><td>{escape(shown(one.name))}</td><td><code>{escape(repr(one.type))}</code></td></tr>"
            for one in self.parameters
        ]
        return f"<table><caption>kernel @{escape(shown(self.name))}</caption>{''.join(rows)}</table>"

    def __repr__(self) -> str:
        parameters = ", ".join(one.text for one in self.parameters)
        return f"<tileir kernel @{shown(self.name)}({parameters})>"


def required_kernel(kernel: object) -> Kernel:
    """`kernel`, which must be one. Raises TypeError."""
    if isinstance(kernel, Kernel):
        return kernel
    hint = "; those of a module are in its attribute 'kernels'" if isinstance(kernel, core.Module) else ""
    raise TypeError(f"kernel: expected a kernel, such as module['name'], got {type(kernel).__name__}{hint}")


def _unpickled(content: bytes, around: Surroundings) -> Module:
    from tileir.runtime.serialisation import unpacked

    return Module.of(unpacked(content, around))


# ---------------------------------------------------------------- targets


class Target(Protocol):
    """A place where kernels run."""

    name: str
    description: str
    devices: tuple[str, ...]
    """The devices whose memory it uses, by the names of `arrays.Array.device`."""
    gives_output: bool
    """True if prints of kernels go to the option ``output``; otherwise they go to standard output."""

    def binder(self, parameter: Parameter) -> Binder:
        """The function that makes a run's argument of a Python value. Raises TypeError for a parameter that a launch
        cannot pass."""
        from tileir.runtime.arguments import binder

        return binder(parameter, self.devices, self.name)

    def prepare(self, kernel: Kernel, check: Check, options: LaunchOptions) -> Run:
        """Make a kernel of a verified module ready to run. Cheap when it has been done before with the same options.

        Raises TypeError for an option that the target does not have, `UnsupportedError` for what it cannot run.
        """

    def finish(self) -> None:
        """Wait until all launches are done. Raises Trap for a fault of one."""
        return

    def seconds(self, action: Callable[[], object]) -> float:
        """Measure the time for what `action` launches, in seconds: on a device, that of the device alone."""
        begin = perf_counter()
        action()
        return perf_counter() - begin


class DeviceTarget(Target):
    """A target whose memory is not that of this process, and whose launches return before kernels have run."""

    @abstractmethod
    def placed(self, array: np.ndarray) -> Array:
        """A copy of an array there, as long as it is referred to."""

    @abstractmethod
    def fetch(self, placed: Array, array: np.ndarray) -> None:
        """Copy a placed array back when all launches are done. Raises Trap for a fault of one."""


Tool = Callable[["Kernel", Grid, "Sequence[Argument]", "LaunchOptions"], object]
"""Is handed each launch, checked, and runs it."""


class ToolTarget(Target):
    """A target whose launches, bound as those of a `usual` one, a tool runs."""

    gives_output = True

    def __init__(self, tool: Tool, usual: Target) -> None:
        self.name, self.devices = usual.name, usual.devices
        self.description = f"{usual.description}, watched by a tool"
        self._tool, self._usual = tool, usual

    def binder(self, parameter: Parameter) -> Binder:
        return self._usual.binder(parameter)

    def prepare(self, kernel: Kernel, check: Check, options: LaunchOptions) -> Run:
        return lambda grid, arguments: self._tool(kernel, grid, arguments, options)


_IMPLEMENTATIONS: dict[TargetName, tuple[str, str]] = {
    "interp": ("tileir.runtime.interpreter", "Interpreter"),
    "cpu": ("tileir.runtime.native", "Native"),
    "cuda": ("tileir.runtime.gpu_routes", "open_target"),
    "cuda:tileiras": ("tileir.runtime.gpu_routes", "vendor_target"),
    "hip": ("tileir.runtime.gpu_routes", "amd_target"),
}
"""The module of each target, and what in it makes the target; it raises ImportError if something is not installed."""


@cache
def target_named(name: str) -> Target:
    """The target of that name. Raises `UnsupportedError` if there is none, or if it cannot be used here."""
    implementation = _IMPLEMENTATIONS.get(cast(TargetName, name))
    if implementation is None:
        raise UnsupportedError(f"no such target: expected one of {', '.join(_IMPLEMENTATIONS)}", name)
    try:
        module, name_of_maker = implementation
        with without_collection():
            target: Target = getattr(import_module(module), name_of_maker)()
    except ImportError as error:
        raise UnsupportedError(f"not available: {error}", name) from error
    return target


def target_names() -> tuple[str, ...]:
    """The names of all targets, also of those that cannot be used here."""
    return tuple(_IMPLEMENTATIONS)


def available_targets() -> dict[str, str]:
    """Return every target by name, with a line that describes it or says why it cannot be used."""
    return {name: _status(name) for name in _IMPLEMENTATIONS}


def _status(name: str) -> str:
    try:
        return target_named(name).description
    except UnsupportedError as error:
        return error.what


@contextmanager
def placed(target: Target, values: Sequence[object]) -> Iterator[list[object]]:
    """Yield the values with arrays placed in the target's memory; at the end their contents are copied back.

    Raises Trap for a fault of a launch in between.
    """
    import numpy as np

    if not isinstance(target, DeviceTarget):
        yield list(values)
        return
    copies = {at: target.placed(value) for at, value in enumerate(values) if isinstance(value, np.ndarray)}
    yield [copies.get(at, value) for at, value in enumerate(values)]
    for at, copy in copies.items():
        target.fetch(copy, cast("np.ndarray", values[at]))


# ---------------------------------------------------------------- launches


def launch(
    module: core.Module,
    name: str,
    grid: GridLike,
    args: Sequence[object] | Mapping[str, object] = (),
    target: TargetName | str = DEFAULT_TARGET,
    check: Check = True,
    **options: Unpack[LaunchOptions],
) -> None:
    """Run a kernel of a program; see `Kernel.launch`.

    Parameters
    ----------
    module : Module
        The program.
    name : str
        The kernel.
    grid : int or sequence of int
        Number of tile blocks along each axis.
    args : sequence or mapping
        The arguments, in the order of the parameters or by their names.
    target : str
        Where to run.
    check : bool or "strict"
        How thoroughly faults of the kernel are checked for.
    **options : object
        Options of the target.

    Raises
    ------
    KeyError
        If there is no such kernel; otherwise as `Kernel.launch`.
    """
    kernel = Module.of(module)[name]
    if isinstance(args, Mapping):
        from tileir.runtime.options import in_order

        args = in_order(name, [parameter.name for parameter in kernel.parameters], (), args)
    kernel.launch(grid, *args, target=target, check=check, **options)


def launch_kernel(
    kernel: Kernel, grid: GridLike, args: Sequence[object], target: str, check: Check, options: LaunchOptions
) -> None:
    """Check the program, the grid and the arguments, in this order, and run."""
    key = _key(target, check, options) if options else (target, check) if type(check) is bool else None
    ready = kernel.ready.get(key)
    if ready is None:
        with usual_floats():
            _launch_first(kernel, grid, args, target, check, options, key)
        return
    binder, run = ready
    if isinstance(run, DirectRun) and run.direct(grid, args):
        return
    with usual_floats():
        _run(run, checked_grid(grid, kernel.name), _bound(kernel, binder, args))


_OF_FEW_VALUES = frozenset({"threads", "optimize"})
"""Options with which a launch stays ready."""


def _key(target: str, check: Check, options: LaunchOptions) -> tuple[object, ...] | None:
    """Return the key of a launch with options that stays ready; None for one that does not."""
    if type(check) is not bool or not options.keys() <= _OF_FEW_VALUES:
        return None
    given = ((name, type(value), value) for name, value in options.items())
    return (target, check, *given) if all(type(value) in (int, bool) for value in options.values()) else None


def _launch_first(
    kernel: Kernel,
    grid: GridLike,
    args: Sequence[object],
    target: str,
    check: Check,
    options: LaunchOptions,
    key: tuple[object, ...] | None,
) -> None:
    """Launch a kernel that may not be prepared for the target and the options yet; keep it ready by its `key`, if it
    has one."""
    chosen = target_named(target)
    kernel.module.require_valid()
    extents = checked_grid(grid, kernel.name)
    binder = _binder(kernel, chosen)
    arguments = _bound(kernel, binder, args)
    run = chosen.prepare(kernel, check, options)
    if key is not None:
        kernel.ready[key] = binder, run
    if check is True and "mode" not in options:
        from tileir.runtime.claims import plain_views, warn_of_claims

        warn_of_claims(kernel.name, kernel.memo("plain views", lambda: plain_views(kernel.entry)), arguments)
    _run(run, extents, arguments)


def _run(run: Run, grid: Grid, arguments: Sequence[Argument]) -> None:
    """Run a launch; a file of an argument that is cut meanwhile is an error."""
    from tileir.runtime.arguments import mapped
    from tileir.runtime.arrays import file_kept

    with ExitStack() as files:
        for array in mapped(arguments):
            files.enter_context(file_kept(array))
        run(grid, arguments)


def bind(kernel: Kernel, args: Sequence[object], target: Target) -> list[Argument]:
    """The arguments of a launch for `target`. Raises TypeError or ValueError naming kernel and parameter."""
    return _bound(kernel, _binder(kernel, target), args)


def _binder(kernel: Kernel, target: Target) -> Bind:
    def make() -> Bind:
        from tileir.runtime.arguments import joint_binder

        return joint_binder(kernel.parameters, [target.binder(one) for one in kernel.parameters])

    return kernel.memo(("binder", target.name), make)


def _bound(kernel: Kernel, binder: Bind, args: Sequence[object]) -> list[Argument]:
    count = len(kernel.parameters)
    if len(args) != count:
        names = ", ".join(one.text for one in kernel.parameters)
        expected = f"{count} argument{'' if count == 1 else 's'} ({names})" if count else "no arguments"
        raise TypeError(f"kernel @{shown(kernel.name)}: expected {expected}, got {len(args)}")
    return binder(args)
