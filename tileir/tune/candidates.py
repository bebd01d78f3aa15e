"""Candidates: what a point makes of a template or of a cuTile function, ready to be launched."""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

import numpy as np

from tileir.command_line import argument_words, fill
from tileir.command_line.argument_words import chosen_kernel, given_values
from tileir.command_line.fill import ArrayWord, FileWord
from tileir.ir.usage import UsageError
from tileir.runtime.module import Kernel, Module, launch_kernel, placed, target_named
from tileir.runtime.options import Check, LaunchOptions
from tileir.text.parser import parse
from tileir.tools.optimise import optimize
from tileir.tune.space import CONSTANT, LEVEL, OPTION, Point, PointValue, substituted
from tileir.verify import verify


@dataclass(frozen=True)
class TuneTask:
    """The subject of tuning: a template, or a function of a cuTile script, with its launch. Texts may have ``{{...}}``.

    Attributes
    ----------
    program : str
        The template, or the path of the script.
    function : str
        The name of a cuTile kernel, or of a function that takes the parameters of the space and returns a kernel; empty
        for a template.
    kernel : str or None
        The entry of a template that has several.
    grid : str
        Extents, with commas between; parameters and scalar arguments may be named. Empty for a function that calls
        `cuda.tile.tune.exhaustive_search`.
    arguments : tuple of str
        Words as for ``tileir run``.
    target : str
        Where it runs.
    seed : int
        Of random fills.
    """

    program: str
    function: str
    kernel: str | None
    grid: str
    arguments: tuple[str, ...]
    target: str
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "arguments": list(self.arguments)}

    @staticmethod
    def of_json(fields: dict[str, Any]) -> TuneTask:
        return TuneTask(**{**fields, "arguments": tuple(fields["arguments"])})


@dataclass(frozen=True)
class Launchable:
    """A launch that can be repeated: `names` of the arrays that it may write, the arrays, and what launches."""

    names: Sequence[str]
    arrays: Sequence[np.ndarray]
    launch: Callable[[], object]
    clock: Callable[[], float]
    """Launches, and gives the seconds that took."""


@contextmanager
def launchable(task: TuneTask, point: Point, check: Check, target: str | None = None) -> Iterator[Launchable]:
    """Yield a candidate, compiled when it is launched first. At the end the arrays hold the results of the launches.

    Raises UsageError for a point that makes no launch, DiagnosticError for one that makes no valid program.
    """
    opened = _of_cutile if task.function else _of_template
    with opened(task, point, check, target or task.target) as found:
        yield found


def parameters_of(point: Point) -> dict[str, PointValue]:
    """Return the part of a point that texts name."""
    return {name: value for name, value in point.items() if ":" not in name and name != LEVEL}


def options_of(point: Point) -> LaunchOptions:
    """Return the part of a point that are options of the launch."""
    chosen = {name.removeprefix(OPTION): value for name, value in point.items() if name.startswith(OPTION)}
    return cast(LaunchOptions, chosen)


def grid_of(text: str, names: Point) -> tuple[int, ...]:
    """Return the extents of a grid. Raises UsageError."""
    words = substituted(text, names, "the grid").split(",")
    try:
        return tuple(int(word) for word in words)
    except ValueError:
        raise UsageError(f"--grid: expected 1 to 3 positive integers, got '{','.join(words)}'") from None


# ---------------------------------------------------------------- templates


def kernel_of(task: TuneTask, point: Point, scalars: Mapping[str, object]) -> Kernel:
    """Return the kernel that a point makes of a template."""
    text = substituted(task.program, parameters_of(point))
    module = Module.of(parse(text, "<template>"))
    verify(module).raise_if_errors()
    kernel = chosen_kernel(module, task.kernel)
    chosen = [name.removeprefix(CONSTANT) for name, value in point.items() if name.startswith(CONSTANT) and value]
    unknown = [name for name in chosen if name not in scalars]
    if unknown:
        raise UsageError(f"--constant: no scalar argument '{unknown[0]}'; there are {', '.join(scalars) or 'none'}")
    known = {name: cast("int | float", scalars[name]) for name in chosen}
    if known:
        module = optimize(module, passes="specialise", arguments=known)
    level = point.get(LEVEL, 2 if known else 0)
    return optimize(module, int(level))[kernel.name]


def _scalars(task: TuneTask, point: Point) -> tuple[list[str], dict[str, object]]:
    """Return the words of the arguments, and the scalar ones by the names of their parameters."""
    names = parameters_of(point)
    words = [substituted(word, names, "an argument") for word in task.arguments]
    module = Module.of(parse(substituted(task.program, names), "<template>"))
    kernel = chosen_kernel(module, task.kernel)
    found = argument_words.assigned(words, [parameter.name for parameter in kernel.parameters])
    pairs = zip(kernel.parameters, found)
    return words, {one.name: word.value for one, word in pairs if isinstance(word, fill.ScalarWord)}


@contextmanager
def _of_template(task: TuneTask, point: Point, check: Check, where: str) -> Iterator[Launchable]:
    words, scalars = _scalars(task, point)
    kernel = kernel_of(task, point, scalars)
    given = given_values(kernel, words, task.seed)
    grid = grid_of(task.grid, {**cast(Point, scalars), **parameters_of(point)})
    target, options = target_named(where), options_of(point) if where == task.target else LaunchOptions()
    arrays = {one.name: one.array for one in given if one.before is not None}
    with placed(target, [one.value for one in given]) as values:

        def start() -> None:
            launch_kernel(kernel, grid, values, target.name, check, options)

        def launch() -> None:
            start()
            target.finish()

        yield Launchable(list(arrays), list(arrays.values()), launch, lambda: target.seconds(start))


# ---------------------------------------------------------------- cuTile


