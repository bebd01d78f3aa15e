"""Spaces that a cuTile script declares: `cuda.tile.tune.exhaustive_search`, and parameters with `Literal` values."""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from tileir.ir.usage import UsageError
from tileir.tune.space import Point, PointValue

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
