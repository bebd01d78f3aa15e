"""`cuda.tile.tune` on targets without a GPU: less time for each configuration, and none for differences in hints.

The search is the library's. It is given the configurations that differ in what a launch does, and its measurements are
those of the others too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tileir.cutile.signature import OnGpu

if TYPE_CHECKING:
    from cuda.tile.tune import TuningResult

Key = Callable[[tuple[int, ...], Any, tuple], Hashable]
"""Maps grid, kernel and arguments of a launch to what tells it apart from others."""

BUDGET = 0.5
"""Seconds after which a configuration is not measured again."""


def search(
    original: Callable[..., TuningResult],
    key: Key,
    search_space: Sequence[Any],
    stream: object,
    grid_fn: Callable[[Any], tuple[int, ...]],
    kernel: Any,
    args_fn: Callable[[Any], tuple],
    hints_fn: Callable[[Any], dict[str, Any]] | None = None,
    **options: Any,
) -> TuningResult:
    """Search as `cuda.tile.tune.exhaustive_search`, which is `original`, within the budget. Raises `OnGpu`."""
    alike: dict[Hashable, list[Any]] = {}
    for number, config in enumerate(search_space):
        alike.setdefault(_meaning(key, number, config, grid_fn, kernel, args_fn), []).append(config)
    with _budget() as usual:
        if not options.get("quiet", False):
            print(_notice(usual, len(search_space), len(alike)), file=sys.stderr)
        first = [configs[0] for configs in alike.values()]
        found = original(first, stream, grid_fn, kernel, args_fn, hints_fn, **options)
    same = {id(configs[0]): configs for configs in alike.values()}
    successes = tuple(replace(one, config=config) for one in found.successes for config in same[id(one.config)])
    failures = tuple((config, *why) for one, *why in found.failures for config in same[id(one)])
    return replace(found, successes=successes, failures=failures)


def _meaning(
    key: Key, number: int, config: Any, grid_fn: Callable[..., Any], kernel: Any, args_fn: Callable[..., Any]
) -> Hashable:
    """Return what a configuration does; that of one that fails is its own."""
    from cuda.tile import kernel as tile_kernel

    try:
        made = kernel if isinstance(kernel, tile_kernel) else kernel(config)
        return key(grid_fn(config), made, args_fn(config))
    except OnGpu:
        raise
    except Exception:
        return number


def size_of(argument: Any) -> Hashable:
    """Return what an argument says of the work, besides what the kernel is compiled for: a shape or a number."""
    if isinstance(argument, list | tuple):
        return tuple(map(size_of, argument))
    return tuple(argument.shape) if hasattr(argument, "shape") else repr(argument)


@contextmanager
def _budget() -> Iterator[float]:
    """Shorten the library's budget, and give the usual one in seconds."""
    from cuda.tile.tune import _tune

    usual = _tune._MAX_MEASURE_TIME_US
    _tune._MAX_MEASURE_TIME_US = min(usual, BUDGET * 1e6)
    try:
        yield usual / 1e6
    finally:
        _tune._MAX_MEASURE_TIME_US = usual


def _notice(usual: float, asked: int, measured: int) -> str:
    text = f"tileir: cuda.tile.tune on this machine: {BUDGET:g} s for each configuration instead of {usual:g} s"
    if measured == asked:
        return text
    return f"{text}; of {asked} configurations {measured} differ in more than hints, which have no effect here"