@contextmanager
def _of_cutile(task: TuneTask, point: Point, check: Check, where: str) -> Iterator[Launchable]:
    import cuda.tile as ct

    from tileir.cutile import on

    grid, kernel, values = _cutile_launch(task, parameters_of(point))
    arrays = {f"argument {at}": np.asarray(value) for at, value in enumerate(values) if hasattr(value, "__array__")}
    options = options_of(point) if where == task.target else LaunchOptions()
    with on(where, check=check, **options):

        def launch() -> None:
            ct.launch(None, (*grid, 1, 1)[:3], kernel, tuple(values))

        yield Launchable(list(arrays), list(arrays.values()), launch, lambda: target_named(where).seconds(launch))


def _cutile_launch(task: TuneTask, names: Mapping[str, PointValue]) -> tuple[tuple[int, ...], Any, Sequence[object]]:
    """Return grid, kernel and arguments of a point; without a grid in the task, those that the script's own search
    has."""
    if not task.grid:
        return search_of_script(task).launch_of(names)
    values = cutile_values([substituted(word, names, "an argument") for word in task.arguments], task.seed)
    return grid_of(task.grid, names), _cutile_kernel(task, names), values


def search_of_script(task: TuneTask) -> DeclaredSearch:
    """Return the search that the function of a task calls on its arguments."""
    return declared_search(task.program, task.function, cutile_values(task.arguments, task.seed))


def _cutile_kernel(task: TuneTask, names: Mapping[str, PointValue]) -> Any:
    """Return the kernel of that name, or what the function of that name returns for the parameters of the space."""
    import cuda.tile as ct

    found = runpy.run_path(task.program, run_name="<tune>").get(task.function)
    if isinstance(found, ct.kernel):
        return found
    if not callable(found):
        raise UsageError(f"'{task.program}': no kernel or function '{task.function}'")
    made = found(**names)
    if not isinstance(made, ct.kernel):
        raise UsageError(f"'{task.function}' of '{task.program}': expected a cuTile kernel, got {type(made).__name__}")
    return made


def cutile_values(words: Sequence[str], seed: int) -> list[object]:
    random = fill.seeded(seed)
    values: list[object] = []
    for word in map(argument_words.parsed, words):
        if isinstance(word, ArrayWord):
            values.append(fill.array(word, random))
        else:
            values.append(fill.loaded(word, None) if isinstance(word, FileWord) else word.value)
    return values


# ---------------------------------------------------------------- spaces that a cuTile script declares


CONFIG = "config"
"""The name of the one parameter of a search of `cuda.tile.tune`: its values are ``NUMBER: CONFIGURATION``."""
_SHOWN = 160


@dataclass(frozen=True)
class DeclaredSearch:
    """The arguments of a call of `exhaustive_search`."""

    configs: Sequence[Any]
    grid: Callable[[Any], tuple[int, ...]]
    kernel: Any
    arguments: Callable[[Any], tuple[Any, ...]]
    hints: Callable[[Any], dict[str, Any]] | None

    @property
    def names(self) -> tuple[str, ...]:
        """The configurations as values of `CONFIG`."""
        return tuple(f"{number}: {config!r}"[:_SHOWN] for number, config in enumerate(self.configs))

    def launch_of(self, point: Point) -> tuple[tuple[int, ...], Any, tuple[Any, ...]]:
        """Return grid, kernel with its hints, and arguments of a point."""
        import cuda.tile as ct

        config = self.configs[int(str(point[CONFIG]).partition(":")[0])]
        kernel = self.kernel if isinstance(self.kernel, ct.kernel) else self.kernel(config)
        hints = {} if self.hints is None else self.hints(config)
        return tuple(self.grid(config)), kernel.replace_hints(**hints), tuple(self.arguments(config))


class _SearchFound(BaseException):
    """Ends a script at its search."""

    def __init__(self, search: DeclaredSearch) -> None:
        self.search = search


def _found(
    search_space: Any, stream: Any, grid_fn: Any, kernel: Any, args_fn: Any, hints_fn: Any = None, **how: Any
) -> None:
    """Stand in for `exhaustive_search`: raise its search space and functions."""
    raise _SearchFound(DeclaredSearch(list(search_space), grid_fn, kernel, args_fn, hints_fn))


@contextmanager
def _searches_found() -> Iterator[None]:
    from cuda.tile import tune

    original = tune.exhaustive_search
    tune.exhaustive_search = _found
    try:
        yield
    finally:
        tune.exhaustive_search = original


def declared_search(script: str, function: str, values: Sequence[object]) -> DeclaredSearch:
    """Return the search that a function of a script calls when it is given `values`. Raises UsageError if it calls
    none."""
    import cuda.tile as ct

    with _searches_found():
        found = runpy.run_path(script, run_name="<tune>").get(function)
        if not callable(found):
            raise UsageError(f"'{script}': no function '{function}'")
        try:
            if not isinstance(found, ct.kernel):
                found(*values)
        except _SearchFound as call:
            if not call.search.configs:
                raise UsageError(f"'{function}' of '{script}': its search space is empty") from None
            return call.search
    raise UsageError(f"'{function}' of '{script}': without --grid, expected a call of cuda.tile.tune.exhaustive_search")


def literal_space(script: str, function: str) -> dict[str, tuple[PointValue, ...]]:
    """Return the values of the parameters of a function that are annotated with them, as in ``T: Literal[64, 128]``."""
    found = runpy.run_path(script, run_name="<tune>").get(function)
    if not inspect.isfunction(found):
        return {}
    hints = get_type_hints(found)
    names = [name for name in inspect.signature(found).parameters if get_origin(hints.get(name)) is Literal]
    return {name: get_args(hints[name]) for name in names}
