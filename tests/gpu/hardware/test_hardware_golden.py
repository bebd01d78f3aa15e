"""Golden programs, examples and the seed listings leave on a GPU what they leave in the interpreter, value by value."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

import tileir
from tests.differential import Outcome, assert_same, exact_part, observed_names, outcome
from tests.golden.arguments import Run, aligned, arguments, runs
from tests.gpu.golden_on_machine import GUARDED, UNSPECIFIED
from tests.gpu.hardware.hardware_device import Device
from tests.gpu.test_ttir_seeds import ELEMENTS, NUMBERS
from tests.gpu.ttir_refusals import refusal
from tests.observe import Observed, observe
from tests.seeds.listings import appendix, mutex_program, needed
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES, largest_error
from tileir.host import extern
from tileir.ir import types as t
from tileir.ir.core import Value
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.storage import DTYPES
from tileir.ops import control, conversion, core, misc, pointers

RUNS = [(f"{file}.{entry}", text, entry, run) for file, text, entry, run in runs()]
UNORDERED = ("atomics.through_views", "debug_info.scale", "extensions.rows", "hints.tuned")
"""Programs with two accesses to the same memory that no token orders: on a GPU any of them may come first, so that
they run is all there is to see."""
UNORDERED_LISTINGS = ("12.3.53", "12.3.54", "12.3.60")
HOST_OPS = (control.Assert, misc.PrintTko)
"""Habits of the vendor's code: a failed assertion ends the use of the GPU, prints go to the terminal."""


@pytest.fixture(autouse=True)
def _functions_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extern, "_externs", {"hypot": math.hypot})


def require_runnable(device: Device, kernel: tileir.Kernel, place: str) -> None:
    """Leave out what the hardware has nothing to do with."""
    expected = refusal(place, device.arch)
    if expected is not None:
        with pytest.raises(UnsupportedError, match=expected):
            kernel.launch(1, *_nothing(kernel), target="cuda")
        pytest.skip(f"refused as it should be: {expected}")
    ops = list(kernel.entry.walk())
    if not device.rehearsal and any(op.spec.name.startswith("multimem") for op in ops):
        pytest.skip("needs memory that several GPUs share")
    if not device.is_open and any(isinstance(op, HOST_OPS) for op in ops):
        pytest.skip("prints or asserts, which the vendor's code does not hand to the host")


def _nothing(kernel: tileir.Kernel) -> list[object]:
    """Arguments for a launch that does not come about."""
    types = [argument.type for argument in kernel.entry.body.args]
    pointers = [isinstance(type, t.TileType) and isinstance(type.element, t.PointerType) for type in types]
    return [tileir.Pointer(0) if pointer else 0 for pointer in pointers]


@pytest.mark.parametrize(
    ("place", "text", "entry", "run"), RUNS, ids=[f"{place}-{number}" for number, (place, *_) in enumerate(RUNS)]
)
def test_every_value_of_a_golden_program_is_that_of_the_interpreter(
    device: Device, place: str, text: str, entry: str, run: Run
) -> None:
    kernel = tileir.parse(text)[entry]
    require_runnable(device, kernel, place)
    given = arguments(tileir.parse(text)[entry], run)
    compare_values(device, kernel, given, UNSPECIFIED.get(place, ()), place not in UNORDERED)


def compare_values(
    device: Device, kernel: tileir.Kernel, given: Sequence[object], unspecified: Sequence[str], ordered: bool = True
) -> None:
    """Every value that a kernel computes is that of the interpreter, apart from those named."""
    certain = exact_part(kernel.entry)
    observed = observe(kernel.entry)
    args = [*given, *(value.array for value in observed)]
    own = sum(isinstance(value, np.ndarray) for value in given)
    first = outcome(kernel, (1,), args, "interp")
    undefined = first.trap is not None and first.trap.op in GUARDED
    if undefined and not device.is_open:
        pytest.skip("does what the specification leaves undefined")
    second = device.without_text(device.outcome(kernel, (1,), args), first)
    if undefined or not ordered:
        return
    _forget(observed, first, second, own, unspecified)
    exact = [len(certain) == sum(1 for _ in kernel.entry.walk())] * own + [value.op in certain for value in observed]
    assert_same(first, second, exact, [f"array {number}" for number in range(own)] + observed_names(observed))


def _forget(observed: list[Observed], first: Outcome, second: Outcome, own: int, unspecified: Sequence[str]) -> None:
    """Addresses of globals and of an `alloca` are the target's own affair."""
    for number, value in enumerate(observed, own):
        if _is_private(value.op.results[value.result]) or f"{value.op.spec.name} #{value.result}" in unspecified:
            second.arrays[number] = first.arrays[number]


def _is_private(value: Value) -> bool:
    """Return whether a value is an address in the target's own memory."""
    if value.op is None or isinstance(value.op, pointers.Alloca | core.GetGlobal):
        return value.op is not None
    addresses = [operand for operand in value.op.operands if _is_address(operand)]
    return any(map(_is_private, addresses)) and (_is_address(value) or isinstance(value.op, conversion.PtrToInt))


def _is_address(value: Value) -> bool:
    return isinstance(value.type, t.TileType) and isinstance(value.type.element, t.PointerType)


GRIDS = [case for case in RUNS if case[3].grid != (1,)]


@pytest.mark.parametrize(("place", "text", "entry", "run"), GRIDS, ids=[case[0] for case in GRIDS])
def test_a_grid_leaves_what_the_interpreter_leaves(device: Device, place: str, text: str, entry: str, run: Run) -> None:
    kernel = tileir.parse(text)[entry]
    require_runnable(device, kernel, place)
    exact = len(exact_part(kernel.entry)) == sum(1 for _ in kernel.entry.walk())
    device.assert_like_interpreter(kernel, run.grid, arguments(kernel, run), exact)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_what_numpy_gives(device: Device, example: Example) -> None:
    given = example.arguments(example.sizes, np.random.default_rng(1))
    answer = example.answer(given)
    kernel = tileir.load(example.path)[example.kernel]
    result = device.outcome(kernel, example.grid(example.sizes), list(given.values()))
    arrays = iter(result.arrays)
    found = {name: next(arrays) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    assert largest_error(found, answer) <= example.tolerance
    if device.is_open:
        assert sorted(result.printed.splitlines()) == sorted(example.printed(example.sizes))


# ---------------------------------------------------------------- the seed listings


@needed
@pytest.mark.parametrize("number", NUMBERS)
def test_a_listing_leaves_what_the_interpreter_leaves(device: Device, number: str) -> None:
    (kernel,) = tileir.parse(appendix()[number], number).kernels.values()
    require_runnable(device, kernel, number)
    given = [_argument(argument.type) for argument in kernel.entry.body.args]
    compare_values(device, kernel, given, (), number not in UNORDERED_LISTINGS)


def _argument(type: t.Type) -> object:
    assert isinstance(type, t.TileType)
    if not isinstance(type.element, t.PointerType):
        return 1
    return aligned((np.arange(ELEMENTS) % 8192).astype(DTYPES[type.element.pointee]))


@needed
def test_the_mutex_of_the_programming_model_ends(device: Device) -> None:
    """The globals of the module are the lock: they must be handed back, so that it can be taken again."""
    (kernel,) = tileir.parse(mutex_program()).kernels.values()
    require_runnable(device, kernel, "mutex")
    for blocks in (8, 40):
        result = device.outcome(kernel, (blocks,), [])
        assert sorted(result.printed.splitlines()) == sorted(
            f"current tile: {block} / {blocks}" for block in range(blocks)
        )
