"""Options of a launch, by target, as type checkers and editors see them; and which keywords are arguments instead."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from tileir.ir.diagnostics import UnsupportedError, did_you_mean
from tileir.ir.escaping import shown

Progress = Callable[[int, int], object]
"""Is told how many tile blocks of a launch are done, of how many."""
Check = bool | Literal["strict"]
"""The checks of a launch for faults of the kernel: the usual ones, only those that cost nothing, or all."""

if TYPE_CHECKING:
    from tileir.host.printing import Output
    from tileir.interp.api import Mode


class InterpreterOptions(TypedDict, total=False):
    """See `interp.api.Options`."""

    mode: Mode
    max_iterations: int | None
    output: Output
    progress: Progress | None
    seed: int | None
    timeout: float | None


class NativeOptions(TypedDict, total=False):
    """``threads`` None: ``TILEIR_NUM_THREADS`` or the processors of this process. ``output``: where `print_tko` writes,
    standard output if None. ``max_iterations``: of one tile block in its loops before it counts as hanging,
    `host.limits.MAX_ITERATIONS` if None. ``timeout``: seconds that the launch may take. ``progress``: a function that
    is told now and then how many tile blocks are done, of how many. ``debug_info``: whether debuggers and `perf` are
    told the lines of the code. ``optimize``: whether the program is rewritten exactly before it becomes code."""

    debug_info: bool
    max_iterations: int | None
    optimize: bool
    output: Output
    progress: Progress | None
    threads: int | None
    timeout: float | None


class GpuOptions(TypedDict, total=False):
    """``stream``: a number or a stream of any library; torch's or CuPy's current one if None. ``output``: where
    `print_tko` writes, standard output if None. ``warps`` of a block, a power of two, and ``stages`` of its pipelines:
    what the hints and the kernel suggest if None. ``optimize`` as for native code."""

    optimize: bool
    output: Output
    stream: object
    warps: int | None
    stages: int | None


class VendorOptions(TypedDict, total=False):
    """The options of any GPU; prints of kernels go to standard output."""

    optimize: bool
    stream: object


class LaunchOptions(TypedDict, total=False):
    """The options of all targets: each refuses those that it does not have."""

    debug_info: bool
    mode: Mode
    max_iterations: int | None
    optimize: bool
    output: Output
    progress: Progress | None
    seed: int | None
    threads: int | None
    timeout: float | None
    stream: object
    warps: int | None
    stages: int | None


def require_known(options: Mapping[str, object], known: type, target: str) -> None:
    """Raise TypeError for an option that is not one of those of a target."""
    names = tuple(known.__annotations__)
    unknown = options.keys() - set(names)
    if unknown:
        what = f"target '{target}' has no option {', '.join(sorted(unknown))}"
        near = did_you_mean(min(unknown), names)
        raise TypeError(f"{what}: it has {', '.join(names)}" + (f" ({near})" if near else ""))


def optimizes(options: LaunchOptions) -> bool:
    """Return whether a program is rewritten before it becomes code: yes unless told otherwise. Raises TypeError."""
    return flag("optimize", options.get("optimize", True))


def check_level(check: object) -> Check:
    """Return the value of the option ``check``. Raises ValueError for a word other than ``strict``."""
    if check == "strict":
        return "strict"
    if isinstance(check, str):
        raise ValueError(f"check: expected True, False or 'strict', got {check!r}")
    return bool(check)


def refuse_strict(check: object, target: str) -> None:
    """Raise UnsupportedError for strict checks, which a target does not have."""
    if check_level(check) == "strict":
        what = "check='strict': expected True or False here; targets 'cpu' and 'interp' have strict checks"
        raise UnsupportedError(what, target)


def power_of_two(name: str, value: object, limit: int) -> int | None:
    """Return a power of two up to `limit`, or None. Raises TypeError or ValueError."""
    number = positive(name, value, limit)
    if number is not None and number & (number - 1):
        raise ValueError(f"{name}: expected a power of two, got {number}")
    return number


def flag(name: str, value: object) -> bool:
    """True or False; False for None. Raises TypeError."""
    if value is None or isinstance(value, bool):
        return bool(value)
    raise TypeError(f"{name}: expected True or False, got {value!r}")


def positive(name: str, value: object, limit: int | None = None) -> int | None:
    """Return a positive integer, up to `limit` if there is one, or None. Raises TypeError or ValueError."""
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: expected a positive integer, got {value!r}")
    if value < 1:
        raise ValueError(f"{name}: expected a positive integer, got {value}")
    if limit is not None and value > limit:
        raise ValueError(f"{name}: expected at most {limit}, got {value}")
    return value


def writer(name: str, value: object) -> Output:
    """Return a place that takes text: a text file, a function of a text, or None. Raises TypeError."""
    if value is None or callable(value) or callable(getattr(value, "write", None)):
        return value  # type: ignore[return-value]
    raise TypeError(f"{name}: expected a file, a function of a text or None, got {value!r}")


def listener(name: str, value: object) -> Progress | None:
    """Return the progress callback of a launch, or None. Raises TypeError."""
    if value is None or callable(value):
        return value
    raise TypeError(f"{name}: expected a function of two numbers or None, got {value!r}")


def seconds(name: str, value: object) -> float | None:
    """Return a positive number of seconds, or None. Raises TypeError or ValueError."""
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{name}: expected a positive number of seconds, got {value!r}")
    if not value > 0 or math.isnan(value):
        raise ValueError(f"{name}: expected a positive number of seconds, got {value}")
    return float(value)


def iterations(name: str, value: object) -> int | None:
    """Return a positive integer of 63 bits, as native code counts, or None. Raises TypeError or ValueError."""
    return positive(name, value, (1 << 63) - 1)


_CHECKS: dict[str, Callable[[str, Any], object]] = {
    "debug_info": flag, "max_iterations": iterations, "optimize": flag, "output": writer, "progress": listener,
    "threads": positive, "timeout": seconds,
}  # fmt: skip
"""The check of each option that means the same on every target."""


def checked(options: LaunchOptions, known: type, target: str) -> dict[str, Any]:
    """Return the options of a launch that are given and are among those of a target. Raises TypeError or ValueError."""
    require_known(options, known, target)
    given = {name: value for name, value in options.items() if value is not None}
    return {name: _CHECKS[name](name, value) if name in _CHECKS else value for name, value in given.items()}


# ---------------------------------------------------------------- keywords of a launch


_OPTIONS = frozenset(LaunchOptions.__annotations__)
"""A parameter that is called like one of them is given by position."""


def separated(
    kernel: str, names: Sequence[str], given: Sequence[object], keywords: Mapping[str, Any]
) -> tuple[Sequence[object], LaunchOptions]:
    """Return all arguments of a launch in the order of the parameters, and its options.

    Raises TypeError for a keyword that is neither, and for a parameter with two arguments or none.
    """
    options = {name: value for name, value in keywords.items() if name in _OPTIONS}
    named = {name: value for name, value in keywords.items() if name not in _OPTIONS}
    return in_order(kernel, names, given, named) if named else given, options  # type: ignore[return-value]


def in_order(kernel: str, names: Sequence[str], given: Sequence[object], named: Mapping[str, object]) -> list[object]:
    """Return arguments by position, then those by name, in the order of the parameters."""
    unknown = next((name for name in named if name not in names), None)
    if unknown is not None:
        options = sorted({*_OPTIONS, "target", "check"})
        near = did_you_mean(unknown, [*names, *options])
        known = f"a parameter ({', '.join(map(shown, names)) or 'none'}) or an option ({', '.join(options)})"
        raise _call_error(kernel, known, f"'{shown(unknown)}'" + (f" ({near})" if near else ""))
    twice = next((name for name in names[: len(given)] if name in named), None)
    if twice is not None:
        raise _call_error(kernel, f"one argument for '{shown(twice)}'", "one by position and one by name")
    missing = next((name for name in names[len(given) :] if name not in named), None)
    if missing is not None:
        raise _call_error(kernel, f"an argument for '{shown(missing)}'", "none")
    return [*given, *(named[name] for name in names[len(given) :])]


def _call_error(kernel: str, expected: str, got: str) -> TypeError:
    return TypeError(f"kernel @{shown(kernel)}: expected {expected}, got {got}")
